"""Minimum bucket use: merge buckets until none, or no joint bucket, is used by too few people.

It works on any minimizer's result. The pair that costs the least PGini is merged first: what the two buckets
tell apart about the label is lost, what they tell apart about the personal attributes is won.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.joint import joint_buckets
from leastwise.minimizers.pgini import Criterion, Weights
from leastwise.partition import Intervals, Partition, Untouched, from_map
from leastwise.table import Table
from leastwise.validation import check_between

Array = npt.NDArray[Any]


def at_least(
    generalization: Generalization,
    table: Table,
    *,
    bucket: float | None = None,
    joint: float | None = None,
    alpha: float = 0.7,
    weights: Weights = None,
) -> Generalization:
    """Return a coarser generalization in which every bucket, or joint bucket, is used by enough people.

    Parameters
    ----------
    generalization
        Any minimizer's result.
    table
        The people who are counted.
    bucket
        The fewest people in a bucket of any attribute: a number, or below 1 a share of all people. A bucket
        that nobody uses has too few.
    joint
        The fewest people with the same generalized record, if anybody has it.
    alpha, weights
        Of PGini, which decides which pair is merged.

    Notes
    -----
    Intervals, and runs of an ordinal attribute, merge with their neighbours only; "missing" and "other" with
    any. Where nothing else helps, an attribute ends suppressed. Fewer people than the floor cannot fill even
    one bucket: then everything is suppressed.
    """
    check_between("alpha", alpha, 0.0, 1.0)
    criterion = Criterion.of(table, weights)
    attributes = [
        _Attribute.of(table, j, mapping, partition, criterion, alpha)
        for j, (mapping, partition) in enumerate(
            zip(table.bucket_maps(generalization), generalization.partitions, strict=True)
        )
    ]
    if bucket is not None:
        fewest = _people(bucket, "bucket", table)
        for attribute in attributes:
            _fill_buckets(attribute, fewest)
    if joint is not None:
        _fill_joint_buckets(attributes, table, _people(joint, "joint", table))
    return replace(generalization, partitions=tuple(attribute.partition() for attribute in attributes))


def _people(floor: float, name: str, table: Table) -> float:
    check_between(f"the floor per {name}", floor, 0)
    return floor * table.people if floor < 1 else float(floor)


@dataclass(eq=False)
class _Attribute:
    """One attribute's buckets while they merge.

    ``products`` holds, for each pair of buckets, the scaled inner product of their counts: merging adds rows
    and columns, and the cost of every pair follows from it without counting again.
    """

    codes: Array  # the bucket of each code at first
    given: Partition
    levels: Array
    now: Array  # the bucket, now, of each bucket at first
    people: Array
    products: Array
    ordered: int  # that many buckets, the first, merge with neighbours only

    @classmethod
    def of(
        cls, table: Table, j: int, mapping: Array, partition: Partition, criterion: Criterion, alpha: float
    ) -> _Attribute:
        size = len(mapping) if isinstance(partition, Untouched) else partition.size
        column = mapping[table.codes[:, j]]
        people = np.bincount(column, weights=table.weights, minlength=size).astype(float)
        products = np.zeros((size, size))
        for scale, values, count in _terms(table, criterion, alpha):
            counts = np.bincount(column * count + values, weights=table.weights, minlength=size * count)
            products += scale * _gram(counts.reshape(size, count).astype(float))
        return cls(
            mapping, partition, table.levels[j], np.arange(size), people, products, _ordered(partition, size)
        )

    def pairs(self) -> tuple[Array, Array]:
        """Return the pairs of buckets that may merge, as two lists."""
        alive = np.unique(self.now)
        inner, extra = alive[alive < self.ordered], alive[alive >= self.ordered]
        if not self.ordered:
            first, second = np.triu_indices(len(alive), 1)
            return alive[first], alive[second]
        first, second = np.triu_indices(len(extra), 1)
        mixed = np.repeat(inner, len(extra)), np.tile(extra, len(inner))
        return (
            np.concatenate([inner[:-1], mixed[0], extra[first]]),
            np.concatenate([inner[1:], mixed[1], extra[second]]),
        )

    def costs(self, first: Array, second: Array) -> Array:
        """Return what PGini, times people, would rise by if the buckets of each pair became one."""
        own = np.diag(self.products)
        one, two, both = self.people[first], self.people[second], self.products[first, second]
        together = own[first] + 2 * both + own[second]
        return _per_person(own[first], one) + _per_person(own[second], two) - _per_person(together, one + two)

    def merge(self, first: int, second: int) -> None:
        """Make two buckets one; it keeps the smaller number."""
        self.now[self.now == second] = first
        self.people[first] += self.people[second]
        self.products[first] += self.products[second]
        self.products[:, first] += self.products[:, second]

    def cheapest(self, wanted: Array) -> tuple[float, int, int] | None:
        """Return (cost, first, second) of the cheapest pair with a wanted bucket in it."""
        first, second = self.pairs()
        chosen = np.isin(first, wanted) | np.isin(second, wanted)
        if not chosen.any():
            return None
        first, second = first[chosen], second[chosen]
        costs = self.costs(first, second)
        best = int(np.argmin(costs))
        return float(costs[best]), int(first[best]), int(second[best])

    def partition(self) -> Partition:
        """Return the buckets as they are now."""
        if len(np.unique(self.now)) == len(self.now):
            return self.given
        if isinstance(self.given, Untouched):
            return from_map(self.given.attribute, self.levels, self.now[self.codes])
        return self.given.coarsen(self.now.tolist())


def _terms(table: Table, criterion: Criterion, alpha: float) -> Iterator[tuple[float, Array, int]]:
    """Yield PGini's terms: scale, the value of each record, and how many values there are."""
    if table.labels is not None:
        yield (1 - alpha) * criterion.label_scale, table.labels.astype(np.intp), table.classes
    for p, scale in zip(criterion.personal, criterion.personal_scale, strict=True):
        yield -alpha * scale, table.codes[:, p].astype(np.intp), table.sizes[p]


