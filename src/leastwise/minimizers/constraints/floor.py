"""Minimum bucket use: merge buckets until none, or no joint bucket, is used by too few people.

It works on any minimizer's result. The pair that costs the least PGini is merged first: what the two buckets
tell apart about the label is lost, what they tell apart about the personal attributes is won.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.constraints.constraints import BucketTree, Constraints, on_the_tree, too_few
from leastwise.minimizers.constraints.nesting import inside
from leastwise.minimizers.pgini import Criterion, Weights
from leastwise.partition import Intervals, Partition, Untouched, from_map, suppress
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Table
from leastwise.validation import check_between

Array = npt.NDArray[Any]
Term = tuple[float, Array, int]
"""One term of PGini: its scale, the value of each record, and how many values there are."""
MOST_BUCKETS = 1000


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
    one bucket: then everything is suppressed. An attribute of more than 1000 buckets that has to be merged
    is first brought to at most 1000: small neighbours are joined, of discrete values in the order of their
    mean label.
    """
    check_between("alpha", alpha, 0.0, 1.0)
    table = table.unweighted  # a crowd is of records
    maps = table.bucket_maps(generalization)
    per_bucket = 0.0 if bucket is None else _people(bucket, "bucket", table)
    per_joint = 0.0 if joint is None else _people(joint, "joint", table)
    together = _rarest_joint(maps, table) < per_joint
    partitions = list(generalization.partitions)
    small = [j for j in range(len(maps)) if together or _rarest(partitions[j], maps[j], table, j) < per_bucket]
    terms = list(_terms(table, Criterion.of(table, weights), alpha)) if small else []
    merging = [_Attribute.of(table, j, maps[j], partitions[j], terms) for j in small]
    for attribute in merging:
        while pair := attribute.cheapest(np.flatnonzero(attribute.people < per_bucket)):
            attribute.merge(*pair[1:])
        attribute.fill_nodes(per_bucket)
    if together:
        _fill_joint_buckets(merging, table, per_joint)
    for j, attribute in zip(small, merging, strict=True):
        partitions[j] = attribute.partition()
    return replace(generalization, partitions=tuple(partitions))


def _rarest(partition: Partition, mapping: Array, table: Table, j: int) -> float:
    # An interval beyond all numbers of the sample has no code.
    size = 0 if isinstance(partition, Untouched) else partition.size
    return float(np.bincount(mapping, weights=table.use(j), minlength=size).min())


def _rarest_joint(maps: Sequence[Array], table: Table) -> float:
    records = np.stack([mapping[table.codes[:, j]] for j, mapping in enumerate(maps)], axis=1)
    _, people = _joined(records, table.counts, [int(mapping.max()) + 1 for mapping in maps])
    return float(people.min(initial=np.inf))


def _people(floor: float, name: str, table: Table) -> float:
    check_between(f"the floor per {name}", floor, 0)
    return floor * table.people if floor < 1 else float(floor)


@dataclass(eq=False)
class _Attribute:
    """One attribute's buckets while they merge.

    ``products`` holds, for each pair of buckets, the scaled inner product of their counts: merging adds rows
    and columns, and the cost of every pair follows from it without counting again.
    """

    mapping: Array  # the given bucket of each code
    given: Partition
    levels: Array
    group: Array  # given bucket -> where merging starts from
    now: Array  # where merging started from -> bucket now
    people: Array
    products: Array
    ordered: int  # that many buckets, the first, merge with neighbours only
    tree: BucketTree | None  # what is merged must be a group of it
    _priced: tuple[Array, Array, Array] | None = None  # the pairs and their costs, until the next merge

    @classmethod
    def of(cls, table: Table, j: int, mapping: Array, partition: Partition, terms: Sequence[Term]) -> _Attribute:
        given = len(mapping) if isinstance(partition, Untouched) else partition.size
        column, ordered = mapping[table.codes[:, j]], _ordered(partition, given)
        tree = BucketTree.of(partition)
        as_it_is = given <= MOST_BUCKETS or tree is not None
        group = np.arange(given) if as_it_is else _runs(table, column, given, ordered)
        column, size = group[column], int(group.max()) + 1
        people = np.bincount(column, weights=table.weights, minlength=size).astype(float)
        products = np.zeros((size, size))
        for scale, values, count in terms:
            counts = np.bincount(column * count + values, weights=table.weights, minlength=size * count)
            matrix = counts.reshape(size, count).astype(float)
            products += scale * (matrix @ matrix.T)
        start = int(group[:ordered].max(initial=-1)) + 1
        return cls(mapping, partition, table.levels[j], group, np.arange(size), people, products, start, tree)

    def pairs(self) -> tuple[Array, Array]:
        """Return the pairs of buckets that may merge, as two lists."""
        alive = np.unique(self.now)
        inner, extra = alive[alive < self.ordered], alive[alive >= self.ordered]
        first, second = np.triu_indices(len(extra), 1)
        mixed = np.repeat(inner, len(extra)), np.tile(extra, len(inner))
        if self.tree is not None:
            held = [np.flatnonzero(self.now == bucket).tolist() for bucket in alive]
            may = [self.tree.joins(held[i] + held[j]) for i, j in zip(first, second, strict=True)]
            first, second = first[may], second[may]
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
        self._priced = None
        self.now[self.now == second] = first
        self.people[first] += self.people[second]
        self.products[first] += self.products[second]
        self.products[:, first] += self.products[:, second]

    def cheapest(self, wanted: Array) -> tuple[float, int, int] | None:
        """Return (cost, first, second) of the cheapest pair with a wanted bucket in it."""
        if self._priced is None:
            pairs = self.pairs()
            self._priced = (*pairs, self.costs(*pairs))
        first, second, costs = self._priced
        asked = np.zeros(len(self.now), dtype=bool)
        asked[wanted] = True
        costs = np.where(asked[first] | asked[second], costs, np.inf)
        best = int(np.argmin(costs)) if len(costs) else -1
        if best < 0 or np.isinf(costs[best]):
            return None
        return float(costs[best]), int(first[best]), int(second[best])

    def fill_nodes(self, fewest: float) -> None:
        """Merge all of the node around a bucket that no single other may join, as the hierarchy allows."""
        while self.tree is not None and len(alive := np.unique(self.now)) > 1:
            small = [bucket for bucket in alive if self.people[bucket] < fewest]
            if not small:
                return
            codes = [code for b in np.flatnonzero(self.now == small[0]) for code in self.tree.codes[b]]
            inside = {*self.tree.tree.members[self.tree.tree.parent(codes)]}
            others = [b for b in alive if inside.issuperset(self.tree.codes[b])]
            for other in others[1:]:
                self.merge(int(others[0]), int(other))

    def partition(self) -> Partition:
        """Return the buckets as they are now."""
        merged = self.now[self.group]
        if len(np.unique(merged)) == len(merged):
            return self.given
        if isinstance(self.given, Untouched):
            return from_map(self.given.attribute, self.levels, merged[self.mapping])
        return self.given.coarsen(merged.tolist())


