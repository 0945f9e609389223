"""The best split of a node, for many values of alpha at once.

A split's gain is ``(1 - alpha) * U - alpha * V``: U, what the sides tell about the label, and V, what they tell
about the personal attributes, do not depend on alpha. One scan therefore serves every alpha.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit
from leastwise.kernels.count_tables import Layout, PersonalValues, pair_counts, present_personal, present_values
from leastwise.kernels.orderings import candidate_orders

Array = npt.NDArray[Any]
# Gains that differ by less than this share of the node's people are ties: the split tried first wins.
TIE = 1e-11


class Judgement(NamedTuple):
    """What a split is judged by: the scales of PGini's terms, the alphas, and who must be on each side."""

    alphas: Array
    label_scale: float  # c / (c - 1)
    label_values: Array  # the number of each class, centred and scaled; empty where classes are no numbers
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


@njit()
def _told(classes: Array, people: float, values: Array) -> float:
    """Return what a group tells of the label: the sum of squares of its classes, or the square of its sum, a head.

    The first is what is left of the people when the Gini impurity is taken away, the second the variance.
    """
    total = 0.0
    if len(values):
        for k in range(len(classes)):
            total += classes[k] * values[k]
        return total * total / people
    for k in range(len(classes)):
        total += classes[k] * classes[k] / people
    return total


@njit()
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
    before_y = _told(in_class, everyone, judgement.label_values)
    return Sides(by_class, people, in_class, everyone, before_y, before_p, own_scale, own)


class Left(NamedTuple):
    """The left side so far: people, and the scaled sum of squares of its own values; people per class."""

    totals: Array
    classes: Array


@njit()
def take_value(sides: Sides, left: Left, v: int) -> None:
    """Move one value's people to the left side."""
    left.totals[0] += sides.people[v]
    left.totals[1] += sides.own_scale * sides.people[v] * sides.people[v]
    for k in range(len(left.classes)):
        left.classes[k] += sides.by_class[v, k]


@njit()
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
    if len(judgement.label_values):
        after_y = _told(left.classes, people_left, judgement.label_values)
        after_y += _told(sides.in_class - left.classes, people_right, judgement.label_values)
    else:
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


@njit()
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


@njit()
def remember(best: Best, winner: Array, orders: Array, values: Array, a: int) -> None:
    """Write down which attribute and order won, for the alphas where one did."""
    for k in range(len(winner)):
        if winner[k] >= 0:
            best.attribute[k] = a
            best.present[k] = len(values)
            for position in range(len(values)):
                best.order[k, position] = values[orders[winner[k], position]]


@njit()
def in_two(by_class: Array, people: Array, values: Array) -> Array:
    """Return the people per class; where classes are numbers, as two classes whose share is the mean number.

    By that share they are put in order: no other order parts them with less variance left.
    """
    if len(values) == 0:
        return by_class
    two = np.empty((len(by_class), 2))
    low, high = values.min(), values.max()
    for v in range(len(by_class)):
        two[v, 1] = 0.0
        for k in range(len(values)):
            two[v, 1] += by_class[v, k] * (values[k] - low) / max(high - low, 1e-300)
        two[v, 0] = people[v] - two[v, 1]
    return two


@njit()
def scan_node(table: Array, layout: Layout, judgement: Judgement) -> Best:
    """Return the best split for each alpha, among those on attributes that are not wide."""
    best: Best = nothing_yet(layout, judgement)
    personal = present_personal(table, layout, judgement.personal_scale)
    for a in range(len(layout.sizes)):
        values, by_class, people = present_values(table, layout, a)
        if len(values) < 2 or layout.wide[a]:
            continue
        counts = pair_counts(table, layout, personal, a, values)
        shares = dense_shares(counts, people, personal.most_common)
        told = in_two(by_class, people, judgement.label_values)
        orders = candidate_orders(judgement.levels[a], values, told, people, shares, personal.most_common, a)
        sides = start_sides(by_class, people, personal, judgement, a)
        winner = scan_counts(orders, counts, sides, judgement, personal, best)
        remember(best, winner, orders, values, a)
    return best


@njit()
def dense_shares(counts: Array, people: Array, most_common: Array) -> Array:
    """Return, per personal attribute, the share of its commonest value among the people of each value."""
    shares = np.zeros((len(most_common), len(people)))
    for p in range(len(most_common)):
        if most_common[p] >= 0:
            for v in range(len(people)):
                shares[p, v] = counts[v, most_common[p]] / people[v]
    return shares


@njit()
def scan_counts(
    orders: Array, counts: Array, sides: Sides, judgement: Judgement, personal: PersonalValues, best: Best
) -> Array:
    """Try every prefix of every order on counts; return the order that won, per alpha (-1 for none)."""
    winner = np.full(len(judgement.alphas), -1, dtype=np.int64)
    # The columns of the attribute itself are 0 in the counts, and so in the totals.
    total = np.zeros(counts.shape[1])
    for v in range(len(counts)):
        for k in range(len(total)):
            total[k] += counts[v, k]
    for o in range(len(orders)):
        moved = np.zeros(len(total))
        left = Left(np.zeros(2), np.zeros(len(sides.in_class)))
        for position in range(orders.shape[1] - 1):
            v = orders[o, position]
            one, two = move(moved, counts[v], total, personal.scale)
            take_value(sides, left, v)
            judge(sides, left, one, two, judgement, position, o, best, winner)
    return winner


