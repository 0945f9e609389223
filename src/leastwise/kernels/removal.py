"""Removing attributes from a naive Bayes classifier: who is misjudged without each of them, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]


@njit()
def misjudged_without(
    places: Ints, kept: Ints, evidence: Floats, prior: Floats, classes: Ints, weights: Floats
) -> tuple[Floats, Floats]:
    """Return rows x classes, the scores by the kept attributes, and the people misjudged without each of these.

    ``places`` are rows x attributes: which row of ``evidence`` each adds to the scores; ``prior[c]`` are those
    of a person of class c before anything is known.
    """
    scores = np.empty((len(places), prior.shape[1]))
    wrong = np.zeros(len(kept))
    for r in range(len(places)):
        own, truth = scores[r], classes[r]
        own[:] = prior[truth]
        for j in kept:
            own += evidence[places[r, j]]
        for k in range(len(kept)):
            less, best, top = evidence[places[r, kept[k]]], 0, -np.inf
            for c in range(len(own)):
                if own[c] - less[c] > top:
                    best, top = c, own[c] - less[c]
            if best != truth:
                wrong[k] += weights[r]
    return scores, wrong
