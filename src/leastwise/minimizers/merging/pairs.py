"""Which two buckets may become one, what that would cost, and generalizations in which some have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress as suppress_errors
from dataclasses import replace
from itertools import combinations, groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.gains import gains_of
from leastwise.minimizers.constraints.constraints import BucketTree, MergeRules
from leastwise.partition import Intervals, Partition, Untouched
from leastwise.predictors.base import Predictor, samples
from leastwise.records.table import Table

EXCHANGE = 10.0
"""So much adversary error is worth an error of the classifier: about what the frontiers give of one for the other
where a point is lost, on the data sets that this was developed with."""
LEAST_GAIN = 0.002
"""Less safety is no reason to merge two buckets before others."""
# Up to so many groups of a discrete attribute, any two are tried; beyond, neighbours by their mean label.
_FEW_GROUPS = 6


class Pair(NamedTuple):
    """Two buckets of an attribute that might become one."""

    attribute: int
    buckets: tuple[int, int]


def merged(now: Generalization, pairs: Sequence[Pair], rules: MergeRules, count: int) -> Generalization:
    """Merge the first pairs; one that would join, by way of others, what may not be joined is left out."""
    partitions, pairs = list(now.partitions), pairs[:count]
    groups = {pair.attribute: list(range(now.partitions[pair.attribute].size)) for pair in pairs}
    for attribute, (first, second) in pairs:
        group = groups[attribute]
        tried = [group[first] if name == group[second] else name for name in group]
        if not rules.allow(attribute, [b for b, name in enumerate(tried) if name == group[first]]):
            continue
        with suppress_errors(ParameterError):  # intervals join only neighbours
            partitions[attribute] = now.partitions[attribute].coarsen(tried)
            groups[attribute] = tried
    changed = tuple(partitions) != now.partitions
    return replace(now, partitions=tuple(partitions)) if changed else now


def mergeable(partition: Partition, mean: npt.NDArray[Any], people: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of buckets that may become one: neighbours where there is an order, or a hierarchy."""
    inner, tree = in_order(partition), BucketTree.of(partition)
    if tree is not None:
        few = partition.size <= _FEW_GROUPS
        pairs = combinations(range(partition.size), 2) if few else pairwise(tree.in_order(mean, people))
        yield from (pair for pair in pairs if tree.joins(pair))
        return
    if partition.attribute.kind == "discrete":
        order = np.argsort(mean, kind="stable").tolist()
        yield from combinations(range(partition.size), 2) if partition.size <= _FEW_GROUPS else pairwise(order)
        return
    yield from pairwise(range(inner))
    yield from ((i, extra) for extra in range(inner, partition.size) for i in range(extra))


def in_order(partition: Partition) -> int:
    """Return how many buckets come first, in the order of what is asked; behind them "missing" and "other"."""
    if isinstance(partition, Intervals):
        return len(partition.edges) + 1
    if partition.attribute.kind == "ordinal":
        return max(partition.assignment[: len(partition.attribute.values)], default=-1) + 1
    return partition.size


def by_cost(
    now: Generalization, classifier: Predictor, train: Table, validation: Table, rules: MergeRules
) -> list[Pair]:
    """Return the pairs of buckets that may become one, the cheapest first."""
    pairs = pairs_of(now, train, rules)
    costs = costs_of(pairs, now, classifier, train, validation)
    return [pairs[i] for i in np.argsort(costs, kind="stable")]


def worth_their_cost(
    now: Generalization,
    classifier: Predictor,
    train: Table,
    validation: Table,
    rules: MergeRules,
    own: Table,
    most: float,
) -> list[Pair]:
    """Return the pairs whose merge costs at most so much, and less than its safety is worth, the best rate first.

    Safety is counted on the records ``own``.
    """
    every = pairs_of(now, train, rules)
    gained = {
        pair: gain for pair, gain in zip(every, gains_of(own, now, every), strict=True) if gain >= LEAST_GAIN
    }
    costs = dict(zip(gained, costs_of([*gained], now, classifier, train, validation), strict=True))
    worth = [pair for pair in gained if costs[pair] <= min(most, gained[pair] / EXCHANGE)]
    return sorted(worth, key=lambda pair: -gained[pair] / (costs[pair] + LEAST_GAIN / EXCHANGE))


def pairs_of(now: Generalization, train: Table, rules: MergeRules) -> list[Pair]:
    """Return the pairs of buckets that may become one."""
    people, pairs = samples(train, now, "label"), list[Pair]()
    for column, name in enumerate(now.collected):
        partition, attribute = now[name], now.schema.names.index(name)
        if isinstance(partition, Untouched):
            continue
        bucket, size = people.inputs[:, column], partition.size
        use = np.bincount(bucket, weights=people.weights, minlength=size)
        label = np.bincount(bucket, weights=people.weights * people.targets[:, 0], minlength=size)
        found = mergeable(partition, label / np.maximum(use, 1), use)
        pairs += [Pair(attribute, pair) for pair in found if rules.allow(attribute, pair)]
    return pairs


def costs_of(
    pairs: Sequence[Pair], now: Generalization, classifier: Predictor, train: Table, validation: Table
) -> list[float]:
    """Return what merges would cost the classifier as it is, as shares of the people.

    It guesses for the two as the mean of what it guesses for either, which costs no less than to learn anew; how
    often that errs more, its own beliefs tell.
    """
    rows, people = samples(validation, now, "label"), samples(train, now, "label")
    first, place = rows.buckets
    inputs, weights = rows.inputs[first], np.bincount(place, weights=rows.weights, minlength=len(first))
    beliefs, costs = np.asarray(classifier.predict(inputs)[0]), list[float]()
    for attribute, same in groupby(pairs, key=lambda pair: pair.attribute):
        column, size = now.collected.index(now.schema.names[attribute]), now.partitions[attribute].size
        use = np.bincount(people.inputs[:, column], weights=people.weights, minlength=size)
        together = _averaged(classifier, inputs, beliefs, column, [each.buckets for each in same], use)
        for touched, averaged in together:
            own, number = beliefs[touched], np.arange(len(touched))
            lost = own.max(axis=1) - own[number, averaged.argmax(axis=1)]
            costs.append(float(weights[touched] @ lost) / max(float(weights.sum()), 1.0))
    return costs


def _averaged(
    classifier: Predictor,
    inputs: npt.NDArray[Any],
    beliefs: npt.NDArray[Any],
    column: int,
    pairs: Sequence[tuple[int, int]],
    use: npt.NDArray[Any],
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[Any]]]:
    """Yield, for each pair of buckets, whom it concerns, and what is guessed by who is told only that it is one.

    ``beliefs`` are what is guessed now: only what would be guessed of the other bucket is not known yet.
    """
    bucket = inputs[:, column]
    touched = [np.flatnonzero((bucket == one) | (bucket == other)) for one, other in pairs]
    exchanged = np.concatenate([inputs[rows] for rows in touched])
    others = [
        np.where(bucket[rows] == pair[0], pair[1], pair[0]) for rows, pair in zip(touched, pairs, strict=True)
    ]
    exchanged[:, column] = np.concatenate(others)
    ends = np.cumsum([len(rows) for rows in touched])[:-1]
    told = np.split(np.asarray(classifier.predict(exchanged)[0]), ends)
    for rows, other, of_other in zip(touched, others, told, strict=True):
        own = use[bucket[rows]][:, None] * beliefs[rows]
        yield rows, own + use[other][:, None] * of_other
