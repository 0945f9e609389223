from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Schema, Table
from leastwise.minimizers import at_least
from tests import oracles, strategies
from tests.minimizers.pat.samples import random_table
from tests.samples import LABEL, coded, named, unlabelled


def use_of_buckets(g: Generalization, table: Table) -> list[np.ndarray]:
    return [
        np.bincount(mapping, weights=table.use(j), minlength=partition.size)
        for j, (mapping, partition) in enumerate(zip(table.bucket_maps(g), g.partitions, strict=True))
    ]


def joint_use(g: Generalization, table: Table) -> np.ndarray:
    _, bucket = np.unique(table.generalize(g), axis=0, return_inverse=True)
    return np.bincount(bucket.ravel(), weights=table.counts)


@given(table=strategies.tables(weights=True), floor=st.integers(0, 40), data=st.data())
@settings(deadline=None)
def test_no_bucket_is_used_by_fewer_and_the_result_is_coarser(
    table: Table, floor: int, data: st.DataObject
) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    found = at_least(g, table, bucket=floor)
    assert found.is_coarser_than(g)
    for partition, use in zip(found.partitions, use_of_buckets(found, table), strict=True):
        assert partition.suppressed or use.min() >= floor


@given(table=strategies.tables(weights=True), floor=st.integers(0, 40), data=st.data())
@settings(deadline=None)
def test_no_joint_bucket_is_used_by_fewer(table: Table, floor: int, data: st.DataObject) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    found = at_least(g, table, joint=floor)
    assert found.is_coarser_than(g)
    assert not found.collected or joint_use(found, table).min() >= floor


@given(table=strategies.tables(), share=st.floats(0.01, 0.99))
@settings(deadline=None)
def test_a_share_is_of_all_people(table: Table, share: float) -> None:
    g = at_least(Generalization.untouched(table.schema), table, bucket=share)
    for partition, use in zip(g.partitions, use_of_buckets(g, table), strict=True):
        assert partition.suppressed or use.min() >= share * len(table)


@pytest.mark.parametrize("seed", range(4))
def test_values_of_every_kind_merge(seed: int) -> None:
    table = random_table(seed, rows=300, classes=2 + seed % 2)
    start = Generalization.untouched(table.schema)
    found = at_least(start, table, bucket=25)
    assert found.is_coarser_than(start)
    assert all(use.min() >= 25 for use in use_of_buckets(found, table))
    assert found.collected
    joint = at_least(start, table, joint=10)
    assert joint_use(joint, table).min() >= 10


def test_what_meets_the_floor_is_left_alone() -> None:
    table = random_table(0, rows=300)
    g = at_least(Generalization.untouched(table.schema), table, bucket=25)
    assert at_least(g, table, bucket=25) is not g
    assert at_least(g, table, bucket=25) == g
    assert at_least(g, table) == g


def one_attribute(counts: dict[str, tuple[int, int]]) -> tuple[Table, Generalization]:
    schema = Schema((Attribute("a", values=tuple(counts)),), LABEL)
    codes = np.concatenate([np.full(sum(pair), v) for v, pair in enumerate(counts.values())])
    labels = np.concatenate([np.repeat([0, 1], pair) for pair in counts.values()])
    return coded(schema, codes, labels=labels), Generalization.untouched(schema)


def test_the_pair_that_costs_the_least_is_merged() -> None:
    # c is too small; its label is like a's.
    table, g = one_attribute({"a": (40, 10), "b": (10, 40), "c": (4, 1)})
    assert at_least(g, table, bucket=10)["a"].labels == ("a or c", "b")


def test_a_bucket_that_nobody_uses_is_merged_at_no_cost() -> None:
    table, g = one_attribute({"a": (40, 10), "b": (10, 40), "c": (0, 0)})
    assert at_least(g, table, bucket=1)["a"].size == 2
    assert at_least(g, table, bucket=0)["a"].size == 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("alpha", [0.0, 0.5, 0.9])
