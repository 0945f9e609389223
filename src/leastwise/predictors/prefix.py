"""One network for all that is learned one after the other: each target from the inputs and the targets before it.

A network for each number of known targets would learn the same again and again. Here every row draws, epoch by
epoch, how many of its first targets are seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes
from leastwise.predictors.base import OneHot, Probabilities, Samples
from leastwise.predictors.network import Network, Training


@dataclass
class PrefixNetwork(Network):
    """A network whose targets have an order, and the first few of them may be known.

    Parameters
    ----------
    least, most
        How many are known, at least and at most, when it is asked for the next.
    ahead
        What a target counts that comes later than the next one, where that counts 1.
    """

    hidden: int = 96
    epochs: int = 16
    most_rows: int = 8_000_000
    least: int = 0
    most: int = 0
    ahead: float = 0.2

    def fit(self, train: Samples, validation: Samples) -> PrefixNetwork:
        """Learn from the training rows."""
        sizes = train.target_sizes[:-1]
        blind = replace(
            train,
            inputs=_and_known(train.inputs, train.targets[:, :0], len(sizes)),
            input_sizes=(*train.input_sizes, *(size + 1 for size in sizes)),
            ordered=(*train.ordered, *(False for _ in sizes)),
            numbers=(),
        )
        seen = replace(blind, inputs=_and_known(train.inputs, train.targets[:, :-1], len(sizes)))
        return self._learn(blind, OneHot.of(blind.and_also(seen)))

    def _begin(self, training: Training, random: np.random.Generator) -> None:
        targets, number = self.like_.targets, random.integers(self.least, self.most + 1, len(self.like_))[:, None]
        later = targets.shape[1] - 1
        training.inputs[:, training.inputs.shape[1] - later :] = np.where(
            np.arange(later) < number, targets[:, :-1] + 1, 0
        )
        heads = np.array(self.open_)
        training.worth = np.where(heads > number, self.ahead, heads == number).astype(np.float32)

    def predict_next(self, inputs: Codes, known: Codes) -> Probabilities:
        """Return the probabilities of the first target that is not known, for rows of inputs and known targets."""
        rows = _and_known(inputs, known, len(self.like_.target_sizes) - 1)
        return self.predict_some(rows, [known.shape[1]])[0]


def _and_known(inputs: Codes, known: Codes, columns: int) -> npt.NDArray[Any]:
    """Return inputs with a column for each target but the last: 0 where it is not known, else its code plus 1."""
    unknown = np.zeros((len(inputs), columns - known.shape[1]), dtype=np.intp)
    return np.concatenate([inputs, known + 1, unknown], axis=1).astype(np.intp)
