"""What a generalization is punished for, beside a bad classifier: AdvTrain's adversary, MutualInf's bound."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
import torch

from leastwise.minimizers.neural.inputs import Inputs
from leastwise.minimizers.neural.networks import Predictor, Tensor, tensor


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


class MutualInformation(Objective):
    """The paper's bound on the mutual information of generalized record and record."""

    def penalty(self, log_p: Tensor, z: Tensor, batch: Batch, rate: float) -> Tensor:
        """Return the bound of these records."""
        return information_bound(log_p, batch.shares)


def information_bound(log_p: Tensor, shares: Tensor) -> Tensor:
    """Return the upper bound on I(z, x) = H(z) - H(z | x) of the paper's appendix.

    By Jensen's inequality ``H(z) <= -E_z E_x sum_i log P(z_i | x_i)`` with z and x drawn independently, and
    ``H(z | x) = -E_x E_{z | x} sum_i log P(z_i | x_i)``. Where the paper draws z, the expectations over the
    buckets and over all pairs of records of the batch are taken exactly: that costs no more, and has no noise.
    The difference is the mean Kullback-Leibler divergence between the buckets of two people, summed over the
    attributes.

    Parameters
    ----------
    log_p
        ``log P(z_i = j | x_i)``, records x attributes i x buckets j.
    shares
        How much each record counts; 1 in all.
    """
    p = log_p.exp()
    log_z = -((shares @ p.flatten(1)) * (shares @ log_p.flatten(1))).sum()
    given_x = -shares @ (p * log_p).flatten(1).sum(dim=1)
    bound: Tensor = log_z - given_x
    return bound


class AdversarialTraining(Objective):
    """Minus the loss of an adversary that learns to find the personal attributes from the same records.

    Its loss counts only up to that of guessing without any record: the best adversary never does worse, so what
    lies above is only its lag behind the generalization, and no success.

    An adversary that has not even learned to guess punishes nothing. Adam's steps are as large for a small
    gradient as for a large one, so that the classifier alone, however little it counts, would pull values apart
    so far that they do not come back: the buckets wait for the adversary's first epoch.
    """

    learns_first: ClassVar[float] = 0.05

    def __init__(
        self, inputs: Inputs, k: int, inner_steps: int, random: np.random.Generator, rate: float = 0.01
    ) -> None:
        self.inner_steps = inner_steps
        self.adversary = Predictor(len(inputs.layout.use) * k, inputs.target_sizes, random)
        self.adam = torch.optim.Adam(self.adversary.parameters(), lr=rate)
        self.log_priors = [_log_prior(inputs, t) for t in range(len(inputs.target_sizes))]

    def penalty(self, log_p: Tensor, z: Tensor, batch: Batch, rate: float) -> Tensor:
        """Let the adversary learn, then return minus its loss, averaged over the personal attributes."""
        shares = batch.shares
        self._learn(z.detach(), batch, rate)
        lost = self.adversary.losses(z, batch.targets, shares)
        guessed = torch.stack([-prior[batch.targets[:, t]] for t, prior in enumerate(self.log_priors)]) @ shares
        return -torch.minimum(lost, guessed).mean()

    def _learn(self, z: Tensor, batch: Batch, rate: float) -> None:
        self.adam.param_groups[0]["lr"] = rate
        for _ in range(self.inner_steps):
            self.adam.zero_grad()
            self.adversary.losses(z, batch.targets, batch.shares).mean().backward()
            self.adam.step()


def _log_prior(inputs: Inputs, target: int) -> Tensor:
    people = np.bincount(inputs.targets[:, target], weights=inputs.people, minlength=inputs.target_sizes[target])
    return tensor(np.log(np.maximum(people, 1e-9) / people.sum()))
