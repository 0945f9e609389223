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

from leastwise.kernels.count_tables import Layout, class_counts, count_rows, make_layout, part_rows
from leastwise.kernels.split_scan import Judgement, Members, scan_node, scan_wide
from leastwise.minimizers.pat.tree import Values, effects
from leastwise.minimizers.pgini import Criterion
from leastwise.records.table import Table

Array = npt.NDArray[Any]
# Small samples may keep this much; large ones as much as their codes take.
LEAST_BUDGET = 32 * 2**20
# A table with more counts than this share of those that the rows make is not kept, nor is one above the limit;
# a small one always is.
WIDE_SHARE, SMALL_TABLE, LARGE_TABLE = 4.0, 2.0**18, 2.0**22


class CountedRows:
    """The records of a table in the order that counting reads them: row by row, personal attributes first.

    Attributes
    ----------
    order
        The attributes in this order, as positions in the schema.
    people
        How many people each row stands for; empty when it is one each.
    """

    def __init__(self, table: Table) -> None:
        wide = wide_attributes(table)
        personal = sorted(table.personal, key=lambda p: bool(wide[p]))  # as the layout wants it
        others = [j for j in range(len(table.schema)) if j not in table.personal]
        self.order: tuple[int, ...] = (*personal, *others)
        sizes = table.sizes
        self.layout: Layout = make_layout(
            [sizes[p] for p in personal], [sizes[j] for j in others], table.classes, wide[list(self.order)]
        )
        # Whole numbers where they are: those add up exactly in any order.
        weights = np.empty(0) if table.weights is None else np.asarray(table.weights, dtype=float)
        whole = bool((weights == np.floor(weights)).all()) and weights.sum() < 2**31
        self.people = weights.astype(np.int32) if whole else weights
        self._dtype = np.dtype(np.int32 if self.people.dtype.kind == "i" else np.float64)
        starts = self.layout.target_start
        largest = max(int(starts[-1]), *self.layout.sizes.tolist())
        self.rows = np.empty((len(table), len(self.order) + 1), dtype=np.min_scalar_type(largest))
        targets = [*personal, -1]  # the label is the last target
        for k, (j, start) in enumerate([*zip(targets, starts, strict=False), *((j, 0) for j in others)]):
            codes = table.y if j < 0 else table.codes[:, j]
            np.add(codes, start, out=self.rows[:, k], casting="unsafe")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def exact(self) -> bool:
        """Whether counts add up exactly, so that a table may be subtracted from another.

        Real numbers leave about 1e-16 where nobody is: a value that nobody has would count as present.
        """
        return self._dtype.kind == "i"

    def count(self, members: Array) -> Array:
        """Return the half table of some rows."""
        table = np.empty(self.layout.length, dtype=self._dtype)
        count_rows(table, self.rows, members, self.people, self.layout)
        return table

    def part(self, members: Array, spare: Array, attribute: int, left_codes: Array) -> int:
        """Move the rows whose code of an attribute (numbered as in ``order``) goes left to the front."""
        personal = len(self.layout.target_start) - 2
        start = int(self.layout.target_start[attribute]) if attribute < personal else 0
        left = np.zeros(start + int(self.layout.sizes[attribute]), dtype=np.bool_)
        left[start + left_codes] = True
        return int(part_rows(members, spare, self.rows, int(self.layout.column[attribute]), left))

    def cost(self, rows: int) -> int:
        """Return how many counts that many rows touch: what to weigh against the length of a table."""
        return rows * int((len(self.layout.target_start) - 1 - self.layout.first_target).sum())


def wide_attributes(table: Table) -> npt.NDArray[np.bool_]:
    """Return which attributes have too many values for a table: it would be far larger than what is counted.

    People are counted, not rows, so that the same records written as weighted rows are treated alike.
    """
    sizes = np.asarray(table.sizes, dtype=float)
    columns = float(sizes[list(table.personal)].sum()) + table.classes
    counted = table.people * (len(table.personal) + 1.0)
    return np.asarray(sizes * columns > np.clip(WIDE_SHARE * counted, SMALL_TABLE, LARGE_TABLE))


