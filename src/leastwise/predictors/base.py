"""What a predictor is: it learns P(target | z) for several discrete targets at once, from codes and weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes

Probabilities = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Samples:
    """Records as a predictor sees them: inputs, targets and how many people each row stands for.

    Attributes
    ----------
    inputs, input_sizes
        n x d codes and, per column, how many codes there are (1 for a suppressed attribute).
    ordered
        Per column, whether its codes have an order (continuous and ordinal attributes).
    targets, target_sizes
        n x t codes and, per column, how many codes there are.
    weights
        People per row.
    """

    inputs: Codes
    input_sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    targets: Codes
    target_sizes: tuple[int, ...]
    weights: npt.NDArray[Any]


class Predictor(Protocol):
    """Learns all targets from the same inputs."""

    name: str

    def fit(self, train: Samples, validation: Samples) -> Predictor:
        """Learn from the training rows; hyperparameters are chosen on the validation rows."""
        ...

    def predict(self, inputs: Codes) -> Sequence[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        ...
