"""From probabilities to guesses: the likeliest value of each target, and how sure the predictor is of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.predictors.base import Predictor, Probabilities, Samples
from leastwise.predictors.masks import masked

# Probabilities held at once: many values times many joint buckets must not fill the memory.
_LARGEST_BLOCK = 2**23


@dataclass(frozen=True, eq=False)
class Guesses:
    """Guesses of one target, row by row: the value, its probability, and the probability of the truth."""

    values: npt.NDArray[np.intp]
    confidence: npt.NDArray[np.float64]
    of_truth: npt.NDArray[np.float64]

    @classmethod
    def empty(cls, rows: int) -> Guesses:
        """Return room for the guesses of so many rows."""
        return cls(np.zeros(rows, dtype=np.intp), np.zeros(rows), np.zeros(rows))

    def error(self, truth: npt.NDArray[Any], weights: npt.NDArray[Any]) -> float:
        """Return the share of people who are guessed wrongly."""
        return float(weights[self.values != truth].sum() / weights.sum())

    def log_loss(self, weights: npt.NDArray[Any]) -> float:
        """Return the mean of -log P(truth), a probability counted as at least 1e-12."""
        return float(-(weights * np.log(np.maximum(self.of_truth, 1e-12))).sum() / weights.sum())


def guesses(predictor: Predictor, records: Samples) -> tuple[Guesses, ...]:
    """Return the guesses of every target, with what the generalization rules out excluded.

    Each joint bucket is predicted once, in blocks.
    """
    found = tuple(Guesses.empty(len(records)) for _ in records.target_sizes)
    first, bucket_of = records.buckets
    for rows, buckets in _blocks(bucket_of, len(first), _LARGEST_BLOCK // max(sum(records.target_sizes), 1)):
        inputs = records.inputs[first[buckets]]
        predicted = masked_predictions(predictor, records, inputs)
        for target, probabilities in enumerate(predicted):
            _fill(found[target], probabilities, rows, bucket_of[rows] - buckets.start, records.targets[:, target])
    return found


def masked_predictions(predictor: Predictor, like: Samples, inputs: npt.NDArray[Any]) -> list[Probabilities]:
    """Return the probabilities of all targets for some inputs, with what the masks of ``like`` rule out at 0."""
    return [
        masked(np.asarray(probabilities), like.allowed(target, inputs))
        for target, probabilities in enumerate(predictor.predict(inputs))
    ]


def _blocks(
    bucket_of: npt.NDArray[np.intp], buckets: int, at_once: int
) -> Iterator[tuple[npt.NDArray[np.intp], slice]]:
    order = np.argsort(bucket_of, kind="stable")
    step = max(at_once, 1)
    starts = range(0, buckets, step)
    ends = np.searchsorted(bucket_of[order], [min(start + step, buckets) for start in starts])
    for start, rows in zip(starts, np.split(order, ends[:-1]), strict=True):
        yield rows, slice(start, min(start + step, buckets))


def _fill(
    found: Guesses,
    probabilities: Probabilities,
    rows: npt.NDArray[np.intp],
    places: npt.NDArray[np.intp],
    truth: npt.NDArray[Any],
) -> None:
    best = probabilities.argmax(axis=1)
    found.values[rows] = best[places]
    found.confidence[rows] = probabilities[np.arange(len(best)), best][places]
    found.of_truth[rows] = probabilities[places, truth[rows]]


def errors(found: Sequence[Guesses], records: Samples) -> npt.NDArray[np.float64]:
    """Return the error of each target."""
    return np.array([g.error(records.targets[:, t], records.weights) for t, g in enumerate(found)])
