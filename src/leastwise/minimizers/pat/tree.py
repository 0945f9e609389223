"""The tree that was grown, splits in the order of growth, and the generalization that it asks.

A value absent from a node must go somewhere, because the tree is asked about every record of the domain. The

1. Values that stand together so far stay together when the node does not separate them: those absent go with
   those present of the same bucket.
2. When a split divides a bucket, an absent value of it goes with the present value of that bucket which is
   nearest *by effect*. The effect of a value is its mean label over all training records (more than two
   classes: the first principal direction of the class shares); a value that nobody has, has the mean effect.
3. A bucket that is absent as a whole goes, as a whole, with the nearest present value by effect.
4. Between the two numbers (or ordinal values) that a split parts, the cut is one that the attribute already
   has, the nearest to the middle; without one it is in the middle, so that a number goes with the nearer.

So a bucket is divided only where the data of the node separate two of its values; but numbers go by their order,
and "missing" or "other", where the node has them, may have to leave an absent number of their bucket. Since the
rules look only at earlier splits, the buckets of a smaller tree are coarser than those of a larger one.

The price: whoever knew all splits beforehand could do with fewer buckets. Rule 2 must choose a side for an absent
value that the data separated from neither; when a later split separates it from its new company, it could have
stayed with the others. Merging them in the end would undo an earlier division, and the buckets of the smaller
tree would no longer be coarser.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
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
    their node number. Where the label is a number, ``label_levels`` are what its classes stand for; where there
    are several labels, ``class_names`` are.
    """

    schema: Schema
    levels: Levels
    splits: tuple[Split, ...]
    root_people: Array
    alpha: float
    label_levels: tuple[float, ...] = ()
    class_names: tuple[str, ...] = ()

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

    def median(self, node: int) -> int:
        """Return the class in the middle of a node's people, where classes are numbers."""
        people = np.cumsum(self.people(node))
        return int(np.searchsorted(people, people[-1] / 2))

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
            bucket = self.partition(number).bucket(record.get(self.attribute(number).name))
            # Buckets are numbered in the order of the domain: the first code's is 0.
            goes = bucket == (0 if self.splits[number].goes_left[0] else 1)
            node = 2 * number + (1 if goes else 2)
        return node

    def attribute(self, split: int) -> Attribute:
        """Return the attribute that a split asks about."""
        return self.schema.attributes[self.splits[split].attribute]

    def partition(self, split: int) -> Partition:
        """Return the two buckets of a split."""
        asked = self.splits[split]
        return from_map(self.attribute(split), self.levels[asked.attribute], (~asked.goes_left).astype(int))


