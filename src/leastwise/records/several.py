"""Several labels of each record: the combinations that they are guessed by, and how wrong a guess is.

Everything that counts goes on counting classes: the *levels*, which are the combinations that occur. What differs
is how wrong a guess is: by the weighted share of the labels that it gets wrong (the weighted Hamming distance), so
that its mean is the weighted mean of the errors about each label. The best guess of a distribution is the
combination that is expected to be the least wrong. Labels that are copies of one another have as many levels as
one of them, and are judged as that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.records.numbers import Codes, Floats, Numbers


@dataclass(frozen=True, eq=False)
class Several:
    """The classes of each record, a column for each label.

    Attributes
    ----------
    exact
        Records x labels: the class that each record has of each label.
    levels
        What may be guessed: the distinct combinations, in their order.
    weights
        How much an error about each label counts; they sum to 1.
    """

    exact: Codes
    levels: Codes
    weights: tuple[float, ...]

    @classmethod
    def of(cls, exact: npt.NDArray[Any], weights: tuple[float, ...]) -> Several:
        """Settle the levels on these records.

        >>> labels = Several.of(np.array([[0, 0], [1, 1], [0, 1], [0, 0]]), (0.5, 0.5))
        >>> labels.levels.tolist(), labels.codes.tolist()
        ([[0, 0], [0, 1], [1, 1]], [0, 2, 1, 0])
        """
        codes = np.asarray(exact, dtype=np.intp)
        return cls(codes, np.unique(codes, axis=0) if len(codes) else codes, weights)

    @cached_property
    def codes(self) -> npt.NDArray[Any]:
        """The class of each record: its combination, or the nearest one that is a level, of several the first."""
        rows, place = np.unique(self.exact, axis=0, return_inverse=True)
        nearest = (
            _off(self.levels[None, :, :], rows[:, None, :], self.weights).argmin(axis=1) if len(rows) else place
        )
        return nearest[place.reshape(-1)].astype(np.min_scalar_type(max(len(self.levels) - 1, 0)))

    def settled(self, counts: Floats | None = None) -> Several:
        """Return the same records by their own levels, whatever each of them counts."""
        return Several.of(self.exact, self.weights)

    def take(self, rows: npt.NDArray[Any]) -> Several:
        """Return some of the records."""
        return replace(self, exact=self.exact[rows])

    def at_levels(self, codes: npt.NDArray[Any]) -> Several:
        """Return records that have just these levels."""
        return replace(self, exact=self.levels[codes])

    def like(self, other: Several) -> Several:
        """Return the same records by the levels of others."""
        return replace(other, exact=self.exact)

    def about(self, labels: Sequence[int]) -> Several:
        """Return the same records where only some labels count: of the others everybody has the same class.

        >>> first = Several.of(np.array([[0, 0], [1, 1], [0, 1]]), (0.5, 0.5)).about([0])
        >>> first.levels.tolist(), first.codes.tolist(), first.weights
        ([[0, 0], [1, 0]], [0, 1, 0], (1.0, 0.0))
        """
        left = np.isin(np.arange(len(self.weights)), labels)
        weights = np.where(left, self.weights, 0.0)
        weights = weights / weights.sum()
        exact = np.where(left, self.exact, 0)
        return Several(exact, np.unique(np.where(left, self.levels, 0), axis=0), tuple(weights.tolist()))

    def and_also(self, others: Several) -> Several:
        """Return these records and, behind them, others."""
        return replace(self, exact=np.concatenate([self.exact, others.exact]))

    @cached_property
    def distances(self) -> Floats:
        """How wrong each level is where another one is true: guess x truth."""
        return _off(self.levels[:, None, :], self.levels[None, :, :], self.weights)

    def projection(self, fewer: Several) -> Floats:
        """Return which level each one here is by those of the same records where fewer labels count: a 0/1 matrix.

        >>> both = Several.of(np.array([[0, 0], [1, 1], [0, 1]]), (0.5, 0.5))
        >>> both.projection(both.about([0])).tolist()
        [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
        """
        counts = np.asarray(fewer.weights) > 0
        same = (self.levels[:, None, :] == fewer.levels[None, :, :]) | ~counts
        return np.asarray(same.all(axis=2), dtype=float)

    @cached_property
    def plain(self) -> bool:
        """Whether every wrong guess is wrong about all labels: then they are guessed and judged as classes are."""
        return bool((self.distances == 1 - np.eye(len(self.levels))).all())

    def guess(self, probabilities: npt.NDArray[Any]) -> Codes:
        """Return the best guess of each row of probabilities: the level that is expected to be least wrong.

        >>> both = Several(np.zeros((0, 2), int), np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), (0.5, 0.5))
        >>> both.guess(np.array([[0.3, 0.0, 0.3, 0.4], [0.1, 0.2, 0.3, 0.4]])).tolist()
        [2, 3]
        """
        if self.plain:
            return np.asarray(probabilities.argmax(axis=1), dtype=np.intp)
        expected = np.asarray(probabilities, dtype=float) @ self.distances.T
        return np.asarray((expected <= expected.min(axis=1, keepdims=True) + 1e-9).argmax(axis=1), dtype=np.intp)

    def wrong(self, guessed: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return about which labels of each record guessed levels are wrong: records x labels."""
        return np.asarray(self.exact != self.levels[guessed])

    def off(self, guessed: npt.NDArray[Any]) -> Floats:
        """Return how wrong guessed levels are of each record: the weighted share of its labels."""
        return _off(self.levels[guessed], self.exact, self.weights)

    def expected_loss(self, beliefs: npt.NDArray[Any], guessed: npt.NDArray[Any]) -> Floats:
        """Return by how much the guesses are wrong more than the best ones, if the beliefs are right."""
        off = np.asarray(beliefs, dtype=float) @ self.distances.T
        return np.asarray(off[np.arange(len(off)), guessed] - off.min(axis=1))

    def distances_of(self, label: int) -> Floats:
        """How wrong each level is about one label where another one is true: guess x truth."""
        own = self.levels[:, label]
        return np.asarray(own[:, None] != own[None, :], dtype=float)


Graded = Numbers | Several
"""A label of which a guess is more or less wrong: a number, or several labels."""


def _off(guess: npt.NDArray[Any], truth: npt.NDArray[Any], weights: tuple[float, ...]) -> Floats:
    """Return the weighted share of the labels that differ; exactly 1 where all do."""
    differ = guess != truth
    off = differ @ np.asarray(weights)
    return np.asarray(np.where(differ.all(axis=-1), 1.0, off))
