"""The best split of a node, for many values of alpha at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from leastwise.kernels.count_tables import Layout
from leastwise.kernels.judging import (
    Best,
    Judgement,
    Left,
    Sides,
    judge,
    nothing_yet,
    remember,
    start_sides,
    take_value,
)
from leastwise.kernels.node_counts import PersonalValues, pair_counts, present_personal, present_values
from leastwise.kernels.orderings import candidate_orders

Array = npt.NDArray[Any]


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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
        orders = candidate_orders(judgement.levels[a], values, by_class, people, shares, personal.most_common, a)
        sides = start_sides(by_class, people, personal, judgement, a)
        winner = scan_counts(orders, counts, sides, judgement, personal, best)
        remember(best, winner, orders, values, a)
    return best


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def dense_shares(counts: Array, people: Array, most_common: Array) -> Array:
    """Return, per personal attribute, the share of its commonest value among the people of each value."""
    shares = np.zeros((len(most_common), len(people)))
    for p in range(len(most_common)):
        if most_common[p] >= 0:
            for v in range(len(people)):
                shares[p, v] = counts[v, most_common[p]] / people[v]
    return shares


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
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
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz"})  # type: ignore[untyped-decorator]
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
