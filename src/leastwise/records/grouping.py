"""Codes in groups: joint buckets (the distinct rows, numbered), quantiles and runs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes

_LARGEST_KEY = 2**62
# Keys are counted where there are at most so many possible ones for each row.
_SPARSE = 8
# Pairs of a record and a value are counted in a table where there are at most so many for each row.
_DENSE = 4
# Tables of counts have at most so many entries, however many rows there are: they are a quarter of a gigabyte.
_LARGEST_TABLE = 2**25
# Rows are counted at most so often on the way to their numbers.
_MOST_COUNTED = 4


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
    return joint_columns((codes[:, j] for j in range(len(sizes))), sizes, len(codes))


def joint_columns(
    columns: Iterable[npt.NDArray[Any]], sizes: Sequence[int], rows: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
    """Return the same of columns that come one by one, so that no more than one of them need be held."""
    keys, bound, countable = np.zeros(rows, dtype=np.int64), 1, min(_SPARSE * rows, 2 * _LARGEST_TABLE)
    # Of very many columns one sorting is cheaper than to count again and again.
    counts_left = _MOST_COUNTED if math.prod(map(int, sizes)) <= _LARGEST_KEY else 0
    for column, size in zip(columns, sizes, strict=True):
        # Before too many rows are possible to count them, those that are there are numbered densely.
        countably = counts_left > 0 and bound <= countable < bound * size
        if countably or bound * size > _LARGEST_KEY:
            first, keys = _numbered(keys, bound, countable)
            bound, counts_left = max(len(first), 1), counts_left - 1
        keys *= size
        keys += column
        bound *= size
    first, inverse = _numbered(keys, bound, countable)
    return first, inverse.astype(np.intp, copy=False)


def _numbered(
    keys: npt.NDArray[np.int64], bound: int, countable: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Return where each key occurs first, in the order of the keys, and the number of each row's key in it."""
    if bound > countable:
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return first, inverse.astype(np.int64, copy=False)
    shown = np.zeros(bound, dtype=bool)  # counting is faster than sorting
    shown[keys] = True
    number = np.cumsum(shown, dtype=np.int32 if bound < 2**31 else np.int64)
    inverse = number.take(keys).astype(np.int64)
    inverse -= 1
    first = np.empty(int(number[-1]), dtype=np.intp)
    first[inverse[::-1]] = np.arange(len(keys) - 1, -1, -1)
    return first, inverse


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
        if _ascending(record_of, values):  # nothing is to be done
            return cls(record_of.astype(np.intp), values.astype(np.intp), counts.astype(float))
        from scipy.sparse import coo_array  # which sorts by counting, and adds up what falls together

        shape = (int(record_of.max(initial=-1)) + 1, int(values.max(initial=-1)) + 1)
        grid = coo_array((counts.astype(float), (record_of, values)), shape=shape).tocsr()
        records = np.repeat(np.arange(shape[0], dtype=np.intp), np.diff(grid.indptr))
        return cls(records, grid.indices.astype(np.intp), grid.data)


def _ascending(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> bool:
    """Return whether pairs lie in order, each of them once."""
    later = (first[1:] == first[:-1]) & (second[1:] > second[:-1])
    return bool((later | (first[1:] > first[:-1])).all())


class Beside:
    """People by the record that each has, to count one attribute after another beside it.

    Parameters
    ----------
    record_of
        Per row the number of its record.
    records
        How many there are.
    people
        How many people each row stands for; None: one.
    """

    def __init__(self, record_of: npt.NDArray[np.intp], records: int, people: npt.NDArray[Any] | None) -> None:
        self.record_of, self.records, self.people = record_of, records, people

    def cells(self, values: npt.NDArray[Any], size: int) -> Cells:
        """Count the values of an attribute, each below the size.

        >>> Beside(np.array([1, 0, 1]), 2, None).cells(np.array([2, 5, 2]), 6).counts
        array([1., 2.])
        """
        if self.records * size > min(_DENSE * len(values), _LARGEST_TABLE):
            return self._by_blocks(values, size)
        keys = self.record_of * size + values
        table = np.bincount(keys, self.people, minlength=self.records * size)
        found = np.flatnonzero(table)
        return Cells(*np.divmod(found, size), table[found].astype(float))

    def _by_blocks(self, values: npt.NDArray[Any], size: int) -> Cells:
        """Sort the values of each record among themselves, and add up what falls together."""
        from scipy.sparse import csr_array

        order, starts, people = self._blocks
        shape = (self.records, size)
        grid = csr_array((people.copy(), values[order].astype(order.dtype), starts.copy()), shape=shape)
        grid.sum_duplicates()
        records = np.repeat(np.arange(self.records, dtype=np.intp), np.diff(grid.indptr))
        return Cells(records, grid.indices.astype(np.intp), grid.data)

    @cached_property
    def _blocks(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.float64]]:
        """The rows in the order of their records, where each record's begin, and the people of each row."""
        from scipy.sparse import coo_array  # which sorts by counting

        rows = len(self.record_of)
        people = np.ones(rows) if self.people is None else self.people.astype(float)
        shape = (self.records, max(rows, 1))
        grid = coo_array((people, (self.record_of, np.arange(rows))), shape=shape).tocsr()
        return grid.indices, grid.indptr, grid.data
