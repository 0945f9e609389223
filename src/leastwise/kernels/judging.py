"""Weighing a split: what its sides tell about the label and about the personal attributes, for every alpha.

A split's gain is ``(1 - alpha) * U - alpha * V``: U, what the sides tell about the label, and V, what they tell
about the personal attributes, do not depend on alpha. One scan therefore serves every alpha.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from leastwise.kernels.count_tables import Layout, PersonalValues

Array = npt.NDArray[Any]
# Gains that differ by less than this share of the node's people are ties: the split tried first wins.
TIE = 1e-11


class Judgement(NamedTuple):
    """What a split is judged by: the scales of PGini's terms, the alphas, and who must be on each side."""

    alphas: Array
    label_scale: float  # c / (c - 1)
    personal_scale: Array  # per personal attribute: its weight times |p| / (|p| - 1)
    min_leaf: float
    levels: Array  # per attribute: how many of its codes are ordered; -1 for a discrete one


class Best(NamedTuple):
    """The best split for each alpha; attribute -1 where no split gains anything."""

    gain: Array
    attribute: Array
    goes_left: Array  # how many of the present values, the first in ``order``
    present: Array  # how many values the node has
    order: Array  # their codes
    left_classes: Array  # the people of each class on the left


class Sides(NamedTuple):
    """What does not change while the values of an attribute move from right to left, one by one."""

    by_class: Array
    people: Array
    in_class: Array
    everyone: float
    before_y: float
    before_p: float
    own_scale: float  # of the attribute's own values, each of which lies on one side as a whole
    own: float


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def start_sides(by_class: Array, people: Array, personal: PersonalValues, judgement: Judgement, a: int) -> Sides:
    """Return the node as it is before a split on an attribute."""
    classes = by_class.shape[1]
    own_scale = judgement.personal_scale[a] if a < len(judgement.personal_scale) else 0.0
    everyone, own = 0.0, 0.0
    in_class = np.zeros(classes)
    for v in range(len(people)):
        everyone += people[v]
        own += own_scale * people[v] * people[v]
        for k in range(classes):
            in_class[k] += by_class[v, k]
    before_y, before_p = 0.0, 0.0
    for k in range(len(personal.people)):
        before_p += personal.scale[k] * personal.people[k] * personal.people[k] / everyone
    for k in range(classes):
        before_y += in_class[k] * in_class[k] / everyone
    return Sides(by_class, people, in_class, everyone, before_y, before_p, own_scale, own)


class Left(NamedTuple):
    """The left side so far: people, and the scaled sum of squares of its own values; people per class."""

    totals: Array
    classes: Array


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def take_value(sides: Sides, left: Left, v: int) -> None:
    """Move one value's people to the left side."""
    left.totals[0] += sides.people[v]
    left.totals[1] += sides.own_scale * sides.people[v] * sides.people[v]
    for k in range(len(left.classes)):
        left.classes[k] += sides.by_class[v, k]


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def judge(
    sides: Sides,
    left: Left,
    one: float,
    two: float,
    judgement: Judgement,
    position: int,
    number: int,
    best: Best,
    winner: Array,
) -> None:
    """Weigh the split that leaves the sides as they are; ``one`` and ``two`` are their sums of squares."""
    people_left, people_right = left.totals[0], sides.everyone - left.totals[0]
    if people_left < judgement.min_leaf or people_right < judgement.min_leaf:
        return
    after_y = 0.0
    for k in range(len(left.classes)):
        rest = sides.in_class[k] - left.classes[k]
        after_y += left.classes[k] * left.classes[k] / people_left + rest * rest / people_right
    after_p = (one + left.totals[1]) / people_left + (two + sides.own - left.totals[1]) / people_right
    told_y, told_p = judgement.label_scale * (after_y - sides.before_y), after_p - sides.before_p
    for k in range(len(judgement.alphas)):
        gain = (1.0 - judgement.alphas[k]) * told_y - judgement.alphas[k] * told_p
        if gain > best.gain[k] + TIE * sides.everyone:
            best.gain[k] = gain
            best.goes_left[k] = position + 1
            winner[k] = number
            for c in range(len(left.classes)):
                best.left_classes[k, c] = left.classes[c]


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def nothing_yet(layout: Layout, judgement: Judgement) -> Best:
    """Return the state before any split was tried."""
    count, classes = len(judgement.alphas), layout.target_start[-1] - layout.target_start[-2]
    largest = 0
    for size in layout.sizes:
        largest = max(largest, size)
    return Best(
        np.zeros(count),
        np.full(count, -1, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, largest), dtype=np.int64),
        np.zeros((count, classes)),
    )


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def remember(best: Best, winner: Array, orders: Array, values: Array, a: int) -> None:
    """Write down which attribute and order won, for the alphas where one did."""
    for k in range(len(winner)):
        if winner[k] >= 0:
            best.attribute[k] = a
            best.present[k] = len(values)
            for position in range(len(values)):
                best.order[k, position] = values[orders[winner[k], position]]
