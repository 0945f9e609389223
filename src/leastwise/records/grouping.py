"""Codes in groups: joint buckets (the distinct rows, numbered), quantiles and runs of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes

_LARGEST_KEY = 2**62
# Keys are counted where there are at most so many possible ones for each row.
_SPARSE = 8


def joint_keys(codes: Codes, sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    """Return one number per row, equal exactly for equal rows.

    The numbers are positional (mixed radix) while that fits into 62 bits; before it would not, those seen so far
    are numbered densely, so that any number of columns works.

    >>> joint_keys(np.array([[0, 1], [2, 1], [0, 1]]), [3, 2]).tolist()
    [1, 5, 1]
    """
    keys = np.zeros(len(codes), dtype=np.int64)
    bound = 1
    for j, size in enumerate(sizes):
        if bound * size > _LARGEST_KEY:
            keys = np.unique(keys, return_inverse=True)[1].astype(np.int64)
            bound = int(keys.max(initial=0)) + 1
        keys *= size
        keys += codes[:, j]
        bound *= size
    return keys


def joint_buckets(codes: Codes, sizes: Sequence[int]) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return (a row of each joint bucket, the joint bucket of each row).

    >>> first, bucket = joint_buckets(np.array([[0, 1], [2, 1], [0, 1]]), [3, 2])
    >>> first.tolist(), bucket.tolist()
    ([0, 1], [0, 1, 0])
    """
    keys = joint_keys(codes, sizes)
    bound = int(keys.max(initial=0)) + 1
    if bound <= _SPARSE * len(keys):  # counting is faster than sorting
        shown = np.zeros(bound, dtype=bool)
        shown[keys] = True
        number = np.cumsum(shown) - 1
        inverse = number[keys]
        first = np.empty(int(number[-1]) + 1, dtype=np.intp)
        first[inverse[::-1]] = np.arange(len(keys) - 1, -1, -1)
        return first, inverse.astype(np.intp)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse.astype(np.intp)


Runs = npt.NDArray[np.intp]


def quantile_of(use: npt.NDArray[Any], k: int) -> Runs:
    """Return in which of k quantiles each value lies, given how many people have it; k behind the last of them.

    The middle of a value's own people decides, so that one very common value does not drag its neighbours along.

    >>> quantile_of(np.array([1.0, 1, 1, 1]), 2).tolist(), quantile_of(np.array([9.0, 1, 1, 0]), 4).tolist()
    ([0, 0, 1, 1], [1, 3, 3, 4])
    """
    middle = (np.cumsum(use) - use / 2) / (use.sum() or 1.0)
    return np.asarray(np.floor(middle * k), dtype=np.intp)


def even_runs(use: npt.NDArray[Any], k: int) -> Runs:
    """Number at most k runs of neighbouring values, about equally used; each value's own where they are so few.

    A value that more people have than a run should hold is a run of its own, and the others share the rest of the
    runs: of an amount that most people answer with 0, the few that do not are told apart as well as they can be.

    >>> even_runs(np.array([90.0, 1, 1, 1, 1, 1, 1]), 4).tolist(), even_runs(np.ones(6), 3).tolist()
    ([0, 1, 1, 1, 2, 2, 2], [0, 0, 1, 1, 2, 2])
    """
    use = np.asarray(use, dtype=float)
    if len(use) <= k:
        return np.arange(len(use), dtype=np.intp)
    alone, left = np.zeros(len(use), dtype=bool), k
    while left > 2:
        common = ~alone & (use > use[~alone].sum() / left)
        # Besides its own run, a value between two others may cut theirs in two.
        if not common.any() or 2 * int((alone | common).sum()) > k - 2:
            break
        alone |= common
        left = k - 2 * int(alone.sum())
    quantile = np.minimum(quantile_of(np.where(alone, 0.0, use), left), left - 1)
    return numbered_runs(quantile, np.cumsum(alone), alone)


def numbered_runs(*columns: npt.NDArray[Any]) -> Runs:
    """Number the runs of neighbours that are equal in all columns.

    >>> numbered_runs(np.array([1, 1, 3, 3]), np.array([0, 0, 0, 1])).tolist()
    [0, 0, 1, 2]
    """
    starts = np.any([np.diff(column) != 0 for column in columns], axis=0)
    return np.concatenate([[0], np.cumsum(starts)]).astype(np.intp)[: len(columns[0])]


class Cells(NamedTuple):
    """How many people have each value of one attribute together with each record, where people are counted.

    Attributes
    ----------
    record_of
        Per cell the row of the record, ascending.
    values
        Per cell the code of the value, ascending among those of a record.
    counts
        How many people have both.
    """

    record_of: npt.NDArray[np.intp]
    values: npt.NDArray[np.intp]
    counts: npt.NDArray[np.float64]

    @classmethod
    def of(cls, record_of: npt.NDArray[Any], values: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Cells:
        """Return the cells in order, those of the same record and value as one.

        >>> Cells.of(np.array([1, 0, 1]), np.array([2, 5, 2]), np.array([3, 1, 4])).counts
        array([1., 7.])
        """
        from scipy.sparse import coo_array  # which sorts by counting, and adds up what falls together

        shape = (int(record_of.max(initial=-1)) + 1, int(values.max(initial=-1)) + 1)
        if not all(shape):
            return cls(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))
        grid = coo_array((counts.astype(float), (record_of, values)), shape=shape).tocsr()
        records = np.repeat(np.arange(shape[0], dtype=np.intp), np.diff(grid.indptr))
        return cls(records, grid.indices.astype(np.intp), grid.data)
