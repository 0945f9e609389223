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

from leastwise.kernels.compiling import njit

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


@njit()
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


@njit()
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


class PersonalValues(NamedTuple):
    """The values of personal attributes that the node has."""

    target: Array  # whose value it is
    number: Array  # which number it has among the targets' values
    scale: Array
    people: Array
    most_common: Array  # per personal attribute, the place of its commonest value; -1 where it does not matter


@njit()
def class_counts(table: Array, layout: Layout, a: int) -> Array:
    """Return how many people of each class have each code of an attribute."""
    label = layout.target_start[-2]
    classes = layout.target_start[-1] - label
    counts = np.empty((layout.sizes[a], classes))
    shift = layout.block_start[a] + label - layout.target_start[layout.first_target[a]]
    for v in range(layout.sizes[a]):
        for k in range(classes):
            counts[v, k] = table[shift + v * layout.width[a] + k]
    return counts


@njit()
def people_of(counts: Array) -> Array:
    """Return the sum of each row."""
    people = np.zeros(len(counts))
    for v in range(len(counts)):
        for k in range(counts.shape[1]):
            people[v] += counts[v, k]
    return people


@njit()
def above_zero(people: Array) -> Array:
    """Return the places of what is above 0."""
    places = np.empty(len(people), dtype=np.int64)
    found = 0
    for v in range(len(people)):
        if people[v] > 0:
            places[found] = v
            found += 1
    return places[:found]


@njit()
def present_personal(table: Array, layout: Layout, personal_scale: Array) -> PersonalValues:
    """Return the personal values that anybody in the node has."""
    personal = len(layout.target_start) - 2
    use = np.zeros(layout.target_start[personal])
    for p in range(personal):
        people = people_of(class_counts(table, layout, p))
        for v in range(len(people)):
            use[layout.target_start[p] + v] = people[v]
    number = above_zero(use)
    held = np.empty(len(number))
    target = np.empty(len(number), dtype=np.int64)
    scale = np.empty(len(number))
    common = np.full(personal, -1, dtype=np.int64)
    shown = np.zeros(personal, dtype=np.int64)
    b = 0
    for k in range(len(number)):
        while number[k] >= layout.target_start[b + 1]:
            b += 1
        held[k] = use[number[k]]
        target[k] = b
        scale[k] = personal_scale[b]
        shown[b] += 1
        if common[b] < 0 or held[k] > held[common[b]]:
            common[b] = k
    for p in range(personal):
        # An attribute that everybody here has the same value of, or of weight 0, has nothing to balance.
        if shown[p] < 2 or personal_scale[p] <= 0:
            common[p] = -1
    return PersonalValues(target, number, scale, held, common)


@njit()
def pair_counts(table: Array, layout: Layout, personal: PersonalValues, a: int, values: Array) -> Array:
    """Return the counts of an attribute's present values (rows) and the present personal values (columns).

    A pair of personal attributes was counted with the earlier one as attribute; the later reads it transposed.
    The counts of an attribute with itself are left 0: a value lies on one side as a whole.
    """
    counts = np.zeros((len(values), len(personal.number)))
    first = layout.first_target[a]
    for k in range(len(personal.number)):
        b, number = personal.target[k], personal.number[k]
        if b >= first:
            base = layout.block_start[a] + number - layout.target_start[first]
            for r in range(len(values)):
                counts[r, k] = table[base + values[r] * layout.width[a]]
        elif b != a:
            row = (number - layout.target_start[b]) * layout.width[b]
            base = layout.block_start[b] + row + layout.target_start[a] - layout.target_start[b + 1]
            for r in range(len(values)):
                counts[r, k] = table[base + values[r]]
    return counts


@njit()
def present_values(table: Array, layout: Layout, a: int) -> tuple[Array, Array, Array]:
    """Return the codes of an attribute that anybody in the node has, their people per class, and their people."""
    every = class_counts(table, layout, a)
    use = people_of(every)
    values = above_zero(use)
    by_class, people = np.empty((len(values), every.shape[1])), np.empty(len(values))
    for v in range(len(values)):
        people[v] = use[values[v]]
        for k in range(every.shape[1]):
            by_class[v, k] = every[values[v], k]
    return values, by_class, people
