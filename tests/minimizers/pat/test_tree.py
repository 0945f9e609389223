from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, ParameterError, Schema, Table
from leastwise.minimizers.pat import PATTree, grow_tree
from leastwise.minimizers.pat.growth import Expansion, Grower
from leastwise.minimizers.pat.tree import Split, bucket_maps, generalization, place_absent, refined
from leastwise.minimizers.pgini import Criterion
from tests import strategies
from tests.minimizers.pat.samples import random_table

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


def grown_and_placed(table: Table, alpha: float, leaves: int) -> list[tuple[Expansion, Split]]:
    grower = Grower(table, Criterion.of(table), [alpha], 4)
    expansions = grower.grow(0, leaves)
    return list(zip(expansions, place_absent(expansions, grower.values(table)), strict=True))


@pytest.mark.parametrize("seed", [*SEEDS, 18, 19])
@pytest.mark.parametrize("discrete", [5, 12])
def test_a_bucket_is_divided_only_where_the_data_of_the_node_separate_its_values(seed: int, discrete: int) -> None:
    """Numbers go by their order: an absent one may have to leave the "missing" or "other" that the node has."""
    table = random_table(seed, rows=600, classes=2 + seed % 2, discrete=discrete)
    buckets = [np.zeros(size, dtype=int) for size in table.sizes]
    for expansion, split in grown_and_placed(table, 0.1, 40):
        j = expansion.attribute
        present = {*expansion.left.tolist(), *expansion.right.tolist()}
        for bucket in set(buckets[j].tolist()):
            values = set(np.flatnonzero(buckets[j] == bucket).tolist())
            divided = len(set(split.goes_left[list(values)].tolist())) == 2
            separated = values & set(expansion.left.tolist()) and values & set(expansion.right.tolist())
            assert divided or not separated
            ordered = table.schema.attributes[j].kind != "discrete"
            extras = {code for code in values if code >= len(table.levels[j])}
            assert not divided or separated or (ordered and extras & present)
        buckets[j] = refined(buckets[j], split.goes_left)
    assert sum(mapping.max() for mapping in buckets) > 5


def test_values_that_no_node_has_both_of_stay_together() -> None:
    """Each half of the country divides its own two towns: three buckets, since no node has seen both 1 and 2."""
    shares = [0.0, 0.3, 0.7, 1.0]
    rows = [(town // 2, town, int(k < 50 * shares[town])) for town in range(4) for k in range(50)]
    region, town, label = np.array(rows, dtype=np.uint8).T
    attributes = (Attribute("region", values=("n", "s")), Attribute("town", values=("0", "1", "2", "3", "4")))
    levels = tuple(np.asarray(attribute.values, dtype=object) for attribute in attributes)
    schema = Schema(attributes, Attribute("y", values=("n", "p")))
    table = Table(schema, np.asfortranarray(np.stack([region, town], axis=1)), levels, label)
    tree = grow_tree(table, 0.0, 4, min_leaf=20)
    assert [split.attribute for split in tree.splits] == [0, 1, 1]
    # Nobody lives in town 4: it has the mean effect and goes with 1 and 2, whichever half asks first.
    assert bucket_maps(tree)[1].tolist() == [0, 1, 1, 2, 1]


def test_a_tree_has_at_least_one_leaf() -> None:
    _, tree = TREES[0]
    with pytest.raises(ParameterError, match="at least 1 leaf"):
        tree.prefix(0)
    assert tree.prefix(1).leaves == (0,)
