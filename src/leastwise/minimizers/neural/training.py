"""The training that both neural minimizers share: generalization and classifier against an objective."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.neural.inputs import Inputs, Layout
from leastwise.minimizers.neural.networks import (
    GeneralizationNetwork,
    Predictor,
    Tensor,
    draw,
    likeliest,
    tensor,
)
from leastwise.minimizers.neural.objectives import Batch, Objective
from leastwise.minimizers.neural.schedule import Schedule
from leastwise.partition import Groups, Partition, from_map
from leastwise.progress import Progress
from leastwise.records.table import Table


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
    progress: Progress,
) -> Trained:
    """Minimize ``(1 - lam) * classifier's loss + lam * penalty`` over generalization and classifier.

    Parameters
    ----------
    objective
        What gives the penalty; None trains for the classifier alone.
    progress
        Is told of each epoch.

    Raises
    ------
    ParameterError
        As soon as the loss is no finite number.
    """
    trainer = _Trainer(inputs, objective, lam, k, schedule, random)
    losses = []
    progress.begin("epoch", schedule.epochs)
    for epoch in range(schedule.epochs):
        losses.append(trainer.epoch(epoch))
        progress.advance()
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
        self.records, self.lam, self.schedule, self.random = Batch.of(inputs), lam, schedule, random
        self.objective = objective if lam > 0 else None
        apart = self.objective is None
        waits = schedule.classifier_first if self.objective is None else self.objective.learns_first
        self.waiting = schedule.first_epochs(waits)
        self.network = GeneralizationNetwork(inputs.layout, k, apart, random)
        self.classifier = Predictor(len(inputs.layout.use) * k, (inputs.classes,), random)
        groups = [{"params": list(each.parameters())} for each in (self.classifier, self.network)]
        self.adam = torch.optim.Adam(groups, lr=schedule.rate)

    def epoch(self, epoch: int) -> EpochLoss:
        rate, temperature = self.schedule.rate_of(epoch), self.schedule.temperature(epoch)
        self._set_rates(epoch, rate)
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

    def _set_rates(self, epoch: int, rate: float) -> None:
        """Set Adam's rates.

        A classifier that knows nothing yet pulls buckets anywhere. Where they begin well they wait for it.
        """
        classifier, network = self.adam.param_groups
        classifier["lr"] = rate
        network["lr"] = 0.0 if epoch < self.waiting else rate

    def _step(self, batch: Batch, rate: float, temperature: float) -> tuple[float, float]:
        log_p = torch.nn.functional.embedding(batch.rows, self.network(temperature))
        z = self._buckets(log_p)
        classifier = self.classifier.losses(z, batch.labels, batch.shares)[0]
        loss, penalty = classifier, 0.0
        if self.objective is not None:
            punished = self.objective.penalty(log_p, z, batch, rate)
            loss, penalty = (1 - self.lam) * classifier + self.lam * punished, punished.item()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return classifier.item(), penalty

    def _buckets(self, log_p: Tensor) -> Tensor:
        """Return the buckets that all sides see.

        They are drawn, not the likeliest ones: a difference in probability that is too small to count for the
        objective must not serve the classifier, or such differences would be all that is left, and the final
        generalization would tell them. Without an objective there is nobody to deceive.
        """
        return likeliest(log_p) if self.objective is None else draw(log_p, self.random)


Buckets = npt.NDArray[np.intp]


def read_generalization(
    network: GeneralizationNetwork, layout: Layout, table: Table, **origin: Any
) -> Generalization:
    """Return the generalization that the temperature 0 gives.

    Values that nobody in the sample has decide nothing. A number or ordered value joins the bucket of its next
    lower neighbour that somebody has (of the next higher one below all of them); a discrete value, "missing" and
    "other" join the bucket that most people have.
    """
    buckets = bucket_of_codes(network, layout)
    partitions = [_partition(table, layout, j, buckets[j]) for j in range(len(table.schema))]
    return table.generalization(partitions, **origin)


def bucket_of_codes(network: GeneralizationNetwork, layout: Layout) -> list[Buckets]:
    """Return, per attribute, the likeliest bucket of each code."""
    with torch.no_grad():
        likeliest = network(1.0).argmax(dim=1).numpy()
    buckets = [likeliest[a:b].astype(np.intp) for a, b in pairwise(layout.starts)]
    for j in layout.ordered:
        levels = layout.levels(j)
        # Rounding in the network must not turn two neighbours round.
        buckets[j][:levels] = np.maximum.accumulate(buckets[j][:levels])
    return buckets


def _partition(table: Table, layout: Layout, j: int, buckets: Buckets) -> Partition:
    attribute, levels, seen = table.schema.attributes[j], layout.levels(j), layout.seen(j)
    most_used = int(np.bincount(buckets, weights=layout.use[j]).argmax()) if len(buckets) else 0
    buckets = np.where(seen, buckets, most_used)
    inner = np.flatnonzero(seen[:levels])
    if attribute.continuous:
        return from_map(attribute, table.levels[j][inner], [*buckets[inner], *buckets[levels:]])
    if len(inner):
        below = np.maximum(np.searchsorted(inner, np.arange(levels), side="right") - 1, 0)
        buckets[:levels] = buckets[inner[below]]
    return Groups(attribute, tuple(int(bucket) for bucket in buckets))
