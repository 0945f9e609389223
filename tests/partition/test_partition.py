"""Laws of partitions: strict cover, refinement, coarsening; then hand-made cases."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leastwise import (
    ArtefactError,
    Attribute,
    Groups,
    Intervals,
    ParameterError,
    Partition,
    SchemaError,
    UnknownValueError,
    Untouched,
)
from leastwise.partition import edge_between, from_map, keep, suppress
from tests import strategies as own

AGE = Attribute("age", "continuous", lower=0, integer=True, missing=True)
COLOUR = Attribute("colour", values=("red", "green", "blue"), missing=True, other=True)
SIZE = Attribute("size", "ordinal", values=("S", "M", "L", "XL"))


@st.composite
def several(draw: st.DrawFn, count: int) -> list[Partition]:
    attribute = draw(own.attributes())
    return [draw(own.partitions(attribute)) for _ in range(count)]


@given(st.data())
def test_every_value_of_the_domain_lies_in_exactly_one_bucket(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    partition = data.draw(own.partitions(attribute))
    assume(not isinstance(partition, Untouched))
    value = data.draw(own.values(attribute))
    bucket = partition.bucket(value)
    assert 0 <= bucket < partition.size
    assert len(partition.labels) == partition.size == len(set(partition.labels))


@given(st.data())
def test_a_strange_value_goes_to_other_or_is_named(data: st.DataObject) -> None:
    attribute = data.draw(own.discrete_attributes())
    partition = data.draw(own.groups(attribute))
    assume(not partition.suppressed)
    strange = "".join(attribute.values) + "!"
    if attribute.other:
        assert partition.bucket(strange) == partition.other_bucket
    else:
        with pytest.raises(UnknownValueError, match="declares no 'other'"):
            partition.bucket(strange)
    with pytest.raises(UnknownValueError) as caught:
        partition.bucket(strange, unknown="error")
    assert caught.value.value == strange


@given(several(3))
def test_refinement_is_commutative_associative_and_idempotent(parts: list[Partition]) -> None:
    a, b, c = parts
    assert a.refine(b) == b.refine(a)
    assert a.refine(b).refine(c) == a.refine(b.refine(c))
    assert a.refine(a) == a


@given(several(2))
def test_both_are_coarser_than_their_refinement(parts: list[Partition]) -> None:
    a, b = parts
    fine = a.refine(b)
    assert a.is_coarser_than(fine)
    assert b.is_coarser_than(fine)
    assert a.is_coarser_than(b) == (fine == b)


@given(st.data())
def test_equal_buckets_of_the_refinement_mean_equal_buckets_of_both(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    a, b = data.draw(own.partitions(attribute)), data.draw(own.partitions(attribute))
    assume(not isinstance(a, Untouched) and not isinstance(b, Untouched))
    x, y = data.draw(own.values(attribute)), data.draw(own.values(attribute))
    fine = a.refine(b)
    together = a.bucket(x) == a.bucket(y) and b.bucket(x) == b.bucket(y)
    assert (fine.bucket(x) == fine.bucket(y)) == together


@given(st.data())
def test_suppression_is_coarsest_and_keeping_finest(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    partition = data.draw(own.partitions(attribute))
    assert suppress(attribute).is_coarser_than(partition)
    assert partition.is_coarser_than(keep(attribute))
    assert suppress(attribute).labels == ("any",)


@given(st.data())
def test_merging_two_buckets_gives_a_coarser_partition(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    partition = data.draw(own.partitions(attribute))
    assume(not isinstance(partition, Untouched) and partition.size > 1)
    second = data.draw(st.integers(1, partition.size - 1))
    merged = partition.merge(second - 1, second) if _neighbours(partition, second) else None
    assume(merged is not None)
    assert merged is not None
    assert merged.size == partition.size - 1
    assert merged.is_coarser_than(partition)
    assert not partition.is_coarser_than(merged)


def _neighbours(partition: Partition, second: int) -> bool:
    """Runs of an ordered attribute may be joined by "missing" to a run further away; those merges are refused."""
    if partition.attribute.kind == "discrete":
        return True
    ordered = (
        len(partition.edges) + 1 if isinstance(partition, Intervals) else len([g for g in partition.groups if g])
    )
    return second < ordered


@given(st.data())
def test_a_partition_read_off_its_own_map_is_the_same_on_the_levels(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    partition = data.draw(own.partitions(attribute))
    numbers = st.lists(own.values(attribute).filter(lambda v: v is not None and v == v), max_size=6, unique=True)
    levels = np.array(sorted(data.draw(numbers))) if attribute.continuous else np.array(attribute.values)
    assume(attribute.continuous or len(levels))
    buckets = partition.bucket_map(levels)
    again = from_map(attribute, levels, buckets)
    first = {}
    for mine, theirs in zip(buckets, again.bucket_map(levels), strict=True):
        assert first.setdefault(int(mine), int(theirs)) == theirs


@given(own.real, own.real, st.booleans())
def test_an_edge_separates_its_neighbours(a: float, b: float, integer: bool) -> None:
    low, high = sorted((math.floor(a), math.floor(b)) if integer else (a, b))
    assume(low < high and float(low) < float(high))
    edge = edge_between(float(low), float(high), integer)
    assert low <= edge < high
    assert not integer or edge == math.floor(edge)


@given(st.data())
def test_the_representative_is_a_member_of_its_bucket(data: st.DataObject) -> None:
    attribute = data.draw(own.attributes())
    partition = data.draw(own.partitions(attribute))
    assume(not isinstance(partition, Untouched))
    for bucket in range(partition.size):
        member = partition.representative(bucket)
        if member is not None:
            assert partition.bucket(member) == bucket
        else:
            assert bucket in (partition.missing_bucket, partition.other_bucket)


def test_a_value_on_an_edge_belongs_to_the_left() -> None:
    buckets = Intervals(AGE, (19, 63))
    assert [buckets.bucket(v) for v in (0, 19, 20, 63, 64, 1e308, math.inf, None, math.nan)] == [
        0,
        0,
        1,
        1,
        2,
        2,
        2,
        3,
        3,
    ]


def test_people_read_whole_numbers() -> None:
    assert Intervals(AGE, (19, 63)).labels == ("0 to 19", "20 to 63", "64 or more", "missing")
    pay = Attribute("pay", "continuous", lower=0, upper=1)
    assert Intervals(pay, (0.25, 0.5)).labels == ("0 to 0.25", "above 0.25, up to 0.5", "above 0.5, up to 1")


def test_people_read_groups_runs_and_their_own_labels() -> None:
    assert Groups.of(SIZE, [["S", "M", "L"], ["XL"]]).labels == ("S to L", "XL")
    named = Attribute("sex", values=("1", "2"), labels=("male", "female"))
    assert keep(named).labels == ("male", "female")
    assert Groups.of(COLOUR, [["red", None], ["green", "blue"]]).labels == (
        "red or missing",
        "green or blue",
        "other",
    )


def test_labels_that_would_collide_are_told_apart() -> None:
    tricky = Attribute("x", values=("a", "b", "a or b"))
    assert Groups.of(tricky, [["a", "b"], ["a or b"]]).labels == ("a or b", "a or b (2)")


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ((5, 3), "must ascend"),
        ((3, 3), "must ascend"),
        ((math.nan,), "finite"),
        ((math.inf,), "finite"),
        ((63.5,), "write 63 instead of 63.5"),
        ((-1,), "empty bucket"),
    ],
)
def test_edges_that_cannot_be_are_refused(edges: tuple[float, ...], words: str) -> None:
    with pytest.raises(ArtefactError, match=words):
        Intervals(AGE, edges)


def test_a_run_of_an_ordinal_attribute_has_no_holes() -> None:
    with pytest.raises(ArtefactError, match="run of neighbouring"):
        Groups.of(SIZE, [["S", "L"], ["M"], ["XL"]])


def test_intervals_merge_only_with_neighbours() -> None:
    with pytest.raises(ParameterError, match="neighbouring"):
        Intervals(AGE, (19, 63)).merge(0, 2)
    with pytest.raises(ParameterError, match="buckets 0 to 3"):
        Intervals(AGE, (19, 63)).merge(0, 4)


def test_partitions_of_different_attributes_do_not_mix() -> None:
    with pytest.raises(SchemaError, match="same attribute"):
        keep(SIZE).refine(keep(COLOUR))


def test_a_suppressed_attribute_is_not_looked_at() -> None:
    assert suppress(AGE).bucket("anything") == 0
    assert suppress(COLOUR).bucket("purple") == 0


def test_the_same_code_in_any_type_is_one_value() -> None:
    sex = keep(Attribute("sex", values=("1", "2")))
    assert {sex.bucket(v) for v in (2, 2.0, "2", np.int64(2), np.float32(2))} == {1}
    flag = keep(Attribute("flag", values=("false", "true")))
    assert [flag.bucket(v) for v in (True, np.False_)] == [1, 0]


def test_a_map_that_is_no_intervals_is_refused() -> None:
    with pytest.raises(ParameterError, match="must be intervals"):
        from_map(Attribute("x", "continuous"), np.array([1.0, 2.0, 3.0]), [0, 1, 0])
