"""The tree that was grown, splits in the order of growth, and the generalization that it asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.pat.absent import Values, sides
from leastwise.partition import Partition, from_map, suppress
from leastwise.records.table import Levels
from leastwise.schema import Attribute, Schema

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Split:
    """A question that a node asks about one attribute: which codes go left, absent ones included.

    ``left_people`` and ``right_people`` are the training people of each class on either side.
    """

    node: int
    attribute: int
    goes_left: npt.NDArray[np.bool_]
    gain: float
    left_people: Array
    right_people: Array


@dataclass(frozen=True, eq=False)
class PATTree:
    """A privacy-aware tree.

    Split number i makes the nodes 2i + 1 (left) and 2i + 2 (right); node 0 is the root. Leaves are named by
    their node number.
    """

    schema: Schema
    levels: Levels
    splits: tuple[Split, ...]
    root_people: Array
    alpha: float

    @property
    def leaves(self) -> tuple[int, ...]:
        """The node numbers of the leaves."""
        return tuple(node for node in range(2 * len(self.splits) + 1) if node not in self.split_at)

    @cached_property
    def split_at(self) -> Mapping[int, int]:
        """Which split each inner node makes."""
        return {split.node: number for number, split in enumerate(self.splits)}

    def people(self, node: int) -> Array:
        """Return the training people of each class in a node."""
        if node == 0:
            return self.root_people
        split = self.splits[(node - 1) // 2]
        return split.left_people if node % 2 else split.right_people

    def majority(self, node: int) -> int:
        """Return the class that the node predicts."""
        return int(np.argmax(self.people(node)))

    def prefix(self, leaves: int) -> PATTree:
        """Return the tree as it was when it had that many leaves (or all it has)."""
        if leaves < 1:
            raise ParameterError(f"a tree has at least 1 leaf; got {leaves}")
        return replace(self, splits=self.splits[: leaves - 1])

    def leaf_of_codes(self, codes: Array) -> npt.NDArray[np.intp]:
        """Return the leaf of each encoded record (codes of the levels of the training table)."""
        node = np.zeros(len(codes), dtype=np.intp)
        for number, split in enumerate(self.splits):
            here = np.flatnonzero(node == split.node)
            goes = split.goes_left[codes[here, split.attribute]]
            node[here] = 2 * number + np.where(goes, 1, 2)
        return node

    def leaf_of(self, record: Mapping[str, Any]) -> int:
        """Return the leaf of one raw record."""
        node = 0
        while node in self.split_at:
            number = self.split_at[node]
            attribute = self.attribute(number)
            goes = self.partition(number).bucket(record.get(attribute.name)) == self._left_bucket(number)
            node = 2 * number + (1 if goes else 2)
        return node

    def attribute(self, split: int) -> Attribute:
        """Return the attribute that a split asks about."""
        return self.schema.attributes[self.splits[split].attribute]

    def partition(self, split: int) -> Partition:
        """Return the two buckets of a split."""
        asked = self.splits[split]
        return from_map(self.attribute(split), self.levels[asked.attribute], (~asked.goes_left).astype(int))

    def _left_bucket(self, split: int) -> int:
        # Buckets are numbered in the order of the domain: the first code's is 0.
        return 0 if self.splits[split].goes_left[0] else 1


def refined(buckets: Array, goes_left: Array) -> Array:
    """Return the common refinement of buckets and a split, numbered by first appearance."""
    marks = 2 * buckets + ~goes_left
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def place_absent(expansions: Sequence[Any], values: Sequence[Values]) -> list[Split]:
    """Return the splits of a growth with every code placed, by the rules of ``absent``."""
    buckets = [np.zeros(len(value.effects), dtype=np.int64) for value in values]
    splits = []
    for grown in expansions:
        j = grown.attribute
        goes = sides(values[j], buckets[j], grown.left, grown.right)
        buckets[j] = refined(buckets[j], goes)
        splits.append(Split(grown.node, j, goes, grown.gain, grown.left_classes, grown.right_classes))
    return splits


def bucket_maps(tree: PATTree) -> list[Array]:
    """Return, per attribute, the bucket of each code."""
    *_, last = _growing(tree, [len(tree.splits)])
    return last


def _growing(tree: PATTree, stops: Sequence[int]) -> Iterator[list[Array]]:
    """Yield the buckets after so many splits, ``stops`` ascending."""
    maps = [
        np.zeros(len(level) + attribute.extra_values, dtype=np.int64)
        for level, attribute in zip(tree.levels, tree.schema.attributes, strict=True)
    ]
    done = 0
    for stop in stops:
        for split in tree.splits[done:stop]:
            maps[split.attribute] = refined(maps[split.attribute], split.goes_left)
        done = max(done, stop)
        yield list(maps)


def generalization(tree: PATTree, **origin: Any) -> Generalization:
    """Return what the tree asks: per attribute, the common refinement of all splits on it.

    A record and its generalized record take the same path through the tree, since a bucket's values go the same
    way at every split.
    """
    return generalizations(tree, [len(tree.splits) + 1], [origin])[0]


def generalizations(
    tree: PATTree, leaves: Sequence[int], origins: Sequence[dict[str, Any]]
) -> list[Generalization]:
    """Return what the tree asks at each of several numbers of leaves, in the order given."""
    ascending = sorted(set(leaves))
    partitions: dict[int, tuple[Partition, ...]] = {}
    before: list[tuple[Array, Partition]] = []
    for count, maps in zip(ascending, _growing(tree, [max(k - 1, 0) for k in ascending]), strict=True):
        # An attribute that no split has touched since keeps its partition.
        before = [
            before[j] if before and before[j][0] is mapping else (mapping, _partition(tree, j, mapping))
            for j, mapping in enumerate(maps)
        ]
        partitions[count] = tuple(partition for _, partition in before)
    label = tree.schema.label
    return [Generalization(partitions[k], label, origin) for k, origin in zip(leaves, origins, strict=True)]


def _partition(tree: PATTree, attribute: int, mapping: Array) -> Partition:
    declared = tree.schema.attributes[attribute]
    return from_map(declared, tree.levels[attribute], mapping) if mapping.any() else suppress(declared)
