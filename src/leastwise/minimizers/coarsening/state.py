"""Joint buckets of a generalization, ready for coarsening: contexts chosen, label model fitted, all scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import SchemaError
from leastwise.kernels.additive_logistic import Additive, fit_additive
from leastwise.kernels.backoff import context_hits
from leastwise.kernels.joint_coarsening import (
    Contexts,
    Joint,
    Label,
    Members,
    State,
    Targets,
    score_target,
)
from leastwise.minimizers.optimal.items import guessed, personal_codes
from leastwise.random import generator
from leastwise.records.grouping import joint_buckets
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
    """Count the joint buckets of these columns (one per attribute), score them all, and fit the label model.

    ``start`` is an earlier model in the same numbers of the buckets: the fit is quicker from there.
    """
    table, personal, most = records.table, len(records.own), max(sizes)
    first, joint_of = joint_buckets(np.stack(columns, axis=1), sizes)
    model = fit_additive(columns, sizes, table.y, table.classes, records.people, start=start, sweeps=8)
    # One column more, always 0: an attribute that is not there, for scoring without a merge.
    buckets = np.zeros((len(first), len(columns) + 1), dtype=np.int64)
    buckets[:, :-1] = np.stack([column[first] for column in columns], axis=1)
    bucket_people = np.zeros((len(columns) + 1, most))
    for j, column in enumerate(columns):
        bucket_people[j, : sizes[j]] = np.bincount(column, weights=records.people, minlength=sizes[j])
    joint, following = _joint(buckets, joint_of, most)
    state = State(
        joint=joint,
        records=Members(following, records.people, np.ascontiguousarray(records.targets)),
        label=_label(records, model, buckets, joint_of, most),
        targets=_targets(records, columns),
        contexts=_contexts(records, columns, sizes, buckets),
        hits=np.zeros((len(first), personal + 1)),
        bucket_people=bucket_people,
        pseudo_counts=np.full(personal + 2, pseudo_counts.own),
    )
    _choose_pseudo_counts(state, pseudo_counts)
    return state, model


def _joint(buckets: Ints, joint_of: npt.NDArray[Any], most: int) -> tuple[Joint, Ints]:
    """Return the joint buckets with their records as linked lists, and the next record of each record."""
    count = len(buckets)
    zobrist = _zobrist(buckets.shape[1], most)
    keys = np.zeros(count, dtype=np.int64)
    with np.errstate(over="ignore"):
        for j in range(buckets.shape[1]):
            keys += zobrist[j, buckets[:, j]]
    order = np.argsort(joint_of, kind="stable")
    by_joint = joint_of[order]
    head = order[np.searchsorted(by_joint, np.arange(count), side="left")].astype(np.int64)
    tail = order[np.searchsorted(by_joint, np.arange(count), side="right") - 1].astype(np.int64)
    following = np.full(len(order), -1, dtype=np.int64)
    same = by_joint[1:] == by_joint[:-1]
    following[order[:-1][same]] = order[1:][same]
    return Joint(buckets, keys, zobrist, np.ones(count, dtype=np.bool_), head, tail), following


@lru_cache(maxsize=64)
def _zobrist(attributes: int, most: int) -> Ints:
    """Return a random number for each bucket of each attribute, the same ones each time."""
    return generator(0, "zobrist").integers(-(2**62), 2**62, size=(attributes, most))


def _label(records: Records, model: Additive, buckets: Ints, joint_of: npt.NDArray[Any], most: int) -> Label:
    classes, attributes = records.table.classes, buckets.shape[1] - 1
    people = np.zeros((len(buckets), classes))
    np.add.at(people, (joint_of, records.table.y), records.people)
    # Of two classes the model scores the second; the first has 0.
    effects = np.zeros((attributes + 1, most, classes))
    for j, weights in enumerate(model.weights):
        effects[j, : len(weights), classes - weights.shape[1] :] = weights
    scores = np.zeros((len(buckets), classes))
    scores[:, classes - len(model.intercept) :] += model.intercept
    for j in range(attributes):
        scores += effects[j, buckets[:, j]]
    return Label(people, scores, effects, records.table.right)


def _targets(records: Records, columns: Sequence[npt.NDArray[Any]]) -> Targets:
    """Return people and bucket of each value of each personal attribute; of runs of numbers, the commonest one."""
    shape = (len(records.own), max(records.target_sizes, default=1))
    people, bucket = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    for t, (p, size) in enumerate(zip(records.own, records.target_sizes, strict=True)):
        values, buckets = records.targets[:, t], int(columns[p].max(initial=0)) + 1
        people[t, :size] = np.bincount(values, weights=records.people, minlength=size)
        pairs = np.bincount(values * buckets + columns[p], weights=records.people, minlength=size * buckets)
        bucket[t, :size] = pairs.reshape(size, buckets).argmax(axis=1)
    own, sizes = (np.asarray(each, dtype=np.int64) for each in (records.own, records.target_sizes))
    return Targets(own, sizes, people, bucket)


def _contexts(
    records: Records, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], buckets: Ints
) -> Contexts:
    """Choose the context of each personal attribute, and count its table."""
    personal = len(records.own)
    strides, rows = np.zeros((personal, len(columns) + 1), dtype=np.int64), np.ones(personal, dtype=np.int64)
    tables = []
    some = [column if len(column) == len(records.sample) else column[records.sample] for column in columns]
    for t, size in enumerate(records.target_sizes):
        row = np.zeros(len(records.people), dtype=np.int64)
        for j in _context(records, some, sizes, t):
            strides[t, j] = rows[t]
            row += rows[t] * columns[j]
            rows[t] *= sizes[j]
        flat = row * size + records.targets[:, t]
        tables.append(np.bincount(flat, weights=records.people, minlength=int(rows[t]) * size).astype(float))
    starts = np.cumsum([0, *map(len, tables)], dtype=np.int64)
    return Contexts(strides, rows, buckets @ strides.T, starts, np.concatenate([*tables, np.zeros(0)]))


def _context(
    records: Records, columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], target: int
) -> list[int]:
    """Choose the attributes that tell a personal attribute best, while their joint buckets stay well filled.

    ``columns`` are those of the sample of the records.
    """
    own, size = records.own[target], records.target_sizes[target]
    values, people = records.targets[records.sample, target], records.people[records.sample]
    by_value = np.bincount(values, weights=people, minlength=size)
    total = np.bincount(columns[own], weights=people, minlength=sizes[own])
    total[total == 0] = 1.0  # nobody is in the bucket, and nobody counts
    own_total = np.ones(size)
    own_total[values] = total[columns[own]]
    chosen, rows, count = [own], np.zeros(len(values), dtype=np.int64), 1
    limit = min(_LARGEST_TABLE / size, records.people.sum() / _PEOPLE_PER_ROW)

    def hits(j: int) -> float:
        rest = values, size, people, 1.0, by_value, own_total
        return float(context_hits(rows, columns[j], sizes[j], count * sizes[j], *rest))

    best, j = hits(own), own
    while True:
        rows, count = rows * sizes[j] + columns[j], count * sizes[j]
        options = [
            (hits(j), j)
            for j in range(len(columns))
            if j not in chosen and sizes[j] > 1 and count * sizes[j] <= limit
        ]
        if not options or max(options)[0] <= best:
            return chosen
        best, j = max(options)
        chosen.append(j)


def _choose_pseudo_counts(state: State, pseudo_counts: PseudoCounts) -> None:
    """Give each target the pseudo-count that guesses most people right, and score all joint buckets with it."""
    targets = len(state.targets.own)
    for target in range(targets + 1):
        tried = pseudo_counts.label if target == targets else pseudo_counts.context
        hits = score_target(state, target, np.array(tried))
        best = int(hits.sum(axis=1).argmax())
        state.pseudo_counts[target], state.hits[:, target] = tried[best], hits[best]
