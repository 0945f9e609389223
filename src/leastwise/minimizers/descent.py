"""Coordinate descent on joint counts: each attribute in turn gets its best partition, the others as they are.

Coarsening only merges, and what it gave up it never gets back. Here the program of the exact partition is solved
anew for each attribute in turn, with costs counted on the joint buckets: a run of buckets costs the people whose
personal values are guessed right in it, minus ``mu`` times those whose label is. Each solution is exact while the
others stay. Where a round changes nothing, no attribute alone can improve the generalization; after a few rounds,
which leave out what is suppressed, a descent ends anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import Additive, fit_additive, fit_beside
from leastwise.kernels.interval_program import best_partition, run_sums
from leastwise.kernels.joint_coarsening import State
from leastwise.kernels.joint_partition import Guessed, Rests, number_pairs, run_hits, run_label_hits
from leastwise.minimizers.coarsening.path import FineBuckets
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints.constraints import Constraints, MergeRules, broken
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.orders import principal_direction
from leastwise.partition import Partition
from leastwise.random import generator
from leastwise.records.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# No attribute: all are as they are.
NONE = -1
# Lagrange multipliers ``mu`` of the classifier error: from counting almost nothing to almost everything.
MULTIPLIERS = (0.1, 0.25, 0.5, 1.0, 1.6, 2.4, 3.4, 4.8, 7.0, 12.0, 25.0, 50.0)
ROUNDS = 3
"""Attributes are gone round at most so often for one multiplier."""
# People that one more bucket must keep from being guessed, or whose label it must tell: less is chance.
_CHARGE = 1.0
# What coarser knowledge may count for, in people.
_PSEUDO_COUNTS = 2.0 ** np.arange(-1, 9)


def joint_path(
    table: Table,
    fine: Generalization,
    multipliers: Sequence[float] = MULTIPLIERS,
    *,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    records: Records | None = None,
    rounds: int = ROUNDS,
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
    rounds
        How often attributes are gone round at most for one multiplier.
    """
    if not all(np.isfinite(mu) and mu >= 0 for mu in multipliers):
        raise ParameterError(f"multipliers must be numbers from 0; got {[*multipliers]}")
    held = constraints or Constraints()
    held.check(table.schema)
    descent = Descent(base_of(table, fine, held, records), target_weights(table, weights), rounds)
    solutions = []
    for mu in [*sorted(multipliers), *sorted(multipliers, reverse=True)]:  # each from where the one before ended
        descent.descend(mu)
        solutions.append(descent.base.fine.generalization(descent.now, minimizer="joint", mu=mu))
    distinct = {generalization.fingerprint: generalization for generalization in reversed(solutions)}
    return [g for g in reversed(distinct.values()) if not broken(held, g, table)]


@dataclass(eq=False)
class Descent:
    """A generalization on its way: what each fine bucket belongs to, and what is known of the joint buckets."""

    base: Base
    weights: Floats
    rounds: int = ROUNDS
    now: list[Ints] = field(init=False)
    columns: list[Ints] = field(init=False)
    zobrist: Ints = field(init=False)
    keys: Ints = field(init=False)  # of each record, equal where all attributes are
    state: State = field(init=False)
    model: Additive = field(init=False)
    pseudo_counts: Floats = field(init=False)

    def __post_init__(self) -> None:
        sizes = [partition.size for partition in self.base.fine.partitions]
        shape = (len(sizes), max(*map(len, self.base.rows), *sizes))
        self.zobrist = generator(0, "descent").integers(-(2**62), 2**62, size=shape)
        fixed = self.base.fixed
        self.now = [np.arange(n) if j in fixed else np.zeros(n, dtype=np.int64) for j, n in enumerate(sizes)]
        self._renew()

    def descend(self, mu: float) -> None:
        """Go round the attributes, a few times at most, until nothing changes; later without the suppressed."""
        turn = self.base.open
        for _ in range(self.rounds):
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
        self.now[j], rest = best, self._keys(without=j)
        self.columns[j] = best[self.base.fine.columns[j]]
        self.keys = rest + self.zobrist[j, self.columns[j]]
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
        effects, people = rests.effects[:, -len(self.model.intercept) :], rests.bucket_people
        solved = best_partition(cost[None], np.zeros(1), self.base.limits[j])
        if not solved:
            return None, effects, people
        ends = min(solved, key=lambda each: each.cost).ends
        best = np.zeros(len(self.now[j]), dtype=np.int64)
        best[self.base.rows[j]] = np.repeat(np.arange(len(ends)), np.diff((0, *ends)))
        return best, effects, people

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

    def _keys(self, without: int = NONE) -> Ints:
        """Return a number per record that is equal where all attributes but one are."""
        return self.keys if without == NONE else self.keys - self.zobrist[without, self.columns[without]]

    def _renew(self) -> None:
        """Number the buckets, choose contexts, fit the label model, and let both count for what they are worth."""
        self.now = [np.unique(now, return_inverse=True)[1].astype(np.int64) for now in self.now]
        self.columns = [now[column] for now, column in zip(self.now, self.base.fine.columns, strict=True)]
        self.keys = np.zeros(len(self.columns[0]), dtype=np.int64)
        for own, column in zip(self.zobrist, self.columns, strict=True):
            self.keys += own[column]
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
        self.pseudo_counts[-1] = calibrated_label(scores, labels, float(right[-1]), records.table.right)


