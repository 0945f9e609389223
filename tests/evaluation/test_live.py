"""Live figures: the same whether counted anew or kept, near what is true, and never from the test part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise import Generalization, Split, Table
from leastwise.evaluation.certificate import certify
from leastwise.evaluation.live import Live, joined
from leastwise.partition import Intervals, keep, suppress
from tests.runs.small import SCHEMA, records


@pytest.fixture(scope="module")
def split() -> Split:
    return records(3000, seed=100).split(100, (0.45, 0.25, 0.3))


def draft(*edges: float) -> Generalization:
    age, job, sex, town = SCHEMA.attributes
    return Generalization((Intervals(age, edges), keep(job), suppress(sex), suppress(town)), SCHEMA.label)


def test_what_is_kept_between_edits_changes_nothing(split: Split) -> None:
    live = Live(split)
    ways = [draft(40), draft(30, 50), draft(40).replacing(suppress(SCHEMA["job"])), draft(20, 40, 60)]
    fresh = []
    for way in ways:
        live.forget()
        fresh.append(live.estimate(way))
    kept = Live(split)
    for _ in range(2):
        for way, expected in zip(ways, fresh, strict=True):
            assert kept.estimate(way) == expected


def test_the_figures_are_what_is_true_of_these_people(split: Split) -> None:
    found = Live(split).estimate(draft(40))
    assert found.model.error == pytest.approx(0.1, abs=0.02)  # one in ten labels is drawn at random
    assert found.attributes["job"].error == 0.0  # asked in full
    assert found.attributes["sex"].error <= found.attributes["sex"].guessing + 0.005  # nothing tells of it
    assert found.answers == 2 + 5
    assert found.asked == 2


def test_nothing_asked_tells_nothing_but_the_label(split: Split) -> None:
    found = Live(split).estimate(Generalization.suppressed(SCHEMA))
    assert found.alone == 0
    assert found.answers == 0
    assert found.model.error == pytest.approx(found.model.guessing)
    for each in found.attributes.values():
        assert each.guessing - 0.05 < each.error <= each.guessing + 0.005


def test_the_certificate_is_that_of_as_many_people(split: Split) -> None:
    live = Live(split)
    found = live.estimate(draft(40), looks=3)
    people = live.pool.take(np.arange(len(split.test)), "test")
    expected = certify(draft(40), people, candidates=3)
    assert found.certified == pytest.approx(expected.mean.adversary_error_at_least)
    assert found.alone == round(expected.alone * expected.people)
    for name, bound in found.certified_by_attribute.items():
        assert bound == pytest.approx(expected[name].adversary_error_at_least)


def test_every_look_is_paid_for(split: Split) -> None:
    live = Live(split)
    one, many = live.estimate(draft(40)), live.estimate(draft(40), looks=50)
    assert one.paid == 0
    assert many.certified == pytest.approx(one.certified - many.paid)
    assert live.with_looks(one, 50).certified == pytest.approx(many.certified)


def test_the_test_part_is_never_looked_at(split: Split) -> None:
    other = split.test.take(np.zeros(len(split.test), dtype=np.intp))
    other = replace(other, labels=1 - other.y)
    changed = Split(split.train, split.validation, other)
    assert Live(split).estimate(draft(40)) == Live(changed).estimate(draft(40))


def test_a_question_is_worth_what_the_model_loses_without_it(split: Split) -> None:
    found = Live(split).worth(draft(40))
    assert set(found) == {"age", "job"}
    assert found["age"].loss.mean > 0.2
    assert found["age"].own is None
    assert found["job"].own is not None
    assert found["job"].own > 0.5


def test_a_personal_number_is_told_within_its_tolerance() -> None:
    table = records(2000, seed=101)
    table = replace(table, schema=SCHEMA.with_personal(["age"]))
    live = Live(table.split(100, (0.45, 0.25, 0.3)))
    full = live.estimate(Generalization.untouched(table.schema))
    none = live.estimate(Generalization.suppressed(table.schema))
    assert full.attributes["age"].error == 0.0
    assert 0.7 < none.attributes["age"].error < none.attributes["age"].guessing  # the label tells a little


def test_both_parts_are_counted(split: Split) -> None:
    pool: Table = joined(split)
    assert len(pool) == len(split.train) + len(split.validation)