# Sums of squares of whole numbers are exact in any order; reordering them lets the compiler use wide registers.
@njit(fastmath={"reassoc", "contract", "nsz"})
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


class Members(NamedTuple):
    """The node's rows: needed for wide attributes, of which no table is kept."""

    rows: Array
    numbers: Array  # which of them are in the node
    people: Array  # of each row; empty for one person a row


@njit()
def scan_wide(table: Array, layout: Layout, judgement: Judgement, members: Members, best: Best) -> None:
    """Try all splits on wide attributes, row by row; ``best`` remembers them where they beat those tried before.

    The people of a node move from the right side to the left in the order of their values, and the sums of squares
    of both sides are kept up to date: what tables of that many values would cost, nobody pays.
    """
    personal = present_personal(table, layout, judgement.personal_scale)
    for a in range(len(layout.sizes)):
        values, by_class, people = present_values(table, layout, a)
        if len(values) < 2 or not layout.wide[a]:
            continue
        place = np.zeros(layout.sizes[a], dtype=np.int64)  # where each code stands among the present values
        for v in range(len(values)):
            place[values[v]] = v
        shares = wide_shares(layout, personal, members, a, place, people)
        told = in_two(by_class, people, judgement.label_values)
        orders = candidate_orders(judgement.levels[a], values, told, people, shares, personal.most_common, a)
        sides = start_sides(by_class, people, personal, judgement, a)
        winner = scan_rows(orders, layout, members, place, sides, judgement, personal, a, best)
        remember(best, winner, orders, values, a)


@njit()
def code_of_row(layout: Layout, members: Members, a: int, i: int) -> int:
    """Return a row's code of an attribute."""
    start = layout.target_start[a] if a < len(layout.target_start) - 2 else 0
    return int(members.rows[i, layout.column[a]]) - int(start)


@njit()
def wide_shares(
    layout: Layout, personal: PersonalValues, members: Members, a: int, place: Array, people: Array
) -> Array:
    """Return what ``dense_shares`` does, from the rows."""
    shares = np.zeros((len(personal.most_common), len(people)))
    for i in members.numbers:
        v = place[code_of_row(layout, members, a, i)]
        held = members.people[i] if len(members.people) else 1
        for p in range(len(shares)):
            common = personal.most_common[p]
            if common >= 0 and members.rows[i, p] == personal.number[common]:
                shares[p, v] += held
    for p in range(len(shares)):
        for v in range(len(people)):
            shares[p, v] /= people[v]
    return shares


@njit()
def scan_rows(
    orders: Array,
    layout: Layout,
    members: Members,
    place: Array,
    sides: Sides,
    judgement: Judgement,
    personal: PersonalValues,
    a: int,
    best: Best,
) -> Array:
    """Do what ``scan_counts`` does, moving row by row: for attributes of which no counts are kept."""
    winner = np.full(len(judgement.alphas), -1, dtype=np.int64)
    targets, m = len(judgement.personal_scale), orders.shape[1]
    use = np.zeros(layout.target_start[targets])
    for k in range(len(personal.number)):
        use[personal.number[k]] = personal.people[k]
    sorted_rows, ends = np.empty(len(members.numbers), dtype=np.int64), np.zeros(m + 1, dtype=np.int64)
    rank = np.empty(m, dtype=np.int64)
    for o in range(len(orders)):
        for position in range(m):
            rank[orders[o, position]] = position
        sort_by_rank(layout, members, a, place, rank, sorted_rows, ends)
        moved, squares = np.zeros(len(use)), np.zeros((2, targets))
        for k in range(len(personal.number)):
            squares[1, personal.target[k]] += personal.people[k] * personal.people[k]
        left = Left(np.zeros(2), np.zeros(len(sides.in_class)))
        for position in range(m - 1):
            for k in range(ends[position], ends[position + 1]):
                move_row(members, sorted_rows[k], use, moved, squares)
            take_value(sides, left, orders[o, position])
            one, two = 0.0, 0.0
            for p in range(targets):
                if p != a:
                    one += judgement.personal_scale[p] * squares[0, p]
                    two += judgement.personal_scale[p] * squares[1, p]
            judge(sides, left, one, two, judgement, position, o, best, winner)
    return winner


@njit()
def sort_by_rank(
    layout: Layout, members: Members, a: int, place: Array, rank: Array, sorted_rows: Array, ends: Array
) -> None:
    """Sort the node's rows by the rank of their value; rank r ends up in ``ends[r]`` to ``ends[r + 1]``."""
    ends[:] = 0
    for i in members.numbers:
        ends[rank[place[code_of_row(layout, members, a, i)]] + 1] += 1
    for r in range(len(rank)):
        ends[r + 1] += ends[r]
    next_place = ends.copy()
    for i in members.numbers:
        r = rank[place[code_of_row(layout, members, a, i)]]
        sorted_rows[next_place[r]] = i
        next_place[r] += 1


@njit()
def move_row(members: Members, i: int, use: Array, moved: Array, squares: Array) -> None:
    """Move one row's people to the left side and keep the sums of squares of both sides, per target."""
    held = 1.0
    if len(members.people):
        held = float(members.people[i])
    for p in range(squares.shape[1]):
        number = members.rows[i, p]
        here = moved[number]
        squares[0, p] += held * (2.0 * here + held)
        squares[1, p] += held * (held - 2.0 * (use[number] - here))
        moved[number] = here + held
