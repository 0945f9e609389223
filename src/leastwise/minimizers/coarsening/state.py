"""Joint buckets of a generalization, ready for coarsening: contexts chosen, label model fitted, all scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import SchemaError
from leastwise.kernels.additive_logistic import Additive, fit_additive
from leastwise.kernels.joint_coarsening import State, context_hits, score_all
from leastwise.minimizers.optimal.items import guessed, personal_codes
from leastwise.random import generator
from leastwise.records.joint import joint_buckets
from leastwise.records.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# A context is chosen on at most so many records; its table has at most so many entries, and a row of it holds so
# many people on average.
_MOST_FOR_CONTEXT = 20_000
_LARGEST_TABLE = 200_000
_PEOPLE_PER_ROW = 10.0


@dataclass(frozen=True)
class PseudoCounts:
    """Pseudo-counts: how many people coarser knowledge (the prior) counts for beside a joint bucket's own.

    Of ``context`` (for each personal attribute) and ``label`` the one is taken that guesses best: an adversary
    would find it too, and sparse joint buckets must not hide what coarser ones tell.
    """

    context: tuple[float, ...] = (2.0, 8.0, 32.0)
    label: tuple[float, ...] = (4.0, 16.0)
    own: float = 1.0


@dataclass(frozen=True, eq=False)
class Records:
    """Training records as coarsening sees them: codes of everything that is guessed."""

    table: Table
    people: Floats
    targets: Ints
    target_sizes: tuple[int, ...]
    own: tuple[int, ...]
    sample: npt.NDArray[Any]

    @classmethod
    def of(cls, table: Table) -> Records:
        """Prepare a table."""
        if not table.sizes:
            raise SchemaError("there are no attributes to minimize; declare at least one")
        columns = [personal_codes(table, p) for p in guessed(table)]
        targets = np.stack(columns, axis=1)
        sizes = tuple(int(column.max(initial=0)) + 1 for column in columns)
        return cls(table, table.counts.astype(float), targets, sizes, guessed(table), _sample(len(table)))

    def collapsed(self, columns: Sequence[Ints]) -> Records:
        """Return one record for all that agree in these columns, in everything that is guessed and in the label.

        For every generalization made of the columns it counts the same, on fewer records.
        """
        rows = np.stack([*columns, *self.targets.T, self.table.y.astype(np.int64)], axis=1)
        first, row_of = joint_buckets(rows, (rows.max(axis=0, initial=0) + 1).tolist())
        people = np.bincount(row_of, weights=self.people, minlength=len(first)).astype(float)
        table = replace(self.table.take(first), weights=people)
        return replace(self, table=table, people=people, targets=self.targets[first], sample=_sample(len(first)))


def _sample(count: int) -> npt.NDArray[Any]:
    """Return the records that contexts are chosen on."""
    return np.sort(generator(0, "context").permutation(count)[:_MOST_FOR_CONTEXT])


def make_state(
    records: Records,
    columns: Sequence[npt.NDArray[Any]],
    sizes: Sequence[int],
    pseudo_counts: PseudoCounts,
    start: Additive | None = None,
) -> tuple[State, Additive]:
    """Count the joint buckets of these columns (one per attribute) and score them all."""
    table = records.table
    first, bucket_of = joint_buckets(np.stack(columns, axis=1), sizes)
    model = fit_additive(columns, sizes, table.y, table.classes, records.people, start=start, sweeps=8)
    buckets = np.zeros((len(first), len(columns) + 1), dtype=np.int64)
    buckets[:, :-1] = np.stack([column[first] for column in columns], axis=1)
    zobrist = generator(0, "zobrist").integers(-(2**62), 2**62, size=(len(columns) + 1, max(sizes)))
    effects = _effects(model, table.classes, len(columns), max(sizes))
    strides, rows = _strides(records, columns, sizes)
    starts, flat = _context_tables(records, columns, strides, rows)
    head, tail, following = _lists(bucket_of, len(first))
    state = State(
        buckets=buckets,
        keys=_keys(buckets, zobrist),
        zobrist=zobrist,
        alive=np.ones(len(first), dtype=np.bool_),
        head=head,
        tail=tail,
        following=following,
        people=records.people,
        targets=np.ascontiguousarray(records.targets),
        labels=_labels(records, bucket_of, len(first)),
        scores=_scores(model, effects, buckets, table.classes),
        effects=effects,
        hits=np.zeros((len(first), len(records.own) + 1)),
        own=np.asarray(records.own, dtype=np.int64),
        sizes=np.asarray(records.target_sizes, dtype=np.int64),
        strides=strides,
        rows=rows,
        row_of=buckets @ strides.T,
        starts=starts,
        context=flat,
        bucket_people=_bucket_people(records, columns, sizes),
        value_people=_value_people(records),
        value_bucket=_value_bucket(records, columns),
        pseudo_counts=np.full(len(records.own) + 2, pseudo_counts.own),
    )
    _choose_pseudo_counts(state, pseudo_counts)
    return state, model


def _strides(records: Records, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """Choose the contexts; return the step of each attribute in each context's table, and the tables' rows."""
    strides = np.zeros((len(records.own), len(columns) + 1), dtype=np.int64)
    rows = np.ones(len(records.own), dtype=np.int64)
    for t in range(len(records.own)):
        for j in _context(records, columns, sizes, t):
            strides[t, j] = rows[t]
            rows[t] *= sizes[j]
    return strides, rows


def _labels(records: Records, bucket_of: npt.NDArray[Any], count: int) -> Floats:
    labels = np.zeros((count, records.table.classes))
    np.add.at(labels, (bucket_of, records.table.y), records.people)
    return labels


def _bucket_people(records: Records, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int]) -> Floats:
    result = np.zeros((len(columns) + 1, max(sizes)))
    for j, column in enumerate(columns):
        result[j, : sizes[j]] = np.bincount(column, weights=records.people, minlength=sizes[j])
    return result


def _choose_pseudo_counts(state: State, pseudo_counts: PseudoCounts) -> None:
    """Give each target the pseudo-count that guesses most people right, and score all joint buckets with it."""
    targets = len(state.own)
    tried = [
        (context, pseudo_counts.label[min(i, len(pseudo_counts.label) - 1)])
        for i, context in enumerate(pseudo_counts.context)
    ]
    found = []
    for context, label in tried:
        state.pseudo_counts[:targets], state.pseudo_counts[targets] = context, label
        score_all(state)
        found.append(state.hits.copy())
    best = np.argmax([hits.sum(axis=0) for hits in found], axis=0)
    for target in range(targets + 1):
        state.pseudo_counts[target] = tried[best[target]][target == targets]
        state.hits[:, target] = found[best[target]][:, target]


def _effects(model: Additive, classes: int, attributes: int, most: int) -> Floats:
    effects = np.zeros((attributes + 1, most, classes))
    for j, weights in enumerate(model.weights):
        effects[j, : len(weights), classes - weights.shape[1] :] = weights
    return effects


def _scores(model: Additive, effects: Floats, buckets: Ints, classes: int) -> Floats:
    scores = np.zeros((len(buckets), classes))
    scores[:, classes - len(model.intercept) :] += model.intercept
    for j in range(buckets.shape[1] - 1):
        scores += effects[j, buckets[:, j]]
    return scores


def _keys(buckets: Ints, zobrist: Ints) -> Ints:
    keys = np.zeros(len(buckets), dtype=np.int64)
    with np.errstate(over="ignore"):
        for j in range(buckets.shape[1]):
            keys += zobrist[j, buckets[:, j]]
    return keys


def _lists(bucket_of: npt.NDArray[Any], count: int) -> tuple[Ints, Ints, Ints]:
    """Return (first record, last record) of each joint bucket and the next record of each record."""
    order = np.argsort(bucket_of, kind="stable")
    sorted_buckets = bucket_of[order]
    ends = np.searchsorted(sorted_buckets, np.arange(count), side="right") - 1
    begins = np.searchsorted(sorted_buckets, np.arange(count), side="left")
    following = np.full(len(order), -1, dtype=np.int64)
    same = sorted_buckets[1:] == sorted_buckets[:-1]
    following[order[:-1][same]] = order[1:][same]
    return order[begins].astype(np.int64), order[ends].astype(np.int64), following


def _value_people(records: Records) -> Floats:
    result = np.zeros((len(records.own), max(records.target_sizes, default=1)))
    for t, size in enumerate(records.target_sizes):
        result[t, :size] = np.bincount(records.targets[:, t], weights=records.people, minlength=size)
    return result


def _value_bucket(records: Records, columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """Return the bucket of each value of each personal attribute; of runs of numbers, the commonest."""
    result = np.zeros((len(records.own), max(records.target_sizes, default=1)), dtype=np.int64)
    for t, (p, size) in enumerate(zip(records.own, records.target_sizes, strict=True)):
        buckets = int(columns[p].max(initial=0)) + 1
        pairs = records.targets[:, t] * buckets + columns[p]
        people = np.bincount(pairs, weights=records.people, minlength=size * buckets)
        result[t, :size] = people.reshape(size, buckets).argmax(axis=1)
    return result


def _context(
    records: Records, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], target: int
) -> list[int]:
    """Choose the attributes that tell a personal attribute best, while their joint buckets stay well filled."""
    rows_of = records.sample
    own, size = records.own[target], records.target_sizes[target]
    values, people = records.targets[rows_of, target], records.people[rows_of]
    own_column = columns[own][rows_of]
    by_value = np.bincount(values, weights=people, minlength=size)
    total = np.bincount(own_column, weights=people, minlength=sizes[own])
    total[total == 0] = 1.0  # nobody is in the bucket, and nobody counts
    own_total = np.ones(size)
    own_total[values] = total[own_column]
    chosen, rows, count = [own], own_column.astype(np.int64), sizes[own]
    limit = min(_LARGEST_TABLE / size, records.people.sum() / _PEOPLE_PER_ROW)
    best = context_hits(rows, count, values, size, people, 1.0, by_value, own_total)
    while True:
        options = [
            j for j in range(len(columns)) if j not in chosen and sizes[j] > 1 and count * sizes[j] <= limit
        ]
        scored = []
        for j in options:
            finer = rows * sizes[j] + columns[j][rows_of]
            scored.append(
                (context_hits(finer, count * sizes[j], values, size, people, 1.0, by_value, own_total), j)
            )
        if not scored or max(scored)[0] <= best:
            return chosen
        best, j = max(scored)
        rows, count = rows * sizes[j] + columns[j][rows_of], count * sizes[j]
        chosen.append(j)


def _context_tables(
    records: Records, columns: Sequence[npt.NDArray[Any]], strides: Ints, rows: Ints
) -> tuple[Ints, Floats]:
    starts, parts = [0], []
    for t, size in enumerate(records.target_sizes):
        row = np.zeros(len(records.people), dtype=np.int64)
        for j in np.flatnonzero(strides[t]).tolist():
            row += strides[t, j] * columns[j]
        flat = row * size + records.targets[:, t]
        parts.append(np.bincount(flat, weights=records.people, minlength=int(rows[t]) * size).astype(float))
        starts.append(starts[-1] + len(parts[-1]))
    return np.array(starts, dtype=np.int64), np.concatenate(parts) if parts else np.zeros(0)
