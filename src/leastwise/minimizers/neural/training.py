"""The training that both neural minimizers share: generalization and classifier against an objective."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.neural.inputs import Inputs, Layout
from leastwise.minimizers.neural.minimizers import Schedule
from leastwise.minimizers.neural.networks import (
    GeneralizationNetwork,
    Predictor,
    Tensor,
    draw,
    likeliest,
    tensor,
)
from leastwise.partition import Groups, Partition, from_map
from leastwise.records.table import Table

Buckets = npt.NDArray[np.intp]


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

        ``log_p`` are the log-probabilities, records x attributes x buckets, and ``z`` the buckets that were drawn,
        as 0/1 numbers; ``rate`` is the learning rate, for an objective that learns itself.
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
    attributes. ``log_p`` is ``log P(z_i = j | x_i)``, records x attributes i x buckets j.
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
        pairs = zip(inputs.targets.T, inputs.target_sizes, strict=True)
        people = [np.bincount(codes, weights=inputs.people, minlength=size) for codes, size in pairs]
        self.log_priors = [tensor(np.log(np.maximum(each, 1e-9) / each.sum())) for each in people]

    def penalty(self, log_p: Tensor, z: Tensor, batch: Batch, rate: float) -> Tensor:
        """Let the adversary learn, then return minus its loss, averaged over the personal attributes."""
        shares = batch.shares
        self.adam.param_groups[0]["lr"] = rate
        for _ in range(self.inner_steps):
            self.adam.zero_grad()
            self.adversary.losses(z.detach(), batch.targets, shares).mean().backward()
            self.adam.step()
        lost = self.adversary.losses(z, batch.targets, shares)
        guessed = torch.stack([-prior[batch.targets[:, t]] for t, prior in enumerate(self.log_priors)]) @ shares
        return -torch.minimum(lost, guessed).mean()


class EpochLoss(NamedTuple):
    """Means over the steps of an epoch."""

    classifier: float
    penalty: float


class Trainer:
    """Minimizes ``(1 - lam) * classifier's loss + lam * penalty`` over generalization and classifier.

    The objective gives the penalty; None trains for the classifier alone.
    """

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
        """Pass the records once; a loss that is no finite number raises a ``ParameterError``."""
        rate, temperature = self.schedule.rate_of(epoch), self.schedule.temperature(epoch)
        classifier, network = self.adam.param_groups
        # A classifier that knows nothing yet pulls buckets anywhere. Where they begin well they wait for it.
        classifier["lr"], network["lr"] = rate, 0.0 if epoch < self.waiting else rate
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
        log_p = torch.nn.functional.embedding(batch.rows, self.network(temperature))
        # All sides see buckets that are drawn, not the likeliest: a difference in probability that is too small to
        # count for the objective must not serve the classifier, or such differences would be all that is left, and
        # the final generalization would tell them. Without an objective there is nobody to deceive.
        z = likeliest(log_p) if self.objective is None else draw(log_p, self.random)
        classifier = self.classifier.losses(z, batch.labels, batch.shares)[0]
        loss, penalty = classifier, 0.0
        if self.objective is not None:
            punished = self.objective.penalty(log_p, z, batch, rate)
            loss, penalty = (1 - self.lam) * classifier + self.lam * punished, punished.item()
        self.adam.zero_grad()
        loss.backward()
        self.adam.step()
        return classifier.item(), penalty


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
