"""A decision tree on a classifier's predictions, as the cuts that it makes: the most telling first."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeClassifier

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
