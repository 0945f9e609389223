"""Rows ready to be counted, and the count tables worth keeping."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.count_tables import Layout, count_rows, make_layout, part_rows
from leastwise.kernels.split_scan import Members
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
        self.people = _people(table)
        self.rows = self._rows(table, personal, others)
        self._dtype = np.dtype(np.int32 if self.people.dtype.kind == "i" else np.float64)

    def _rows(self, table: Table, personal: list[int], others: list[int]) -> Array:
        starts = self.layout.target_start
        largest = max(int(starts[-1]), *self.layout.sizes.tolist())
        rows = np.empty((len(table), len(self.order) + 1), dtype=np.min_scalar_type(largest))
        targets = [*personal, -1]  # the label is the last target
        columns = [*zip(targets, starts, strict=False), *((j, 0) for j in others)]
        for k, (j, start) in enumerate(columns):
            codes = table.y if j < 0 else table.codes[:, j]
            np.add(codes, start, out=rows[:, k], casting="unsafe")
        return rows

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

    def members(self, numbers: Array) -> Members:
        """Return some rows as the scan wants them."""
        return Members(self.rows, numbers, self.people)

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


def _people(table: Table) -> Array:
    """Return the people of each row, as whole numbers where they are: those add up exactly in any order."""
    if table.weights is None:
        return np.empty(0, dtype=np.int32)
    weights = np.asarray(table.weights, dtype=float)
    whole = bool((weights == np.floor(weights)).all()) and weights.sum() < 2**31
    return weights.astype(np.int32) if whole else weights


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
            self.drop(min(self._tables, key=lambda other: self._tables[other][0]))

    def drop(self, key: bytes) -> None:
        """Forget a table."""
        entry = self._tables.pop(key, None)
        self._bytes -= 0 if entry is None else entry[1].nbytes
