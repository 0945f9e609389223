"""The exact partition of every attribute for one Lagrange multiplier of what it reveals."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted
from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.interval_program import Buckets, best_partition, lower_bound, revealed, run_sums, spread
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.minimizers.optimal.items import (
    Floats,
    Items,
    forbidden_buckets,
    held_values,
    items_of,
    target_weights,
)
from leastwise.minimizers.optimal.surrogate import Effects
from leastwise.partition import Groups, Intervals, Partition, edge_between, keep, suppress
from leastwise.records.table import Table
from leastwise.validation import check_from_zero


@dataclass(frozen=True, eq=False)
class AttributeProgram:
    """One attribute: what every possible bucket loses (``spread``) and reveals, independent of the multiplier.

    ``forbidden`` marks the buckets that the constraints rule out. All three are [mask of free items, first, last];
    ``alone_*`` are [mask]: buckets of free items only.
    """

    table: Table
    attribute: int
    items: Items
    spread: Floats
    revealed: Floats
    forbidden: npt.NDArray[np.bool_]
    alone_spread: Floats
    alone_revealed: Floats
    alone_forbidden: npt.NDArray[np.bool_]
    limit: int
    edges: tuple[float, ...]
    bucket_penalty: float = 0.0

    def best(self, lam: float, limit: int = 0) -> list[Buckets]:
        """Return the cheapest partition, or with a limit the cheapest of each number of buckets."""
        solutions = self._solved(lam, self.limit if not limit else min(limit, self.limit or limit))
        if not solutions:
            name = self.table.schema.names[self.attribute]
            raise ParameterError(
                f"no partition of {name} meets the constraints together; loosen min_people or another one"
                + self._fewest_between_edges()
            )
        return solutions

    def _fewest_between_edges(self) -> str:
        """Say between which edges that must stay there are the fewest people; nothing without such edges."""
        if not self.edges:
            return ""
        declared, levels = self.table.schema.attributes[self.attribute], self.table.levels[self.attribute]
        side = np.searchsorted(self.edges, levels.astype(float), side="left")
        use = self.table.use(self.attribute)[: len(levels)]
        people = np.bincount(side, weights=use, minlength=len(self.edges) + 1)
        return f" ({Intervals(declared, self.edges).labels[people.argmin()]}: {people.min():g} training records)"

    def _solved(self, lam: float, limit: int) -> list[Buckets]:
        cost = self.spread + lam * self.revealed + self.bucket_penalty
        cost[self.forbidden] = np.inf
        alone = self.alone_spread + lam * self.alone_revealed + self.bucket_penalty
        alone[self.alone_forbidden] = np.inf
        return best_partition(cost, alone, min(limit, self.items.row + self.items.free))

    def optimum(self, lam: float) -> Buckets:
        """Return the cheapest partition; the fewest buckets among equals."""
        # A limit that the best of all keeps to anyway need not be counted along.
        for free in self._solved(lam, 0):
            if not self.limit or free.size <= self.limit:
                return free
        return min(self.best(lam), key=lambda buckets: (buckets.cost, buckets.size))

    def gap(self, lam: float) -> float:
        """Return how much cheaper a partition could be at most that may part values put into one item."""
        if not self.items.reduced:
            return 0.0
        cost = self.spread[0] + lam * self.revealed[0]
        # Every partition has a bucket at least; that the others cost too only makes the bound looser.
        bound = self.bucket_penalty + lower_bound(cost, lam * np.diagonal(self.revealed[0]).copy())
        return max(self.optimum(lam).cost - float(bound), 0.0)

    def measured(self, buckets: Buckets) -> tuple[float, float]:
        """Return (squared effect lost, weighted count revealed) of a partition."""
        begins = (0, *buckets.ends)[: len(buckets.ends)]
        runs = [*zip(buckets.joined, begins, buckets.ends, strict=True)]
        lost = sum(self.spread[m, b, e - 1] for m, b, e in runs)
        told = sum(self.revealed[m, b, e - 1] for m, b, e in runs)
        alone = list(buckets.alone)
        return float(lost + self.alone_spread[alone].sum()), float(told + self.alone_revealed[alone].sum())

    def partition(self, buckets: Buckets) -> Partition:
        """Return the artefact's form of a partition."""
        declared = self.table.schema.attributes[self.attribute]
        bucket_of_item = _bucket_of_item(buckets, self.items)
        if not declared.continuous:
            marks = np.where(self.items.item_of >= 0, bucket_of_item[self.items.item_of], 0)
            return Groups(declared, tuple(int(mark) for mark in marks))
        if buckets.size == 1:
            return suppress(declared)
        if not self.items.reduced and len(buckets.ends) == self.items.row and not any(buckets.joined):
            return keep(declared)
        return self._with_kept_edges(self._intervals(bucket_of_item))

    def _intervals(self, bucket_of_item: npt.NDArray[np.intp]) -> Intervals:
        declared = self.table.schema.attributes[self.attribute]
        levels = self.table.levels[self.attribute]
        item_of = self.items.item_of[: len(levels)]
        used = np.flatnonzero(item_of >= 0)
        buckets = bucket_of_item[item_of[used]]
        cuts = np.flatnonzero(np.diff(buckets))
        edges = []
        for low, high in ((float(levels[used[i]]), float(levels[used[i + 1]])) for i in cuts):
            kept = [edge for edge in self.edges if low <= edge < high]
            edges.append(kept[0] if kept else edge_between(low, high, declared.integer))
        runs = [int(buckets[i]) for i in cuts] + [int(b) for b in buckets[-1:]]
        marks = [*(runs or [-1]), *(int(b) for b in bucket_of_item[self.items.row :])]
        numbers = {mark: number for number, mark in reversed(list(enumerate(dict.fromkeys(marks))))}
        extras = tuple(numbers[mark] for mark in marks[len(edges) + 1 :])
        return Intervals(declared, tuple(edges), extras)

    def _with_kept_edges(self, intervals: Intervals) -> Partition:
        """Add the edges that must stay and beyond which no training record lies."""
        absent = [edge for edge in self.edges if edge not in intervals.edges]
        if not absent:
            return intervals
        edges = sorted({*intervals.edges, *absent})
        bucket = intervals.bucket_map(np.array([*edges, np.inf]))
        size = len(edges) + 1
        home = {int(b): i for i, b in reversed(list(enumerate(bucket[:size])))}
        extras, fresh = [], size
        for mark in intervals.extras:
            if mark not in home:
                home[mark], fresh = fresh, fresh + 1
            extras.append(home[mark])
        return Intervals(intervals.attribute, tuple(edges), tuple(extras))


