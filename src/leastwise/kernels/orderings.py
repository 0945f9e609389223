"""Orders of an attribute's values whose prefixes are tried as splits: prefix | rest.

All work on the values present in a node, numbered 0 to m - 1, and none looks at the number itself: renaming
values changes nothing, ties aside (they go to the smaller number).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]
_SWEEPS = 60


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def label_scores(classes: Array, people: Array) -> Array:
    """Return where each value stands with regard to the label.

    Two classes: the share of the second. More: the projection of the class shares on their first principal
    direction, each value weighted by its people.
    """
    values, c = classes.shape
    if c == 2:
        return classes[:, 1] / people
    shares = classes / people.reshape(values, 1)
    direction = principal_direction(shares, people)
    scores = np.zeros(values)
    for v in range(values):
        for k in range(c):
            scores[v] += shares[v, k] * direction[k]
    return scores


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def principal_direction(shares: Array, people: Array) -> Array:
    """Return the direction in which the shares vary most, by power iteration from the widest class."""
    values, c = shares.shape
    mean = np.zeros(c)
    for v in range(values):
        mean += people[v] * shares[v]
    mean /= people.sum()
    spread = np.zeros((c, c))
    for v in range(values):
        for k in range(c):
            for other in range(c):
                spread[k, other] += people[v] * (shares[v, k] - mean[k]) * (shares[v, other] - mean[other])
    widest = 0
    for k in range(c):
        if spread[k, k] > spread[widest, widest]:
            widest = k
    direction: Array = spread[widest].copy()
    for _ in range(_SWEEPS):
        length = np.sqrt((direction * direction).sum())
        if length == 0:
            return direction
        direction /= length
        turned = np.zeros(c)
        for k in range(c):
            turned += spread[k] * direction[k]
        direction = turned
    direction /= max(np.sqrt((direction * direction).sum()), 1e-300)
    return direction


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def interleaved(by_label: Array, share: Array, order: Array) -> None:
    """Write the order that balances a personal attribute: one of its many, one of its few, and so on.

    The values are halved by ``share`` (ties in the order of the label), each half keeps the order of the label,
    and the halves take turns. Every prefix then holds as many values of one half as of the other.
    """
    m = len(by_label)
    half = (m + 1) // 2
    # The share of the last value of the upper half; ties are cut in the order of the label.
    edge = np.partition(share, m - half)[m - half]
    above = 0
    for v in range(m):
        if share[v] > edge:
            above += 1
    tied = half - above
    upper = 0
    lower = 0
    for v in by_label:
        if share[v] > edge or (share[v] == edge and tied > 0):
            if share[v] == edge:
                tied -= 1
            order[2 * upper] = v
            upper += 1
        else:
            order[2 * lower + 1] = v
            lower += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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