def _gram(counts: Array) -> Array:
    return np.asarray(counts @ counts.T)


def _ordered(partition: Partition, size: int) -> int:
    """Return how many buckets hold numbers or ordinal values: those merge with neighbours only."""
    if partition.attribute.kind == "discrete":
        return 0
    if isinstance(partition, Untouched):
        return size - partition.attribute.extra_values
    if isinstance(partition, Intervals):
        return len(partition.edges) + 1
    inner = partition.assignment[: len(partition.attribute.values)]
    return max(inner, default=-1) + 1


def _per_person(total: Array, people: Array) -> Array:
    return np.divide(total, people, out=np.zeros_like(total), where=people > 0)


def _fill_buckets(attribute: _Attribute, fewest: float) -> None:
    while True:
        alive = np.unique(attribute.now)
        merged = attribute.cheapest(alive[attribute.people[alive] < fewest])
        if merged is None:
            return
        attribute.merge(*merged[1:])


def _fill_joint_buckets(attributes: Sequence[_Attribute], table: Table, fewest: float) -> None:
    records, people = _distinct(attributes, table)
    while True:
        records, people = _joined(records, people, [len(attribute.now) for attribute in attributes])
        rare = records[people < fewest]
        if not len(rare):
            return
        merged = min(_offers(attributes, rare), default=None)
        if merged is None:
            return
        _, j, first, second = merged
        attributes[j].merge(first, second)
        records[records[:, j] == second, j] = first


def _offers(attributes: Sequence[_Attribute], rare: Array) -> Iterator[tuple[float, int, int, int]]:
    for j, attribute in enumerate(attributes):
        offer = attribute.cheapest(np.unique(rare[:, j]))
        if offer is not None:
            yield (offer[0], j, *offer[1:])


def _distinct(attributes: Sequence[_Attribute], table: Table) -> tuple[Array, Array]:
    columns = [attribute.now[attribute.codes[table.codes[:, j]]] for j, attribute in enumerate(attributes)]
    return np.stack(columns, axis=1), np.asarray(table.counts, dtype=float)


def _joined(records: Array, people: Array, sizes: Sequence[int]) -> tuple[Array, Array]:
    first, bucket = joint_buckets(records, sizes)
    return records[first], np.bincount(bucket, weights=people, minlength=len(first))


def rarest(generalization: Generalization, table: Table) -> tuple[float, float]:
    """Return the people in the rarest bucket of any attribute, and in the rarest joint bucket that is used.

    >>> from leastwise import Attribute, Generalization, Schema, Table
    >>> schema = Schema([Attribute("sex", values=("F", "M"))])
    >>> table = Table.from_frame({"sex": ["F", "F", "M"]}, schema)  # doctest: +SKIP
    """
    least = math.inf
    for j, mapping in enumerate(table.bucket_maps(generalization)):
        least = min(least, float(np.bincount(mapping, weights=table.use(j)).min()))
    records = table.generalize(generalization)
    _, people = _joined(records, table.counts, [int(c) + 1 for c in records.max(axis=0, initial=0)])
    return least, float(people.min(initial=math.inf))
