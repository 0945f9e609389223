"""Paths under constraints: every member holds to them, and they end only where every further merge would not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization, Intervals, Table, Untouched
from leastwise.errors import ParameterError
from leastwise.minimizers import Constraints, coarsening_path, recommended_paths, restarted_paths
from leastwise.minimizers.constraints.checks import broken
from tests.samples import age_tells
from tests.strategies import tables


@st.composite
def parting(draw: st.DrawFn, table: Table) -> Constraints:
    """Constraints that merges can break: edges, values apart, attributes untouched."""
    edges, apart, untouched = {}, {}, []
    for attribute, levels in zip(table.schema.attributes, table.levels, strict=True):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            untouched.append(attribute.name)
        elif kind == 1 and attribute.continuous:
            inside = [float(x) for x in levels if attribute.upper is None or x < attribute.upper]
            edges[attribute.name] = (
                draw(st.lists(st.sampled_from(inside), max_size=2, unique=True)) if inside else []
            )
        elif kind == 2 and len(levels) > 1:
            values = [*levels.tolist(), *([None] if attribute.missing else [])]
            apart[attribute.name] = [draw(st.lists(st.sampled_from(values), max_size=3, unique=True))]
    return Constraints(edges=edges, apart=apart, untouched=untouched)


def merges(generalization: Generalization) -> Iterator[Generalization]:
    """Every generalization in which two buckets of one attribute are one, runs of ordered ones staying runs."""
    for partition in generalization.partitions:
        if isinstance(partition, Untouched):
            continue
        for a, b in itertools.combinations(range(partition.size), 2):
            marks = [a if bucket == b else bucket for bucket in range(partition.size)]
            try:
                yield generalization.replacing(partition.coarsen(marks))
            except ValueError:
                continue


@settings(deadline=None, max_examples=40)
@given(tables(max_rows=25), st.data())
def test_a_path_holds_to_its_constraints_and_goes_as_far_as_they_allow(table, data):
    constraints = data.draw(parting(table))
    path = coarsening_path(table, Generalization.untouched(table.schema), steps=None, constraints=constraints)
    for step in path:
        assert broken(constraints, step, table) == []
    for finer, coarser in itertools.pairwise(path):
        assert coarser.is_coarser_than(finer)
    assert all(broken(constraints, further, table) for further in merges(path[-1]))


EVERYTHING = Constraints(
    edges={"age": [17, 64]},
    together={"state": [["a", "b"]]},
    apart={"state": [["a", "c"]]},
    max_buckets={"age": 10},
    max_buckets_in_all=14,
    min_people=60,
    suppressed=["sex"],
)


def test_all_recommended_candidates_hold_to_all_kinds_of_constraints():
    table = age_tells()
    found = recommended_paths(table, constraints=EVERYTHING, steps=12)
    for candidate in found:
        assert broken(EVERYTHING, candidate, table) == []
    assert min(candidate.total_buckets for candidate in found) == 3 + 2 + 1
    assert max(candidate.total_buckets for candidate in found) > 6


def test_an_untouched_number_stays_untouched_to_the_end():
    table = age_tells()
    (path,) = restarted_paths(table, starts=(0.3,), constraints=Constraints(untouched=["age"]))[:1]
    assert all(isinstance(step["age"], Untouched) for step in path)
    assert path[-1].not_collected == ("state", "sex")


def test_an_untouched_number_is_parted_at_the_edges_that_must_stay():
    table = age_tells()
    path = coarsening_path(
        table, Generalization.untouched(table.schema), constraints=Constraints(edges={"age": [17.0, 98]})
    )
    assert all({17.0, 98.0} <= {*step["age"].edges} for step in path)
    assert path[-1]["age"] == Intervals(table.schema["age"], (17.0, 98.0))


def test_what_is_broken_is_said():
    table = age_tells()
    fine = Generalization.untouched(table.schema).replacing(Intervals(table.schema["age"], (17, 30, 78)))
    assert broken(EVERYTHING, fine, table) == [
        "age: the edge 64 is gone",
        "age: a bucket of fewer than 60 people",
        "state: ['a', 'b'] are not together",
        "sex: is not suppressed",
    ]
    assert broken(Constraints(max_buckets_in_all=11, max_buckets={"age": 3}), fine, table) == [
        "12 buckets in all, not 11",
        "age: 4 buckets, not 3",
    ]
    none = Generalization.suppressed(table.schema)
    assert broken(Constraints(untouched=["age"], apart={"state": [["a", "c"]]}), none, table) == [
        "age: is not untouched",
        "state: ['a', 'c'] are not apart",
    ]


def test_a_start_that_breaks_them_is_refused():
    table = age_tells()
    with pytest.raises(ParameterError, match=r"start of a path must hold.*sex: is not suppressed.*optimal_path"):
        coarsening_path(table, Generalization.untouched(table.schema), constraints=Constraints(suppressed=["sex"]))
