"""The strongest predictor where records are few: chosen by cross-validation, learned from all of them.

A validation part of some hundred people picks among predictors nearly by chance. Here everybody has a say: each is
guessed by predictors that learned from the other folds, the one (or the mixture) that errs least on all together
is chosen, and it learns anew from all. Which records were learned from is chance too: repeats draw the folds anew,
and what is believed is the mean over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leastwise.predictors.base import Predictor, Probabilities, Samples
from leastwise.predictors.strongest import (
    Guesses,
    Mixture,
    Tried,
    believes,
    mixtures_of,
    worthwhile,
)
from leastwise.random import generator

FOLDS = 3
# Of the rows that a predictor learns from, one in so many chooses its hyperparameters.
_CHOOSES = 10
# Rounds in which the shares of a pool are found; they change little after these.
_ROUNDS = 100

Rows = npt.NDArray[np.intp]


@dataclass
class CrossValidated:
    """Several predictors of one target, of which the best by cross-validation is used.

    Attributes
    ----------
    chosen_
        The name of what was chosen.
    beliefs_
        What it believes of each row, learned from the other folds: rows of probabilities.
    """

    predictors: Sequence[Predictor]
    seed: int = 0
    folds: int = FOLDS
    repeats: int = 1

    def fit(self, rows: Samples, persons: Rows | None = None) -> CrossValidated:
        """Choose, and learn from all rows; those of one of the ``persons`` are in one fold."""
        kept, random = worthwhile(self.predictors, rows), generator(self.seed, "cross-validation")
        rounds = [self._out_of_fold(kept, rows, random, persons) for _ in range(self.repeats)]
        believed = [_mean(each) for each in zip(*rounds, strict=True)]
        mixtures = [*mixtures_of(len(kept)), pool([_of_truth(each, rows) for each in believed], rows.weights)]
        tried = [Guesses.of(mixture.of(believed), rows) for mixture in mixtures]
        self.mixture_ = mixtures[Tried.of(0, tried, rows).best()]
        self.beliefs_ = self.mixture_.of(believed)
        self.chosen_ = self.mixture_.named([predictor.name for predictor in kept])
        used = [p for p, share in zip(kept, self.mixture_.shares, strict=True) if share]
        self.fitted_ = [_fit(used, rows, random.permutation(len(rows))) for _ in range(self.repeats)]
        return self

    def _out_of_fold(
        self, predictors: Sequence[Predictor], rows: Samples, random: np.random.Generator, persons: Rows | None
    ) -> list[Probabilities]:
        """Return what each predictor believes of each row, learned from the other folds."""
        fold = folds_of(len(rows), self.folds, random, persons)
        believed: list[Probabilities] = [np.zeros((len(rows), rows.target_sizes[0])) for _ in predictors]
        for number in range(self.folds):
            known, left = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            fitted = _fit(predictors, rows, random.permutation(known))
            for whole, predictor in zip(believed, fitted, strict=True):
                whole[left] = believes(predictor, rows.take(left))
        return believed

    def predict(self, rows: Samples) -> Probabilities:
        """Return what is believed of other rows."""
        mixture = Mixture(tuple(share for share in self.mixture_.shares if share))
        return _mean([mixture.of([believes(each, rows) for each in fitted]) for fitted in self.fitted_])


def pool(of_truth: Sequence[npt.NDArray[np.float64]], weights: npt.NDArray[np.float64]) -> Mixture:
    """Return the linear opinion pool of the least log loss, by expectation maximisation.

    Parameters
    ----------
    of_truth
        By predictor, what it believes of the true value, row by row.
    weights
        People per row.

    Examples
    --------
    Two who are right about different people are heard alike; a third who knows nothing is hardly heard.

    >>> sure, lost, chance = np.array([0.9, 0.9, 0.1, 0.1]), np.array([0.1, 0.1, 0.9, 0.9]), np.full(4, 0.2)
    >>> [round(share, 2) for share in pool([sure, lost, chance], np.ones(4)).shares]
    [0.5, 0.5, 0.0]
    """
    likelihood = np.maximum(np.stack(of_truth, axis=1), 1e-12)
    shares = np.full(len(of_truth), 1 / len(of_truth))
    for _ in range(_ROUNDS):
        part = likelihood * shares
        shares = np.average(part / part.sum(axis=1, keepdims=True), axis=0, weights=weights)
    return Mixture(tuple(shares.tolist()))


def _mean(parts: Sequence[Probabilities]) -> Probabilities:
    return np.asarray(sum(parts[1:], start=parts[0]) / len(parts))


def _of_truth(believed: Probabilities, rows: Samples) -> npt.NDArray[np.float64]:
    return np.asarray(believed[np.arange(len(rows)), rows.targets[:, 0]], dtype=float)


def folds_of(rows: int, folds: int, random: np.random.Generator, persons: Rows | None = None) -> Rows:
    """Return the fold of each row; all rows of a person are in one, where there are enough persons for that."""
    names, person = np.unique(np.arange(rows) if persons is None else persons, return_inverse=True)
    if len(names) < folds:
        return random.permutation(rows) % folds
    return (random.permutation(len(names)) % folds)[person]


def _fit(predictors: Sequence[Predictor], rows: Samples, order: Rows) -> list[Predictor]:
    choosing = max(len(order) // _CHOOSES, 1)
    learned, chooses = rows.take(np.sort(order[choosing:])), rows.take(np.sort(order[:choosing]))
    return [deepcopy(predictor).fit(learned, chooses) for predictor in predictors]