def attribute_program(
    table: Table,
    attribute: int,
    effects: Floats,
    weights: Floats,
    constraints: Constraints,
    bucket_penalty: float = 0.0,
) -> AttributeProgram:
    """Count once, for every possible bucket of an attribute, what it loses and what it reveals."""
    items = items_of(table, attribute, effects, constraints)
    masks = 2**items.free
    free = [[items.row + bit for bit in range(items.free) if mask >> bit & 1] for mask in range(masks)]
    held = held_values(table, attribute, items, weights)
    told = np.stack([revealed(*held, np.array(f, dtype=np.int64), items.row) for f in free])
    row = slice(0, items.row)
    inner = run_sums(items.inner_spread[row])
    lost = np.stack(
        [inner + spread(items.weights[row], items.effects[row], items.weights[f], items.effects[f]) for f in free]
    )
    alone = np.stack([_alone(items, held, f) for f in free])
    forbidden, alone_forbidden = forbidden_buckets(table, attribute, items, free, constraints)
    name = table.schema.names[attribute]
    return AttributeProgram(
        table=table,
        attribute=attribute,
        items=items,
        spread=lost,
        revealed=told,
        forbidden=forbidden,
        alone_spread=alone[:, 0],
        alone_revealed=alone[:, 1],
        alone_forbidden=alone_forbidden,
        limit=constraints.max_buckets.get(name, 0),
        edges=tuple(sorted(float(edge) for edge in constraints.edges.get(name, ()))),
        bucket_penalty=bucket_penalty,
    )


def _alone(items: Items, held: Any, free: list[int]) -> tuple[float, float]:
    """Return what a bucket of free items loses and reveals."""
    if not free:
        return 0.0, 0.0
    people, effects = items.weights[free], items.effects[free]
    centre = people @ effects / max(people.sum(), 1e-300)
    starts, places, counts, target_of, weight_of = held
    total = np.zeros(len(target_of))
    for item in free:
        total[places[starts[item] : starts[item + 1]]] += counts[starts[item] : starts[item + 1]]
    most = np.zeros(len(weight_of))
    np.maximum.at(most, target_of, total)
    return float(people @ ((effects - centre) ** 2).sum(axis=1)), float(most @ weight_of)


