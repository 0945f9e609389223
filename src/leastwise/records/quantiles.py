"""Ordered values in a few runs of neighbours that are about equally used: the quantiles of the people."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Runs = npt.NDArray[np.intp]


def quantile_of(use: npt.NDArray[Any], k: int) -> Runs:
    """Return in which of k quantiles each value lies, given how many people have it; k behind the last of them.

    The middle of a value's own people decides, so that one very common value does not drag its neighbours along.

    >>> quantile_of(np.array([1.0, 1, 1, 1]), 2).tolist(), quantile_of(np.array([9.0, 1, 1, 0]), 4).tolist()
    ([0, 0, 1, 1], [1, 3, 3, 4])
    """
    middle = (np.cumsum(use) - use / 2) / (use.sum() or 1.0)
    return np.asarray(np.floor(middle * k), dtype=np.intp)


def numbered_runs(*columns: npt.NDArray[Any]) -> Runs:
    """Number the runs of neighbours that are equal in all columns.

    >>> numbered_runs(np.array([1, 1, 3, 3]), np.array([0, 0, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    starts = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return np.concatenate([[0], np.cumsum(starts)]).astype(np.intp)[: len(columns[0])]
