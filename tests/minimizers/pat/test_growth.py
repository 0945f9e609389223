from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from leastwise import Attribute, Schema, Table
from leastwise.minimizers.pat.growth import CountedRows, Expansion, Grower, TableStore
from leastwise.minimizers.pgini import Criterion
from tests import oracles
from tests.minimizers.pat.samples import random_table, repeated
from tests.samples import LABEL, coded, named

SEEDS = range(6)


def grown(
    table: Table, alpha: float, leaves: int = 8, min_leaf: float = 5, weights: dict[str, float] | None = None
) -> list[Expansion]:
    return Grower(table, Criterion.of(table, weights), [alpha], min_leaf).grow(0, leaves)


def rows_of_nodes(table: Table, expansions: list[Expansion]) -> dict[int, np.ndarray]:
    rows = {0: np.arange(len(table))}
    for number, split in enumerate(expansions):
        inside = rows[split.node]
        left = np.isin(table.codes[inside, split.attribute], split.left)
        rows[2 * number + 1], rows[2 * number + 2] = inside[left], inside[~left]
    return rows


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.5])
def test_every_split_is_the_best_among_the_orders_tried(seed: int, classes: int, alpha: float) -> None:
    table = random_table(seed, rows=40, classes=classes, weights=("none", "whole", "real")[seed % 3])
    weights = {"sex": 2.5} if seed % 2 else None
    expansions = grown(table, alpha, 6, 4, weights)
    rows = rows_of_nodes(table, expansions)
    assert expansions or alpha == 0.5
    for split in expansions:
        inside = rows[split.node]
        truth = oracles.gain(table, inside, split.attribute, set(split.left.tolist()), alpha, weights)
        assert split.gain == pytest.approx(truth)
        assert split.gain == pytest.approx(oracles.best_gain(table, inside, alpha, 4, weights))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_leaf_of_the_largest_gain_is_split_first_and_what_gains_nothing_stays_a_leaf(seed: int) -> None:
    table, alpha = random_table(seed, rows=40), 0.3
    expansions = grown(table, alpha, 6, 4)
    rows = rows_of_nodes(table, expansions)
    best = {node: oracles.best_gain(table, inside, alpha, 4) for node, inside in rows.items()}
    leaves = {0}
    for number, split in enumerate(expansions):
        assert best[split.node] == pytest.approx(max(best[leaf] for leaf in leaves))
        leaves = leaves - {split.node} | {2 * number + 1, 2 * number + 2}
    if len(expansions) < 5:
        assert all(best[leaf] <= 1e-9 for leaf in leaves)


def discrete_table(seed: int, values: int) -> Table:
    random = np.random.default_rng(seed)
    codes = random.integers(0, values, 50)
    return coded(Schema((named("a", values),), LABEL), codes, labels=random.random(50) < codes % 3 / 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_for_alpha_0_and_two_classes_no_subset_of_the_values_is_better(seed: int) -> None:
    table = discrete_table(seed, 7)
    expansions = grown(table, 0.0, 20, 1)
    rows = rows_of_nodes(table, expansions)
    assert expansions
    for split in expansions:
        assert split.gain == pytest.approx(oracles.best_subset_gain(table, rows[split.node], 0, 0.0))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_for_alpha_0_and_numbers_the_gains_are_those_of_scikit_learn_s_tree(seed: int, classes: int) -> None:
    random = np.random.default_rng(seed)
    X = random.normal(size=(500, 4))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=500), np.linspace(-1, 1, classes + 1)[1:-1])
    attributes = tuple(Attribute(f"x{j}", "continuous") for j in range(4))
    levels, columns = zip(*(np.unique(column, return_inverse=True) for column in X.T), strict=True)
    schema = Schema(attributes, Attribute("y", values=tuple(map(str, range(classes)))))
    table = coded(schema, *columns, labels=y, numbers=dict(zip(schema.names, levels, strict=True)))
    model = DecisionTreeClassifier(max_leaf_nodes=12, min_samples_leaf=20, random_state=0).fit(X, y).tree_
    weighted = model.impurity * model.n_node_samples
    inner = np.flatnonzero(model.children_left >= 0)
    theirs = weighted[inner] - weighted[model.children_left[inner]] - weighted[model.children_right[inner]]
    ours = [split.gain * (classes - 1) / classes for split in grown(table, 0.0, 12, 20)]
    assert sorted(ours) == pytest.approx(sorted(theirs))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_smaller_tree_is_the_beginning_of_a_larger_one(seed: int) -> None:
    table = random_table(seed, rows=200)
    large = grown(table, 0.3, 20)
    for leaves in (1, 2, 5, 11):
        assert same(grown(table, 0.3, leaves), large[: leaves - 1])


