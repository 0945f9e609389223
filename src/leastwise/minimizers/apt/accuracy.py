"""How much of a classifier's accuracy is left when it sees generalized records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.minimizers.apt.model import Model
from leastwise.partition import Codes
from leastwise.records.joint import joint_buckets
from leastwise.records.table import Table

Map = npt.NDArray[np.intp]
Array = npt.NDArray[Any]


class Agreement:
    """The share of held-out people for whom the model says the same of the record and of its representative.

    It is asked about dozens of buckets that differ little from one another: the model is asked again only about
    those people for whom something has changed.
    """

    def __init__(self, model: Model, table: Table, held: Table) -> None:
        self.model, self.table, self.held = model, table, held
        self.said = model.predict(held.codes)
        self._shown: Codes = held.codes
        self._answers = self.said.copy()

    def __call__(self, maps: Sequence[Map]) -> float:
        """Return the relative accuracy of these buckets."""
        shown = represented(self.held.codes, maps, self.table)
        changed = np.flatnonzero((shown != self._shown).any(axis=1))
        if len(changed):
            first, row_of = joint_buckets(shown[changed], self.table.sizes)
            self._answers[changed] = self.model.predict(shown[changed[first]])[row_of]
        self._shown = shown
        return float(self.held.counts[self._answers == self.said].sum() / self.held.people)


@dataclass(frozen=True, eq=False)
class Retrained:
    """The accuracy of the model trained again on generalized records, over that of one trained on full ones."""

    model: Model
    table: Table
    train: Table
    held: Table
    full: float

    @classmethod
    def of(cls, model: Model, table: Table, train: Table, held: Table) -> Retrained:
        """Train on the full records."""
        start = cls(model, table, train, held, 1.0)
        return cls(model, table, train, held, max(start([np.arange(size) for size in table.sizes]), 1e-9))

    def __call__(self, maps: Sequence[Map]) -> float:
        """Return the relative accuracy of these buckets."""
        train, held = (represented(part.codes, maps, self.table) for part in (self.train, self.held))
        model = self.model.retrained(train, self.train.y.astype(int), self.train.counts)
        right = model.predict(held) == self.held.y
        return float(self.held.counts[right].sum() / self.held.people) / self.full


def represented(codes: Codes, maps: Sequence[Map], table: Table) -> Codes:
    """Return the records in which each value is replaced by the representative of its bucket."""
    columns = []
    for j, map_ in enumerate(maps):
        ordered = table.schema.attributes[j].kind != "discrete"
        columns.append(representatives(map_, table.use(j), ordered, len(table.levels[j]))[map_[codes[:, j]]])
    return np.stack(columns, axis=1)


def representatives(map_: Map, use: Array, ordered: bool, levels: int) -> Map:
    """Return a code for each bucket: the median of its people where the values are ordered, else the most used.

    >>> representatives(np.array([0, 0, 0, 1]), np.array([2.0, 5, 9, 1]), False, 4).tolist()
    [2, 3]
    >>> representatives(np.array([0, 0, 0, 1]), np.array([4.0, 5, 3, 1]), True, 4).tolist()
    [1, 3]
    """
    size = int(map_.max(initial=0)) + 1
    codes = np.arange(len(map_))
    if not ordered:
        order = np.lexsort((codes, -use, map_))
        return np.asarray(order[np.searchsorted(map_[order], np.arange(size))])
    # "missing" and "other" represent only a bucket that has nobody else.
    weight = np.where(codes < levels, use, use * 1e-9)
    order = np.lexsort((codes, map_))
    total = np.bincount(map_, weights=weight, minlength=size)
    passed = np.cumsum(weight[order]) - (np.cumsum(total) - total)[map_[order]]
    reached = passed >= total[map_[order]] / 2 * (1 - 1e-12)
    return np.asarray(order[[np.flatnonzero((map_[order] == b) & reached)[0] for b in range(size)]])
