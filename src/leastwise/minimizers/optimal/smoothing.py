"""What the people with each value of an attribute have in common, where most values have few people.

Empirical Bayes: the mean of a value is drawn towards a prior, as if so many more people (the pseudo-count) were
seen there. The prior is the mean of everybody, or of the values that stand nearby: codes of occupations, places or
diseases are mostly given so that neighbours are alike. Which of the two, and how near is near, is told by
leave-one-out errors; where neighbours tell nothing, a code stays a name.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leastwise.records.table import Table

Floats = npt.NDArray[np.float64]

PSEUDO_COUNT, _NEARBY = 20.0, 5.0
"""People that a value is taken to have had at its prior before its own are counted: fewer where the prior is that
of its neighbours, who tell more than everybody and are told apart worse."""
# How far a neighbourhood reaches, in people; up to this share of everybody.
_REACHES, _LARGEST_SHARE = 5.0 * 2.0 ** np.arange(0, 12), 0.25
# Neighbours must explain so many times the variance of one record more than everybody does: one of several
# neighbourhoods seems to, by luck.
_GAIN = 12.0
# Before the people nearby are counted, so many are taken to have been seen there at the mean of everybody.
_FEW_NEARBY = 1.0


@dataclass(frozen=True, eq=False)
class Smoothing:
    """How the means of one attribute's values are drawn together.

    Attributes
    ----------
    use
        People per code.
    inner
        How many codes, the first, stand in an order; behind them "missing" and "other".
    reach
        How far neighbours reach, in people; None where everybody is the prior.
    """

    use: Floats
    inner: int
    reach: float | None
    pseudo_count: float = PSEUDO_COUNT

    @classmethod
    def of(cls, table: Table, attribute: int, told: Floats | None = None) -> Smoothing:
        """Choose by leave-one-out squared errors of the label, or of a number that is ``told`` of each record."""
        use, inner = table.use(attribute).astype(float), len(table.levels[attribute])
        sums = sums_by_code(table, attribute, told)
        squares = sums if told is None else sums_by_code(table, attribute, told**2)
        people = max(float(use.sum()), 1e-12)
        one = float(squares.sum() - (sums.sum(axis=0) ** 2).sum() / people) / people
        best = cls(use, inner, None)
        least = min(cls(use, inner, None, count)._left_out(sums, squares) for count in (PSEUDO_COUNT, _NEARBY))
        least -= _GAIN * one
        reaches = [float(reach) for reach in _REACHES if reach <= _LARGEST_SHARE * people]
        for reach in reversed(reaches):  # of two as good, the smoother one
            tried = cls(use, inner, reach, _NEARBY)
            error = tried._left_out(sums, squares)
            if error < least - one:
                best, least = tried, error
        return best

    def means(self, sums: Floats) -> Floats:
        """Return the smoothed mean of each code, from sums over its people: codes x targets."""
        return np.asarray((sums + self.pseudo_count * self._prior(sums)) / (self.use + self.pseudo_count)[:, None])

    def means_of_groups(self, sums: Floats, group_of: npt.NDArray[np.intp], groups: int) -> tuple[Floats, Floats]:
        """Return the people of each group of codes, and their smoothed means: a group counts as one value.

        Its prior is that of its codes, person by person; a group of nobody has that of everybody.
        """
        people, told, expected = (
            np.zeros(groups),
            np.zeros((groups, sums.shape[1])),
            np.zeros((groups, sums.shape[1])),
        )
        np.add.at(people, group_of, self.use)
        np.add.at(told, group_of, sums)
        np.add.at(expected, group_of, self.use[:, None] * self._prior(sums))
        everybody = sums.sum(axis=0) / max(float(self.use.sum()), 1e-12)
        prior = np.where(people[:, None] > 0, expected / np.maximum(people, 1e-12)[:, None], everybody)
        return people, np.asarray((told + self.pseudo_count * prior) / (people + self.pseudo_count)[:, None])

    def drawn_together(self, values: Floats) -> Floats:
        """Smooth what is known of each code as a mean over its people: codes x targets."""
        return self.means(values * self.use[:, None])

    def _prior(self, sums: Floats) -> Floats:
        """Return what is expected of each code by others: of everybody, or of those nearby without itself."""
        everybody = sums.sum(axis=0) / max(float(self.use.sum()), 1e-12)
        prior = np.tile(everybody, (len(sums), 1))
        if self.reach is not None:
            held = np.column_stack([sums, self.use])[: self.inner]
            nearby = _before(held, self.reach) + _before(held[::-1], self.reach)[::-1]
            prior[: self.inner] = (nearby[:, :-1] + _FEW_NEARBY * everybody) / (nearby[:, -1:] + _FEW_NEARBY)
        return prior

    def _left_out(self, sums: Floats, squares: Floats) -> float:
        """Return the squared error when each person is guessed from all others."""
        others = np.maximum(self.use - 1, 0.0) + self.pseudo_count
        held = (sums + self.pseudo_count * self._prior(sums)) / others[:, None]
        own = (1 + 1 / others)[:, None]  # a guess without oneself is off by that much more
        return float((squares * own**2 - 2 * sums * own * held + self.use[:, None] * held**2).sum())


def _before(held: Floats, reach: float) -> Floats:
    """Return what the codes before each hold, the nearer the more: weights fall exponentially with people between.

    The last column of ``held`` is people.
    """
    found, now = np.zeros_like(held), np.zeros(held.shape[1])
    for place in range(1, len(held)):
        between = (held[place - 1, -1] + held[place, -1]) / 2
        now = (now + held[place - 1]) * np.exp(-between / reach)
        found[place] = now
    return found


def sums_by_code(table: Table, attribute: int, told: Floats | None = None) -> Floats:
    """Return, per code, how many people have each class of the label, or the sum of what is ``told`` of them."""
    codes, size = table.codes[:, attribute].astype(np.intp), table.sizes[attribute]
    if told is not None:
        return np.asarray(np.bincount(codes, weights=table.counts * told, minlength=size), dtype=float)[:, None]
    keys = codes * table.classes + table.y
    people = np.bincount(keys, weights=table.counts, minlength=size * table.classes)
    return people.reshape(size, table.classes).astype(float)
