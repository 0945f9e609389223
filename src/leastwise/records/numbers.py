"""A label that is a number: what each record has, the levels that it is guessed by, and how far off a guess is.

Everything that counts goes on counting classes: the levels of the number, which are its distinct values where
they are few and otherwise quantiles, each told by its middle. What differs is how wrong a guess is. A class is
right or wrong; a number is off by some distance, and the best guess of a distribution is its median. Distances are
shares of the *error of guessing*: how far off the median of all is on average. So an error of 0 is perfect and 1
is a guess that knows nothing, whatever the unit is, and limits and margins mean the same as for classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.records.grouping import numbered_runs, quantile_of

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

MOST_LEVELS = 32
"""By so many levels a number is guessed and judged; to round to them costs little beside what a guess is off."""
FEW_LEVELS = 8
"""By so many a minimizer searches, which counts the levels of thousands of joint buckets."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The label of each record as a number.

    Attributes
    ----------
    exact
        The number of each record.
    levels
        What may be guessed, ascending: the number that each class of the label stands for.
    scale
        The error of guessing: the mean distance to the median, of the people that the levels were settled on.
    """

    exact: Floats
    levels: Floats
    scale: float

    @classmethod
    def of(cls, exact: Floats, counts: Floats | None = None, most: int = MOST_LEVELS) -> Numbers:
        """Settle levels and scale on these records.

        >>> numbers = Numbers.of(np.array([1.0, 2, 3, 10]), most=2)
        >>> numbers.levels.tolist(), numbers.scale, numbers.codes.tolist()
        ([1.0, 3.0], 2.5, [0, 0, 1, 1])
        """
        values, place = np.unique(np.asarray(exact, dtype=float), return_inverse=True)
        use = np.bincount(place, weights=counts, minlength=len(values)).astype(float)
        run = np.arange(len(values))
        if len(values) > most:
            run = numbered_runs(np.minimum(quantile_of(use, most), most - 1))
        levels = np.array([_median(values[run == r], use[run == r]) for r in range(int(run.max(initial=-1)) + 1)])
        off = np.abs(values - _median(values, use)) if len(values) else values
        scale = float(off @ use / use.sum()) if use.sum() else 0.0
        return cls(np.asarray(exact, dtype=float), levels, scale or 1.0)

    @property
    def codes(self) -> npt.NDArray[Any]:
        """The class of each record: the level nearest to its number, of two the lower."""
        between = (self.levels[1:] + self.levels[:-1]) / 2
        nearest = np.searchsorted(between, self.exact, side="left")
        return nearest.astype(np.min_scalar_type(max(len(self.levels) - 1, 0)))

    def settled(self, counts: Floats | None = None) -> Numbers:
        """Return the same records by levels and a scale of their own."""
        return Numbers.of(self.exact, counts)

    def take(self, rows: npt.NDArray[Any]) -> Numbers:
        """Return some of the records."""
        return replace(self, exact=self.exact[rows])

    def at_levels(self, codes: npt.NDArray[Any]) -> Numbers:
        """Return records that have just these levels."""
        return replace(self, exact=self.levels[codes])

    def like(self, other: Numbers) -> Numbers:
        """Return the same records by the levels and the scale of others."""
        return replace(other, exact=self.exact)

    def and_also(self, others: Numbers) -> Numbers:
        """Return these records and, behind them, others."""
        return replace(self, exact=np.concatenate([self.exact, others.exact]))

    @property
    def plain(self) -> bool:
        """Whether every wrong guess is as wrong as any other; of numbers some are near."""
        return False

    @property
    def distances(self) -> Floats:
        """How far each level is from each: guess x truth."""
        return np.asarray(np.abs(self.levels[:, None] - self.levels[None, :]) / self.scale)

    def guess(self, probabilities: npt.NDArray[Any]) -> Codes:
        """Return the best guess of each row of probabilities: the median.

        >>> label = Numbers(np.zeros(0), np.array([0.0, 1, 9]), 1.0)
        >>> label.guess(np.array([[0.3, 0.3, 0.4], [0.1, 0.2, 0.7]])).tolist()
        [1, 2]
        """
        summed = np.cumsum(probabilities, axis=1, dtype=float)
        return np.asarray((summed >= summed[:, -1:] / 2 - 1e-9).argmax(axis=1), dtype=np.intp)

    def off(self, guessed: npt.NDArray[Any]) -> Floats:
        """Return how far off guessed levels are of each record's number, in shares of the error of guessing."""
        return np.asarray(np.abs(self.exact - self.levels[guessed]) / self.scale)

    def expected_loss(self, beliefs: npt.NDArray[Any], guessed: npt.NDArray[Any]) -> Floats:
        """Return by how much the guesses are further off than the best ones, if the beliefs are right."""
        off = np.asarray(beliefs, dtype=float) @ self.distances
        return np.asarray(off[np.arange(len(off)), guessed] - off.min(axis=1))


def _median(values: Floats, use: Floats) -> float:
    half = np.searchsorted(np.cumsum(use), use.sum() / 2, side="left")
    return float(values[min(int(half), len(values) - 1)])
