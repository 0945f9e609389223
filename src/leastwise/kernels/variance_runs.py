"""Scores in a few runs of least variance: exactly, by the interval program.

The sum of the variances inside the runs is the smallest that so many runs of the sorted scores can have. Divided
by their number it is the paper's average variance. Every score counts once, however many people have it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.interval_program import best_partition, spread

Floats = npt.NDArray[np.float64]


def variance_runs(scores: npt.NDArray[Any], k: int) -> list[npt.NDArray[np.intp]]:
    """Return, for 1, 2, ... up to k runs, the run of each score when the sum of variances is least.

    There are no more runs than different scores: splitting equal ones would tell them apart for nothing.

    >>> [runs.tolist() for runs in variance_runs(np.array([9.0, 1.0, 8.0, 0.0]), 3)]
    [[0, 0, 0, 0], [1, 0, 1, 0], [2, 1, 2, 0]]
    """
    if not len(scores):
        return [np.zeros(0, dtype=np.intp)]
    distinct, place = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    times = np.bincount(place).astype(float)
    found = best_partition(variances(distinct, times)[None], np.zeros(1), min(k, len(distinct)))
    return [_runs(buckets.ends, len(distinct))[place] for buckets in found]


def variances(scores: Floats, times: Floats) -> Floats:
    """Return [first, last] -> the variance of the scores first to last, each there so many times."""
    # Far from zero, sums of squares would lose the digits that tell close scores apart.
    centred = (scores - scores.mean())[:, None]
    total = np.concatenate([[0.0], np.cumsum(times)])
    people = np.maximum(total[None, 1:] - total[:-1, None], 1.0)
    return np.asarray(spread(times, centred, np.zeros(0), np.zeros((0, 1))) / people)


def _runs(ends: tuple[int, ...], items: int) -> npt.NDArray[np.intp]:
    return np.searchsorted(np.asarray(ends), np.arange(items), side="right").astype(np.intp)
