"""From probabilities to guesses: the likeliest value of each target, and how sure the predictor is of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes
from leastwise.predictors.base import Predictor, Probabilities, Samples, masked

# Probabilities held at once: many values times many joint buckets must not fill the memory.
_LARGEST_BLOCK = 2**23


class Block(NamedTuple):
    """Some joint buckets: their inputs, the rows that lie in them, and in which of them each row lies."""

    inputs: Codes
    rows: npt.NDArray[np.intp]
    places: npt.NDArray[np.intp]


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

    def fill(self, block: Block, probabilities: Probabilities, truth: npt.NDArray[Any]) -> None:
        """Put in the guesses of the rows of a block, from the probabilities of its joint buckets."""
        best = probabilities.argmax(axis=1)
        self.values[block.rows] = best[block.places]
        self.confidence[block.rows] = probabilities[np.arange(len(best)), best][block.places]
        self.of_truth[block.rows] = probabilities[block.places, truth[block.rows]]

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
    for block in blocks(records):
        for t, probabilities in enumerate(masked_predictions(predictor, records, block.inputs)):
            found[t].fill(block, probabilities, records.targets[:, t])
    return found


def errors(found: Sequence[Guesses], records: Samples) -> npt.NDArray[np.float64]:
    """Return the error of each target."""
    return np.array([g.error(records.targets[:, t], records.weights) for t, g in enumerate(found)])


def masked_predictions(predictor: Predictor, like: Samples, inputs: Codes) -> list[Probabilities]:
    """Return the probabilities of all targets for some inputs, with what the masks of ``like`` rule out at 0."""
    return [
        masked(np.asarray(probabilities), like.allowed(target, inputs))
        for target, probabilities in enumerate(predictor.predict(inputs))
    ]


def blocks(records: Samples) -> Iterator[Block]:
    """Yield the joint buckets of the records in blocks whose probabilities fit into memory."""
    first, bucket_of = records.buckets
    order = np.argsort(bucket_of, kind="stable")
    step = max(_LARGEST_BLOCK // max(sum(records.target_sizes), 1), 1)
    starts = range(0, len(first), step)
    ends = np.searchsorted(bucket_of[order], [start + step for start in starts])
    for start, rows in zip(starts, np.split(order, ends[:-1]), strict=True):
        yield Block(records.inputs[first[start : start + step]], rows, bucket_of[rows] - start)
