"""Prune, give back, and cut less: always what changes the information loss most for the accuracy at stake."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

from leastwise.generalization.information_loss import ncp
from leastwise.minimizers.orders import Ranks
from leastwise.partition import from_map
from leastwise.records.table import Table

Cuts = tuple[frozenset[int], ...]
"""Per attribute the places in its order behind which it is cut."""


class Cut(NamedTuple):
    """One cut: attribute, and the place in the order of its values behind which it is."""

    attribute: int
    place: int


def tree_cuts(
    places: npt.NDArray[np.float32],
    classes: npt.NDArray[Any],
    people: npt.NDArray[Any],
    *,
    max_depth: int,
    min_leaf: int,
    seed: int,
) -> list[Cut]:
    """Return the cuts of a tree that learns the classes, in the order in which a small tree would make them.

    The first m splits of that order form a tree themselves: leaving out the others prunes the tree.
    """
    tree = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=min_leaf, random_state=seed)
    grown = tree.fit(places, classes, sample_weight=people).tree_
    return list(dict.fromkeys(_best_first(grown)))


def _best_first(tree: Any) -> list[Cut]:
    left, right = tree.children_left, tree.children_right
    weighted = tree.impurity * tree.weighted_n_node_samples
    waiting, cuts = [(0.0, 0)], []
    while waiting:
        _, node = heapq.heappop(waiting)
        if left[node] < 0:
            continue
        cuts.append(Cut(int(tree.feature[node]), int(np.floor(tree.threshold[node]))))
        for child in (left[node], right[node]):
            if left[child] >= 0:
                gain = weighted[child] - weighted[left[child]] - weighted[right[child]]
                heapq.heappush(waiting, (-float(gain), int(child)))
    return cuts


def gathered(cuts: Sequence[Cut], attributes: int) -> Cuts:
    """Return the cuts attribute by attribute."""
    return tuple(frozenset(c.place for c in cuts if c.attribute == j) for j in range(attributes))


def buckets_between(ranks: npt.NDArray[np.intp], cuts: frozenset[int]) -> npt.NDArray[np.intp]:
    """Return the bucket of each code: the run of places between two cuts.

    >>> buckets_between(np.array([2, 0, 1, 3]), frozenset({0, 2})).tolist()
    [1, 0, 1, 2]
    """
    return np.searchsorted(np.array(sorted(cuts), dtype=np.intp), ranks, side="left").astype(np.intp)


Map = npt.NDArray[np.intp]
Accuracy = Callable[[Sequence[Map]], float]

EVERYTHING = None
"""In place of the cuts of an attribute: it is asked exactly."""

Asked = tuple[frozenset[int] | None, ...]


@dataclass(frozen=True, eq=False)
class Coarsening:
    """What may be asked of each attribute, judged by accuracy and information loss.

    Attributes
    ----------
    table, ranks
        The records, and the order of each attribute's values.
    accuracy
        The relative accuracy of buckets.
    target
        What it must not fall below.
    """

    table: Table
    ranks: Sequence[Ranks]
    accuracy: Accuracy
    target: float

    def maps(self, asked: Asked) -> list[Map]:
        """Return the bucket of each code."""
        return [
            np.arange(self.table.sizes[j]) if cuts is EVERYTHING else buckets_between(self.ranks[j], cuts)
            for j, cuts in enumerate(asked)
        ]

    def reaches(self, asked: Asked) -> bool:
        """Return whether the target is reached."""
        return self.accuracy(self.maps(asked)) >= self.target - 1e-12

    def pruned(self, cuts: Sequence[Cut]) -> Asked:
        """Return the fewest first cuts that reach the target; all of them where none do."""
        attributes = len(self.ranks)
        low, high = 0, len(cuts)
        while low < high:
            middle = (low + high) // 2
            if self.reaches(gathered(cuts[:middle], attributes)):
                high = middle
            else:
                low = middle + 1
        return gathered(cuts[:high], attributes)

    def given_back(self, asked: Asked) -> Asked:
        """Return the buckets with attributes asked exactly until the target is reached.

        The first is the one whose exact values bring most accuracy for the information that is no longer lost.
        """
        now = self.accuracy(self.maps(asked))
        while now < self.target - 1e-12 and any(cuts is not EVERYTHING for cuts in asked):
            offers = [self._offer(asked, j, now) for j, cuts in enumerate(asked) if cuts is not EVERYTHING]
            _, j, now = max(offers, key=lambda offer: (offer[0], -offer[1]))
            asked = _replaced(asked, j, EVERYTHING)
        return asked

    def _offer(self, asked: Asked, j: int, now: float) -> tuple[float, int, float]:
        accuracy = self.accuracy(self.maps(_replaced(asked, j, EVERYTHING)))
        return (accuracy - now) / max(self.loss(j, asked[j]), 1e-9), j, accuracy

    def uncut(self, asked: Asked) -> Asked:
        """Return the buckets without every cut that the target does not need, that of most information first."""
        offers = {(j, cut): gain for j in range(len(asked)) for cut, gain in self._gains(j, asked[j]).items()}
        while offers:
            j, cut = max(offers, key=lambda key: (offers[key], key))
            del offers[j, cut]
            cuts = asked[j]
            assert cuts is not None
            fewer = _replaced(asked, j, cuts - {cut})
            if self.reaches(fewer):
                asked = fewer
                left = {c for attribute, c in offers if attribute == j}
                offers |= {(j, c): gain for c, gain in self._gains(j, asked[j]).items() if c in left}
        return asked

    def _gains(self, j: int, cuts: frozenset[int] | None) -> dict[int, float]:
        """Return by how much the information loss rises without each cut."""
        if not cuts:
            return {}
        now = self.loss(j, cuts)
        return {cut: self.loss(j, cuts - {cut}) - now for cut in cuts}

    def loss(self, j: int, cuts: frozenset[int] | None) -> float:
        """Return the mean certainty penalty of one attribute over the people."""
        if cuts is EVERYTHING:
            return 0.0
        attribute, levels, use = self.table.schema.attributes[j], self.table.levels[j], self.table.use(j)
        partition = from_map(attribute, levels, buckets_between(self.ranks[j], cuts))
        present = levels[use[: len(levels)] > 0] if attribute.continuous else None
        return float(use @ ncp(partition, present)[partition.bucket_map(levels)] / max(self.table.people, 1e-9))


def _replaced(asked: Asked | Cuts, j: int, cuts: frozenset[int] | None) -> Asked:
    return (*asked[:j], cuts, *asked[j + 1 :])