def test_the_first_merge_is_the_best_of_all_pairs(seed: int, alpha: float) -> None:
    table = random_table(seed, rows=80)
    town = table.schema.position("town")
    start = Generalization.of([Groups(table.schema["town"], tuple(range(7)))], table.schema.attributes)
    start = Generalization(start.partitions, table.schema.label)
    found = at_least(start, table, bucket=1, alpha=alpha)["town"]  # two values that nobody has join for nothing
    assert found.size == 5
    use = table.use(town)
    rarest = int(np.argmin(np.where(use > 0, use, np.inf)))
    merged = at_least(start, table, bucket=float(use[rarest]) + 0.5, alpha=alpha)["town"]
    if merged.size != 4 or (use == use[rarest]).sum() > 1:
        return
    rows = np.arange(len(table))

    def cost(other: int) -> float:
        inside = rows[np.isin(table.codes[:, town], [rarest, other])]
        return oracles.gain(table, inside, town, {rarest}, alpha)

    others = [v for v in range(5) if v != rarest]
    partner = next(v for v in others if merged.assignment[v] == merged.assignment[rarest])
    assert cost(partner) == pytest.approx(min(cost(v) for v in others))


def test_intervals_merge_with_neighbours_and_missing_with_any() -> None:
    age = Attribute("age", "continuous", lower=0, integer=True, missing=True)
    schema = Schema((age,), LABEL)
    # 0 has few people whose label is like 20's; only 10 is beside it. Missing is like 20 and may join it.
    counts = {0: (3, 0), 1: (5, 45), 2: (45, 5), 3: (9, 1)}
    codes = np.concatenate([np.full(sum(pair), v) for v, pair in counts.items()])
    labels = np.concatenate([np.repeat([0, 1], pair) for pair in counts.values()])
    table = coded(schema, codes, labels=labels, numbers={"age": [0, 10, 20]})
    g = Generalization((Intervals(age, (5, 15)),), schema.label)
    assert at_least(g, table, bucket=12)["age"].labels == ("0 to 15", "16 or more or missing")
    edges = at_least(g, table, bucket=4)["age"].edges  # type: ignore[attr-defined]
    assert set(edges) <= {5.0, 15.0}


def test_fewer_people_than_the_floor_suppress_everything() -> None:
    table = random_table(0, rows=20)
    for how in ({"bucket": 50}, {"joint": 50}):
        assert not at_least(Generalization.untouched(table.schema), table, **how).collected


def test_records_without_a_label_can_be_brought_to_a_floor() -> None:
    table = unlabelled(random_table(1))
    g = at_least(Generalization.untouched(table.schema), table, joint=5)
    assert joint_use(g, table).min() >= 5


@pytest.mark.parametrize(("how", "said"), [({"bucket": -1}, "per bucket"), ({"joint": -1}, "per joint")])
def test_a_negative_floor_is_refused(how: dict[str, float], said: str) -> None:
    table = random_table(0)
    with pytest.raises(ParameterError, match=said):
        at_least(Generalization.untouched(table.schema), table, **how)  # type: ignore[arg-type]


def test_merging_is_the_same_whatever_the_order_of_the_records() -> None:
    table = random_table(2, rows=200)
    shuffled = table.take(np.random.default_rng(0).permutation(200))
    start = Generalization.untouched(table.schema)
    for how in itertools.chain([{"bucket": 20}, {"joint": 8}]):
        assert at_least(start, table, **how) == at_least(start, shuffled, **how)


@pytest.mark.parametrize("kind", ["continuous", "discrete"])
@pytest.mark.parametrize("how", [{"bucket": 3}, {"joint": 3}])
def test_thousands_of_values_merge_too(kind: str, how: dict[str, float]) -> None:
    random = np.random.default_rng(0)
    attribute = named("a", 5000) if kind == "discrete" else Attribute("a", "continuous", missing=True)
    codes = np.minimum(random.integers(0, 5200, 6000), 4999)
    table = coded(Schema((attribute,), LABEL), codes, labels=codes % 2, numbers={"a": range(4999)})
    start = Generalization.untouched(table.schema)
    found = at_least(start, table, **how)
    assert found.is_coarser_than(start)
    assert joint_use(found, table).min() >= 3
    assert 300 < found["a"].size <= 1002


def test_thousands_of_values_that_meet_the_floor_are_left_alone() -> None:
    schema = Schema((named("a", 1500),), LABEL)
    table = coded(schema, np.repeat(np.arange(1500), 3), labels=np.zeros(4500))
    start = Generalization.untouched(schema)
    assert at_least(start, table, bucket=3) == start
    assert at_least(start, table, joint=3) == start


def test_an_interval_beyond_all_numbers_of_the_sample_is_merged_too() -> None:
    age = Attribute("age", "continuous", integer=True)
    codes = np.repeat([0, 1], 20)
    table = coded(Schema((age,), LABEL), codes, labels=codes, numbers={"age": [10, 20]})
    g = Generalization((Intervals(age, (15, 90)),), table.schema.label)
    assert at_least(g, table, bucket=5)["age"].labels == ("15 or less", "16 or more")
