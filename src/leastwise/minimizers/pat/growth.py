"""Best-first growth: the leaf whose split gains most is split next, until there are enough leaves.

The order is recorded, so that the tree of k leaves is the first k - 1 expansions of any larger one. Several
alphas grow from the same counts: a group of people reached by several trees is counted and scanned once.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels.count_tables import class_counts
from leastwise.kernels.judging import Judgement
from leastwise.kernels.split_scan import scan_node, scan_wide
from leastwise.minimizers.pat.absent import Values, effects
from leastwise.minimizers.pat.counting import LEAST_BUDGET, CountedRows, TableStore
from leastwise.minimizers.pgini import Criterion, gini
from leastwise.records.table import Table

Array = npt.NDArray[Any]


class Expansion(NamedTuple):
    """One leaf that became a split, with two new leaves.

    Expansion number i makes the nodes 2i + 1 (left) and 2i + 2 (right); node 0 is the root.
    """

    node: int
    attribute: int  # position in the schema
    left: Array  # codes that somebody in the node has and that go left
    right: Array
    gain: float
    left_classes: Array  # people of each class
    right_classes: Array


class _BestSplit(NamedTuple):
    """The best split of a node for one alpha."""

    gain: float
    attribute: int  # numbered as the rows are
    left: Array
    right: Array
    left_classes: Array


@dataclass(eq=False)
class _Leaf:
    """A leaf that may be split: its rows are a stretch of the grown order."""

    number: int
    start: int
    stop: int
    classes: Array
    allowed: dict[int, bytes]
    parent: _Leaf | None = None
    sibling: _Leaf | None = None

    def __post_init__(self) -> None:
        self.people = float(self.classes.sum())
        self.key = _digest(self.allowed)

    @property
    def rows(self) -> int:
        return self.stop - self.start


def _digest(allowed: dict[int, bytes]) -> bytes:
    """Return a short name for the people who have the allowed codes: written out it would take kilobytes."""
    name = hashlib.blake2b(digest_size=16)
    for attribute, codes in sorted(allowed.items()):
        name.update(b"%d:%d:" % (attribute, len(codes)))
        name.update(codes)
    return name.digest()


class Grower:
    """Grows trees for several alphas on the same records."""

    def __init__(self, table: Table, criterion: Criterion, alphas: Sequence[float], min_leaf: float) -> None:
        self.rows = CountedRows(table)
        self.min_leaf = min_leaf
        self.criterion = criterion
        self.alphas = np.asarray(alphas, dtype=float)
        scale_of = dict(zip(criterion.personal, criterion.personal_scale, strict=True))
        self._judgement = Judgement(
            self.alphas,
            criterion.label_scale,
            np.array([scale_of[p] for p in self.rows.order[: len(scale_of)]]),
            float(min_leaf),
            np.array([_ordered_codes(table, j) for j in self.rows.order], dtype=np.int64),
        )
        self._best_splits: dict[bytes, list[_BestSplit | None]] = {}
        self._store = TableStore(max(table.codes.nbytes, LEAST_BUDGET))
        self.classes = np.bincount(table.y, weights=table.weights, minlength=table.classes).astype(float)
        self._members = np.empty(0, dtype=np.int32)
        self._spare = np.empty(len(table), dtype=np.int32)

    def grow(self, which: int, max_leaves: int) -> list[Expansion]:
        """Return the expansions for one of the alphas, in their order."""
        self._members = np.arange(len(self.rows), dtype=np.int32)
        heap: list[tuple[float, int, int, _Leaf, _BestSplit | None]] = []
        self._offer(heap, which, _Leaf(0, 0, len(self.rows), self.classes, {}))
        grown: list[Expansion] = []
        while heap and len(grown) < max_leaves - 1:
            _, seen, _, leaf, split = heapq.heappop(heap)
            if not seen:
                self._look(heap, which, leaf)
                continue
            assert split is not None
            left, right = self._split(leaf, split, 2 * len(grown) + 1)
            grown.append(self._expansion(leaf, split, right))
            self._offer(heap, which, left)
            self._offer(heap, which, right)
        return grown

    def _offer(self, heap: list[Any], which: int, leaf: _Leaf) -> None:
        """Queue a leaf by the most that a split of it could gain: it is counted only when that comes first."""
        told = self.criterion.label_scale * leaf.people * gini(leaf.classes)
        bound = (1 - float(self.alphas[which])) * told
        if leaf.people >= 2 * self.min_leaf and bound > 0:
            heapq.heappush(heap, (-bound * (1 + 1e-9), 0, leaf.number, leaf, None))

    def _look(self, heap: list[Any], which: int, leaf: _Leaf) -> None:
        if leaf.key not in self._best_splits:
            self._best_splits[leaf.key] = self._scan(leaf)
        split = self._best_splits[leaf.key][which]
        if split is not None:
            heapq.heappush(heap, (-split.gain, 1, leaf.number, leaf, split))

    def _scan(self, leaf: _Leaf) -> list[_BestSplit | None]:
        table = self._table(leaf)
        best = scan_node(table, self.rows.layout, self._judgement)
        if self.rows.layout.wide.any():
            members = self.rows.members(self._members[leaf.start : leaf.stop])
            scan_wide(table, self.rows.layout, self._judgement, members, best)
        kept: dict[tuple[int, bytes], tuple[Array, Array]] = {}
        result: list[_BestSplit | None] = []
        for k in range(len(self.alphas)):
            if best.attribute[k] < 0:
                result.append(None)
                continue
            # Neighbouring alphas mostly agree: they share the arrays.
            order = best.order[k, : best.present[k]].astype(np.int32)
            both = (order[: best.goes_left[k]], order[best.goes_left[k] :])
            left, right = kept.setdefault((int(best.goes_left[k]), order.tobytes()), both)
            result.append(
                _BestSplit(float(best.gain[k]), int(best.attribute[k]), left, right, best.left_classes[k].copy())
            )
        return result

    def _table(self, leaf: _Leaf) -> Array:
        """Return the half table of a leaf: kept, or its parent's less its sibling's, or counted."""
        kept = self._store.get(leaf.key)
        if kept is not None:
            return kept
        table = self._by_subtraction(leaf)
        if table is None:
            table = self.rows.count(self._members[leaf.start : leaf.stop])
        # Below this a table takes longer to subtract than its rows to count.
        if self.rows.cost(leaf.rows) > self.rows.layout.length:
            self._store.keep(leaf.key, leaf.people, table)
        return table

    def _by_subtraction(self, leaf: _Leaf) -> Array | None:
        if leaf.parent is None or leaf.sibling is None or not self.rows.exact:
            return None
        parent, other = self._store.get(leaf.parent.key), self._store.get(leaf.sibling.key)
        if parent is None or self.rows.cost(leaf.rows) < self.rows.layout.length:
            return None
        if other is None and leaf.sibling.rows < leaf.rows:
            other = self.rows.count(self._members[leaf.sibling.start : leaf.sibling.stop])
            self._store.keep(leaf.sibling.key, leaf.sibling.people, other)
        return None if other is None else np.subtract(parent, other)

    def _split(self, leaf: _Leaf, split: _BestSplit, number: int) -> tuple[_Leaf, _Leaf]:
        members = self._members[leaf.start : leaf.stop]
        middle = leaf.start + self.rows.part(members, self._spare, split.attribute, split.left)
        sides = []
        for side, codes in enumerate((split.left, split.right)):
            start, stop = ((leaf.start, middle), (middle, leaf.stop))[side]
            classes = (split.left_classes, leaf.classes - split.left_classes)[side]
            allowed = {**leaf.allowed, split.attribute: np.sort(codes).tobytes()}
            sides.append(_Leaf(number + side, start, stop, classes, allowed, leaf))
        sides[0].sibling, sides[1].sibling = sides[1], sides[0]
        return sides[0], sides[1]

    def _expansion(self, leaf: _Leaf, split: _BestSplit, right: _Leaf) -> Expansion:
        attribute = self.rows.order[split.attribute]
        left, rest = np.sort(split.left), np.sort(split.right)
        return Expansion(leaf.number, attribute, left, rest, split.gain, split.left_classes, right.classes)

    def values(self, table: Table) -> list[Values]:
        """Return, per attribute of the schema, what the rules for absent values need."""
        self._members = np.arange(len(self.rows), dtype=np.int32)
        counts = self._table(_Leaf(0, 0, len(self.rows), self.classes, {}))
        by_code = {j: class_counts(counts, self.rows.layout, a) for a, j in enumerate(self.rows.order)}
        return [Values(_places(table, j), effects(by_code[j])) for j in range(len(table.schema))]


def _ordered_codes(table: Table, attribute: int) -> int:
    kind = table.schema.attributes[attribute].kind
    return -1 if kind == "discrete" else len(table.levels[attribute])


def _places(table: Table, attribute: int) -> Array:
    declared = table.schema.attributes[attribute]
    if declared.continuous:
        # Infinite numbers have a middle too.
        return np.asarray(np.nan_to_num(table.levels[attribute].astype(float)))
    return np.arange(len(declared.values) if declared.kind == "ordinal" else 0, dtype=float)