def same(one: list[Expansion], two: list[Expansion]) -> bool:
    def facts(split: Expansion) -> tuple[object, ...]:
        return (split.node, split.attribute, split.left.tolist(), split.right.tolist(), round(split.gain, 6))

    return [facts(split) for split in one] == [facts(split) for split in two]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_records_does_not_matter(seed: int) -> None:
    table = random_table(seed, rows=200)
    shuffled = table.take(np.random.default_rng(seed).permutation(len(table)))
    assert same(grown(table, 0.4), grown(shuffled, 0.4))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_row_of_three_people_is_three_rows(seed: int) -> None:
    table = random_table(seed, rows=100, weights="whole")
    assert same(grown(table, 0.4), grown(repeated(table), 0.4))
    halved = replace(table, weights=table.weights / 2)
    doubled = [split._replace(gain=2 * split.gain) for split in grown(halved, 0.4, min_leaf=2.5)]
    assert same(grown(table, 0.4), doubled)


@pytest.mark.parametrize("seed", SEEDS)
def test_renaming_values_renames_the_splits_and_nothing_else(seed: int) -> None:
    # Weights that are no whole numbers leave no ties, which alone may depend on the names.
    table = random_table(seed, rows=150, weights="real", extras=False)
    job = table.schema.position("job")
    new_code = np.random.default_rng(seed).permutation(table.sizes[job]).astype(np.uint8)
    codes = table.codes.copy(order="F")
    codes[:, job] = new_code[codes[:, job]]
    ours, theirs = grown(table, 0.3, 12), grown(replace(table, codes=codes), 0.3, 12)
    renamed = [
        split._replace(left=np.sort(new_code[split.left]), right=np.sort(new_code[split.right]))
        if split.attribute == job
        else split
        for split in ours
    ]
    assert same(renamed, theirs)


def test_several_alphas_grow_together_as_each_alone() -> None:
    table = random_table(3, rows=400)
    alphas = [0.0, 0.2, 0.4, 0.6]
    together = Grower(table, Criterion.of(table), alphas, 5)
    for which, alpha in enumerate(alphas):
        assert same(together.grow(which, 15), grown(table, alpha, 15))


def test_nothing_is_kept_when_there_is_no_room_and_the_tree_is_the_same() -> None:
    table = random_table(4, rows=3000)
    roomy, bare = (Grower(table, Criterion.of(table), [0.2], 5) for _ in range(2))
    bare._store = TableStore(budget=0)
    assert same(bare.grow(0, 20), roomy.grow(0, 20))
    assert roomy._store._tables
    assert not bare._store._tables


def without_subtraction(table: Table, monkeypatch: pytest.MonkeyPatch) -> list[Expansion]:
    with monkeypatch.context() as patched:
        patched.setattr(Grower, "_by_subtraction", lambda *_: None)
        return grown(table, 0.1, 30, 50)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("seed", range(2))
