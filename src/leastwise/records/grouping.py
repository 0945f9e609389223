"""Codes in groups: joint buckets (the distinct rows, numbered), quantiles and runs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes

_LARGEST_KEY = 2**62
# Keys are counted where there are at most so many possible ones for each row.
_SPARSE = 8
# Pairs of a record and a value are counted in a table of at most so many entries for each row; else sorted.
_DENSE = 3
# Tables of counts have at most so many entries, however many rows there are: half a gigabyte of them.
_LARGEST_TABLE = 2**26
# A table of so many entries stays in the cache.
_SMALL_TABLE = 2**18
# Rows of which something is made at once.
_BLOCK = 2**16
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
    keys, bound, countable = np.zeros(rows, dtype=np.int64), 1, min(_SPARSE * rows, _LARGEST_TABLE)
    # Of very many columns one sorting is cheaper than to count again and again.
    counts_left = _MOST_COUNTED if math.prod(map(int, sizes)) <= _LARGEST_KEY else 0
    for column, size in zip(columns, sizes, strict=True):
        # Before too many rows are possible to count them, those that are there are numbered densely.
        countably = counts_left > 0 and bound <= countable < bound * size
        if countably or bound * size > _LARGEST_KEY:
            bound, counts_left = max(_number(keys, bound, countable), 1), counts_left - 1
        keys *= size
        keys += column
        bound *= size
    first = np.empty(_number(keys, bound, countable), dtype=np.intp)
    for block in reversed([*_blocks(rows)]):  # so that the first of equals is what stays
        first[keys[block][::-1]] = np.arange(block.start, min(block.stop, rows))[::-1]
    return first, keys.astype(np.intp, copy=False)


def _number(keys: npt.NDArray[np.int64], bound: int, countable: int) -> int:
    """Put the number of each key, in the order of the keys that occur, in its place; return how many occur."""
    if bound > countable:
        distinct, keys[:] = np.unique(keys, return_inverse=True)
        return len(distinct)
    shown = np.zeros(bound, dtype=bool)  # counting is faster than sorting
    shown[keys] = True
    number = np.cumsum(shown, dtype=np.int32 if bound < 2**31 else np.int64)
    for block in _blocks(len(keys)):
        keys[block] = number.take(keys[block])
    keys -= 1
    return int(number[-1])


def _blocks(rows: int) -> Iterator[slice]:
    """Yield one run of rows after another, each so short that what is made of it stays in the cache.

    What is made of many millions at once takes longer, probably because the system has to find memory for it
    first.
    """
    return (slice(start, start + _BLOCK) for start in range(0, rows, _BLOCK))


def taken(table: npt.NDArray[Any], places: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the entries of a table at so many places.

    >>> taken(np.array([5, 6]), np.array([1, 0, 1], dtype=np.uint8)).tolist()
    [6, 5, 6]
    """
    entries = np.empty(len(places), dtype=table.dtype)
    for block in _blocks(len(places)):
        entries[block] = table.take(places[block])
    return entries


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

    def __init__(self, record_of: npt.NDArray[Any], records: int, people: npt.NDArray[Any] | None) -> None:
        self.record_of, self.records, self.people = record_of, records, people

    def cells(self, values: npt.NDArray[Any], size: int) -> Cells:
        """Count the values of an attribute, each below the size.

        >>> Beside(np.array([1, 0, 1]), 2, None).cells(np.array([2, 5, 2]), 6).counts
        array([1., 2.])
        """
        if self.records * size > _SMALL_TABLE:
            parts = [self._of_run(run, values, size) for run in self._runs]
            return Cells(*map(np.concatenate, zip(*parts, strict=True)))
        table = np.zeros(self.records * size, dtype=np.int64 if self.people is None else self.people.dtype)
        for block in _blocks(len(values)):
            keys = self.record_of[block].astype(np.intp) * size + values[block]
            np.add.at(table, keys, 1 if self.people is None else self.people[block])
        occurring = np.flatnonzero(table)
        return Cells(*np.divmod(occurring, size), table[occurring].astype(float))

    def _of_run(self, run: _Run, values: npt.NDArray[Any], size: int) -> Cells:
        """Count the values of a run of records: in a table of all pairs, or by sorting where most have nobody."""
        if run.records * size > _DENSE * len(run.rows):
            return self._sorted(run, values, size)
        keys = run.record_of * size + values[run.rows]
        people = None if self.people is None else self.people[run.rows]
        table = np.bincount(keys, people, minlength=run.records * size)
        occurring = np.flatnonzero(table)
        record_of, value_of = np.divmod(occurring, size)
        return Cells(record_of + run.first, value_of, table[occurring].astype(float))

    def _sorted(self, run: _Run, values: npt.NDArray[Any], size: int) -> Cells:
        """Sort the values of each record among themselves, and add up what falls together."""
        from scipy.sparse import csr_array

        rows, starts = run.by_record
        people = np.ones(len(rows)) if self.people is None else self.people[rows].astype(float)
        shape = (run.records, size)
        grid = csr_array((people, values[rows].astype(starts.dtype), starts.copy()), shape=shape)
        grid.sum_duplicates()
        records = np.repeat(np.arange(run.first, run.first + run.records, dtype=np.intp), np.diff(grid.indptr))
        return Cells(records, grid.indices.astype(np.intp), grid.data)

    @cached_property
    def _runs(self) -> list[_Run]:
        """The records, cut into runs whose tables stay in the cache."""
        several = min(len(self.record_of) // _BLOCK + 1, 256)  # so many are sorted by counting
        firsts = np.arange(several + 1) * self.records // several
        run_of = np.repeat(np.arange(several, dtype=np.uint8), np.diff(firsts))
        own = taken(run_of, self.record_of)
        order, ends = np.argsort(own, kind="stable"), np.cumsum(np.bincount(own, minlength=several))
        rows = np.split(order, ends[:-1])
        return [
            _Run(int(first), int(end - first), each, self.record_of[each].astype(np.intp) - first)
            for first, end, each in zip(firsts[:-1], firsts[1:], rows, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class _Run:
    """Records that follow each other: the first, how many, and the rows of their people."""

    first: int
    records: int
    rows: npt.NDArray[np.intp]
    record_of: npt.NDArray[np.intp]

    @cached_property
    def by_record(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
        """The rows in the order of their records, and where each record's begin."""
        small = np.uint16 if self.records <= 2**16 else np.int64  # small numbers are sorted by counting
        order = np.argsort(self.record_of.astype(small), kind="stable")
        people = np.bincount(self.record_of, minlength=self.records)
        return self.rows[order], np.concatenate([[0], np.cumsum(people)]).astype(np.int32)
