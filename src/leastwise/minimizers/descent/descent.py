"""Coordinate descent on joint counts: each attribute in turn gets its best partition, the others as they are.

Coarsening only merges, and what it gave up it never gets back. Here the program of the exact partition is solved
anew for each attribute in turn, with costs counted on the joint buckets: a run of buckets costs the people whose
personal values are guessed right in it, minus ``mu`` times those whose label is. Each solution is exact while the
others stay. Where a round changes nothing, no attribute alone can improve the generalization; after a few rounds,
which leave out what is suppressed, a descent ends anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import Additive, fit_additive
from leastwise.kernels.interval_program import Buckets, best_partition, run_sums
from leastwise.kernels.joint_coarsening import State
from leastwise.kernels.joint_partition import Rests, run_hits, run_label_hits
from leastwise.minimizers.coarsening.path import countable
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.constraints.checks import MergeRules, broken
from leastwise.minimizers.descent.rests import (
    NONE,
    Item,
    Rest,
    calibrated,
    calibrated_label,
    guessed_of,
    rests_of,
    scores_of,
)
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.orders import principal_direction
from leastwise.partition import Partition, Untouched
from leastwise.random import generator
from leastwise.records.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Lagrange multipliers ``mu`` of the classifier error: from counting almost nothing to almost everything.
MULTIPLIERS = (0.1, 0.25, 0.5, 1.0, 1.6, 2.4, 3.4, 4.8, 7.0, 12.0, 25.0, 50.0)
# Attributes are gone round at most so often for one multiplier.
_ROUNDS = 3
# People that one more bucket must keep from being guessed, or whose label it must tell: less is chance.
_CHARGE = 1.0


def joint_path(
    table: Table,
    fine: Generalization,
    multipliers: Sequence[float] = MULTIPLIERS,
    *,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    records: Records | None = None,
) -> list[Generalization]:
    """Return a generalization for every Lagrange multiplier, from the coarse side and again from the fine one.

    They are made of the buckets of ``fine``. Unlike a coarsening path they are not nested in each other.

    Parameters
    ----------
    table
        Training records.
    fine
        A fine generalization, usually of ``optimal_path`` at a small ``lam``.
    multipliers
        The values of ``mu``: what an error of the classifier costs beside an error of the adversary.
    constraints
        What every generalization must hold to; those that cannot be made to are left out.
    """
    if not all(np.isfinite(mu) and mu >= 0 for mu in multipliers):
        raise ParameterError(f"multipliers must be numbers from 0; got {[*multipliers]}")
    held = constraints or Constraints()
    held.check(table.schema)
    descent = Descent(base_of(table, fine, held, records), target_weights(table, weights))
    solutions = [*descent.solutions([*sorted(multipliers), *sorted(multipliers, reverse=True)])]
    distinct = {generalization.fingerprint: generalization for generalization in reversed(solutions)}
    return [g for g in reversed(distinct.values()) if not broken(held, g, table)]


@dataclass(eq=False)
class Descent:
    """A generalization on its way: what each fine bucket belongs to, and what is known of the joint buckets."""

    base: Base
    weights: Floats
    now: list[Ints] = field(init=False)
    columns: list[Ints] = field(init=False)
    zobrist: Ints = field(init=False)
    state: State = field(init=False)
    model: Additive = field(init=False)
    pseudo_counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        most = max(len(row) for row in self.base.rows)
        shape = (len(self.base.rows), max(most, *(p.size for p in self.base.partitions)))
        self.zobrist = generator(0, "descent").integers(-(2**62), 2**62, size=shape)
        self.now = [start.copy() for start in self.base.coarsest]
        self._renew()

    def solutions(self, multipliers: Sequence[float]) -> Iterator[Generalization]:
        """Descend at one multiplier after the other, each from where the one before ended."""
        for mu in multipliers:
            self.descend(mu)
            yield self.base.generalization(self.now, minimizer="joint", mu=mu)

    def descend(self, mu: float) -> None:
        """Go round the attributes, a few times at most, until nothing changes; later without the suppressed."""
        turn = self.base.open
        for _ in range(_ROUNDS):
            changed = [j for j in turn if self._improve(j, mu)]
            if not changed:
                return
            self._renew()
            turn = [j for j in self.base.open if len(np.unique(self.now[j])) > 1]

    def _improve(self, j: int, mu: float) -> bool:
        """Give an attribute its best partition; return whether that is another one than before."""
        best, effects, people = self._best(j, mu)
        if best is None or _same(best, self.now[j]):
            return False
        self.now[j] = best
        self.columns[j] = best[self.base.fine[j]]
        row = self.base.rows[j]
        weight = np.maximum(np.bincount(best[row], weights=people), 1e-9)
        merged = [np.bincount(best[row], weights=people * effect) / weight for effect in effects.T]
        changed = [*self.model.weights]
        changed[j] = np.stack(merged, axis=1)
        self.model = replace(self.model, weights=tuple(changed))
        return True

    def _best(self, j: int, mu: float) -> tuple[Ints | None, Floats, Floats]:
        """Return the best partition of an attribute, and effects and people of its fine buckets, in their row."""
        cost, rests = self._costs(j, mu)
        solved = best_partition(cost[None], np.zeros(1), self.base.limits[j])
        best = self._from_row(j, min(solved, key=lambda each: each.cost)) if solved else None
        return best, rests.effects[:, -len(self.model.intercept) :], rests.bucket_people

    def _costs(self, j: int, mu: float) -> tuple[Floats, Rests]:
        """Return what each run [first, last] of an attribute's fine buckets costs, in people."""
        records, item, rest = self.base.records, self.base.item(j), Rest.by(self._keys(without=j))
        rests = rests_of(records, self.columns, rest, item, self.model, float(self.pseudo_counts[-1]))
        cost = _CHARGE * (1 + mu) - mu * run_label_hits(rests)
        for t in np.flatnonzero(self.weights > 0).tolist():
            context, pseudo_count = np.flatnonzero(self.state.contexts.strides[t]), float(self.pseudo_counts[t])
            guessed = guessed_of(records, self.columns, rest, item, t, context.tolist(), pseudo_count)
            cost += self.weights[t] * run_hits(rests, guessed)
        cost[self.base.forbidden[j]] = np.inf
        return cost, rests

    def _from_row(self, j: int, solved: Buckets) -> Ints:
        now = np.zeros(self.base.partitions[j].size, dtype=np.int64)
        runs = np.repeat(np.arange(len(solved.ends)), np.diff((0, *solved.ends)))
        now[self.base.rows[j]] = runs
        return now

    def _keys(self, without: int = NONE) -> Ints:
        """Return a number per record that is equal where all attributes but one are."""
        keys = np.zeros(len(self.base.table), dtype=np.int64)
        for j, column in enumerate(self.columns):
            if j != without:
                keys += self.zobrist[j, column]
        return keys

    def _renew(self) -> None:
        """Number the buckets, choose contexts, fit the label model, and let both count for what they are worth."""
        self.now = [np.unique(now, return_inverse=True)[1].astype(np.int64) for now in self.now]
        self.columns = [now[fine] for now, fine in zip(self.now, self.base.fine, strict=True)]
        records, sizes = self.base.records, [int(now.max()) + 1 for now in self.now]
        self.state, self.model = make_state(records, self.columns, sizes, PseudoCounts())
        right, rest = self.state.hits.sum(axis=0), Rest.by(self._keys())
        people = np.bincount(rest.of, weights=records.people).astype(float)
        nothing = Item(np.zeros(len(rest.of), dtype=np.int64), 1, NONE)
        self.pseudo_counts = np.ones(len(right))
        for t in range(len(records.own)):
            context = np.flatnonzero(self.state.contexts.strides[t]).tolist()
            guessed = guessed_of(records, self.columns, rest, nothing, t, context, 0.0)
            held = np.bincount(guessed.pair, weights=records.people).astype(float)
            self.pseudo_counts[t] = calibrated(guessed, held, people, float(right[t]))
        labels = np.zeros((len(rest.first), records.table.classes))
        np.add.at(labels, (rest.of, records.table.y), records.people)
        scores = scores_of(self.model, self.columns, rest.first, records.table.classes)
        self.pseudo_counts[-1] = calibrated_label(scores, labels, float(right[-1]))


