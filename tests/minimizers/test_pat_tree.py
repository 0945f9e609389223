from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import ParameterError, Table
from leastwise.minimizers.pat import PATTree, grow_tree
from leastwise.minimizers.pat.export import bucket_maps, generalization
from tests import strategies
from tests.minimizers.pat_samples import random_table

SEEDS = range(8)


def tree_of(seed: int, alpha: float = 0.1, leaves: int = 15, **how: object) -> tuple[Table, PATTree]:
    table = random_table(seed, rows=150, **how)  # type: ignore[arg-type]
    return table, grow_tree(table, alpha, leaves, min_leaf=4)


def any_codes(table: Table, random: np.random.Generator, rows: int = 300) -> np.ndarray:
    """Records of the whole domain: also values and combinations that nobody has."""
    return np.stack([random.integers(0, size, rows) for size in table.sizes], axis=1)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_record_and_every_record_with_the_same_buckets_reach_the_same_leaf(seed: int, classes: int) -> None:
    table, tree = tree_of(seed, classes=classes)
    random = np.random.default_rng(seed)
    codes = any_codes(table, random)
    others = np.empty_like(codes)
    for j, mapping in enumerate(bucket_maps(tree)):
        for i in range(len(codes)):
            others[i, j] = random.choice(np.flatnonzero(mapping == mapping[codes[i, j]]))
    assert len(tree.splits) > 3
    assert (tree.leaf_of_codes(codes) == tree.leaf_of_codes(others)).all()


@pytest.mark.parametrize("seed", SEEDS[:4])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_raw_record_and_its_generalized_record_reach_the_same_leaf(seed: int, data: st.DataObject) -> None:
    _, tree = TREES[seed]
    g = generalization(tree)
    record = {a.name: data.draw(strategies.values(a), label=a.name) for a in tree.schema.attributes}
    seen = {}
    for partition in g.partitions:
        name = partition.attribute.name
        bucket = partition.bucket(record[name])
        only_other = partition.other_bucket == bucket and partition.assignment.count(bucket) == 1
        seen[name] = record[name] if only_other else partition.representative(bucket)
    assert tree.leaf_of(record) == tree.leaf_of(seen)


TREES = {seed: tree_of(seed) for seed in SEEDS[:4]}


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_numbers_on_an_edge_go_left_in_the_tree_and_in_the_table(seed: int) -> None:
    table, tree = TREES[seed]
    codes = any_codes(table, np.random.default_rng(1), 1)[0]
    base = {
        a.name: None if code >= len(level) else level[code]
        for a, level, code in zip(table.schema.attributes, table.levels, codes, strict=True)
        if not (a.other and code == len(level) + a.missing)
    }
    g = generalization(tree)
    for name in ("age", "pay"):
        for edge in getattr(g[name], "edges", ()):
            above = edge + 1 if name == "age" else np.nextafter(edge, np.inf)
            assert g[name].bucket(edge) + 1 == g[name].bucket(above)
            on_edge, inside = {**base, name: edge}, {**base, name: g[name].representative(g[name].bucket(edge))}
            assert tree.leaf_of(on_edge) == tree.leaf_of(inside)


@pytest.mark.parametrize("seed", SEEDS)
def test_raw_and_encoded_records_reach_the_same_leaf(seed: int) -> None:
    table, tree = tree_of(seed)
    codes = any_codes(table, np.random.default_rng(seed), 40)
    leaves = tree.leaf_of_codes(codes)
    for row, leaf in zip(codes, leaves, strict=True):
        record = {
            a.name: level[code] if code < len(level) else None
            for a, level, code in zip(table.schema.attributes, table.levels, row, strict=True)
        }
        if row[2] != len(table.levels[2]) + 1:  # "other" has no raw value of its own
            assert tree.leaf_of(record) == leaf


@pytest.mark.parametrize("seed", SEEDS)
def test_people_and_leaves_agree_with_the_records(seed: int) -> None:
    table, tree = tree_of(seed, weights="whole")
    leaves = tree.leaf_of_codes(table.codes)
    assert set(leaves.tolist()) == set(tree.leaves)
    for leaf in tree.leaves:
        held = np.bincount(table.y[leaves == leaf], weights=table.counts[leaves == leaf], minlength=2)
        assert held.tolist() == tree.people(leaf).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_prefix_is_the_smaller_tree_absent_values_included_and_asks_less(seed: int) -> None:
    table, tree = tree_of(seed)
    codes = any_codes(table, np.random.default_rng(seed))
    finer = generalization(tree)
    for leaves in range(len(tree.splits) + 1, 0, -1):
        small = grow_tree(table, 0.1, leaves, min_leaf=4)
        assert (small.leaf_of_codes(codes) == tree.prefix(leaves).leaf_of_codes(codes)).all()
        coarser = generalization(small)
        assert coarser == generalization(tree.prefix(leaves))
        assert coarser.is_coarser_than(finer)
        finer = coarser
    assert not finer.collected


def test_the_buckets_are_no_more_than_the_data_separate() -> None:
    """No two neighbouring intervals, and no bucket, could be merged without changing the tree's answers."""
    for seed in SEEDS:
        table, tree = tree_of(seed)
        for j, mapping in enumerate(bucket_maps(tree)):
            rules = [split.goes_left for split in tree.splits if split.attribute == j]
            answers = [tuple(bool(rule[code]) for rule in rules) for code in range(table.sizes[j])]
            assert len(set(mapping.tolist())) == len(set(answers))


def test_a_tree_has_at_least_one_leaf() -> None:
    _, tree = TREES[0]
    with pytest.raises(ParameterError, match="at least 1 leaf"):
        tree.prefix(0)
    assert tree.prefix(1).leaves == (0,)
