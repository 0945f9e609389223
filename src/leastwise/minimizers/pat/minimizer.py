"""The minimizer, the path of all leaf numbers of one growth, and the grid of several alphas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer, chosen_on
from leastwise.minimizers.constraints.floor import at_least
from leastwise.minimizers.pat.tree import PATTree, generalization, generalizations, place_absent
from leastwise.minimizers.pgini import Criterion, Weights
from leastwise.records.grouping import joint_keys
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.schema.labels import JointLabel
from leastwise.validation import check_between, check_whole

LEAVES = (2, 4, 6, 8, 10, 20, 50, 100, 200)
"""The numbers of leaves that the paper tries."""

ALPHAS = (0.0, 0.1, 0.3, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""The values of alpha that the paper tries."""

# Fewer distinct rows than this share of the records pay for finding them, when many trees are grown.
DISTINCT_PAYS = 0.8


class PATMinimizer(Minimizer):
    """The privacy-aware tree (PAT): ask what a tree asks that was grown for the label and against the breach.

    A classification tree is grown best-first by PGini: a split gains where its sides differ in the label, and
    loses where they differ in the personal attributes. What all its splits ask together, attribute by
    attribute, is the generalization; the tree answers the same for a record and for its generalized record.

    Parameters
    ----------
    alpha
        How much privacy counts, from 0 (a classification tree) to 1 (nothing is asked).
    max_leaves
        The most leaves that the tree may have (the paper's k*); fewer where no split gains anything.
    min_leaf
        The fewest people in a leaf.
    weights
        How much each personal attribute counts, by name; 1 where not named.
    min_bucket, min_joint
        Optional floors: no bucket (no joint bucket) is used by fewer people than this number, or than this
        share of them if it is below 1. Buckets are merged until that holds; ``tree_`` is the tree before that.
    schema, personal, random_state
        See ``Minimizer``. Nothing here is random: ties go to the attribute named first (personal ones before
        others) and to the smaller code.

    Attributes
    ----------
    tree_
        The tree; ``draw_text`` and ``draw_svg`` show it. Its codes are those of ``table.with_own_levels()``.

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 50
    >>> pat = PATMinimizer(max_leaves=4, min_leaf=10).fit(X, ["no", "no", "yes", "yes"] * 50)
    >>> pat.generalization_.collected
    ('x0',)
    """

    name: ClassVar[str] = "pat"
    reference: ClassVar[str] = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §7"
    needs_label = True

    def __init__(
        self,
        alpha: float = 0.7,
        max_leaves: int = 20,
        *,
        min_leaf: float = 100,
        weights: Weights = None,
        min_bucket: float | None = None,
        min_joint: float | None = None,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.alpha = alpha
        self.max_leaves = max_leaves
        self.min_leaf = min_leaf
        self.weights = weights
        self.min_bucket = min_bucket
        self.min_joint = min_joint

    def minimize(self, table: Table) -> Generalization:
        """Return what the tree grown on these records asks."""
        self.tree_ = grow_tree(table, self.alpha, self.max_leaves, min_leaf=self.min_leaf, weights=self.weights)
        asked = generalization(self.tree_)
        if self.min_bucket is None and self.min_joint is None:
            return asked
        return at_least(
            asked, table, bucket=self.min_bucket, joint=self.min_joint, alpha=self.alpha, weights=self.weights
        )


def fitting_min_leaf(table: Table) -> int:
    """Return a least number of people in a leaf that fits the records: a hundredth of them, from 10 to 100.

    The hundred that a leaf must have by default are a tenth of a sample of a thousand: with them a small sample
    finds almost nothing.
    """
    return int(np.clip(table.people // 100, 10, 100))


def grow_tree(
    table: Table, alpha: float = 0.7, max_leaves: int = 20, *, min_leaf: float = 100, weights: Weights = None
) -> PATTree:
    """Return the privacy-aware tree of these records; see ``PATMinimizer`` for the parameters.

    Its edges lie between the levels of the table: take ``table.with_own_levels()`` where others share them.
    """
    check_whole("max_leaves", max_leaves)
    return _grow(table, [alpha], max_leaves, min_leaf, weights)[0]


def pat_path(
    table: Table,
    alpha: float = 0.7,
    leaves: Sequence[int] = LEAVES,
    *,
    min_leaf: float = 100,
    weights: Weights = None,
) -> list[Generalization]:
    """Return the generalizations for several numbers of leaves, from one growth.

    The tree of fewer leaves is the beginning of the tree of more: each generalization is coarser than that of
    every larger number of leaves.
    """
    return pat_grid(table, [alpha], leaves, min_leaf=min_leaf, weights=weights)[0]


def pat_grid(
    table: Table,
    alphas: Sequence[float] = ALPHAS,
    leaves: Sequence[int] = LEAVES,
    *,
    min_leaf: float = 100,
    weights: Weights = None,
) -> list[list[Generalization]]:
    """Return, for each alpha, the generalizations for several numbers of leaves.

    One tree is grown per alpha, and all of them share what they count: a group of people that several trees
    reach is counted and scanned once, for every alpha.
    """
    from leastwise import __version__

    for count in leaves:
        check_whole("leaves", count)
    if not len(leaves):
        return [[] for _ in alphas]
    grid = []
    for tree in _grow(table.with_own_levels(), alphas, max(leaves), min_leaf, weights):
        common = {"minimizer": PATMinimizer.name, "leastwise": __version__, "alpha": float(tree.alpha)}
        own = [{"max_leaves": int(k), "min_leaf": min_leaf, **chosen_on(table)} for k in leaves]
        grid.append(generalizations(tree, leaves, [{**common, **each} for each in own]))
    return grid


def _grow(
    table: Table, alphas: Sequence[float], max_leaves: int, min_leaf: float, weights: Weights
) -> list[PATTree]:
    for alpha in alphas:
        check_between("alpha", alpha, 0.0, 1.0)
    check_between("min_leaf", min_leaf, 1)
    _ = table.y  # complains when there is no label
    from leastwise.minimizers.pat.growth import Grower

    criterion = Criterion.of(table, weights)
    grower = Grower(_fewer_rows(table) if len(alphas) > 1 else table, criterion, alphas, min_leaf)
    values = grower.values(table)
    trees, numbers = [], () if table.number is None else tuple(table.number.levels.tolist())
    for which, alpha in enumerate(grower.alphas):
        splits = place_absent(grower.grow(which, max_leaves), values)
        same = table.schema, table.levels, tuple(splits), grower.classes, float(alpha)
        trees.append(PATTree(*same, numbers, _class_names(table)))
    return trees


def _class_names(table: Table) -> tuple[str, ...]:
    """Return what people read for each combination of several labels; nothing where there is one."""
    label, several = table.schema.label, table.several
    if several is None or not isinstance(label, JointLabel):
        return ()
    return tuple(label.values[place] for place in label.combination([*several.levels.T]))


def _fewer_rows(table: Table) -> Table:
    """Return the distinct rows with their people, where there are so few that it pays.

    ``Table.distinct`` does the same; this looks before it pays, and holds less in memory meanwhile.
    """
    if table.weights is not None or not len(table):
        return table
    records = np.concatenate([table.codes, table.y[:, None]], axis=1)
    keys = joint_keys(records, [*table.sizes, table.classes])
    del records
    order = np.argsort(keys)
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if len(first) > DISTINCT_PAYS * len(table):
        return table
    people = np.diff(np.append(first, len(table)))
    return replace(table.take(order[first]), weights=people.astype(float))