def _same(one: Ints, other: Ints) -> bool:
    """Return whether two partitions of the same buckets are equal, however they number them."""
    pairs = len(np.unique(one * (int(other.max()) + 1) + other))
    return pairs == len(np.unique(one)) == len(np.unique(other))


@dataclass(frozen=True, eq=False)
class Base:
    """The fine buckets that partitions are made of.

    Attributes
    ----------
    partitions, shown
        The fine buckets as they are counted, and as they are published where they stay as they are.
    rows
        Per attribute, its buckets in the order in which runs of them may become one.
    fine
        Per attribute, the bucket of each record.
    forbidden
        Per attribute, the runs [first, last] that the constraints rule out.
    limits
        Per attribute, the largest number of runs; 0 for no limit.
    """

    table: Table
    records: Records
    partitions: tuple[Partition, ...]
    shown: tuple[Partition, ...]
    rows: tuple[list[int], ...]
    fine: tuple[Ints, ...]
    forbidden: tuple[npt.NDArray[np.bool_], ...]
    limits: tuple[int, ...]
    fixed: frozenset[int]

    @cached_property
    def open(self) -> list[int]:
        """The attributes that can be parted in more than one way."""
        return [j for j, row in enumerate(self.rows) if len(row) > 1 and j not in self.fixed]

    @cached_property
    def coarsest(self) -> list[Ints]:
        """Where a descent begins: everything that may change is suppressed."""
        sizes = [partition.size for partition in self.partitions]
        return [np.arange(n) if j in self.fixed else np.zeros(n, dtype=np.int64) for j, n in enumerate(sizes)]

    def item(self, attribute: int) -> Item:
        """Return the place in the row of each record's bucket."""
        row = self.rows[attribute]
        place = np.zeros(self.partitions[attribute].size, dtype=np.int64)
        place[row] = np.arange(len(row))
        return Item(place[self.fine[attribute]], len(row), attribute)

    def generalization(self, now: Sequence[Ints], **origin: Any) -> Generalization:
        """Return the artefact in which each fine bucket has become what ``now`` says."""
        pairs = zip(self.shown, now, strict=True)
        partitions = tuple(p if isinstance(p, Untouched) else p.coarsen(each.tolist()) for p, each in pairs)
        return Generalization(partitions, self.table.schema.label, origin)


