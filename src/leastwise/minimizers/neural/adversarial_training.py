"""AdvTrain: a generalization that an adversary learns against, step by step."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch

from leastwise.minimizers.neural.inputs import Inputs
from leastwise.minimizers.neural.networks import Predictor, Tensor, tensor
from leastwise.minimizers.neural.objective import Batch, Objective


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
