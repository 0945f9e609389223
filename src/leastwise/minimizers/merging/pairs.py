"""Which two buckets may become one, what that would cost, and generalizations in which some have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress as suppress_errors
from dataclasses import replace
from itertools import combinations, pairwise
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
    costs = costs_of_pairs(now, classifier, train, validation, rules)
    return [pair for _, pair in sorted(costs, key=lambda each: each[0])]


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
    costs = [each for each in costs_of_pairs(now, classifier, train, validation, rules) if each[0] <= most]
    gained = gains_of(own, now, [pair for _, pair in costs])
    rates = [
        (gain / (cost + LEAST_GAIN / EXCHANGE), pair)
        for (cost, pair), gain in zip(costs, gained, strict=True)
        if gain >= max(EXCHANGE * cost, LEAST_GAIN)
    ]
    return [pair for _, pair in sorted(rates, key=lambda each: -each[0])]


def costs_of_pairs(
    now: Generalization, classifier: Predictor, train: Table, validation: Table, rules: MergeRules
) -> list[tuple[float, Pair]]:
    """Return the pairs of buckets that may become one, with what a merge would cost the classifier as it is.

    It guesses for the two as the mean of what it guesses for either, which costs no less than to learn anew; how
    often that errs more, its own beliefs tell, as a share of the people.
    """
    rows, people = samples(validation, now, "label"), samples(train, now, "label")
    first, place = rows.buckets
    inputs = rows.inputs[first]
    beliefs = np.asarray(classifier.predict(inputs)[0])
    weights = np.bincount(place, weights=rows.weights, minlength=len(first))
    costs = list[tuple[float, Pair]]()
    for column, name in enumerate(now.collected):
        partition, attribute = now[name], now.schema.names.index(name)
        if isinstance(partition, Untouched):
            continue
        bucket, size = people.inputs[:, column], partition.size
        use = np.bincount(bucket, weights=people.weights, minlength=size)
        label = np.bincount(bucket, weights=people.weights * people.targets[:, 0], minlength=size)
        for pair in mergeable(partition, label / np.maximum(use, 1), use):
            if rules.allow(attribute, pair):
                touched = np.isin(inputs[:, column], pair)
                own, number = beliefs[touched], np.arange(int(touched.sum()))
                guessed = _averaged(classifier, inputs[touched], own, column, pair, use)
                lost = own.max(axis=1) - own[number, guessed.argmax(axis=1)]
                cost = float(weights[touched] @ lost) / max(float(weights.sum()), 1.0)
                costs.append((cost, Pair(attribute, pair)))
    return costs


def _averaged(
    classifier: Predictor,
    inputs: npt.NDArray[Any],
    own: npt.NDArray[Any],
    column: int,
    pair: tuple[int, int],
    use: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    """Return what is guessed by somebody who is told only that one of the two is the case.

    ``own`` is what is guessed now: only what would be guessed of the other bucket is not known yet.
    """
    bucket, exchanged = inputs[:, column], inputs.copy()
    exchanged[:, column] = np.where(bucket == pair[0], pair[1], pair[0])
    other = np.asarray(classifier.predict(exchanged)[0])
    return np.asarray(use[bucket][:, None] * own + use[exchanged[:, column]][:, None] * other)