def base_of(table: Table, fine: Generalization, constraints: Constraints, records: Records | None = None) -> Base:
    """Return the buckets of a fine generalization, ready to be put into runs."""
    partitions = tuple(countable(table, j, partition, constraints) for j, partition in enumerate(fine.partitions))
    maps = table.bucket_maps(Generalization(partitions))
    every = [maps[j][table.codes[:, j]].astype(np.int64) for j in range(len(maps))]
    records = (records or Records.of(table)).collapsed(every)
    columns = tuple(maps[j][records.table.codes[:, j]].astype(np.int64) for j in range(len(maps)))
    rules = MergeRules.of(constraints, partitions)
    rows = _rows(records, columns, partitions)
    people = [
        np.bincount(c, weights=records.people, minlength=p.size).astype(float)
        for c, p in zip(columns, partitions, strict=True)
    ]
    return Base(
        table=records.table,
        records=records,
        partitions=partitions,
        shown=tuple(
            old if old.attribute.name in constraints.untouched else new
            for old, new in zip(fine.partitions, partitions, strict=True)
        ),
        rows=rows,
        fine=columns,
        forbidden=tuple(
            _forbidden(rules, j, row, people[j], constraints.min_people) for j, row in enumerate(rows)
        ),
        limits=tuple(min(constraints.max_buckets.get(p.attribute.name, 0), p.size) for p in partitions),
        fixed=rules.fixed,
    )


def _rows(records: Records, columns: Sequence[Ints], partitions: Sequence[Partition]) -> tuple[list[int], ...]:
    table = records.table
    sizes = [partition.size for partition in partitions]
    model = fit_additive(columns, sizes, table.y, table.classes, records.people)
    effects = [weights @ principal_direction(weights) for weights in model.weights]
    return tuple(_row(partition, effect) for partition, effect in zip(partitions, effects, strict=True))


def _row(partition: Partition, effect: Floats) -> list[int]:
    """Return the buckets in their own order, or discrete ones by effect; "missing" at the end that it is like."""
    if partition.attribute.kind == "discrete":
        return sorted(range(partition.size), key=lambda bucket: float(effect[bucket]))
    inner = len(partition.assignment) - partition.attribute.extra_values
    row = [*dict.fromkeys(partition.assignment[:inner])]
    for bucket in range(partition.size):
        if bucket not in row:
            nearer = abs(effect[bucket] - effect[row[0]]) < abs(effect[bucket] - effect[row[-1]])
            row = [bucket, *row] if nearer else [*row, bucket]
    return row


def _forbidden(
    rules: MergeRules, attribute: int, row: list[int], people: Floats, min_people: float
) -> npt.NDArray[np.bool_]:
    size = len(row)
    wrong = np.asarray(run_sums(people[row]) < min_people) if min_people else np.zeros((size, size), dtype=bool)
    if rules.free(attribute):
        return wrong
    for first in range(size):
        for last in range(first, size):
            wrong[first, last] |= last > first and not rules.allow(attribute, row[first : last + 1])
    return wrong