def _terms(table: Table, criterion: Criterion, alpha: float) -> Iterator[Term]:
    """Yield PGini's terms: scale, the value of each record, and how many values there are."""
    if table.labels is not None:
        yield (1 - alpha) * criterion.label_scale, table.labels.astype(np.intp), table.classes
    for p, scale in zip(criterion.personal, criterion.personal_scale, strict=True):
        yield -alpha * scale, table.codes[:, p].astype(np.intp), table.sizes[p]


def _runs(table: Table, column: Array, size: int, ordered: int) -> Array:
    """Return at most ``MOST_BUCKETS`` groups of neighbouring small buckets, "missing" and "other" on their own.

    A bucket that is large enough by itself stays alone, too.
    """
    use = np.bincount(column, weights=table.weights, minlength=size).astype(float)
    order = np.arange(ordered)
    if not ordered:
        label = np.zeros(len(column)) if table.labels is None else table.labels
        mean = np.bincount(column, weights=table.counts * label, minlength=size)
        order = np.argsort(_per_person(mean, use), kind="stable")
    enough = 2 * float(use.sum()) / MOST_BUCKETS
    group, number, held = np.zeros(size, dtype=np.intp), 0, 0.0
    for bucket in order:
        if held > 0 and held + use[bucket] > enough:
            number, held = number + 1, 0.0
        group[bucket] = number
        held += use[bucket]
    group[len(order) :] = number + 1 + np.arange(size - len(order))
    return group


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


def _fill_joint_buckets(attributes: Sequence[_Attribute], table: Table, fewest: float) -> None:
    columns = [
        attribute.now[attribute.group[attribute.mapping]][table.codes[:, j]]
        for j, attribute in enumerate(attributes)
    ]
    records, people = np.stack(columns, axis=1), np.asarray(table.counts, dtype=float)
    while True:
        records, people = _joined(records, people, [len(attribute.now) for attribute in attributes])
        rare = records[people < fewest]
        if not len(rare):
            return
        cheapest = [(attribute.cheapest(np.unique(rare[:, j])), j) for j, attribute in enumerate(attributes)]
        offers = [(offer[0], j, *offer[1:]) for offer, j in cheapest if offer is not None]
        if not offers:
            return
        _, j, first, second = min(offers)
        attributes[j].merge(first, second)
        records[records[:, j] == second, j] = first


def _joined(records: Array, people: Array, sizes: Sequence[int]) -> tuple[Array, Array]:
    first, bucket = joint_buckets(records, sizes)
    return records[first], np.bincount(bucket, weights=people, minlength=len(first))


def brought_to(constraints: Constraints, generalization: Generalization, train: Table) -> Generalization:
    """Suppress and part as constraints and hierarchies say, merge what was never told apart and what few use.

    What else is broken stays so: ``constraints.broken`` tells.
    """
    partitions = tuple(
        suppress(p.attribute) if p.attribute.name in constraints.suppressed else on_the_tree(p)
        for p in generalization.partitions
    )
    collected = replace(generalization, partitions=partitions)
    if constraints.nested_in is not None:
        collected = inside(constraints.nested_in, collected, train)
        partitions = collected.partitions
    if not any(too_few(constraints, partition, train, j) for j, partition in enumerate(partitions)):
        return collected
    merged = at_least(collected, train, bucket=max(constraints.min_people, 1))
    pairs = zip(partitions, merged.partitions, strict=True)
    # What must be untouched may have buckets of few people.
    exempt = constraints.untouched
    return replace(merged, partitions=tuple(old if old.attribute.name in exempt else new for old, new in pairs))
