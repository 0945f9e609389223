"""Edges at round places: 3,000 rather than 3,121, 65 rather than 64, where the records cannot tell them apart.

And values in their natural order: of codes that are numbers, a group has runs of neighbours rather than single
ones, where the records have no opinion.

A minimizer puts an edge between two numbers that somebody gave. Moved to a rounder place, it sends the people in
between to the neighbouring bucket; the classifier stays as it is. Where it guesses no worse about people whom it
did not learn from, the rounder edge is as good, easier to answer, and tells nobody's number.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.generalization.leaks import Leak, grid_step, leaks, round_step
from leastwise.minimizers.constraints.constraints import Constraints, broken
from leastwise.minimizers.merging.merging import fewest_people
from leastwise.partition import Groups, Intervals
from leastwise.predictors.base import Samples, samples
from leastwise.predictors.held_out import HeldOut, held_out
from leastwise.predictors.strongest import Strongest, guesses
from leastwise.records.table import Table

# Moved edges together may cost the guesses so many standard errors, and so large a share of the people.
_ERRORS, _SHARE = 0.5, 0.001
# A value stays in a group apart from its neighbours where its people tell so: a likelihood ratio of so much (its
# logarithm; 95 %, one-sided).
_OPINION = 1.35
# In what is told of a group's labels, everybody together counts as so many people.
_PSEUDO_COUNT = 10.0
# Fewer codes than these are read one by one.
_FEWEST_CODES = 3
# From the roundest on, so many powers of ten are tried below the distance of the neighbouring edges.
_POWERS = 5
# Classifiers learn from at most so many records; how many people a bucket has is counted on all.
_MOST_RECORDS = 50_000


def rounded(
    train: Table, validation: Table, generalization: Generalization, *, constraints: Constraints | None = None
) -> Generalization:
    """Move every edge to the roundest place that the validation part cannot tell from where it is.

    Parameters
    ----------
    train, validation
        Records that the classifier learns from, and those that it is held against.
    constraints
        What the result must hold to: edges that must stay do.
    """
    generalization = generalization.within(train.schema)
    generalization = in_natural_order(train, validation, generalization, constraints=constraints)
    if not any(isinstance(p, Intervals) and p.edges for p in generalization.partitions):
        return generalization
    held = constraints or Constraints()
    before, classifier = held_out(generalization, _learned(train), validation)
    rows = samples(validation, generalization, "label")
    told = [bucket_of.max(initial=0) > 0 for bucket_of in validation.bucket_maps(generalization)]
    known = replace(before, persons=None)
    search = _Rounding(train, validation, held, classifier, before, rows, np.cumsum(told) - 1, known)
    now = generalization
    for j, partition in enumerate(generalization.partitions):
        if isinstance(partition, Intervals):
            for place in range(len(partition.edges)):
                now = search.with_round_edge(now, j, place)
    return search.without_telling_edges(now)


@dataclass(eq=False)
class _Rounding:
    train: Table
    validation: Table
    constraints: Constraints
    classifier: Strongest
    before: HeldOut
    rows: Samples  # of validation, with the edges as they are by now,
    column: npt.NDArray[np.intp]  # in which column each attribute is there,
    judged: HeldOut  # and how they are judged

    def with_round_edge(self, now: Generalization, j: int, place: int) -> Generalization:
        """Return the generalization with one edge moved to the roundest place that is as good."""
        partition = now.partitions[j]
        assert isinstance(partition, Intervals)
        edge, name = partition.edges[place], partition.attribute.name
        if edge in [float(kept) for kept in self.constraints.edges.get(name, ())]:
            return now
        inside = self._room(partition, place, j)
        for moved in round_places(edge, *inside, partition.attribute.integer):
            edges = (*partition.edges[:place], moved, *partition.edges[place + 1 :])
            way = now.replacing(Intervals(partition.attribute, edges, partition.extras))
            if moved == edge:
                return way
            rows, judged = self._judge(now, way, j)
            if is_as_good(judged, self.before) and is_allowed(way, j, self.train, self.constraints):
                self.rows, self.judged = rows, judged
                return way
        return now

    def without_telling_edges(self, now: Generalization) -> Generalization:
        """Move the edges that only one person explains to the nearest place of a round grid, or take them away.

        One that must stay was declared, and tells of nobody.
        """
        while telling := [
            leak for leak in leaks(now, self.train) if leak.kind == "edge" and not self._stays(now, leak)
        ]:
            partition, place = now[telling[0].attribute], telling[0].place
            assert isinstance(partition, Intervals)
            j, edge = now.schema.names.index(partition.attribute.name), partition.edges[place]
            step, (low, high) = self._step(partition, edge, j), self._room(partition, place, j)
            below = math.floor(edge / step) if step else 0
            round_ones = [float(number * Decimal(repr(step))) for number in (below, below + 1)] if step else []
            whole = partition.attribute.integer
            near = [moved for moved in round_ones if low < moved < high and not (whole and moved % 1)]
            if near:
                moved = min((abs(each - edge), each) for each in near)[1]
                edges = (*partition.edges[:place], moved, *partition.edges[place + 1 :])
                now = now.replacing(Intervals(partition.attribute, edges, partition.extras))
            else:
                now = now.replacing(partition.merge(place, place + 1))
        return now

    def _step(self, partition: Intervals, edge: float, j: int) -> float:
        """Return the step of the finest grid on which nobody alone explains the edge."""
        levels, use = self.train.levels[j], self.train.use(j)
        given = np.flatnonzero(use[: len(levels)] > 0)
        numbers = levels[given].astype(float)
        return round_step(edge, grid_step(partition, numbers), numbers, use[given])

    def _stays(self, now: Generalization, leak: Leak) -> bool:
        partition = now[leak.attribute]
        assert isinstance(partition, Intervals)
        told = self.constraints.nested_in
        before = () if told is None else getattr(told[leak.attribute], "edges", ())
        return partition.edges[leak.place] in [
            *map(float, self.constraints.edges.get(leak.attribute, ())),
            *before,
        ]

    def _room(self, partition: Intervals, place: int, j: int) -> tuple[float, float]:
        """Return between which numbers the edge may lie: beside the neighbouring edges, or the numbers given."""
        levels = self.train.levels[j].astype(float)
        beside = [float(levels.min(initial=math.inf)), *partition.edges, float(levels.max(initial=-math.inf))]
        return beside[place], beside[place + 2]

    def _judge(self, now: Generalization, way: Generalization, j: int) -> tuple[Samples, HeldOut]:
        """Judge an edge that was moved by the classifier as it is: its buckets are the same in number.

        Only whom it takes into another bucket is guessed anew.
        """
        codes, levels = self.validation.codes[:, j], self.validation.levels[j]
        before, after = (each.partitions[j].bucket_map(levels)[codes] for each in (now, way))
        moved = np.flatnonzero(before != after)
        if not len(moved):
            return self.rows, self.judged
        inputs = self.rows.inputs.copy()
        inputs[moved, self.column[j]] = after[moved]
        rows = replace(self.rows, inputs=inputs)
        (found,) = guesses(self.classifier, rows.take(moved))
        own = HeldOut.of(found, rows.take(moved))
        arrays = {name: getattr(self.judged, name).copy() for name in ("guessed", "wrong", "surprise")}
        for name, changed in arrays.items():
            changed[moved] = getattr(own, name)
        return rows, replace(self.judged, **arrays)


def is_as_good(after: HeldOut, before: HeldOut) -> bool:
    """Return whether what was moved costs too little to be told."""
    loss = after.errs_more_than(before)
    return loss.mean <= min(_ERRORS * loss.standard_error, _SHARE)


def is_allowed(way: Generalization, j: int, train: Table, constraints: Constraints) -> bool:
    """Return whether every bucket of an attribute has enough people, and nothing is broken."""
    use = np.bincount(way.partitions[j].bucket_map(train.levels[j]), weights=train.use(j))
    return bool(use.min() >= fewest_people(train)) and not broken(constraints, way, train)


def in_natural_order(
    train: Table, validation: Table, generalization: Generalization, *, constraints: Constraints | None = None
) -> Generalization:
    """Let values whose people do not tell which group they belong to join that of their neighbours.

    Only for codes that are numbers: those have an order that people know, and "codes 10 to 99" is easier to read,
    and to answer, than a list. Parameters: as for ``rounded``.
    """
    held, now = constraints or Constraints(), generalization
    kept = {*held.untouched, *held.apart, *held.edges}
    for j, partition in enumerate(generalization.partitions):
        if not isinstance(partition, Groups) or partition.attribute.name in kept or partition.untouched:
            continue
        order = natural_order(partition.attribute.values)
        if partition.attribute.kind != "discrete" or partition.suppressed or order is None:
            continue
        if partition.attribute.hierarchy is not None:  # says itself what belongs together
            continue
        moved = joined_neighbours(_told(train, j), partition.assignment, order)
        way = now.replacing(Groups(partition.attribute, moved))
        if way != now and way.partitions[j].size == partition.size and is_allowed(way, j, train, held):
            judged = [held_out(each, _learned(train), validation)[0] for each in (now, way)]
            now = way if is_as_good(judged[1], judged[0]) else now
    return now


def _learned(train: Table) -> Table:
    """Return the records that classifiers learn from: where an edge lies within a bucket, more tell no better."""
    return train.at_most(_MOST_RECORDS, "rounding")


def natural_order(values: Sequence[str]) -> list[int] | None:
    """Return the places of values in the order of their numbers; None where they are no numbers.

    >>> natural_order(("10", "9", "8")), natural_order(("a", "b", "c")), natural_order(("1", "2"))
    ([2, 1, 0], None, None)
    """
    if len(values) < _FEWEST_CODES or not all(value.isascii() and value.isdigit() for value in values):
        return None
    return sorted(range(len(values)), key=lambda place: int(values[place]))


def joined_neighbours(told: npt.NDArray[Any], assignment: Sequence[int], order: Sequence[int]) -> tuple[int, ...]:
    """Return the groups of values in which neighbours are together unless their people tell otherwise.

    Parameters
    ----------
    told
        Values x classes: how many people.
    assignment
        The group of each value.
    order
        The places of the values that have an order; others stay.

    Notes
    -----
    The likeliest groups, where every change of group between neighbours costs ``_OPINION`` (a Potts chain, by
    dynamic programming). What is known of a group's labels is what its people tell now.
    """
    groups = np.asarray(assignment)
    label = np.zeros((groups.max() + 1, told.shape[1]))
    np.add.at(label, groups, told)
    overall = told.sum(axis=0) / max(told.sum(), 1)
    rate = (label + _PSEUDO_COUNT * overall) / (label.sum(axis=1) + _PSEUDO_COUNT)[:, None]
    cost = -told[list(order)] @ np.log(np.maximum(rate, 1e-12)).T
    # A value that nobody has is where it was, unless its neighbours are together.
    cost[np.arange(len(order)), groups[list(order)]] -= 1e-6
    best, came = cost[0], np.zeros(cost.shape, dtype=np.intp)
    for i in range(1, len(order)):
        stay, change = best, best.min() + _OPINION
        came[i] = np.where(stay <= change, np.arange(len(best)), int(best.argmin()))
        best = np.minimum(stay, change) + cost[i]
    found, group = groups.copy(), int(best.argmin())
    for i in range(len(order) - 1, -1, -1):
        found[order[i]] = group
        group = int(came[i, group])
    return tuple(found.tolist())


def _told(train: Table, j: int) -> npt.NDArray[Any]:
    told = np.zeros((train.sizes[j], train.classes))
    np.add.at(told, (train.codes[:, j], train.y), train.counts)
    return told


def round_places(edge: float, low: float, high: float, whole: bool = False) -> Iterator[float]:
    """Yield places for an edge strictly between two numbers, the roundest first, down to the edge itself.

    Of whole numbers the first one *above* the edge is what people read, so that one is round.

    >>> list(round_places(63, 19, 90, whole=True))
    [49.0, 59.0, 64.0, 63.0]
    >>> list(round_places(3121, 1000, 7000))
    [5000.0, 3000.0, 3100.0, 3120.0, 3121.0]
    """
    if not low < edge < high:
        yield edge
        return
    shift, span, seen = int(whole), Decimal(high) - Decimal(low), set[float]()
    exact = Decimal(edge) + shift
    for power in range(span.adjusted(), span.adjusted() - _POWERS, -1):
        for multiple in (5, 1):
            step = Decimal(multiple).scaleb(power)
            moved = float((exact / step).to_integral_value() * step - shift) + 0.0  # never -0.0
            if low < moved < high and moved not in seen and not (whole and moved % 1):
                seen.add(moved)
                yield moved
            if moved == edge:
                return
    if edge not in seen:
        yield edge