def _bucket_of_item(buckets: Buckets, items: Items) -> npt.NDArray[np.intp]:
    result = np.zeros(items.row + items.free, dtype=np.intp)
    for number, (begin, end) in enumerate(itertools.pairwise((0, *buckets.ends))):
        result[begin:end] = number
    masks = [*buckets.joined, *buckets.alone]
    for bit in range(items.free):
        result[items.row + bit] = next(i for i, mask in enumerate(masks) if mask >> bit & 1)
    return result


@dataclass(frozen=True, eq=False)
class Program:
    """All attributes of a table, counted and ready to be solved for any Lagrange multiplier ``lam``."""

    table: Table
    attributes: Mapping[int, AttributeProgram]
    constraints: Constraints

    def solve(self, lam: float) -> dict[int, Buckets]:
        """Return the best buckets of each attribute that the constraints leave open."""
        if self.constraints.max_buckets_in_all is None:
            return {j: program.optimum(lam) for j, program in self.attributes.items()}
        fixed = [j for j in range(len(self.table.schema)) if j not in self.attributes]
        taken = sum(1 if self._fixed(j).suppressed else self.table.sizes[j] for j in fixed)
        room = self.constraints.max_buckets_in_all - taken
        return allot({j: program.best(lam, room) for j, program in self.attributes.items()}, room)

    def generalization(self, solution: Mapping[int, Buckets], **origin: Any) -> Generalization:
        """Return the artefact of a solution."""
        partitions = [
            self.attributes[j].partition(solution[j]) if j in solution else self._fixed(j)
            for j in range(len(self.table.schema))
        ]
        return Generalization(tuple(partitions), self.table.schema.label, origin)

    def measured(self, solution: Mapping[int, Buckets]) -> tuple[float, float]:
        """Return (squared effect lost, weighted counts revealed) in all."""
        pairs = [self.attributes[j].measured(buckets) for j, buckets in solution.items()]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def gap(self, lam: float) -> float:
        """Return a bound on how much the reduction of long attributes raised the cost."""
        return sum(program.gap(lam) for program in self.attributes.values())

    def _fixed(self, attribute: int) -> Partition:
        declared = self.table.schema.attributes[attribute]
        return suppress(declared) if declared.name in self.constraints.suppressed else keep(declared)


def make_program(
    table: Table,
    effects: Effects,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    bucket_penalty: float = 0.0,
) -> Program:
    """Count, once for all ``lam``, what every possible bucket of every attribute loses and reveals."""
    check_from_zero("bucket_penalty", bucket_penalty)
    constraints = constraints or Constraints()
    constraints.check(table.schema)
    shares = target_weights(table, weights)
    fixed = {*constraints.suppressed, *constraints.untouched}
    open_ones = [j for j, name in enumerate(table.schema.names) if name not in fixed]
    programs = {j: attribute_program(table, j, effects[j], shares, constraints, bucket_penalty) for j in open_ones}
    return Program(table, programs, constraints)


def allot(choices: Mapping[int, Sequence[Buckets]], room: int) -> dict[int, Buckets]:
    """Return one choice per attribute with the least total cost and at most ``room`` buckets in all.

    A knapsack over the attributes: the best cost for every number of buckets used so far.
    """
    best = np.full(room + 1, np.inf)
    best[0] = 0.0
    taken: dict[int, dict[int, Buckets]] = {}
    for attribute, options in choices.items():
        after, chosen = np.full(len(best), np.inf), dict[int, Buckets]()
        for option in options:
            for used in range(len(best) - option.size):
                cost = best[used] + option.cost
                if cost < after[used + option.size]:
                    after[used + option.size], chosen[used + option.size] = cost, option
        best, taken[attribute] = after, chosen
    if not np.isfinite(best).any():
        raise ParameterError(
            f"no partitions with {counted(room, 'bucket')} in all meet the constraints; allow more buckets"
        )
    used, result = int(best.argmin()), {}
    for attribute, chosen in reversed(taken.items()):
        result[attribute] = chosen[used]
        used -= chosen[used].size
    return result
