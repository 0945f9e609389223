"""The minimum sample: nested, judged alike, and answered with an interval."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise import Attribute, DataError, Generalization, ParameterError, Schema, Table
from leastwise.evaluation.minimum_sample import (
    MinimumSample,
    SampleSize,
    default_sizes,
    minimum_sample,
    pat_candidates,
)
from leastwise.minimizers import UniformMinimizer, pat_path
from tests.samples import coded

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True)
JOB = Attribute("job", values=tuple("abcdef"), personal=True)
TOWN = Attribute("town", values=("n", "s", "w"), personal=True)
SCHEMA = Schema([AGE, JOB, TOWN], Attribute("pays", values=("no", "yes")))


def people(count: int = 3000, seed: int = 0) -> Table:
    random = np.random.default_rng(seed)
    job, age = random.integers(0, 6, count), random.integers(0, 100, count)
    chance = np.where((job >= 3) ^ (age > 60), 0.9, 0.1)
    return coded(SCHEMA, age, job, random.integers(0, 3, count), labels=random.random(count) < chance)


def test_a_clear_rule_needs_few_records() -> None:
    found = minimum_sample(pat_candidates, people(), sizes=[50, 200, 800], repetitions=3)
    assert found.size < found.records == 1800
    assert found.interval[0] <= found.size <= found.interval[1]
    assert found.confidence == pytest.approx(0.75)
    assert [s.size for s in found.sizes] == [50, 200, 800]
    assert found.sizes[-1].loss <= 0.05
    assert found.sizes[-1].similarity > found.sizes[0].similarity
    assert f"about {found.size:,} full records" in found.sentence()


def test_a_minimizer_that_ignores_the_records_needs_hardly_any() -> None:
    uniform = UniformMinimizer(2, random_state=0)
    found = minimum_sample(lambda table: [uniform.minimize(table)], people(1000), sizes=[10, 100], repetitions=2)
    assert found.size == 10
    assert found.interval == (10, 10)
    for size in found.sizes:
        assert size.losses == pytest.approx((0.0, 0.0))
        assert size.similarities == (1.0, 1.0)
    assert "10 each time" in found.sentence()


def test_where_small_samples_find_nothing_all_are_needed() -> None:
    def only_from_many(table: Table) -> list[Generalization]:
        if len(table) < 600:
            return [Generalization.suppressed(table.schema)]
        return pat_path(table, 0.3, [10], min_leaf=20)

    found = minimum_sample(only_from_many, people(1000), sizes=[100, 500], repetitions=2)
    assert found.size == found.records == 600
    assert [s.losses for s in found.sizes] == [(1.0, 1.0), (1.0, 1.0)]
    assert "All 600 training records are needed" in found.sentence()


def test_samples_are_nested_hold_every_class_and_repeat() -> None:
    seen: list[set[tuple[int, ...]]] = []
    table = people(1000)
    numbered = replace(table, labels=(np.arange(1000) % 500 == 0).astype(np.uint8))

    def watch(sample: Table) -> list[Generalization]:
        assert set(sample.y) == {0, 1}
        ages = sample.levels[0][sample.codes[:, 0]]
        assert set(ages) == set(sample.levels[0])  # nobody else's numbers are shown
        seen.append({tuple(map(int, row)) for row in np.column_stack([ages, sample.codes[:, 1:], sample.y])})
        return [Generalization.suppressed(sample.schema)]

    first = minimum_sample(watch, numbered, sizes=[5, 20, 100], repetitions=2, seed=4)
    whole, *drawn = seen
    assert drawn[0] <= drawn[1] <= drawn[2] <= whole
    assert drawn[3] <= drawn[4] <= drawn[5] <= whole
    assert drawn[0] != drawn[3]
    assert minimum_sample(watch, numbered, sizes=[5, 20, 100], repetitions=2, seed=4) == first


def test_where_all_records_find_nothing_few_are_not_said_to_be_enough() -> None:
    found = minimum_sample(
        lambda table: [Generalization.suppressed(table.schema)], people(1000), sizes=[100], repetitions=1
    )
    assert not found.told
    assert found.size == found.records
    assert found.sentence().startswith(
        "These records do not tell how few would do: not even from all 600 training"
    )


def test_the_answer_is_the_size_from_which_on_it_stays_good() -> None:
    from leastwise.evaluation.minimum_sample import _answer

    losses = np.array([[0.5, 0.01, 0.2, 0.0], [0.5, 0.0, 0.0, 0.0], [0.5, 0.4, 0.3, 0.2]])
    found = _answer([10, 20, 30, 40], losses, np.ones((3, 4)), 0.05, 1000)
    assert (found.size, found.interval) == (40, (20, 1000))
    assert found.sizes[0] == SampleSize(size=10, losses=(0.5,) * 3, similarities=(1.0,) * 3)


def test_default_sizes() -> None:
    assert default_sizes(10) == [2, 5]
    assert default_sizes(201) == [100, 200]
    assert default_sizes(29_305)[-1] == 20_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [1, 10]}, "sizes must be at least 2"),
        ({"sizes": [100_000]}, "below the 180 training records"),
        ({"sizes": []}, "got none"),
        ({"repetitions": 0}, "repetitions must be at least 1"),
        ({"tolerance": 2.0}, "tolerance must be between"),
    ],
)
def test_bad_parameters(options: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        minimum_sample(pat_candidates, people(300), **options)  # type: ignore[arg-type]


def test_without_personal_attributes_there_is_no_frontier() -> None:
    table = people(300)
    nobody = replace(table, schema=SCHEMA.with_personal([]))
    with pytest.raises(DataError, match="no attribute is personal"):
        minimum_sample(pat_candidates, nobody)


def test_the_result_is_plain() -> None:
    point = SampleSize(size=2, losses=(0.1, 0.3, 0.2), similarities=(0.5, 0.7, 0.9))
    assert (point.loss, point.similarity) == (0.2, 0.7)
    found = MinimumSample(size=2, interval=(2, 4), confidence=0.75, tolerance=0.05, records=9, sizes=(point,))
    assert found.sentence() == (
        "Collect about 2 full records (between 2 and 4 in 3 drawings): "
        "more change the frontier by no more than 5\xa0%."
    )
