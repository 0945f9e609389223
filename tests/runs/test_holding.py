"""Constraints: what each of them refuses, what merging mends, and that nothing that breaks one is a candidate."""

from __future__ import annotations

from typing import Any

import pytest

from leastwise import DataError, Generalization, Groups, Intervals, Untouched
from leastwise.minimizers import Constraints
from leastwise.minimizers.constraints import broken, brought_to
from leastwise.runs import Entry, Grid
from leastwise.runs.proposals import Pool, ask, pooled
from tests.runs.small import SCHEMA, records

AGE, JOB, SEX, TOWN = SCHEMA.attributes
FINE = Generalization.of(
    [Intervals(AGE, (30, 60)), Groups(JOB, (0, 0, 1, 1, 2)), Groups(SEX, (0, 1))], SCHEMA.attributes
)
TRAIN = records().split(0).train


@pytest.mark.parametrize(
    ("constraints", "problem"),
    [
        ({}, None),
        ({"suppressed": ["town"]}, None),
        ({"suppressed": ["sex"]}, "sex: is not suppressed"),
        ({"untouched": ["sex"]}, None),
        ({"untouched": ["age"]}, "age: is not untouched"),
        ({"untouched": ["town"]}, "town: is not untouched"),
        ({"max_buckets": {"job": 3}}, None),
        ({"max_buckets": {"job": 2}}, "job: 3 buckets, not 2"),
        ({"edges": {"age": [30]}}, None),
        ({"edges": {"age": [30, 31]}}, "age: the edge 31 is gone"),
        ({"together": {"job": [["a", "b"], ["c", "d"]]}}, None),
        ({"together": {"job": [["a", "e"]]}}, "job: ['a', 'e'] are not together"),
        ({"together": {"age": [[31, 60]]}}, None),
        ({"together": {"age": [[30, 31]]}}, "age: [30, 31] are not together"),
        ({"together": {"town": [["n", "s"]]}}, None),
        ({"apart": {"job": [["a", "c", "e"]]}}, None),
        ({"apart": {"job": [["a", "b"]]}}, "job: ['a', 'b'] are not apart"),
        ({"apart": {"town": [["n", "s"]]}}, "town: ['n', 's'] are not apart"),
        ({"max_buckets_in_all": 9}, None),
        ({"max_buckets_in_all": 8}, "9 buckets in all, not 8"),
        ({"min_people": 50}, None),
        ({"min_people": 81}, "job: a bucket of fewer than 81 people"),
    ],
)
def test_what_is_broken_is_told(constraints: Any, problem: str | None) -> None:
    assert broken(Constraints(**constraints), FINE, TRAIN) == ([] if problem is None else [problem])


def test_an_exact_number_has_every_edge_and_parts_all() -> None:
    exact = FINE.replacing(Untouched(AGE))
    kept = Constraints(edges={"age": [17]}, apart={"age": [[1, 2]]}, untouched=["age"])
    assert broken(kept, exact, TRAIN) == []
    assert broken(Constraints(max_buckets={"age": 5}, together={"age": [[1, 2]]}), exact, TRAIN) == [
        "age: 62 buckets, not 5",
        "age: [1, 2] are not together",
    ]


def test_nobody_beyond_an_edge_that_must_stay_is_no_reason_to_merge_it_away() -> None:
    # Merging the empty bucket would break the edge, and there is nobody in it to protect.
    constraints = Constraints(edges={"age": [30, 98]}, min_people=50)
    edged = FINE.replacing(Intervals(AGE, (30, 98)))
    assert broken(constraints, edged, TRAIN) == []
    assert brought_to(constraints, edged, TRAIN) == edged


def test_what_must_be_untouched_is_not_merged() -> None:
    constraints = Constraints(untouched=["age"], min_people=150)
    exact = FINE.replacing(Untouched(AGE))
    found = brought_to(constraints, exact, TRAIN)
    assert found["age"].untouched
    assert found["job"].size < exact["job"].size
    assert broken(constraints, found, TRAIN) == []


def test_what_merging_can_mend_is_mended() -> None:
    constraints = Constraints(suppressed=["sex"], min_people=150)
    found = brought_to(constraints, FINE, TRAIN)
    assert broken(constraints, found, TRAIN) == []
    assert found.is_coarser_than(FINE)
    assert found["sex"].suppressed


def proposed(grid: Grid, constraints: Constraints) -> Pool:
    train = records().split(0).train
    return pooled([ask(source, train, constraints) for source in grid.sources()], train)


def test_candidates_of_every_minimizer_hold_to_the_constraints() -> None:
    constraints = Constraints(edges={"age": [40]}, suppressed=["town"], min_people=20)
    names = ("pat", "optimal", "coarsening", "recommended", "uniform", "iterative")
    found = proposed(Grid(entries=tuple(Entry(minimizer=n) for n in names)), constraints)
    assert found.dropped > 0
    assert {"optimal", "coarsening"} & {candidate.minimizer for candidate in found.candidates}
    for candidate in found.candidates:
        assert broken(constraints, candidate.generalization, TRAIN) == []


def test_constraints_that_nothing_keeps_are_told() -> None:
    grid = Grid(entries=(Entry(minimizer="uniform", parameters={"k": [2, 3]}),))
    with pytest.raises(DataError, match="all 2 candidates break the constraints"):
        proposed(grid, Constraints(edges={"age": [41]}))
