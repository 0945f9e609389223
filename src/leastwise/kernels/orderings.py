"""Orders of an attribute's values whose prefixes are tried as splits: prefix | rest.

All work on the values present in a node, numbered 0 to m - 1, and none looks at the number itself: renaming
values changes nothing, ties aside (they go to the smaller number).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Array = npt.NDArray[Any]
_SWEEPS = 60


# Written out: what numba's own sort, sums and slices take to compile, a first user would wait for.
@njit()
def ascending(keys: Array, order: Array) -> None:
    """Reorder ``order`` so that its keys ascend; equal keys keep their order (a merge sort from below)."""
    m = len(order)
    spare = np.empty(m, dtype=np.int64)
    width = 1
    while width < m:
        for start in range(0, m, 2 * width):
            middle, stop = min(start + width, m), min(start + 2 * width, m)
            i, j = start, middle
            for place in range(start, stop):
                if i < middle and (j >= stop or keys[order[i]] <= keys[order[j]]):
                    spare[place] = order[i]
                    i += 1
                else:
                    spare[place] = order[j]
                    j += 1
        for place in range(m):
            order[place] = spare[place]
        width *= 2


@njit()
def label_scores(classes: Array, people: Array) -> Array:
    """Return where each value stands with regard to the label.

    Two classes: the share of the second. More: the projection of the class shares on their first principal
    direction, each value weighted by its people.
    """
    values, c = classes.shape
    direction = np.zeros(c)
    direction[c - 1] = 1.0
    if c > 2:
        direction = principal_direction(classes, people)
    scores = np.zeros(values)
    for v in range(values):
        for k in range(c):
            scores[v] += classes[v, k] * direction[k]
        scores[v] /= people[v]
    return scores


@njit()
def class_spread(classes: Array, people: Array) -> Array:
    """Return the covariance of the class shares of values, each weighted by its people."""
    values, c = classes.shape
    everyone = 0.0
    mean = np.zeros(c)
    for v in range(values):
        everyone += people[v]
        for k in range(c):
            mean[k] += classes[v, k]
    spread = np.zeros((c, c))
    for v in range(values):
        for k in range(c):
            off = classes[v, k] / people[v] - mean[k] / everyone
            for other in range(c):
                off_other = classes[v, other] / people[v] - mean[other] / everyone
                spread[k, other] += people[v] / everyone * off * off_other
    return spread


@njit()
def principal_direction(classes: Array, people: Array) -> Array:
    """Return the direction in which the shares vary most, by power iteration from the class that varies most."""
    spread = class_spread(classes, people)
    c = len(spread)
    widest = 0
    for k in range(c):
        if spread[k, k] > spread[widest, widest]:
            widest = k
    direction, turned = np.zeros(c), np.zeros(c)
    for k in range(c):
        direction[k] = spread[widest, k]
    for _ in range(_SWEEPS):
        length = 0.0
        for k in range(c):
            length += direction[k] * direction[k]
        length = np.sqrt(length)
        if length == 0:
            return direction
        for k in range(c):
            direction[k] /= length
        for k in range(c):
            turned[k] = 0.0
            for other in range(c):
                turned[k] += spread[k, other] * direction[other]
        direction, turned = turned, direction
    return turned


@njit()
def interleaved(by_label: Array, share: Array, order: Array) -> None:
    """Write the order that balances a personal attribute: one of its many, one of its few, and so on.

    The values are halved by ``share`` (ties in the order of the label), each half keeps the order of the label,
    and the halves take turns. Every prefix then holds as many values of one half as of the other.
    """
    m = len(by_label)
    half = (m + 1) // 2
    fewer = np.empty(m)
    by_share = np.empty(m, dtype=np.int64)
    for place in range(m):
        fewer[place] = -share[place]
        by_share[place] = by_label[place]
    ascending(fewer, by_share)
    in_upper = np.zeros(m, dtype=np.bool_)
    for place in range(half):
        in_upper[by_share[place]] = True
    upper, lower = 0, 0
    for place in range(m):
        v = by_label[place]
        if in_upper[v]:
            order[2 * upper] = v
            upper += 1
        else:
            order[2 * lower + 1] = v
            lower += 1


@njit()
def natural(levels: int, m: int, variant: int, order: Array) -> None:
    """Write the natural order of numbers; "missing" and "other" (behind the levels) come first or last.

    ``variant`` holds one bit per such value: 1 puts it in front. Prefixes then try every threshold with each of
    them on either side, and each of them alone.
    """
    place = 0
    for v in range(levels, m):
        if (variant >> (v - levels)) & 1:
            order[place] = v
            place += 1
    for v in range(levels):
        order[place] = v
        place += 1
    for v in range(levels, m):
        if not (variant >> (v - levels)) & 1:
            order[place] = v
            place += 1


@njit()
def candidate_orders(
    levels: int, values: Array, by_class: Array, people: Array, shares: Array, most_common: Array, a: int
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
    for p in range(len(most_common)):
        if m > 2 and p != a and most_common[p] >= 0:
            interleaved(orders[0], shares[p], orders[used])
            used += 1
    return orders[:used]
