"""How many people a guesser tells who has seen the answers, and may name one value per joint bucket."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Buckets = npt.NDArray[np.intp]
Whole = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]


def told_in_hindsight(
    bucket_of: Buckets, codes: Whole, counts: Whole, numbers: Numbers | None = None, tolerance: float = 0.0
) -> float:
    """Return sum_z max_v count(z, v), where a guessed number v tells all within the tolerance.

    >>> told_in_hindsight(np.array([0, 0, 0, 1]), np.array([5, 5, 6, 5]), np.array([1, 1, 1, 1]))
    3.0
    >>> ages = np.array([20.0, 22.0, 30.0])
    >>> told_in_hindsight(np.array([0, 0, 0, 0]), np.array([0, 1, 1, 2]), np.array([1, 1, 1, 1]), ages, 1.0)
    3.0
    """
    if numbers is None:
        return _fullest_values(bucket_of, codes, counts)
    return _fullest_windows(bucket_of, codes, counts, numbers, tolerance)


def _fullest_values(bucket_of: Buckets, codes: Whole, counts: Whole) -> float:
    size = int(codes.max(initial=0)) + 1
    pairs, index = np.unique(bucket_of.astype(np.int64) * size + codes, return_inverse=True)
    return _sum_of_most(pairs // size, np.bincount(index, weights=counts))


def _fullest_windows(bucket_of: Buckets, codes: Whole, counts: Whole, numbers: Numbers, tolerance: float) -> float:
    """Slide a window of twice the tolerance over each joint bucket; each person's number begins one.

    The codes behind the numbers, "missing" and "other", are windows of their own.
    """
    order = np.lexsort((codes, bucket_of))
    z, codes, counts = bucket_of[order].astype(np.int64), codes[order], counts[order]
    width = max(int(codes.max(initial=0)) + 1, len(numbers))
    last = np.arange(width)
    last[: len(numbers)] = np.searchsorted(numbers, numbers + 2 * tolerance * (1 + 1e-9), side="right") - 1
    # Rows lie in the order of (joint bucket, code), so one search finds where every window ends.
    keys = z * width + codes
    begins = np.searchsorted(keys, keys, side="left")
    ends = np.searchsorted(keys, z * width + last[codes], side="right")
    before = np.concatenate([[0], np.cumsum(counts)])
    return _sum_of_most(z, before[ends] - before[begins])


def _sum_of_most(bucket_of: Whole, people: npt.NDArray[Any]) -> float:
    most = np.zeros(int(bucket_of.max(initial=0)) + 1)
    np.maximum.at(most, bucket_of, people)
    return float(most.sum())
