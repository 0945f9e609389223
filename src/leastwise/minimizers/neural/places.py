"""Where values stand before anything is learned: runs of values whose people have much the same label."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.interval_program import best_partition, spread
from leastwise.records.table import Table

Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]

# An attribute of more values is seen as so many runs of neighbours with about as many people each.
_MOST_SPOTS = 512
# People that a value is taken to have had at the common share before its own are counted.
_SHRINKAGE = 2.0
# The share of a run's room that stays free at each of its ends, so that runs stand apart.
_MARGIN = 0.1


def spots_of(use: npt.NDArray[Any]) -> Ints:
    """Return the spot of each value in order: one each, or shared by neighbours where they are many.

    A value that nobody has shares the spot of its lower neighbour: it must not take room.

    >>> spots_of(np.array([0, 3, 0, 1])).tolist()
    [0, 0, 0, 1]
    """
    alone: Ints = np.maximum(np.cumsum(use > 0) - 1, 0).astype(np.intp)
    if alone.max(initial=0) < _MOST_SPOTS:
        return alone
    middle = (np.cumsum(use) - use / 2) / use.sum()
    quantile = np.minimum(np.floor(middle * _MOST_SPOTS), _MOST_SPOTS - 1)
    return np.asarray(np.unique(quantile, return_inverse=True)[1], dtype=np.intp).reshape(-1)


def label_runs(table: Table, j: int, ranks: Ints, k: int) -> Ints:
    """Return at most k runs of an attribute's codes, in the order of their ranks, that tell most of the label.

    Inside them the shares of the classes vary least over the people; a dynamic program finds them exactly.
    """
    order = np.argsort(ranks)
    spot = spots_of(table.use(j)[order])
    keys = spot[np.argsort(order)][table.codes[:, j]].astype(np.intp) * table.classes + table.y
    people = np.bincount(keys, weights=table.counts, minlength=(spot.max(initial=-1) + 1) * table.classes)
    shares, use = _shares(people.reshape(-1, table.classes).astype(float))
    cost = spread(use, shares, np.zeros(0), np.zeros((0, table.classes)))
    ends = best_partition(cost[None], np.zeros(1), min(k, len(use)))[-1].ends
    runs = np.empty(len(order), dtype=np.intp)
    runs[order] = np.searchsorted(np.asarray(ends), spot, side="right")
    return runs


def _shares(people: Floats) -> tuple[Floats, Floats]:
    use = people.sum(axis=1)
    prior = people.sum(axis=0) / max(use.sum(), 1e-300)
    return (people + _SHRINKAGE * prior) / (use[:, None] + _SHRINKAGE), use


def places_of(run_of_spot: Ints, k: int) -> Floats:
    """Return the place of each spot in [0, 1]: run j within the j-th of k equal parts, with gaps between runs.

    >>> places_of(np.array([0, 0, 1]), 2).round(2).tolist()
    [0.15, 0.35, 0.75]
    """
    _, first, run, size = np.unique(run_of_spot, return_index=True, return_inverse=True, return_counts=True)
    inside = (np.arange(len(run)) - first[run] + 0.5) / size[run]
    return np.asarray((run_of_spot + _MARGIN + (1 - 2 * _MARGIN) * inside) / k)


def balance_of(run_of_spot: Ints) -> Floats:
    """Return how much each spot counts in the normalization: every run the same, 1 in all."""
    _, run, size = np.unique(run_of_spot, return_inverse=True, return_counts=True)
    return np.asarray(1 / (size[run] * len(size)))
