"""The strongest predictor where records are few: chosen by cross-validation, learned from all of them.

A validation part of some hundred people picks among predictors nearly by chance. Here everybody has a say: each is
guessed by predictors that learned from the other folds, the one (or the mixture of two) that errs least on all
together is chosen, and it learns anew from all.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leastwise.predictors.base import Predictor, Samples
from leastwise.predictors.strongest import Guesses, Mixture, best_mixture, mixtures_of, try_mixtures, worthwhile
from leastwise.random import generator

FOLDS = 3
# Of the rows that a predictor learns from, one in so many chooses its hyperparameters.
_CHOOSES = 10

Rows = npt.NDArray[np.intp]


@dataclass
class CrossValidated:
    """Several predictors of one target, of which the best by cross-validation is used.

    Attributes
    ----------
    chosen_
        The name of what was chosen.
    out_of_fold_
        What it guesses of each row, learned from the other folds.
    """

    predictors: Sequence[Predictor]
    seed: int = 0
    folds: int = FOLDS

    def fit(self, rows: Samples, persons: Rows | None = None) -> CrossValidated:
        """Choose, and learn from all rows; those of one of the ``persons`` are in one fold."""
        kept = worthwhile(self.predictors, rows)
        mixtures, random = mixtures_of(len(kept)), generator(self.seed, "cross-validation")
        fold = folds_of(len(rows), self.folds, random, persons)
        tried = [Guesses.empty(len(rows)) for _ in mixtures]
        for number in range(self.folds):
            known, left = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            fitted = _fit(kept, rows, random.permutation(known))
            (found,) = try_mixtures(fitted, mixtures, rows.take(left))
            for whole, part in zip(tried, found, strict=True):
                whole.put(left, part)
        best = best_mixture(0, tried, rows)
        self.mixture_, self.out_of_fold_ = mixtures[best], tried[best]
        self.chosen_ = self.mixture_.named([predictor.name for predictor in kept])
        used = [p for p, share in zip(kept, self.mixture_.shares, strict=True) if share]
        self.fitted_ = _fit(used, rows, random.permutation(len(rows)))
        return self

    def guess(self, rows: Samples) -> Guesses:
        """Return what is guessed of other rows."""
        mixture = Mixture(tuple(share for share in self.mixture_.shares if share))
        ((found,),) = try_mixtures(self.fitted_, [mixture], rows)
        return found


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
