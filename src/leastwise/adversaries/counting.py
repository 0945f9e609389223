"""Who knows everybody else: each stolen person is guessed from the counts of all others (leave-one-out).

The strongest adversary that only counts needs no sample: of everybody but the one person it holds the full record.
It guesses by the joint bucket of the person, and backs off to coarser joint buckets where that holds few others.
With one person left out, all who share a record and a value are guessed alike, so that counts are enough; where
records stay in an engine, no more is asked than what judges the generalization anyway.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import Finding, read_off
from leastwise.adversaries.targets import Target
from leastwise.kernels import backoff, left_out
from leastwise.random import generator
from leastwise.records.grouping import Cells, joint_keys, numbered_runs, quantile_of

EVERYBODY = "counts of everybody else"
PSEUDO_COUNTS = (1.0, 4.0, 16.0)
# The order of the columns: on how many distinct records it is settled, with what pseudo-count, trying how many.
_MOST_FOR_ORDER, _ORDER_PSEUDO_COUNT, _MOST_TRIED = 15_000, 2.0, 24
# Of a column of more numbers, so many runs are guessed.
_MOST_RUNS = 128
Whole = npt.NDArray[np.int64]


def find_counted(breach: Breach) -> list[Finding]:
    """Return what is found of each personal attribute by who knows the full records of all other stolen people."""
    records = _Records.of(breach)
    return [
        read_off(target) if breach.joined.partitions[p].untouched else _found(breach, records, p, target)
        for p, target in breach.targets.items()
    ]


class _Records(NamedTuple):
    """The distinct stolen records, and the number of each row's.

    The first column is the same for all: the coarsest joint bucket is everybody. The last one is the label, where
    it is stolen too.
    """

    inputs: Whole
    sizes: Whole
    number_of: Whole

    @classmethod
    def of(cls, breach: Breach) -> _Records:
        stored = breach.stored.astype(np.int64)
        sizes = [int(each) + 1 for each in stored.max(axis=0, initial=0)]
        # In the order of the records, not of the rows: the same people give the same figures, however they lie.
        _, first, number_of = np.unique(joint_keys(stored, sizes), return_index=True, return_inverse=True)
        inputs = np.column_stack([np.zeros(len(first), dtype=np.int64), stored[first]])
        return cls(np.ascontiguousarray(inputs), np.array([1, *sizes]), number_of.astype(np.int64))


class _Guesses(NamedTuple):
    """What is guessed of an attribute: guess g tells the values from ``begin[g]`` to ``end[g]``."""

    value_of: Whole  # of each code
    begin: Whole
    end: Whole

    @classmethod
    def of(cls, breach: Breach, position: int, target: Target) -> _Guesses:
        codes = len(target.numbers)
        if target.tolerance is None:
            each = np.arange(codes)
            return cls(each, each, each)
        levels = target.numbers[: codes - target.attribute.extra_values]
        run = np.arange(len(levels))
        if len(levels) > _MOST_RUNS:  # as many as the people whom the thief knew before tell apart
            run = numbered_runs(quantile_of(breach.train.use(position)[: len(levels)], _MOST_RUNS))
        runs = int(run.max(initial=-1)) + 1
        extras = np.arange(runs, runs + target.attribute.extra_values)
        first, behind = (np.searchsorted(run, np.arange(runs), side=side) for side in ("left", "right"))
        reach = np.searchsorted(levels, levels[first] + 2 * target.tolerance * (1 + 1e-9), side="right")
        # A run is told only as a whole: one that reaches farther than the tolerance is told by nobody.
        end = np.searchsorted(behind, reach, side="right") - 1
        return cls(np.concatenate([run, extras]), np.arange(runs + len(extras)), np.concatenate([end, extras]))


def _found(breach: Breach, records: _Records, position: int, target: Target) -> Finding:
    guesses = _Guesses.of(breach, position, target)
    number_of, values = records.number_of[breach.record_of(position)], guesses.value_of[target.truth]
    cells = Cells.of(number_of, values, target.counts)
    size = int(max(guesses.value_of.max(initial=0), guesses.begin.max(initial=0))) + 1
    rows = cells.record_of.astype(np.int64), cells.values.astype(np.int64), cells.counts
    order, useful = _order(breach, records, rows, size, position)
    _, _, _, node_of = backoff.grow(records.inputs, order, records.sizes)
    counted = left_out.count_nodes(node_of, *rows, size, int(node_of.max(initial=0)) + 1)
    starts = np.searchsorted(cells.record_of, np.arange(len(records.inputs) + 1))
    anything = np.full(size, 1 / size)
    best: tuple[Any, Any] = np.ones(len(cells.values), dtype=bool), np.zeros(len(cells.values))
    for depth in sorted({useful, len(order)}):
        path = np.ascontiguousarray(node_of[:, :depth])
        for pseudo in PSEUDO_COUNTS:
            tried = left_out.guesses(path, counted, starts, rows[1], anything, guesses.begin, guesses.end, pseudo)
            if cells.counts[tried[0]].sum() < cells.counts[best[0]].sum():  # in favour of the adversary
                best = tried
    pairs = cells.record_of * size + cells.values
    row_of = np.searchsorted(pairs, number_of * size + values)
    return Finding(target, best[0][row_of], best[1][row_of], EVERYBODY, math.nan)


def _order(
    breach: Breach, records: _Records, rows: tuple[Whole, Whole, Any], size: int, position: int
) -> tuple[Whole, int]:
    """Return the columns, the most telling first: everybody, then the attribute's own bucket."""
    z, values, people = rows
    some = np.arange(len(records.inputs))
    if len(some) > _MOST_FOR_ORDER:
        random = generator(breach.seed, "counting", position)
        some = np.sort(random.choice(len(some), _MOST_FOR_ORDER, replace=False))
    number = np.full(len(records.inputs), -1)
    number[some] = np.arange(len(some))
    kept = number[z] >= 0
    found, useful = backoff.choose_order(
        records.inputs[some], records.sizes, number[z[kept]], values[kept], people[kept], np.full(size, 1 / size),
        np.array([0, position + 1]), _ORDER_PSEUDO_COUNT, _MOST_TRIED,
    )  # fmt: skip
    return found, int(useful)
