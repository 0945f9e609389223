"""A limit on the buckets of all attributes together: which attribute gets how many, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from leastwise.errors import ParameterError
from leastwise.kernels.interval_program import Buckets


def allot(choices: Mapping[int, Sequence[Buckets]], room: int) -> dict[int, Buckets]:
    """Return one choice per attribute with the least total cost and at most ``room`` buckets in all.

    A knapsack over the attributes: the best cost for every number of buckets used so far.
    """
    best = np.full(room + 1, np.inf)
    best[0] = 0.0
    taken: list[dict[int, Buckets]] = []
    for options in choices.values():
        best, chosen = _add(best, options)
        taken.append(chosen)
    if not np.isfinite(best).any():
        raise ParameterError(f"no partitions with {room} buckets in all meet the constraints; allow more buckets")
    return _trace([*choices], taken, int(best.argmin()))


def _add(best: np.ndarray, options: Sequence[Buckets]) -> tuple[np.ndarray, dict[int, Buckets]]:
    after, chosen = np.full(len(best), np.inf), {}
    for option in options:
        for used in range(len(best) - option.size):
            cost = best[used] + option.cost
            if cost < after[used + option.size]:
                after[used + option.size], chosen[used + option.size] = cost, option
    return after, chosen


def _trace(attributes: list[int], taken: list[dict[int, Buckets]], used: int) -> dict[int, Buckets]:
    result = {}
    for attribute, chosen in zip(reversed(attributes), reversed(taken), strict=True):
        result[attribute] = chosen[used]
        used -= chosen[used].size
    return result
