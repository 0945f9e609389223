"""Backward coarsening: from a fine generalization, one merge at a time, to full suppression.

Greedy agglomeration. Every possible merge waits in a queue, scored by what it gains in adversary error and loses
in classifier error (``kernels.joint_coarsening``, leave-one-out). The best is applied, the merges of its attribute
are found anew, and all others are scored again only when they come to the top (lazy evaluation). When a good part
of the buckets is gone, contexts and label model are renewed (``state``).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import Additive
from leastwise.kernels.interval_program import best_partition, spread
from leastwise.kernels.joint_coarsening import State, apply_merge, score_merge
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints.constraints import Constraints, MergeRules, check_start
from leastwise.minimizers.constraints.nesting import inside
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.orders import principal_direction
from leastwise.partition import Intervals, Partition, Untouched, edge_between
from leastwise.records.grouping import even_runs
from leastwise.records.table import Table
from leastwise.validation import check_from_zero

# Buckets of a continuous attribute that the start leaves untouched.
_MOST_BUCKETS = 64
# Contexts and the label model are renewed when so large a share of the buckets is gone.
_RENEW = 0.85
# A share of the people lost in fewer than so many standard errors, at one half, is noise.
_NOISE = 0.02

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Groups = tuple[tuple[int, ...], ...]
"""One merge, perhaps of many buckets of an attribute: those of a group become one."""
# Up to so many groups of a discrete attribute, any two may be merged; beyond, neighbours by effect.
_ALL_PAIRS = 8
# A merge of many buckets leaves at most so many runs.
_RUNS = 5


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
    path = coarsening_steps(
        table, start, mu, weights=weights, pseudo_counts=pseudo_counts, constraints=constraints, records=records
    )
    kept = path if steps is None else thinned(path, steps)
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
    per_answer: float = 0.0,
) -> list[Step]:
    """Return one step per merge, the start first, with the estimated errors.

    ``per_answer`` is how much adversary error an answer less is worth.
    """
    if mu is not None:
        check_from_zero("mu", mu)
    held = constraints or Constraints()
    held.check(table.schema)
    if held.nested_in is not None:
        start = inside(held.nested_in, start.within(table.schema), table)
    fine = FineBuckets.of(table, start, held, records)
    check_start(held, Generalization(fine.shown, start.label), table)
    rules = MergeRules.of(held, fine.partitions)
    path = _Path(fine, rules, mu, target_weights(table, weights), pseudo_counts or PseudoCounts(), per_answer)
    return [*path.steps()]


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
    """Return a partition with numbered buckets: an untouched number in runs (see ``even_runs``)."""
    if not isinstance(partition, Untouched):
        return partition
    declared, levels, use = partition.attribute, table.levels[attribute], table.use(attribute)
    seen = np.flatnonzero(use[: len(levels)] > 0)
    numbers, run = levels[seen].astype(float), even_runs(use[seen], _MOST_BUCKETS)
    pairs = [(float(numbers[i]), float(numbers[i + 1])) for i in np.flatnonzero(np.diff(run))]
    edges = {edge_between(low, high, declared.integer) for low, high in pairs}
    edges |= {float(edge) for edge in constraints.edges.get(declared.name, ())}
    for values in constraints.apart.get(declared.name, ()):
        for low, high in itertools.pairwise(sorted({float(value) for value in values if value is not None})):
            if not any(low <= edge < high for edge in edges):
                edges.add(edge_between(low, high, declared.integer))
    return Intervals(declared, tuple(sorted(edges)))


@dataclass(frozen=True, eq=False)
class FineBuckets:
    """The buckets that a search starts from.

    Attributes
    ----------
    partitions, shown
        The buckets as they are counted, and as they are published where they stay as they are.
    records
        One for all that lie in the same buckets and agree in what is guessed.
    columns
        Per attribute, the bucket of each of these records.
    """

    partitions: tuple[Partition, ...]
    shown: tuple[Partition, ...]
    records: Records
    columns: tuple[Ints, ...]

    @classmethod
    def of(
        cls, table: Table, start: Generalization, constraints: Constraints, records: Records | None = None
    ) -> FineBuckets:
        """Return the buckets of a generalization; ``records`` are those of the table, where they are prepared."""
        partitions = tuple(countable(table, j, p, constraints) for j, p in enumerate(start.partitions))
        maps = [each.astype(np.int64) for each in table.bucket_maps(Generalization(partitions))]
        fine = [map_[table.codes[:, j]] for j, map_ in enumerate(maps)]
        few = (records or Records.of(table)).collapsed(fine)
        untouched = constraints.untouched
        pairs = zip(start.partitions, partitions, strict=True)
        shown = tuple(old if old.attribute.name in untouched else new for old, new in pairs)
        return cls(partitions, shown, few, tuple(map_[few.table.codes[:, j]] for j, map_ in enumerate(maps)))

    def generalization(self, now: Sequence[Ints], **origin: Any) -> Generalization:
        """Return the artefact in which each bucket has become what ``now`` says."""
        pairs = zip(self.shown, now, strict=True)
        partitions = tuple(p if isinstance(p, Untouched) else p.coarsen(each.tolist()) for p, each in pairs)
        return Generalization(partitions, self.records.table.schema.label, origin)


@dataclass(eq=False)
class _Path:
    """One path in the making.

    A bucket is named by the first bucket of the start that is in it: ``now`` has the name of each start bucket's,
    ``place`` its number in the state, which is counted anew now and then.
    """

    fine: FineBuckets
    rules: MergeRules
    mu: float | None
    weights: npt.NDArray[np.float64]
    pseudo_counts: PseudoCounts
    per_answer: float = 0.0
    now: list[Ints] = field(init=False)
    place: list[Ints] = field(init=False)
    state: State = field(init=False)
    effects: list[npt.NDArray[np.float64]] = field(init=False)
    people: float = field(init=False)
    model: Additive | None = None
    merges: int = 0

    def steps(self) -> Iterator[Step]:
        """Merge until nothing is collected."""
        self.now = [np.arange(partition.size) for partition in self.fine.partitions]
        self.people = self.fine.records.people.sum()
        self._renew()
        queue: list[_Entry] = []
        for attribute in range(len(self.now)):
            self._offer(queue, attribute)
        at_renewal = self._open_buckets()
        yield self._step()
        while queue:
            attribute = self._merge_best(queue)
            if self._open_buckets() <= _RENEW * at_renewal:
                self._renew()
                at_renewal = self._open_buckets()
            queue = [entry for entry in queue if entry.attribute != attribute]
            heapq.heapify(queue)
            self._offer(queue, attribute)
            yield self._step()

    def _open_buckets(self) -> int:
        return sum(len(np.unique(now)) - 1 for now in self.now)

    def _offer(self, queue: list[_Entry], attribute: int) -> None:
        """Queue every merge of an attribute that is possible now."""
        place = self.place[attribute]
        merges = possible_merges(
            attribute,
            self.fine.partitions[attribute],
            self.now[attribute],
            self.rules,
            self.effects[attribute][place],
            self.state.bucket_people[attribute][place],
        )
        for groups in merges:
            heapq.heappush(queue, self._entry(attribute, groups))

    def _entry(self, attribute: int, groups: Groups) -> _Entry:
        """Score a merge: adversary error gained and classifier error lost, as shares of the people."""
        change = score_merge(self.state, attribute, self._into(attribute, groups)) / self.people
        size = sum(len(group) for group in groups)
        gain, loss = -float(change[:-1] @ self.weights), -float(change[-1])
        gain += self.per_answer * (size - len(groups))
        # The best exchange rate first; below the noise of a few people a loss is none.
        noise = _NOISE / self.fine.records.table.people**0.5
        if self.mu is not None:
            worth = gain - self.mu * loss
        elif gain <= 0:
            worth = min(gain - loss, 0.0) - 1e-9 if loss > -noise else 0.0
        else:
            worth = float(gain / (max(loss, 0.0) + noise))
        return _Entry(-worth, size, attribute, groups, self.merges, gain, loss)

    def _into(self, attribute: int, groups: Groups) -> Ints:
        """Return what each bucket of the state would become, -1 for those that stay: see ``score_merge``."""
        place = self.place[attribute]
        into = np.full(self.state.bucket_people.shape[1], -1, dtype=np.int64)
        for group in groups:
            into[place[list(group)]] = place[min(group)]
        return into

    def _merge_best(self, queue: list[_Entry]) -> int:
        """Apply the best merge, and return its attribute."""
        while queue[0].merges < self.merges:  # scored before the last merges
            stale = heapq.heappop(queue)
            heapq.heappush(queue, self._entry(stale.attribute, stale.groups))
        best = self._first_step(heapq.heappop(queue), queue)
        apply_merge(self.state, best.attribute, self._into(best.attribute, best.groups))
        now = self.now[best.attribute]
        for group in best.groups:
            now[np.isin(now, group)] = min(group)
        self.merges += 1
        return best.attribute

    def _first_step(self, best: _Entry, queue: list[_Entry]) -> _Entry:
        """Return the merge, or of a large one the pair of its buckets to begin with, at the large merge's rate.

        A large merge says where to go; on the way there may be something better, and candidates to choose from.
        """
        if best.size == 2:
            return best
        home = {bucket: number for number, group in enumerate(best.groups) for bucket in group}
        own = [entry for entry in queue if entry.attribute == best.attribute and entry.size == 2]
        pairs = [e for e in own if len({home.get(bucket, -1 - bucket) for bucket in e.groups[0]}) == 1]
        if not pairs:
            return best
        rate = self.mu if self.mu is not None else max(best.gain, 0.0) / max(best.loss, 1e-9)
        return max(pairs, key=lambda pair: (pair.gain - rate * pair.loss, pair.groups))

    def _renew(self) -> None:
        """Number the buckets anew, choose contexts, fit the label model, count the joint buckets."""
        places = [np.unique(now, return_inverse=True)[1].astype(np.int64) for now in self.now]
        columns = [place[column] for place, column in zip(places, self.fine.columns, strict=True)]
        sizes = [int(place.max()) + 1 for place in places]
        warm = None if self.model is None else self._renumbered(self.model, places)
        self.place = places
        self.state, self.model = make_state(self.fine.records, columns, sizes, self.pseudo_counts, warm)
        self.effects = [weights @ principal_direction(weights) for weights in self.model.weights]

    def _renumbered(self, model: Additive, places: list[Ints]) -> Additive:
        """Return the label model as the merges have left it, in the new numbers of the buckets."""
        width = len(model.intercept)
        weights = []
        for j, place in enumerate(places):
            fresh = np.zeros((int(place.max()) + 1, width))
            fresh[place] = self.state.label.effects[j, self.place[j][self.now[j]]][:, -width:]
            weights.append(fresh)
        return Additive(tuple(weights), model.intercept)

    def _step(self) -> Step:
        mu = "falling" if self.mu is None else self.mu
        generalization = self.fine.generalization(self.now, minimizer="coarsening", mu=mu)
        hits = self.state.hits[self.state.joint.alive].sum(axis=0) / self.people
        weights = self.weights / max(self.weights.sum(), 1e-12)
        return Step(generalization, 1 - float(hits[-1]), 1 - float(hits[:-1] @ weights))


@dataclass(frozen=True, order=True)
class _Entry:
    """A merge in the queue, best first, then the smaller one; ``merges`` tells when it was scored."""

    priority: float
    size: int
    attribute: int
    groups: Groups
    merges: int
    gain: float
    loss: float


def possible_merges(
    attribute: int, partition: Partition, now: Ints, rules: MergeRules, effect: Floats, people: Floats
) -> list[Groups]:
    """Return what may be merged at once under the rules: pairs, all there are, or a few runs of like effect.

    All arrays are per bucket of the start of the path: ``now`` is the bucket that it is in by now, named by the
    first one in it, and ``effect`` (on the label) and ``people`` are those of that bucket.
    """
    buckets: list[int] = np.unique(now).tolist()
    if len(buckets) < 2:
        return []
    tree = rules.trees[attribute]
    if tree is not None:
        row = [b for b in tree.in_order(effect, people) if b in {*buckets}]
        pairs = [*itertools.pairwise(row)]
    elif partition.attribute.kind == "discrete":
        row = sorted(buckets, key=lambda b: float(effect[b]))
        few = len(buckets) <= _ALL_PAIRS
        pairs = [*itertools.combinations(buckets, 2)] if few else [*itertools.pairwise(row)]
    else:  # "missing" and "other" are free: they may join any
        inner = len(partition.assignment) - partition.attribute.extra_values
        ordered = {int(now[b]) for b in partition.assignment[:inner]}
        row, free = [b for b in buckets if b in ordered], [b for b in buckets if b not in ordered]
        pairs = [*itertools.pairwise(row), *itertools.product(row, free), *itertools.combinations(free, 2)]
    merges: list[Groups] = [(pair,) for pair in pairs]
    # All there is, between edges that must stay.
    side = rules.side[attribute]
    between = [tuple(b for b in buckets if side[b] == each) for each in np.unique(side[buckets])]
    large = tuple(group for group in between if len(group) > 1)
    merges += [large] if sum(map(len, large)) > 2 else []
    if tree is not None:  # a whole node at once
        merges += [(named,) for node in tree.nodes() if len(named := tuple(np.unique(now[[*node]]).tolist())) > 1]
    merges += _runs(row, effect, people)
    members = {bucket: np.flatnonzero(now == bucket).tolist() for bucket in buckets}
    return [
        m for m in merges if all(rules.allow(attribute, [i for b in group for i in members[b]]) for group in m)
    ]


def _runs(row: list[int], effect: Floats, people: Floats) -> list[Groups]:
    """Return the merges of the row into 2, 3, ... runs, each the best for the label alone.

    Where joint buckets are sparse one pair changes nothing, and only many together show what they gain.
    """
    if len(row) <= 3:
        return []
    cost = spread(people[row], effect[row][:, None], np.zeros(0), np.zeros((0, 1)))
    partitions = best_partition(cost[None], np.zeros(1), min(_RUNS, len(row) - 2))
    parts = [[row[i:j] for i, j in itertools.pairwise((0, *each.ends))] for each in partitions if each.size > 1]
    return [tuple(tuple(sorted(run)) for run in runs if len(run) > 1) for runs in parts]