def _same(one: Ints, other: Ints) -> bool:
    """Return whether two partitions of the same buckets are equal, however they number them."""
    pairs = len(np.unique(one * (int(other.max()) + 1) + other))
    return pairs == len(np.unique(one)) == len(np.unique(other))


@dataclass(frozen=True, eq=False)
class Base:
    """The fine buckets that partitions are made of.

    Attributes
    ----------
    rows
        Per attribute, its buckets in the order in which runs of them may become one.
    forbidden
        Per attribute, the runs [first, last] that the constraints rule out.
    limits
        Per attribute, the largest number of runs; 0 for no limit.
    fixed
        The attributes that stay as they are.
    """

    fine: FineBuckets
    rows: tuple[list[int], ...]
    forbidden: tuple[npt.NDArray[np.bool_], ...]
    limits: tuple[int, ...]
    fixed: frozenset[int]

    @cached_property
    def open(self) -> list[int]:
        """The attributes that can be parted in more than one way."""
        return [j for j, row in enumerate(self.rows) if len(row) > 1 and j not in self.fixed]

    @property
    def records(self) -> Records:
        """The records that are counted."""
        return self.fine.records

    def item(self, attribute: int) -> Item:
        """Return the place in the row of each record's bucket."""
        row = self.rows[attribute]
        place = np.zeros(self.fine.partitions[attribute].size, dtype=np.int64)
        place[row] = np.arange(len(row))
        return Item(place[self.fine.columns[attribute]], len(row), attribute)


def base_of(table: Table, fine: Generalization, constraints: Constraints, records: Records | None = None) -> Base:
    """Return the buckets of a fine generalization, ready to be put into runs."""
    buckets = FineBuckets.of(table, fine, constraints, records)
    few, partitions, columns = buckets.records, buckets.partitions, buckets.columns
    sizes = [partition.size for partition in partitions]
    model = fit_additive(columns, sizes, few.table.y, few.table.classes, few.people)
    effects = [weights @ principal_direction(weights) for weights in model.weights]
    rules = MergeRules.of(constraints, partitions)
    people = [
        np.bincount(c, weights=few.people, minlength=n).astype(float) for c, n in zip(columns, sizes, strict=True)
    ]
    rows = tuple(
        _row(partition, effect) if tree is None else tree.in_order(effect, use)
        for partition, effect, tree, use in zip(partitions, effects, rules.trees, people, strict=True)
    )
    return Base(
        fine=buckets,
        rows=rows,
        forbidden=tuple(
            _forbidden(rules, j, row, people[j], constraints.min_people) for j, row in enumerate(rows)
        ),
        limits=tuple(min(constraints.max_buckets.get(p.attribute.name, 0), p.size) for p in partitions),
        fixed=rules.fixed,
    )


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
    tree = rules.trees[attribute]
    if tree is not None:
        wrong |= ~tree.allowed_runs(row)
    for first, last in np.argwhere(np.triu(~wrong, 1)):
        wrong[first, last] = not rules.allow(attribute, row[first : last + 1])
    return wrong


class Rest(NamedTuple):
    """The joint buckets over some attributes: a record of each, and the one of each record."""

    first: npt.NDArray[np.intp]
    of: npt.NDArray[np.intp]

    @classmethod
    def by(cls, keys: Ints) -> Rest:
        """Number the records by their keys."""
        _, first, of = np.unique(keys, return_index=True, return_inverse=True)
        return cls(first, of)


class Item(NamedTuple):
    """The attribute that is parted anew: the place in the row of each record's bucket, and how many there are."""

    place: Ints
    places: int
    attribute: int


