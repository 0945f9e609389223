"""Backward coarsening: from a fine generalization, one merge at a time, to full suppression."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import Additive
from leastwise.kernels.interval_program import best_partition, spread
from leastwise.kernels.joint_coarsening import State, apply_merge, score_merge
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.constraints.checks import MergeRules, check_start
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.orders import principal_direction
from leastwise.partition import Intervals, Partition, Untouched, edge_between
from leastwise.records.quantiles import quantile_of
from leastwise.records.table import Table
from leastwise.schema import Attribute
from leastwise.validation import check_from_zero

# Buckets of a continuous attribute that the start leaves untouched.
_MOST_BUCKETS = 64
# Up to so many groups of a discrete attribute, any two may be merged; beyond, neighbours by effect.
_ALL_PAIRS = 8
# Contexts and the label model are renewed when so large a share of the buckets is gone.
_RENEW = 0.85
# A move that merges many buckets leaves at most so many runs.
_RUNS = 5
# A share of the people lost in fewer than so many standard errors, at one half, is noise.
_NOISE = 0.02

Ints = npt.NDArray[np.int64]
Groups = tuple[tuple[int, ...], ...]
"""Buckets of one attribute: those of a group become one."""


@dataclass(frozen=True, eq=False)
class Step:
    """One generalization of a path, with what leave-one-out counting says of it on the training records."""

    generalization: Generalization
    utility_risk: float
    adversary_error: float


def coarsening_path(
    table: Table,
    start: Generalization,
    mu: float | None = None,
    *,
    steps: int | None = 40,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    pseudo_counts: PseudoCounts | None = None,
    constraints: Constraints | None = None,
    records: Records | None = None,
) -> tuple[Generalization, ...]:
    """Return a nested path from the start to full suppression: each generalization is coarser than the one before.

    Each merge is the one with the best gain in adversary error minus ``mu`` times the loss in classifier error,
    both counted on the joint buckets with every record left out of its own.

    Parameters
    ----------
    table
        Training records.
    start
        A fine generalization, usually of ``optimal_path`` at a small ``lam``.
    mu
        Lagrange multiplier: what an error of the classifier costs beside an error of the adversary. None: the
        merge with the best exchange rate between the two comes next, which is a multiplier that falls along it.
    steps
        How many generalizations to return, well spread; None for one after every merge.
    constraints
        What every generalization of the path must hold to, the start included; the path ends where no merge is
        left that they allow.
    records
        The same records prepared, where several paths are made of them.
    """
    found = coarsening_steps(
        table, start, mu, weights=weights, pseudo_counts=pseudo_counts, constraints=constraints, records=records
    )
    kept = found if steps is None else thinned(found, steps)
    return tuple(step.generalization for step in kept)


def coarsening_steps(
    table: Table,
    start: Generalization,
    mu: float | None = None,
    *,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    pseudo_counts: PseudoCounts | None = None,
    records: Records | None = None,
    constraints: Constraints | None = None,
) -> list[Step]:
    """Return one step per merge, the start first, with the estimated errors."""
    if mu is not None:
        check_from_zero("mu", mu)
    held = constraints or Constraints()
    held.check(table.schema)
    partitions = [countable(table, j, partition, held) for j, partition in enumerate(start.partitions)]
    maps = table.bucket_maps(Generalization(tuple(partitions)))
    fine = [maps[j][table.codes[:, j]].astype(np.int64) for j in range(len(maps))]
    counted = (records or Records.of(table)).collapsed(fine)
    run = _Run(
        table=counted.table,
        records=counted,
        partitions=partitions,
        shown=[
            old if old.attribute.name in held.untouched else new
            for old, new in zip(start.partitions, partitions, strict=True)
        ],
        rules=MergeRules.of(held, partitions),
        mu=mu,
        weights=target_weights(table, weights),
        pseudo_counts=pseudo_counts or PseudoCounts(),
    )
    check_start(held, Generalization(tuple(run.shown), start.label), table)
    return [*run.steps()]


def thinned(steps: Sequence[Step], count: int) -> list[Step]:
    """Return at most so many steps, both ends among them, evenly spread in what they lose and protect."""
    if count < 2:
        raise ParameterError(f"a path needs at least its two ends; got {count}")
    points = np.array([(step.utility_risk, step.adversary_error) for step in steps])
    scale = np.maximum(np.ptp(points, axis=0), 1e-9)
    moved = np.linalg.norm(np.diff(points / scale, axis=0), axis=1)
    # Where many small merges lie together, some of them are kept too.
    along = np.concatenate([[0.0], np.cumsum(moved + moved.sum() / max(len(moved), 1) / 2 + 1e-9)])
    wanted = np.linspace(0, along[-1], min(count, len(steps)))
    return [steps[i] for i in np.unique(np.abs(along[:, None] - wanted[None, :]).argmin(axis=0))]


def countable(table: Table, attribute: int, partition: Partition, constraints: Constraints) -> Partition:
    """Return a partition with numbered buckets: an untouched number in runs, about equally used."""
    if not isinstance(partition, Untouched):
        return partition
    declared, levels, use = partition.attribute, table.levels[attribute], table.use(attribute)
    seen = np.flatnonzero(use[: len(levels)] > 0)
    quantile = quantile_of(use[seen], _MOST_BUCKETS) if len(seen) > _MOST_BUCKETS else np.arange(len(seen))
    numbers = levels[seen].astype(float)
    pairs = [(float(numbers[i]), float(numbers[i + 1])) for i in np.flatnonzero(np.diff(quantile))]
    edges = {edge_between(low, high, declared.integer) for low, high in pairs}
    return Intervals(declared, _with_needed(declared, edges, constraints))


def _with_needed(attribute: Attribute, edges: set[float], constraints: Constraints) -> tuple[float, ...]:
    """Return the edges with those that must stay, and with one between numbers that must be apart."""
    found = edges | {float(edge) for edge in constraints.edges.get(attribute.name, ())}
    for values in constraints.apart.get(attribute.name, ()):
        for low, high in itertools.pairwise(sorted({float(value) for value in values if value is not None})):
            if not any(low <= edge < high for edge in found):
                found.add(edge_between(low, high, attribute.integer))
    return tuple(sorted(found))


@dataclass(eq=False)
class _Run:
    """One path in the making. A bucket is named by the first bucket of the start that is in it."""

    table: Table
    records: Records
    partitions: list[Partition]
    shown: list[Partition]
    rules: MergeRules
    mu: float | None
    weights: npt.NDArray[np.float64]
    pseudo_counts: PseudoCounts
    now: list[Ints] = field(init=False)
    place: list[Ints] = field(init=False)
    state: State = field(init=False)
    model: Additive | None = None
    effects: list[npt.NDArray[np.float64]] = field(init=False)
    merges: int = 0

    def steps(self) -> Iterator[Step]:
        """Merge until nothing is collected."""
        self.now = [np.arange(partition.size) for partition in self.partitions]
        self._renew()
        heap: list[_Entry] = []
        for attribute in range(len(self.now)):
            self._push(heap, attribute)
        renewed = self._open_buckets()
        yield self._step()
        while heap:
            attribute = self._take_best(heap)
            if self._open_buckets() <= _RENEW * renewed:
                self._renew()
                renewed = self._open_buckets()
            heap = [entry for entry in heap if entry.attribute != attribute]
            heapq.heapify(heap)
            self._push(heap, attribute)
            yield self._step()

    def _take_best(self, heap: list[_Entry]) -> int:
        """Apply the best move; values from before the last merges are renewed when they come to the top."""
        while heap[0].merges < self.merges:
            stale = heapq.heappop(heap)
            heapq.heappush(heap, self._entry(stale.attribute, stale.groups))
        best = self._first_step(heapq.heappop(heap), heap)
        apply_merge(self.state, best.attribute, self._into(best.attribute, best.groups))
        now = self.now[best.attribute]
        for group in best.groups:
            now[np.isin(now, group)] = min(group)
        self.merges += 1
        return best.attribute

    def _first_step(self, best: _Entry, heap: list[_Entry]) -> _Entry:
        """Return the move, or of a large one the pair of its buckets to begin with, at the large move's rate.

        A large move says where to go; on the way there may be something better, and candidates to choose from.
        """
        if best.pair:
            return best
        home = {bucket: number for number, group in enumerate(best.groups) for bucket in group}
        own = [entry for entry in heap if entry.attribute == best.attribute and entry.pair]
        pairs = [e for e in own if len({home.get(bucket, -1 - bucket) for bucket in e.groups[0]}) == 1]
        if not pairs:
            return best
        rate = self.mu if self.mu is not None else max(best.gain, 0.0) / max(best.loss, 1e-9)
        return max(pairs, key=lambda pair: (pair.gain - rate * pair.loss, pair.groups))

    def _push(self, heap: list[_Entry], attribute: int) -> None:
        for groups in self._moves(attribute):
            heapq.heappush(heap, self._entry(attribute, groups))

    def _entry(self, attribute: int, groups: Groups) -> _Entry:
        change = score_merge(self.state, attribute, self._into(attribute, groups)) / self.records.people.sum()
        gain, loss = -float(change[:-1] @ self.weights), -float(change[-1])
        size = sum(len(group) for group in groups)
        return _Entry(-self._worth(gain, loss), size, attribute, groups, self.merges, gain, loss)

    def _worth(self, gain: float, loss: float) -> float:
        """Return how good a move is that gains adversary error and loses classifier error."""
        if self.mu is not None:
            return gain - self.mu * loss
        # The best exchange rate first; below the noise of a few people a loss is none.
        noise = _NOISE / self.table.people**0.5
        if gain <= 0:
            return min(gain - loss, 0.0) - 1e-9 if loss > -noise else 0.0
        return float(gain / (max(loss, 0.0) + noise))

    def _into(self, attribute: int, groups: Groups) -> Ints:
        into = np.full(self.state.zobrist.shape[1], -1, dtype=np.int64)
        for group in groups:
            into[self.place[attribute][list(group)]] = self.place[attribute][min(group)]
        return into

    def _moves(self, attribute: int) -> list[Groups]:
        """Return what may be merged at once: pairs, all of them, and into a few runs of like effect."""
        buckets = [int(b) for b in np.unique(self.now[attribute])]
        if len(buckets) < 2:
            return []
        effect = self.effects[attribute][self.place[attribute]]
        if self.partitions[attribute].attribute.kind != "discrete":
            row, free = self._in_row(attribute, buckets)
            pairs = [*itertools.pairwise(row), *itertools.product(row, free), *itertools.combinations(free, 2)]
        else:
            row = sorted(buckets, key=lambda b: float(effect[b]))
            near = itertools.combinations if len(buckets) <= _ALL_PAIRS else None
            pairs = [*near(buckets, 2)] if near else [*itertools.pairwise(row)]
        moves = [*(((a, b),) for a, b in pairs), *self._whole(attribute, buckets)]
        return [m for m in [*moves, *self._runs(attribute, row, effect)] if self._allowed(attribute, m)]

    def _whole(self, attribute: int, buckets: list[int]) -> list[Groups]:
        """Return the move that merges all there is, between edges that must stay."""
        side = self.rules.side[attribute]
        groups = [tuple(b for b in buckets if side[b] == each) for each in np.unique(side[buckets])]
        large = tuple(group for group in groups if len(group) > 1)
        return [large] if sum(map(len, large)) > 2 else []

    def _allowed(self, attribute: int, groups: Groups) -> bool:
        now = self.now[attribute]
        return all(self.rules.allow(attribute, np.flatnonzero(np.isin(now, g)).tolist()) for g in groups)

    def _runs(self, attribute: int, row: list[int], effect: npt.NDArray[np.float64]) -> list[Groups]:
        """Return the row of buckets as 2, 3, ... runs, each the best for the label alone.

        Where joint buckets are sparse one merge changes nothing, and only many together show what they gain.
        """
        if len(row) <= 3:
            return []
        people = self.state.bucket_people[attribute][self.place[attribute][row]]
        none = np.zeros(0), np.zeros((0, 1))
        found = best_partition(
            spread(people, effect[row][:, None], *none)[None], np.zeros(1), min(_RUNS, len(row) - 2)
        )
        parts = [[row[i:j] for i, j in itertools.pairwise((0, *each.ends))] for each in found if each.size > 1]
        return [tuple(tuple(sorted(run)) for run in runs if len(run) > 1) for runs in parts]

    def _in_row(self, attribute: int, buckets: list[int]) -> tuple[list[int], list[int]]:
        """Return the buckets of an ordered attribute in their row, and those of "missing" or "other" alone."""
        partition = self.partitions[attribute]
        inner = len(partition.assignment) - partition.attribute.extra_values
        in_row = {int(self.now[attribute][b]) for b in partition.assignment[:inner]}
        return [b for b in buckets if b in in_row], [b for b in buckets if b not in in_row]

    def _open_buckets(self) -> int:
        return sum(len(np.unique(now)) - 1 for now in self.now)

    def _renew(self) -> None:
        """Number the buckets anew, choose contexts, fit the label model, count the joint buckets."""
        numbers, columns, sizes = [], [], []
        maps = self.table.bucket_maps(Generalization(tuple(self.partitions)))
        for j, now in enumerate(self.now):
            kept, number = np.unique(now, return_inverse=True)
            columns.append(number[maps[j]][self.table.codes[:, j]].astype(np.int64))
            sizes.append(len(kept))
            numbers.append(number.astype(np.int64))
        warm = self._warm(numbers)
        self.place = numbers
        self.state, self.model = make_state(self.records, columns, sizes, self.pseudo_counts, warm)
        self.effects = [weights @ principal_direction(weights) for weights in self.model.weights]

    def _warm(self, numbers: list[Ints]) -> Additive | None:
        """Return the label model as it stands, in the new numbers of the buckets."""
        if self.model is None:
            return None
        width = len(self.model.intercept)
        weights = []
        for j, number in enumerate(numbers):
            known = self.state.effects[j, self.place[j][self.now[j]]][:, -width:]
            fresh = np.zeros((int(number.max()) + 1, width))
            fresh[number] = known
            weights.append(fresh)
        return Additive(tuple(weights), self.model.intercept)

    def _step(self) -> Step:
        pairs = zip(self.shown, self.now, strict=True)
        partitions = tuple(p if isinstance(p, Untouched) else p.coarsen(now.tolist()) for p, now in pairs)
        label, origin = (
            self.table.schema.label,
            {"minimizer": "coarsening", "mu": "falling" if self.mu is None else self.mu},
        )
        people = self.records.people.sum()
        hits = self.state.hits[self.state.alive].sum(axis=0) / people
        weights = self.weights / max(self.weights.sum(), 1e-12)
        return Step(Generalization(partitions, label, origin), 1 - float(hits[-1]), 1 - float(hits[:-1] @ weights))


@dataclass(frozen=True, order=True)
class _Entry:
    """A move in the queue, best first, then the smaller one; ``merges`` tells when it was scored."""

    priority: float
    size: int
    attribute: int
    groups: Groups
    merges: int
    gain: float
    loss: float

    @property
    def pair(self) -> bool:
        """Whether just two buckets become one."""
        return self.size == 2
