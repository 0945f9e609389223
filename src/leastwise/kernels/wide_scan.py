"""Splits on wide attributes, row by row: what tables of that many values would cost, nobody pays.

The people of a node move from the right side to the left in the order of their values, and the sums of squares of
both sides are kept up to date.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from leastwise.kernels.count_tables import Layout
from leastwise.kernels.judging import Best, Judgement, Left, Sides, judge, remember, start_sides, take_value
from leastwise.kernels.node_counts import PersonalValues, present_personal, present_values
from leastwise.kernels.orderings import candidate_orders

Array = npt.NDArray[Any]


class Members(NamedTuple):
    """The node's rows: needed for wide attributes, of which no table is kept."""

    rows: Array
    numbers: Array  # which of them are in the node
    people: Array  # of each row; empty for one person a row


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def scan_wide(table: Array, layout: Layout, judgement: Judgement, members: Members, best: Best) -> None:
    """Try all splits on wide attributes; ``best`` remembers them where they beat those tried before."""
    personal = present_personal(table, layout, judgement.personal_scale)
    for a in range(len(layout.sizes)):
        values, by_class, people = present_values(table, layout, a)
        if len(values) < 2 or not layout.wide[a]:
            continue
        place = places(values, layout.sizes[a])
        shares = wide_shares(layout, personal, members, a, place, people)
        orders = candidate_orders(judgement.levels[a], values, by_class, people, shares, personal.most_common, a)
        sides = start_sides(by_class, people, personal, judgement, a)
        winner = scan_rows(orders, layout, members, place, sides, judgement, personal, a, best)
        remember(best, winner, orders, values, a)


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def places(values: Array, size: int) -> Array:
    """Return where each code stands among the present values."""
    place = np.zeros(size, dtype=np.int64)
    for v in range(len(values)):
        place[values[v]] = v
    return place


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def code_of_row(layout: Layout, members: Members, a: int, i: int) -> int:
    """Return a row's code of an attribute."""
    start = layout.target_start[a] if a < len(layout.target_start) - 2 else 0
    return int(members.rows[i, layout.column[a]]) - int(start)


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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
