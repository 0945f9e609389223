"""The best split of a node, for many values of alpha at once, from its half table.

A split's gain is ``(1 - alpha) * U - alpha * V``: U, what the sides tell about the label, and V, what they tell
about the personal attributes, do not depend on alpha. One scan therefore serves every alpha.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from leastwise.kernels.count_tables import Layout
from leastwise.kernels.orderings import ascending, interleaved, label_scores, natural

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


class PersonalValues(NamedTuple):
    """The values of personal attributes that the node has."""

    target: Array  # whose value it is
    number: Array  # which number it has among the targets' values
    scale: Array
    people: Array
    most_common: Array  # per personal attribute, the place of its commonest value; -1 where it does not matter


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def scan_node(table: Array, layout: Layout, judgement: Judgement) -> Best:
    """Return the best split for each alpha."""
    count, classes = len(judgement.alphas), layout.target_start[-1] - layout.target_start[-2]
    largest = 0
    for size in layout.sizes:
        largest = max(largest, size)
    best = Best(
        np.zeros(count),
        np.full(count, -1, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros((count, largest), dtype=np.int64),
        np.zeros((count, classes)),
    )
    personal = present_personal(table, layout, judgement.personal_scale)
    for a in range(len(layout.sizes)):
        scan_attribute(table, layout, judgement, personal, a, best)
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def people_of(counts: Array) -> Array:
    """Return the sum of each row."""
    people = np.zeros(len(counts))
    for v in range(len(counts)):
        for k in range(counts.shape[1]):
            people[v] += counts[v, k]
    return people


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def above_zero(people: Array) -> Array:
    """Return the places of what is above 0."""
    places = np.empty(len(people), dtype=np.int64)
    found = 0
    for v in range(len(people)):
        if people[v] > 0:
            places[found] = v
            found += 1
    return places[:found]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def scan_attribute(
    table: Array, layout: Layout, judgement: Judgement, personal: PersonalValues, a: int, best: Best
) -> None:
    """Try all splits on one attribute; ``best`` remembers them where they beat those tried before."""
    every = class_counts(table, layout, a)
    use = people_of(every)
    values = above_zero(use)
    if len(values) < 2:
        return
    by_class, people = np.empty((len(values), every.shape[1])), np.empty(len(values))
    for v in range(len(values)):
        people[v] = use[values[v]]
        for k in range(every.shape[1]):
            by_class[v, k] = every[values[v], k]
    counts = pair_counts(table, layout, personal, a, values)
    orders = candidate_orders(judgement.levels[a], values, by_class, people, counts, personal.most_common, a)
    winner = np.full(len(judgement.alphas), -1, dtype=np.int64)
    for o in range(len(orders)):
        scan_order(orders[o], by_class, people, counts, personal, judgement, a, best, winner, o)
    for k in range(len(winner)):
        if winner[k] >= 0:
            best.attribute[k] = a
            best.present[k] = len(values)
            for position in range(len(values)):
                best.order[k, position] = values[orders[winner[k], position]]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def candidate_orders(
    levels: int, values: Array, by_class: Array, people: Array, counts: Array, most_common: Array, a: int
) -> Array:
    """Return the orders tried: the natural ones of numbers; else that of the label and the balanced ones."""
    m = len(values)
    if levels >= 0:
        inner = 0
        while inner < m and values[inner] < levels:
            inner += 1
        orders = np.empty((1 << (m - inner), m), dtype=np.int64)
        for variant in range(len(orders)):
            natural(inner, m, variant, orders[variant])
        return orders
    orders = np.empty((1 + len(most_common), m), dtype=np.int64)
    for v in range(m):
        orders[0, v] = v
    ascending(label_scores(by_class, people), orders[0])
    used = 1
    share = np.empty(m)
    for p in range(len(most_common)):
        if m > 2 and p != a and most_common[p] >= 0:
            for v in range(m):
                share[v] = counts[v, most_common[p]] / people[v]
            interleaved(orders[0], share, orders[used])
            used += 1
    return orders[:used]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def scan_order(
    order: Array,
    by_class: Array,
    people: Array,
    counts: Array,
    personal: PersonalValues,
    judgement: Judgement,
    a: int,
    best: Best,
    winner: Array,
    number: int,
) -> None:
    """Try every prefix of one order."""
    classes = by_class.shape[1]
    own_scale = judgement.personal_scale[a] if a < len(judgement.personal_scale) else 0.0
    everyone, own = 0.0, 0.0
    in_class = np.zeros(classes)
    for v in range(len(people)):
        everyone += people[v]
        own += own_scale * people[v] * people[v]
        for k in range(classes):
            in_class[k] += by_class[v, k]
    others = np.empty(len(personal.people))
    before_y, before_p = 0.0, 0.0
    for k in range(len(others)):
        others[k] = 0.0 if personal.target[k] == a else personal.people[k]
        before_p += personal.scale[k] * personal.people[k] * personal.people[k] / everyone
    for k in range(classes):
        before_y += in_class[k] * in_class[k] / everyone
    left, left_classes = np.zeros(len(others)), np.zeros(classes)
    people_left, own_left = 0.0, 0.0
    for position in range(len(order) - 1):
        v = order[position]
        one, two = move(left, counts[v], others, personal.scale)
        people_left += people[v]
        own_left += own_scale * people[v] * people[v]
        people_right = everyone - people_left
        for k in range(classes):
            left_classes[k] += by_class[v, k]
        if people_left < judgement.min_leaf or people_right < judgement.min_leaf:
            continue
        after_y = 0.0
        for k in range(classes):
            rest = in_class[k] - left_classes[k]
            after_y += left_classes[k] * left_classes[k] / people_left + rest * rest / people_right
        after_p = (one + own_left) / people_left + (two + own - own_left) / people_right
        told_y, told_p = judgement.label_scale * (after_y - before_y), after_p - before_p
        for k in range(len(judgement.alphas)):
            gain = (1.0 - judgement.alphas[k]) * told_y - judgement.alphas[k] * told_p
            if gain > best.gain[k] + TIE * everyone:
                best.gain[k] = gain
                best.goes_left[k] = position + 1
                winner[k] = number
                for c in range(classes):
                    best.left_classes[k, c] = left_classes[c]


# Sums of squares of whole numbers are exact in any order; reordering them lets the compiler use wide registers.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]
def move(left: Array, more: Array, total: Array, scale: Array) -> tuple[float, float]:
    """Move one value to the left side; return the scaled sums of squares of both sides."""
    one = 0.0
    two = 0.0
    for k in range(len(left)):
        here = left[k] + more[k]
        left[k] = here
        other = total[k] - here
        one += scale[k] * here * here
        two += scale[k] * other * other
    return one, two
