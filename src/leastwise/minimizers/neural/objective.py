"""What a generalization is punished for, beside a bad classifier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

from leastwise.minimizers.neural.inputs import Inputs
from leastwise.minimizers.neural.networks import Tensor, tensor


class Batch(NamedTuple):
    """Some records as tensors; ``inputs`` says what is in them."""

    rows: Tensor
    people: Tensor
    labels: Tensor
    targets: Tensor

    @classmethod
    def of(cls, inputs: Inputs) -> Batch:
        """Return all records."""
        arrays = (inputs.rows, inputs.people, inputs.labels[:, None], inputs.targets)
        return cls(*(tensor(array) for array in arrays))

    def take(self, picked: Tensor) -> Batch:
        """Return some of the records."""
        return Batch(*(each[picked] for each in self))

    @property
    def shares(self) -> Tensor:
        """How much each record counts; 1 in all."""
        return self.people / self.people.sum()


class Objective(ABC):
    """One side of the trade-off; the classifier's loss is the other."""

    learns_first: ClassVar[float] = 0.0
    """The share of the epochs in which the buckets wait, for an objective that must learn before it can judge."""

    @abstractmethod
    def penalty(self, log_p: Tensor, z: Tensor, batch: Batch, rate: float) -> Tensor:
        """Return what is to become small.

        Parameters
        ----------
        log_p
            Log-probabilities, records x attributes x buckets.
        z
            The buckets that were drawn, as 0/1 numbers.
        batch
            The records.
        rate
            The learning rate, for an objective that learns itself.
        """