class TableStore:
    """Count tables kept within a budget of bytes; those of the fewest people go first.

    A large node's table is worth most: it is dear to count, and its children are found by subtraction.
    """

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self._tables: dict[bytes, tuple[float, Array]] = {}
        self._bytes = 0

    def get(self, key: bytes) -> Array | None:
        """Return a table, None if it was not kept."""
        entry = self._tables.get(key)
        return None if entry is None else entry[1]

    def keep(self, key: bytes, people: float, table: Array) -> None:
        """Keep a table while there is room, at the cost of smaller ones."""
        if key in self._tables:
            return
        self._tables[key] = (people, table)
        self._bytes += table.nbytes
        while self._bytes > self.budget:
            smallest = min(self._tables, key=lambda other: self._tables[other][0])
            self._bytes -= self._tables.pop(smallest)[1].nbytes


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
        # A short name for the people who have the allowed codes: written out it would take kilobytes.
        name = hashlib.blake2b(digest_size=16)
        for attribute, codes in sorted(self.allowed.items()):
            name.update(b"%d:%d:" % (attribute, len(codes)))
            name.update(codes)
        self.key = name.digest()

    @property
    def rows(self) -> int:
        return self.stop - self.start


class Grower:
    """Grows trees for several alphas on the same records."""

    def __init__(self, table: Table, criterion: Criterion, alphas: Sequence[float], min_leaf: float) -> None:
        self.rows, attributes = CountedRows(table), table.schema.attributes
        ordered = [-1 if attributes[j].kind == "discrete" else len(table.levels[j]) for j in self.rows.order]
        self.min_leaf = min_leaf
        self.criterion = criterion
        self.alphas = np.asarray(alphas, dtype=float)
        scale_of = dict(zip(criterion.personal, criterion.personal_scale, strict=True))
        self._judgement = Judgement(
            self.alphas,
            criterion.label_scale,
            np.array(criterion.label_values),
            np.array([scale_of[p] for p in self.rows.order[: len(scale_of)]]),
            float(min_leaf),
            np.array(ordered, dtype=np.int64),
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
                if leaf.key not in self._best_splits:
                    self._best_splits[leaf.key] = self._scan(leaf)
                found = self._best_splits[leaf.key][which]
                if found is not None:
                    heapq.heappush(heap, (-found.gain, 1, leaf.number, leaf, found))
                continue
            assert split is not None
            left, right = self._split(leaf, split, 2 * len(grown) + 1)
            codes = np.sort(split.left), np.sort(split.right)
            attribute = self.rows.order[split.attribute]
            grown.append(Expansion(leaf.number, attribute, *codes, split.gain, left.classes, right.classes))
            self._offer(heap, which, left)
            self._offer(heap, which, right)
        return grown

    def _offer(self, heap: list[Any], which: int, leaf: _Leaf) -> None:
        """Queue a leaf by the most that a split of it could gain: it is counted only when that comes first."""
        told = self.criterion.label_scale * leaf.people * self.criterion.label_impurity(leaf.classes)
        bound = (1 - float(self.alphas[which])) * told
        if leaf.people >= 2 * self.min_leaf and bound > 0:
            heapq.heappush(heap, (-bound * (1 + 1e-9), 0, leaf.number, leaf, None))

    def _scan(self, leaf: _Leaf) -> list[_BestSplit | None]:
        table = self._table(leaf)
        best = scan_node(table, self.rows.layout, self._judgement)
        if self.rows.layout.wide.any():
            members = Members(self.rows.rows, self._members[leaf.start : leaf.stop], self.rows.people)
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

    def values(self, table: Table) -> list[Values]:
        """Return, per attribute of the schema, what the rules for absent values need."""
        self._members = np.arange(len(self.rows), dtype=np.int32)
        counts = self._table(_Leaf(0, 0, len(self.rows), self.classes, {}))
        by_code = {j: class_counts(counts, self.rows.layout, a) for a, j in enumerate(self.rows.order)}
        values = []
        for j, (declared, levels) in enumerate(zip(table.schema.attributes, table.levels, strict=True)):
            places = np.arange(len(declared.values) if declared.kind == "ordinal" else 0, dtype=float)
            if declared.continuous:  # infinite numbers have a middle too
                places = np.asarray(np.nan_to_num(levels.astype(float)))
            values.append(Values(places, effects(by_code[j])))
        return values
