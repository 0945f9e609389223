"""The training that both neural minimizers share: generalization and classifier against an objective."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from leastwise.errors import ParameterError
from leastwise.minimizers.neural.inputs import Inputs
from leastwise.minimizers.neural.networks import GeneralizationNetwork, Predictor, Tensor, as_deployed, tensor
from leastwise.minimizers.neural.objective import Batch, Objective
from leastwise.minimizers.neural.progress import Listener
from leastwise.minimizers.neural.schedule import Schedule


class EpochLoss(NamedTuple):
    """Means over the steps of an epoch."""

    classifier: float
    penalty: float


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training leaves behind."""

    network: GeneralizationNetwork
    losses: tuple[EpochLoss, ...]


def train(
    inputs: Inputs,
    objective: Objective | None,
    lam: float,
    k: int,
    schedule: Schedule,
    random: np.random.Generator,
    listener: Listener,
) -> Trained:
    """Minimize ``(1 - lam) * classifier's loss + lam * penalty`` over generalization and classifier.

    Parameters
    ----------
    objective
        What gives the penalty; None trains for the classifier alone.
    listener
        Is told after each epoch.

    Raises
    ------
    ParameterError
        As soon as the loss is no finite number.
    """
    trainer = _Trainer(inputs, objective, lam, k, schedule, random)
    losses = []
    for epoch in range(schedule.epochs):
        losses.append(trainer.epoch(epoch))
        listener(epoch + 1, schedule.epochs)
    return Trained(trainer.network, tuple(losses))


class _Trainer:
    def __init__(
        self,
        inputs: Inputs,
        objective: Objective | None,
        lam: float,
        k: int,
        schedule: Schedule,
        random: np.random.Generator,
    ) -> None:
        self.records, self.objective, self.schedule, self.random = Batch.of(inputs), objective, schedule, random
        self.lam = 0.0 if objective is None else lam
        self.network = GeneralizationNetwork(inputs.layout, k, random)
        self.classifier = Predictor(len(inputs.layout.attributes) * k, (inputs.classes,), random)
        self.adam = torch.optim.Adam([*self.network.parameters(), *self.classifier.parameters()], lr=schedule.rate)

    def epoch(self, epoch: int) -> EpochLoss:
        rate, temperature = self.schedule.rate_of(epoch), self.schedule.temperature(epoch)
        self.adam.param_groups[0]["lr"] = rate
        steps = []
        for picked in self.schedule.batches(len(self.records.rows), self.random):
            batch = self.records.take(tensor(picked))
            steps.append(self._step(batch, rate, temperature))
            if not all(map(math.isfinite, steps[-1])):
                raise ParameterError(
                    f"the loss must stay a finite number; it became {steps[-1]} in epoch {epoch + 1} of "
                    f"{self.schedule.epochs} (lam = {self.lam}): try another lam or another random_state"
                )
        return EpochLoss(*(float(mean) for mean in np.mean(steps, axis=0)))

    def _step(self, batch: Batch, rate: float, temperature: float) -> tuple[float, float]:
        log_p = self.network(batch.rows, batch.places, batch.people, temperature)
        # The classifier learns from what will be deployed; the objective may look at the probabilities.
        classifier = self.classifier.losses(as_deployed(log_p), batch.labels, batch.shares)[0]
        penalty = self._penalty(log_p, batch, rate)
        self.adam.zero_grad()
        ((1 - self.lam) * classifier + self.lam * penalty).backward()
        self.adam.step()
        return float(classifier.detach()), float(penalty.detach())

    def _penalty(self, log_p: Tensor, batch: Batch, rate: float) -> Tensor:
        if self.objective is None or self.lam == 0:
            return torch.zeros((), dtype=torch.float32)
        return self.objective.penalty(log_p, batch, rate)
