"""What a half table tells about a node: people per class, and per pair of values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from leastwise.kernels.count_tables import Layout

Array = npt.NDArray[Any]


class PersonalValues(NamedTuple):
    """The values of personal attributes that the node has."""

    target: Array  # whose value it is
    number: Array  # which number it has among the targets' values
    scale: Array
    people: Array
    most_common: Array  # per personal attribute, the place of its commonest value; -1 where it does not matter


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def people_of(counts: Array) -> Array:
    """Return the sum of each row."""
    people = np.zeros(len(counts))
    for v in range(len(counts)):
        for k in range(counts.shape[1]):
            people[v] += counts[v, k]
    return people


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def above_zero(people: Array) -> Array:
    """Return the places of what is above 0."""
    places = np.empty(len(people), dtype=np.int64)
    found = 0
    for v in range(len(people)):
        if people[v] > 0:
            places[found] = v
            found += 1
    return places[:found]


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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
