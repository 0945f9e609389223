"""Prune, give back, and cut less: always what changes the information loss most for the accuracy at stake."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leastwise.generalization.information_loss import ncp
from leastwise.minimizers.apt.orders import Ranks
from leastwise.minimizers.apt.tree import Cut, Cuts, buckets_between, gathered
from leastwise.partition import from_map
from leastwise.records.table import Table

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
        return [self._map(j, cuts) for j, cuts in enumerate(asked)]

    def _map(self, j: int, cuts: frozenset[int] | None) -> Map:
        return np.arange(self.table.sizes[j]) if cuts is None else buckets_between(self.ranks[j], cuts)

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
