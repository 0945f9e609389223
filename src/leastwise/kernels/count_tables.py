"""Count tables of a set of rows: how many people have each pair of an attribute's value and a target's value.

The *targets* are what a split is judged by: the personal attributes and, last, the label. A personal attribute
is a target and an attribute at once, and the table of a pair of them is its own transpose, so only the pairs
"attribute, later target" are counted (the half table). ``Layout`` says where everything lies.

An attribute with so many values that its table would dwarf the rows themselves is *wide*: only its label is
counted, and its splits are scanned row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]


class Layout(NamedTuple):
    """Where the counts lie in a half table.

    Attributes are numbered personal ones first, the wide ones last among them. Column ``a`` of the rows holds,
    for a target, its code plus ``target_start[a]``, so that one number tells both the target and its value;
    behind the targets follow the plain codes of the attributes that are not personal. The label is target
    ``targets - 1``.
    """

    sizes: Array  # codes of each attribute
    column: Array  # where the rows hold each attribute
    first_target: Array  # the first target counted with each attribute
    target_start: Array  # first number of each target, and the end of the last
    block_start: Array  # where each attribute's counts begin, and the end
    width: Array  # counts per code of each attribute
    wide: Array  # whether only the label is counted with it

    @property
    def length(self) -> int:
        """How many counts a half table has."""
        return int(self.block_start[-1])


def make_layout(personal: npt.ArrayLike, others: npt.ArrayLike, classes: int, wide: npt.ArrayLike = ()) -> Layout:
    """Lay out the tables of personal attributes and others of these sizes; ``wide`` tells which are wide.

    Wide personal attributes must be the last personal ones: pairs are counted with the earlier attribute.
    """
    own, rest = np.asarray(personal, dtype=np.int64), np.asarray(others, dtype=np.int64)
    sizes = np.concatenate([own, rest])
    is_wide = np.asarray(wide, dtype=np.bool_) if np.size(wide) else np.zeros(len(sizes), dtype=np.bool_)
    target_start = np.concatenate([[0], np.cumsum([*own, classes])]).astype(np.int64)
    first = np.concatenate([np.arange(1, len(own) + 1), np.zeros(len(rest), dtype=np.int64)]).astype(np.int64)
    first[is_wide] = len(own)
    column = np.concatenate([np.arange(len(own)), len(own) + 1 + np.arange(len(rest))]).astype(np.int64)
    width = target_start[-1] - target_start[first]
    block_start = np.concatenate([[0], np.cumsum(sizes * width)]).astype(np.int64)
    return Layout(sizes, column, first, target_start, block_start, width, is_wide)


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def count_rows(table: Array, rows: Array, members: Array, people: Array, layout: Layout) -> None:
    """Fill the half table of the rows that ``members`` lists; ``people`` is empty for one person a row."""
    table[:] = 0
    targets, attributes = len(layout.target_start) - 1, len(layout.column)
    column, first, width = layout.column, layout.first_target, layout.width
    weighted = len(people) > 0
    start = np.empty(attributes, dtype=np.int64)
    for a in range(attributes):
        start[a] = layout.block_start[a] - layout.target_start[first[a]]
        if a < targets - 1:
            start[a] -= layout.target_start[a] * width[a]
    for i in members:
        for a in range(attributes):
            base = start[a] + np.int64(rows[i, column[a]]) * width[a]
            for b in range(first[a], targets):
                if weighted:
                    table[base + rows[i, b]] += people[i]
                else:
                    table[base + rows[i, b]] += 1


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def part_rows(members: Array, spare: Array, rows: Array, column: int, left: Array) -> int:
    """Move the rows whose value goes left to the front, keeping their order; return how many they are."""
    front = 0
    back = 0
    for position in range(len(members)):
        i = members[position]
        if left[rows[i, column]]:
            members[front] = i
            front += 1
        else:
            spare[back] = i
            back += 1
    members[front:] = spare[:back]
    return front
