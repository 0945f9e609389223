from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, ParameterError, Schema, Table
from leastwise.minimizers.pat import PATTree, grow_tree
from leastwise.minimizers.pat.growth import Expansion, Grower
from leastwise.minimizers.pat.tree import (
    Split,
    Values,
    effects,
    generalization,
    nearest,
    place_absent,
    refined,
    sides,
)
from leastwise.minimizers.pgini import Criterion
from tests import strategies
from tests.minimizers.pat.samples import random_table
from tests.samples import coded

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
    for j, mapping in enumerate(table.bucket_maps(generalization(tree))):
        for i in range(len(codes)):
            others[i, j] = random.choice(np.flatnonzero(mapping == mapping[codes[i, j]]))
    assert len(tree.splits) > 3
    assert (tree.leaf_of_codes(codes) == tree.leaf_of_codes(others)).all()


@pytest.mark.parametrize("seed", SEEDS[:4])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_a_raw_record_and_its_generalized_record_reach_the_same_leaf(seed: int, data: st.DataObject) -> None:
    _, tree = tree_once(seed)
    g = generalization(tree)
    record = {a.name: data.draw(strategies.values(a), label=a.name) for a in tree.schema.attributes}
    seen = {}
    for partition in g.partitions:
        name = partition.attribute.name
        bucket = partition.bucket(record[name])
        only_other = partition.other_bucket == bucket and partition.assignment.count(bucket) == 1
        seen[name] = record[name] if only_other else partition.representative(bucket)
    assert tree.leaf_of(record) == tree.leaf_of(seen)


tree_once = cache(tree_of)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_numbers_on_an_edge_go_left_in_the_tree_and_in_the_table(seed: int) -> None:
    table, tree = tree_once(seed)
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
    table = coded(Schema(attributes, Attribute("y", values=("n", "p"))), region, town, labels=label)
    tree = grow_tree(table, 0.0, 4, min_leaf=20)
    assert [split.attribute for split in tree.splits] == [0, 1, 1]
    # Nobody lives in town 4: it has the mean effect and goes with 1 and 2, whichever half asks first.
    assert table.bucket_maps(generalization(tree))[1].tolist() == [0, 1, 1, 2, 1]


def test_a_tree_has_at_least_one_leaf() -> None:
    _, tree = tree_once(0)
    with pytest.raises(ParameterError, match="at least 1 leaf"):
        tree.prefix(0)
    assert tree.prefix(1).leaves == (0,)


NOTHING = np.array([], dtype=float)


def together(size: int) -> np.ndarray:
    return np.zeros(size, dtype=int)


def codes(*some: int) -> np.ndarray:
    return np.array(some, dtype=int)


def test_an_absent_value_goes_with_its_bucket_when_the_split_does_not_divide_it() -> None:
    # Buckets {0, 1, 2} and {3, 4}; the node has 0, 1 (left) and 3 (right). By effect 2 would go right.
    values = Values(NOTHING, np.array([0.1, 0.2, 0.9, 0.9, 0.1]))
    goes = sides(values, codes(0, 0, 0, 1, 1), codes(0, 1), codes(3))
    assert goes.tolist() == [True, True, True, False, False]


def test_an_absent_value_of_a_divided_bucket_goes_with_the_nearest_by_effect_of_that_bucket() -> None:
    # 3 is nearest to 4, but 4 is in another bucket: of its own bucket 1 is nearest.
    values = Values(NOTHING, np.array([0.1, 0.5, 0.9, 0.7, 0.69]))
    goes = sides(values, codes(0, 0, 0, 0, 1), codes(0, 4), codes(1))
    assert goes.tolist() == [True, False, False, False, True]


def test_a_bucket_absent_as_a_whole_stays_whole() -> None:
    # The bucket {2, 3} has the mean effect 0.6: nearest is 1, though 2 alone would go left.
    values = Values(NOTHING, np.array([0.1, 0.7, 0.2, 1.0]))
    goes = sides(values, codes(0, 0, 1, 1), codes(0), codes(1))
    assert goes.tolist() == [True, False, False, False]


