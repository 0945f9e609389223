"""Records as the networks see them: a row for each code of each attribute, and places between 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import DataError
from leastwise.kernels.interval_program import best_partition, spread
from leastwise.minimizers.orders import value_ranks
from leastwise.records.grouping import numbered_runs, quantile_of
from leastwise.records.table import Table

# A personal number is guessed by the adversary as one of at most so many runs of neighbouring numbers.
_MOST_RUNS = 32
Ints = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
# An attribute of more values is seen as so many runs of neighbours with about as many people each.
_MOST_SPOTS = 512
# People that a value is taken to have had at the common share before its own are counted.
_SHRINKAGE = 2.0
# The share of a run's room that stays free at each of its ends, so that runs stand apart.
_MARGIN = 0.1


@dataclass(frozen=True, eq=False)
class Layout:
    """Which network generalizes which code of which attribute.

    Every code of every attribute has a row, attribute by attribute. Discrete values, and "missing" and "other" of
    every attribute, are *named*: the networks learn their logits one by one. Numbers and ordered values stand on
    spots, which have a place in [0, 1] and are moved by a monotone network.

    Attributes
    ----------
    starts
        The first row of each attribute, and behind them how many rows there are.
    ordered
        The positions of the continuous and ordinal attributes.
    use
        Per attribute, how many people have each code.
    runs
        Per attribute, the run of each code that tells most of the label: see ``label_runs``.
    spots
        Per attribute, the spot of each code that is not named.
    places, balance
        Per attribute, the place of each spot, and how much it counts in the normalization.
    """

    starts: tuple[int, ...]
    ordered: tuple[int, ...]
    use: tuple[Floats, ...]
    runs: tuple[Ints, ...]
    spots: tuple[Ints, ...]
    places: tuple[Floats, ...]
    balance: tuple[Floats, ...]

    @classmethod
    def of(cls, table: Table, k: int) -> Layout:
        """Return the layout of a table's attributes, to be generalized to k buckets each."""
        attributes = range(len(table.schema))
        use = tuple(table.use(j) for j in attributes)
        ranks = value_ranks(table, table.y)
        runs = tuple(label_runs(table, j, ranks[j], k) for j in attributes)
        kinds = [attribute.kind for attribute in table.schema.attributes]
        spots = tuple(
            spots_of(use[j][: 0 if kinds[j] == "discrete" else len(table.levels[j])]) for j in attributes
        )
        run_of_spot = [runs[j][np.unique(spots[j], return_index=True)[1]] for j in attributes]
        return cls(
            starts=(0, *np.cumsum(table.sizes).tolist()),
            ordered=tuple(j for j in attributes if len(spots[j])),
            use=use,
            runs=runs,
            spots=spots,
            places=tuple(places_of(each, k) for each in run_of_spot),
            balance=tuple(balance_of(each) for each in run_of_spot),
        )

    def seen(self, attribute: int) -> npt.NDArray[np.bool_]:
        """Return which codes of an attribute somebody has."""
        return self.use[attribute] > 0

    def levels(self, attribute: int) -> int:
        """Return how many codes of an attribute have a spot."""
        return len(self.spots[attribute])

    def named(self, attribute: int) -> npt.NDArray[np.intp]:
        """Return the rows of the codes that are named."""
        return np.arange(self.starts[attribute] + self.levels(attribute), self.starts[attribute + 1])


@dataclass(frozen=True, eq=False)
class Inputs:
    """The records of a table, ready for training.

    Attributes
    ----------
    rows
        Per record and attribute, the row of its code.
    people
        People per record, 1 on average.
    labels, classes
        The class of each record, and how many classes there are.
    targets, target_sizes
        Per record and personal attribute the value that the adversary wants, and how many there are.
    """

    layout: Layout
    rows: npt.NDArray[np.int64]
    people: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]
    classes: int
    targets: npt.NDArray[np.int64]
    target_sizes: tuple[int, ...]

    @classmethod
    def of(cls, table: Table, k: int) -> Inputs:
        """Return the inputs of all records that stand for somebody, to be generalized to k buckets each."""
        table = table if table.weights is None else table.take(np.flatnonzero(table.weights > 0))
        if not len(table):
            raise DataError("training needs records; got none that stands for anybody")
        layout = Layout.of(table, k)
        targets = [adversary_target(table, p) for p in table.personal]
        return cls(
            layout=layout,
            rows=table.codes.astype(np.int64) + np.asarray(layout.starts[:-1], dtype=np.int64),
            people=(table.counts / table.counts.mean()).astype(np.float32),
            labels=table.y.astype(np.int64),
            classes=table.classes,
            targets=np.array([codes for codes, _ in targets], dtype=np.int64).reshape(-1, len(table)).T,
            target_sizes=tuple(size for _, size in targets),
        )

    def __len__(self) -> int:
        return len(self.rows)


def adversary_target(table: Table, position: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return what the adversary wants of an attribute, and how many values that has.

    These are its codes; the distinct numbers of a continuous attribute, if they are many, as runs of
    neighbouring ones with about as many people each.
    """
    codes, size = table.codes[:, position].astype(np.int64), table.sizes[position]
    if not table.schema.attributes[position].continuous:
        return codes, size
    levels = len(table.levels[position])
    people = table.use(position)[:levels]
    many = (people > 0).sum() > _MOST_RUNS
    run_of = quantile_of(people, _MOST_RUNS) if many else np.maximum(np.cumsum(people > 0) - 1, 0)
    runs = int(run_of.max(initial=-1)) + 1
    return np.concatenate([run_of, runs + np.arange(size - levels)])[codes], runs + size - levels


def spots_of(use: npt.NDArray[Any]) -> Ints:
    """Return the spot of each value in order: one each, or shared by neighbours where they are many.

    A value that nobody has shares the spot of its lower neighbour: it must not take room.

    >>> spots_of(np.array([0, 3, 0, 1])).tolist()
    [0, 0, 0, 1]
    """
    alone: Ints = np.maximum(np.cumsum(use > 0) - 1, 0).astype(np.intp)
    if alone.max(initial=0) < _MOST_SPOTS:
        return alone
    return numbered_runs(np.minimum(quantile_of(use, _MOST_SPOTS), _MOST_SPOTS - 1))


def label_runs(table: Table, j: int, ranks: Ints, k: int) -> Ints:
    """Return at most k runs of an attribute's codes, in the order of their ranks, that tell most of the label.

    Inside them the shares of the classes vary least over the people; a dynamic program finds them exactly.
    """
    order = np.argsort(ranks)
    spot = spots_of(table.use(j)[order])
    keys = spot[np.argsort(order)][table.codes[:, j]].astype(np.intp) * table.classes + table.y
    people = np.bincount(keys, weights=table.counts, minlength=(spot.max(initial=-1) + 1) * table.classes)
    people = people.reshape(-1, table.classes).astype(float)
    use = people.sum(axis=1)
    prior = people.sum(axis=0) / max(use.sum(), 1e-300)
    shares = (people + _SHRINKAGE * prior) / (use[:, None] + _SHRINKAGE)
    cost = spread(use, shares, np.zeros(0), np.zeros((0, table.classes)))
    ends = best_partition(cost[None], np.zeros(1), min(k, len(use)))[-1].ends
    runs = np.empty(len(order), dtype=np.intp)
    runs[order] = np.searchsorted(np.asarray(ends), spot, side="right")
    return runs


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