def test_only_values_that_somebody_has_are_present_and_subtracting_changes_nothing(
    seed: int, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real weights would leave a rest where nobody is, were their tables subtracted."""
    table = random_table(seed, rows=20_000, weights=weights)
    expansions = grown(table, 0.1, 30, 50)
    rows = rows_of_nodes(table, expansions)
    assert len(expansions) == 29
    for split in expansions:
        here = np.unique(table.codes[rows[split.node], split.attribute])
        assert np.union1d(split.left, split.right).tolist() == here.tolist()
    assert same(expansions, without_subtraction(table, monkeypatch))


def test_the_larger_of_two_siblings_is_found_by_subtraction(monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(0, rows=20_000, weights="whole")
    counted = []
    count = CountedRows.count
    monkeypatch.setattr(
        CountedRows, "count", lambda rows, members: counted.append(members) or count(rows, members)
    )
    grown(table, 0.1, 30, 50)
    by_subtraction = len(counted)
    counted.clear()
    without_subtraction(table, monkeypatch)
    assert 0 < by_subtraction < len(counted)


def test_min_leaf_counts_people_not_rows() -> None:
    table = random_table(5, rows=120, weights="whole")
    for split in grown(table, 0.1, 20, 30):
        assert min(split.left_classes.sum(), split.right_classes.sum()) >= 30
    assert grown(table, 0.1, 20, 30)


def test_all_privacy_asks_nothing_and_so_does_a_label_of_one_class() -> None:
    table = random_table(6)
    assert grown(table, 1.0) == []
    assert grown(replace(table, labels=np.zeros_like(table.y)), 0.0) == []


def test_a_split_that_exposes_more_than_it_tells_is_not_made() -> None:
    # The label follows sex exactly: at alpha = 0.4 the label is worth it, at 0.6 it is not.
    schema = Schema((Attribute("sex", values=("F", "M"), personal=True),), Attribute("y", values=("n", "p")))
    sex = np.repeat([0, 1], 50)
    table = coded(schema, sex, labels=sex)
    assert [split.gain for split in grown(table, 0.4)] == pytest.approx([0.2 * 100])
    assert grown(table, 0.6) == []
    assert len(grown(table, 0.6, weights={"sex": 0})) == 1


def test_orders_balance_every_personal_attribute_not_only_the_first() -> None:
    """Every prefix of the label's order parts the sexes; the order balanced for sex, the second one, does not."""
    rows = []
    for value, label_share, sex_share in [(0, 0.1, 0.0), (1, 0.5, 0.0), (2, 0.6, 1.0), (3, 0.95, 1.0)]:
        for k in range(40):
            rows.append((value, 0, int(k % 20 < 20 * sex_share), int(k < 40 * label_share)))
    codes = np.array(rows, dtype=np.uint8)
    attributes = (named("place", 4), named("first", 2, personal=True), named("sex", 2, personal=True))
    table = coded(Schema(attributes, LABEL), *codes.T[:3], labels=codes[:, 3])
    first = grown(table, 0.5, 2, 1)[0]
    assert first.attribute == 0
    sides = {frozenset(first.left.tolist()), frozenset(first.right.tolist())}
    assert sides == {frozenset({0, 2}), frozenset({1, 3})}


def test_more_than_512_values_are_no_limit() -> None:
    codes = np.repeat(np.arange(1300), 3)
    table = coded(Schema((named("job", 1300, personal=True),), LABEL), codes, labels=codes % 2)
    first = grown(table, 0.1, 2, 1)[0]
    assert first.left.tolist() == list(range(0, 1300, 2))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("wide", [("age", "pay"), ("job", "size"), ("town", "sex", "pay"), "all"])
def test_attributes_scanned_row_by_row_give_the_same_tree(
    classes: int, wide: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = random_table(7, rows=300, classes=classes, weights="real")  # no ties: wide attributes lose those
    expected = [grown(table, alpha, 15) for alpha in (0.0, 0.3)]
    flags = np.array([wide == "all" or name in wide for name in table.schema.names])
    monkeypatch.setattr("leastwise.minimizers.pat.growth.wide_attributes", lambda _: flags)
    assert all(same(grown(table, alpha, 15), splits) for alpha, splits in zip((0.0, 0.3), expected, strict=True))


@pytest.mark.parametrize("seed", SEEDS)
def test_splits_found_row_by_row_are_the_best_too(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = random_table(seed, rows=40, weights=("none", "whole")[seed % 2])
    monkeypatch.setattr("leastwise.minimizers.pat.growth.wide_attributes", lambda _: np.ones(6, dtype=bool))
    expansions = grown(table, 0.2, 6, 4)
    rows = rows_of_nodes(table, expansions)
    assert expansions
    for split in expansions:
        assert split.gain == pytest.approx(oracles.best_gain(table, rows[split.node], 0.2, 4))


def test_two_numbers_of_sixty_thousand_values_each_need_no_table_of_their_pairs() -> None:
    random = np.random.default_rng(0)
    hidden = random.random(60_000)
    columns = [np.argsort(np.argsort(hidden + random.random(60_000))) for _ in range(2)]
    schema = Schema((Attribute("a", "continuous"), Attribute("b", "continuous", personal=True)), LABEL)
    table = coded(schema, *columns, labels=hidden > 0.5, numbers=dict.fromkeys("ab", np.arange(60_000)))
    assert Grower(table, Criterion.of(table), [0.3], 100).rows.layout.length < 10 * len(table)
    assert len(grown(table, 0.3, 4, 100)) == 3


def test_without_personal_attributes_only_the_label_counts_and_nobody_is_no_error() -> None:
    table = random_table(8, rows=200)
    nobody_s = replace(table, schema=table.schema.with_personal(()))
    plain, halved = grown(nobody_s, 0.0), grown(nobody_s, 0.5)
    assert plain
    assert same(plain, [split._replace(gain=2 * split.gain) for split in halved])
    assert grown(table.take(np.arange(0)), 0.3) == []