def test_two_values_that_no_split_separated_on_data_share_a_bucket() -> None:
    """Absent is "don't care", not a third side: three nodes that each see two of four values need two buckets."""
    values = Values(NOTHING, np.array([0.1, 0.2, 0.8, 0.9]))
    buckets = together(4)
    for left, right in [((0,), (2,)), ((1,), (2,)), ((0, 1), (3,))]:
        buckets = refined(buckets, sides(values, buckets, codes(*left), codes(*right)))
    assert buckets.tolist() == [0, 0, 1, 1]


def test_a_cut_is_in_the_middle_of_the_gap() -> None:
    values = Values(np.array([0.0, 10, 20, 30, 100]), np.zeros(5))
    assert sides(values, together(5), codes(0), codes(4)).tolist() == [True, True, True, True, False]
    assert sides(values, together(5), codes(0, 1), codes(2)).tolist() == [True, True, False, False, False]


def test_a_cut_that_is_there_already_is_used_again() -> None:
    values = Values(np.array([0.0, 10, 20, 30, 100]), np.zeros(5))
    goes = sides(values, codes(0, 0, 1, 1, 1), codes(0), codes(4))
    assert goes.tolist() == [True, True, False, False, False]
    nearer = sides(values, codes(0, 1, 1, 2, 2), codes(0), codes(4))
    assert nearer.tolist() == [True, True, True, False, False]


def test_missing_goes_with_its_interval_and_by_effect_where_that_is_cut() -> None:
    values = Values(np.array([0.0, 10, 20]), np.array([0.1, 0.2, 0.8, 0.7]))
    assert sides(values, together(4), codes(0), codes(1)).tolist() == [True, False, False, False]
    apart = codes(0, 0, 0, 1)  # missing has a bucket of its own
    assert sides(values, apart, codes(0, 3), codes(1)).tolist() == [True, False, False, True]
    assert sides(values, apart, codes(1), codes(2)).tolist() == [True, True, False, False]


def test_where_nobody_gave_a_number_all_numbers_go_one_way() -> None:
    values = Values(np.array([0.0, 10, 20]), np.array([0.1, 0.2, 0.3, 0.9, 0.15]))
    goes = sides(values, codes(0, 1, 1, 2, 3), codes(3), codes(4))  # missing goes left, other right
    assert goes.tolist() == [False, False, False, True, False]


def test_effects_are_mean_labels_and_the_overall_mean_for_a_value_that_nobody_has() -> None:
    assert effects(np.array([[3, 1], [0, 0], [1, 3]])).tolist() == [0.25, 0.5, 0.75]
    assert effects(np.array([[3], [4]])).tolist() == [0, 0]


def test_effects_of_three_classes_follow_the_direction_in_which_they_vary() -> None:
    found = effects(np.array([[8.0, 1, 1], [1, 8, 1], [0, 0, 0], [4.5, 4.5, 1]]))
    assert found[2] == pytest.approx(found[3])
    assert min(found[:2]) < found[3] < max(found[:2])


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=8),
    st.lists(st.floats(-1, 2), min_size=1, max_size=8),
)
def test_nearest_is_the_nearest(known: list[float], asked: list[float]) -> None:
    effects_, models = np.array(known), np.arange(len(known))[::-1]
    found = nearest(effects_, models, np.array(asked))
    for question, model in zip(asked, found, strict=True):
        assert abs(known[model] - question) == min(abs(k - question) for k in known)


@given(st.data())
def test_present_values_keep_their_side_and_only_divided_buckets_are_divided(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 8))
    marks = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    buckets = np.unique(marks, return_inverse=True)[1]
    fate = data.draw(st.lists(st.sampled_from("LRA"), min_size=size, max_size=size))
    left, right = ([v for v in range(size) if fate[v] == side] for side in "LR")
    values = Values(NOTHING, np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))))
    if not left or not right:
        return
    goes = sides(values, buckets, codes(*left), codes(*right))
    assert goes[left].all()
    assert not goes[right].any()
    for bucket in set(buckets.tolist()):
        here = {fate[v] for v in range(size) if buckets[v] == bucket}
        if not {"L", "R"} <= here:
            assert len(set(goes[buckets == bucket].tolist())) == 1
