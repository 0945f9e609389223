"""A check alarms for what was planted, and for nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from leastwise import Generalization, Groups, Intervals
from leastwise.checks import Check, DriftLimits, Promise, check, read_new
from leastwise.errors import ArtefactError, ParameterError, SchemaError
from leastwise.runs.budget import Budget
from tests.checks.people import AGE, LABEL, SCHEMA, SEX, TOWN, G, frame, promise, table


@pytest.fixture(scope="module")
def promised() -> Promise:
    return promise(4000)


def broken(found: Check) -> set[str]:
    pairs = zip(found.comparisons, found.statuses, strict=True)
    return {comparison.about for comparison, status in pairs if status == "broken"}


def test_the_same_people_are_fine(promised: Promise) -> None:
    found = check(G, table(4000, 7), promise=promised, quick=True)
    assert not found.broken
    assert {c.about for c in found.comparisons} == {"Bucket use", "Label rate", "Accuracy", "Risk"}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("drift", "about"),
    [
        ({"older": 6}, "Bucket use"),
        ({"noise": 0.3}, "Accuracy"),
        ({"noise": 0.3}, "Label rate"),
        ({"tied": 0.9}, "Risk"),
    ],
)
def test_planted_drift_is_found(promised: Promise, drift: dict[str, float], about: str) -> None:
    assert about in broken(check(G, table(4000, 7, **drift), promise=promised, quick=True))


def test_reasons_say_what_and_how_much(promised: Promise) -> None:
    found = check(G, table(4000, 7, older=6), promise=promised, quick=True)
    assert any(reason.startswith("age: 66 to 99 is now the answer of 1") for reason in found.reasons)


def budget_of(**limits: Any) -> Check:
    return check(G, table(3000, 7), budget=Budget(**limits), quick=True)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_error": 0.1}, "the model errs 0.1"),
        ({"min_adversary_error": {"sex": 0.49}}, "A1 is wrong about sex"),
        ({"min_adversary_error": {"mean": 0.5}}, "A1 is wrong on average"),
        ({"max_buckets": 6}, "there are 7 answers in all, allowed are 6"),
        ({"max_asked": 1}, "there are 2 questions, allowed are 1"),
    ],
)
def test_broken_budgets(limits: dict[str, Any], reason: str) -> None:
    found = budget_of(**limits)
    assert len(found.reasons) == 1
    assert found.reasons[0].startswith(reason)


def test_kept_budgets() -> None:
    found = budget_of(
        max_error=0.3,
        max_error_increase=0.1,
        max_unique=1,  # with record and label
        max_buckets=7,
        max_asked=2,
        min_adversary_error={"sex": 0.2},
    )
    assert len(found.comparisons) == 6
    assert set(found.statuses) == {"fine"}


def test_an_increase_beyond_the_limit_is_found_person_by_person() -> None:
    coarse = Generalization.suppressed(SCHEMA)
    found = check(coarse, table(3000, 7), budget=Budget(max_error_increase=0.02), quick=True)
    assert "more than with everything asked, allowed is 2" in found.reasons[0]


def test_people_who_are_alone() -> None:
    everything = Generalization.untouched(SCHEMA)
    found = check(everything, table(200, 7), budget=Budget(max_unique=0), quick=True)
    assert "people are alone with their record, allowed are 0" in found.reasons[0]
    share = check(everything, table(200, 7), budget=Budget(max_unique_share=0.001), quick=True)
    assert "people are alone with their record, allowed is a share of 0.001" in share.reasons[0]


def test_beyond_a_limit_by_noise_is_watched() -> None:
    error = budget_of(max_error=0.9).comparisons[0].now
    found = budget_of(max_error=error - 0.001)
    assert (found.broken, found.statuses) == (False, ("watch",))


def test_values_nobody_declared() -> None:
    people = frame(2000, 7)
    strange = people.with_columns(town=pl.when(pl.int_range(pl.len()) < 40).then(pl.lit("e")).otherwise("town"))
    found = check(G, read_new(strange, SCHEMA), quick=True)
    assert found.reasons == (
        "town: 2.00\xa0% of the records have a value outside its domain, allowed is 0.10\xa0%",
    )
    allowed = check(G, read_new(strange, SCHEMA), limits=DriftLimits(max_unseen=0.05), quick=True)
    assert not allowed.broken


FINE = Generalization((Intervals(AGE, (30, 45, 65)), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 2, 3))), LABEL)
COARSE = Generalization((Intervals(AGE, (45,)), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 1, 1))), LABEL)
CROSSED = Generalization((Intervals(AGE, (45,)), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 0, 1))), LABEL)


@pytest.mark.parametrize(
    ("old", "note"),
    [(FINE, "adopting it adds nothing"), (COARSE, "is coarser than this one"), (CROSSED, "are not nested")],
)
def test_a_re_release_says_whether_it_is_nested(old: Generalization, note: str) -> None:
    found = check(G, table(1000, 7), previous=[old], quick=True)
    assert note in found.notes[0]


def test_a_re_release_that_tells_too_much_together() -> None:
    """Each grouping of the towns hides half of them; both together name every town."""
    least = Budget(min_adversary_error={"town": 0.1})
    one = Generalization((Intervals(AGE), Groups(SEX, (0, 0)), Groups(TOWN, (0, 0, 1, 1))), LABEL)
    other = Generalization((Intervals(AGE), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 0, 1))), LABEL)
    assert not check(one, table(2000, 7), budget=least, quick=True).broken
    found = check(one, table(2000, 7), budget=least, previous=[other], quick=True)
    assert found.reasons == ("A6 is wrong about town 0.000 of the time, wanted is at least 0.1",)
    assert broken(found) == {"Both together"}


def test_a_previous_one_of_other_attributes() -> None:
    other = Generalization.untouched(replace(SCHEMA, attributes=SCHEMA.attributes[:2]))
    with pytest.raises(SchemaError, match="same attributes"):
        check(G, table(500, 7), previous=[other], quick=True)


def test_what_is_not_measured_alike_is_not_compared(promised: Promise) -> None:
    fewer = check(G, table(500, 7), promise=promised, quick=True)
    assert "A model of fewer records errs more" in fewer.notes[0]
    assert "Accuracy" not in {c.about for c in fewer.comparisons}
    small = replace(promised, known=500)
    more = check(G, table(4000, 7), promise=small, quick=True)
    assert "Who knows more people errs less" in more.notes[0]
    assert "Risk" not in {c.about for c in more.comparisons}
    full = check(G, table(4000, 7), promise=replace(promised, quick=False), quick=True)
    assert "measured with full training, this quickly" in full.notes[0]


def test_a_promise_of_another_one(promised: Promise) -> None:
    with pytest.raises(ArtefactError, match="of another generalization"):
        check(COARSE, table(500, 7), promise=promised, quick=True)


def test_too_few_records() -> None:
    with pytest.raises(ParameterError, match="at least 50 records"):
        check(G, table(49, 7), quick=True)


def test_a_budget_that_cannot_be_held() -> None:
    with pytest.raises(ParameterError, match="did you mean 'sex'"):
        budget_of(min_adversary_error={"sexx": 0.4})
    plain = SCHEMA.with_personal(())
    pairs = zip(G.partitions, plain.attributes, strict=True)
    nobody = Generalization(tuple(replace(p, attribute=a) for p, a in pairs), LABEL)
    records = read_new(frame(200, 7), plain)
    with pytest.raises(ParameterError, match="the schema marks none"):
        check(nobody, records, budget=Budget(min_adversary_error={"mean": 0.4}), quick=True)
    unlabelled = replace(G, label=None)
    with pytest.raises(ParameterError, match="the records have no label"):
        check(unlabelled, read_new(frame(200, 7), unlabelled.schema), budget=Budget(max_error=0.2), quick=True)


def test_the_sample_itself_must_be_split_as_it_was() -> None:
    chosen = replace(G, origin={"chosen_on": "train", "split_seed": 3})
    with pytest.raises(ParameterError, match="use that seed"):
        check(chosen, table(500, 7), held_out=False, quick=True)
    assert not check(chosen, table(500, 7), quick=True).broken


def test_labels_that_have_not_arrived(promised: Promise) -> None:
    new = read_new(frame(3000, 7).drop("works"), SCHEMA)
    found = check(G, new, promise=promised, budget=Budget(min_adversary_error={"sex": 0.2}), quick=True)
    assert not found.broken
    assert {c.about for c in found.comparisons} == {"Budget", "Bucket use", "Risk"}
    assert found.notes[0].startswith("The records have no label (works)")
    with pytest.raises(ParameterError, match="give records that do"):
        check(G, new, budget=Budget(max_error=0.2), quick=True)
