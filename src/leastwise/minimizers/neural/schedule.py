"""How long, how fast and how softly the networks are trained (the paper's appendix), and who is told."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.progress import Progress, Silent


@dataclass(frozen=True)
class Schedule:
    """The course of a training.

    Attributes
    ----------
    epochs, batch
        How often the records are passed, and how many at a time, in a new order each time.
    rate, lower_by, lower_every
        Adam's rate, multiplied by ``lower_by`` after every so many *epochs*.
    hot, cold
        The temperature of the softmax in the first and in the last epoch, lowered by equal ratios.
    inner_steps
        How often the adversary learns for each step of those that it is to be kept from (the paper's N_inner).
    least_steps
        A small sample is passed more than once in an epoch, until the epoch has so many steps.
    classifier_first
        The share of the epochs in which, where values begin apart, the buckets wait for the classifier.

    Examples
    --------
    >>> course = Schedule()
    >>> [round(course.rate_of(epoch), 6) for epoch in (0, 4, 5, 19)]
    [0.01, 0.01, 0.001, 1e-05]
    >>> course.temperature(0), course.temperature(19)
    (2.0, 0.5)
    """

    epochs: int = 20
    batch: int = 256
    rate: float = 0.01
    lower_by: float = 0.1
    lower_every: int = 5
    hot: float = 2.0
    cold: float = 0.5
    inner_steps: int = 1
    least_steps: int = 20
    classifier_first: float = 0.25

    def rate_of(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        return float(self.rate * self.lower_by ** (epoch // self.lower_every))

    def first_epochs(self, share: float) -> int:
        """Return how many epochs are the first so many, rounded up; never the last one too."""
        return math.ceil(share * (self.epochs - 1))

    def temperature(self, epoch: int) -> float:
        """Return the temperature of an epoch, counted from 0."""
        return float(self.hot * (self.cold / self.hot) ** (epoch / max(self.epochs - 1, 1)))

    def batches(self, rows: int, random: np.random.Generator) -> Iterator[npt.NDArray[np.int64]]:
        """Return the rows of each step of one epoch."""
        per_pass = -(-rows // self.batch)
        for _ in range(-(-self.least_steps // per_pass)):
            order: npt.NDArray[Any] = random.permutation(rows)
            yield from np.array_split(order, per_pass)


_NOBODY = Silent()
_PROGRESS: ContextVar[Progress] = ContextVar("leastwise_training_progress", default=_NOBODY)


@contextmanager
def watched(progress: Progress) -> Iterator[None]:
    """Tell of every training inside this block, epoch by epoch; only the innermost block is told.

    Minimizers follow scikit-learn's contract, so a progress bar is no parameter of theirs.
    """
    token = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


def watcher() -> Progress:
    """Return who is told of a training here."""
    return _PROGRESS.get()