def refined(buckets: Array, goes_left: Array) -> Array:
    """Return the common refinement of buckets and a split, numbered by first appearance."""
    marks = 2 * buckets + ~goes_left
    _, first, inverse = np.unique(marks, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def place_absent(expansions: Sequence[Any], values: Sequence[Values]) -> list[Split]:
    """Return the splits of a growth with every code placed, by the rules above."""
    buckets = [np.zeros(len(value.effects), dtype=np.int64) for value in values]
    splits = []
    for grown in expansions:
        j = grown.attribute
        goes = sides(values[j], buckets[j], grown.left, grown.right)
        buckets[j] = refined(buckets[j], goes)
        splits.append(Split(grown.node, j, goes, grown.gain, grown.left_classes, grown.right_classes))
    return splits


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
    attributes = tree.schema.attributes
    sizes = [len(level) + a.extra_values for level, a in zip(tree.levels, attributes, strict=True)]
    maps = [np.zeros(size, dtype=np.int64) for size in sizes]
    now: list[Partition] = [suppress(attribute) for attribute in attributes]
    partitions, done = dict[int, tuple[Partition, ...]](), 0
    for count in sorted(set(leaves)):
        made, done = tree.splits[done : max(count - 1, 0)], max(done, count - 1)
        for split in made:
            maps[split.attribute] = refined(maps[split.attribute], split.goes_left)
        for j in {split.attribute for split in made}:
            now[j] = from_map(attributes[j], tree.levels[j], maps[j]) if maps[j].any() else suppress(attributes[j])
        partitions[count] = tuple(now)
    label = tree.schema.label
    return [Generalization(partitions[k], label, origin) for k, origin in zip(leaves, origins, strict=True)]


@dataclass(frozen=True)
class Values:
    """What the rules know of an attribute: which codes are ordered, where they lie, and each code's effect.

    ``places`` has one number per ordered code, ascending; it is empty for a discrete attribute.
    """

    places: Array
    effects: Array


def effects(classes: Array) -> Array:
    """Return the effect of each code, from the people of each class that have it."""
    from leastwise.kernels.orderings import label_scores

    people = classes.sum(axis=1)
    seen = people > 0
    if classes.shape[1] < 2 or not seen.any():
        return np.zeros(len(classes))
    scores = label_scores(np.ascontiguousarray(classes[seen], dtype=float), people[seen].astype(float))
    result = np.full(len(classes), np.average(scores, weights=people[seen]))
    result[seen] = scores
    return result


def sides(values: Values, buckets: Array, left: Array, right: Array) -> npt.NDArray[np.bool_]:
    """Return for every code whether it goes left.

    ``buckets`` are those before this split, ``left`` and ``right`` the codes present in the node that go there.
    """
    goes, decided = np.zeros((2, len(buckets)), dtype=bool)
    goes[left] = True
    decided[left] = decided[right] = True
    ordered = len(values.places)
    if ordered:
        goes[:ordered] = _numbers(values, buckets, left, right)
        decided[:ordered] = True
    if decided.all():
        return goes
    lefts, rights = _any_of(buckets, decided & goes), _any_of(buckets, decided & ~goes)
    free = ~decided & ~(lefts & rights)[buckets]
    # A bucket goes as a whole with its present values, or by its mean effect.
    mean = np.bincount(buckets, weights=values.effects) / np.bincount(buckets)
    model = nearest(values.effects, np.concatenate([left, right]), mean)
    goes[free] = np.where(lefts | rights, lefts, goes[model])[buckets[free]]
    for bucket in np.unique(buckets[~decided & ~free]):
        here = buckets == bucket
        asked, models = np.flatnonzero(here & ~decided), np.flatnonzero(here & decided)
        goes[asked] = goes[nearest(values.effects, models, values.effects[asked])]
    return goes


def _any_of(buckets: Array, codes: Array) -> npt.NDArray[np.bool_]:
    return np.bincount(buckets[codes], minlength=int(buckets.max()) + 1) > 0


def nearest(effects: Array, models: Array, asked: Array) -> Array:
    """Return the models whose effects are nearest to those asked; ties go to the smaller effect, then code.

    >>> nearest(np.array([0.1, 0.5, 0.5, 0.9]), np.array([3, 2, 1, 0]), np.array([0.0, 0.3, 0.6, 0.71]))
    array([0, 0, 1, 3])
    """
    ascending = models[np.lexsort((models, effects[models]))]
    known = effects[ascending]
    above = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    below = np.searchsorted(known, known[np.maximum(above - 1, 0)])
    nearer_below = np.abs(asked - known[below]) <= np.abs(known[above] - asked)
    return np.asarray(ascending[np.where(nearer_below, below, above)])


def _numbers(values: Values, buckets: Array, left: Array, right: Array) -> npt.NDArray[np.bool_]:
    ordered = len(values.places)
    low, high = left[left < ordered], right[right < ordered]
    if len(low) and len(high):
        return np.arange(ordered) <= _cut(values.places, buckets, int(low.max()), int(high.min()))
    if len(low) or len(high):
        return np.full(ordered, bool(len(low)))
    # Only "missing" and "other" are here: all numbers go with the nearer of the two.
    model = nearest(values.effects, np.concatenate([left, right]), values.effects[:ordered].mean(keepdims=True))
    return np.full(ordered, bool(np.isin(model, left)[0]))


def _cut(places: Array, buckets: Array, low: int, high: int) -> int:
    """Return the last code of the left side, between the codes ``low`` (left) and ``high`` (right)."""
    middle = places[low] / 2 + places[high] / 2
    known = [c for c in range(low, high) if buckets[c] != buckets[c + 1]]
    if known:
        return min(known, key=lambda c: abs(places[c] / 2 + places[c + 1] / 2 - middle))
    return int(np.searchsorted(places[low:high], middle, side="right")) - 1 + low