def scores_of(model: Additive, columns: Sequence[Ints], rows: Any, classes: int, without: int = NONE) -> Floats:
    """Return the log-odds of each class that an additive model gives these records, without one attribute."""
    width = len(model.intercept)
    scores = np.zeros((len(rows), classes))
    scores[:, -width:] += model.intercept
    for j, (column, effect) in enumerate(zip(columns, model.weights, strict=True)):
        if j != without and len(effect) > 1:
            scores[:, -width:] += effect[column[rows]]
    return scores


def rests_of(
    records: Records, columns: Sequence[Ints], rest: Rest, item: Item, model: Additive, pseudo_count: float
) -> Rests:
    """Return the records by rest, in the order of the items, with what the label model knows of them."""
    table, people = records.table, records.people
    order = np.argsort(item.place, kind="stable")
    scores = scores_of(model, columns, rest.first, table.classes, item.attribute)
    effects = np.zeros((item.places, table.classes))
    width = len(model.intercept)
    effects[:, -width:] = fit_beside(scores[rest.of, -width:], item.place, item.places, table.y, people)
    return Rests(
        starts=np.concatenate([[0], np.cumsum(np.bincount(item.place, minlength=item.places))]),
        order=order,
        rest=rest.of[order],
        people=people[order],
        labels=table.y[order].astype(np.int64),
        scores=scores,
        effects=effects,
        bucket_people=np.bincount(item.place, weights=people, minlength=item.places),
        pseudo_count=pseudo_count,
        right=table.right,
    )


def guessed_of(
    records: Records,
    columns: Sequence[Ints],
    rest: Rest,
    item: Item,
    target: int,
    context: Any,
    pseudo_count: float,
) -> Guessed:
    """Return what is held of one personal attribute, beside its context without the attribute that is parted."""
    values, size = records.targets[:, target], records.target_sizes[target]
    row, rows = _context_rows([columns[j] for j in context if j != item.attribute], len(values))
    held = np.bincount(row * size + values, weights=records.people, minlength=rows * size)
    table: Floats = held.reshape(rows, size).astype(float)
    pair, pair_rest, value = number_pairs(rest.of, values, len(rest.first), size)
    own = records.own[target] == item.attribute
    rest_row = row[rest.first]
    bucket = np.full(len(value), -1, dtype=np.int64)
    if own:
        home = np.zeros(size, dtype=np.int64)
        home[values] = item.place
        bucket = home[value]
    return Guessed(
        pair=pair,
        starts=np.searchsorted(pair_rest, np.arange(len(rest.first) + 1)),
        prior=table[rest_row[pair_rest], value],
        bucket=bucket,
        total=_before(row, rows, item, records.people)[rest_row] if own else table.sum(axis=1)[rest_row, None],
        most=np.zeros(len(rest_row)) if own else table.max(axis=1)[rest_row],
        pseudo_count=pseudo_count,
    )


def _context_rows(columns: Sequence[Ints], count: int) -> tuple[Ints, int]:
    """Return the row of each record in the table over some columns, and how many rows there are."""
    row, rows = np.zeros(count, dtype=np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        row, rows = row * width + column, rows * width
    return row, rows


def _before(row: Ints, rows: int, item: Item, people: Floats) -> Floats:
    """Return how many people of each row have an item before the first, the second, ..."""
    held = np.bincount(row * item.places + item.place, weights=people, minlength=rows * item.places)
    return np.concatenate([np.zeros((rows, 1)), held.reshape(rows, item.places).cumsum(axis=1)], axis=1)


def calibrated(guessed: Guessed, held: Floats, people: Floats, right: float) -> float:
    """Return the pseudo-count with which as many right guesses are expected as leave-one-out counting found."""
    total, repeats = np.maximum(guessed.total[:, -1], 1.0), np.diff(guessed.starts)
    prior, most = guessed.prior / np.repeat(total, repeats), guessed.most / total

    def commonest(pseudo_count: float) -> Floats:
        best = np.maximum.reduceat(held + pseudo_count * prior, guessed.starts[:-1])
        return np.maximum(best, pseudo_count * most)

    return _nearest(right, people, commonest)


def calibrated_label(scores: Floats, held: Floats, right: float, near: Floats) -> float:
    """Return the same for the label, whose coarser knowledge is the additive model (``near``: ``Rests.right``)."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)

    def best(pseudo_count: float) -> Floats:
        beliefs = held + pseudo_count * odds
        return np.asarray((beliefs @ near.T if len(near) else beliefs).max(axis=1))

    return _nearest(right, held.sum(axis=1), best)


def _nearest(right: float, people: Floats, commonest: Callable[[float], Floats]) -> float:
    def off(pseudo_count: float) -> float:
        return abs(float((people * commonest(pseudo_count) / (people + pseudo_count)).sum()) - right)

    return float(min(_PSEUDO_COUNTS, key=off))
