"""The two neural minimizers of the paper. PyTorch (extra: neural) is imported when one of them is used."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.errors import MissingExtraError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.neural.inputs import Inputs
from leastwise.progress import Progress, Silent
from leastwise.random import generator
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between, check_whole

_PROGRESS: ContextVar[Progress | None] = ContextVar("leastwise_training_progress", default=None)
_PAPER = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §6 and appendix"


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
    return _PROGRESS.get() or Silent()


if TYPE_CHECKING:
    from leastwise.minimizers.neural.training import Objective


class NeuralMinimizer(Minimizer):
    """Base of both: one small network per attribute, trained together with a classifier."""

    reference: ClassVar[str] = _PAPER
    needs_label = True
    takes_numbers = False

    usual_lam: ClassVar[float]
    """What ``lam`` is where nothing is said: where utility and privacy are weighed depends on the objective."""

    def __init__(
        self,
        lam: float | None = None,
        k: int = 5,
        *,
        epochs: int = 20,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.lam = lam
        self.k = k
        self.epochs = epochs

    @abstractmethod
    def _objective(self, inputs: Inputs, schedule: Schedule, random: np.random.Generator) -> Objective | None:
        """Return what the generalization is punished for; None where there is nothing to protect."""

    def minimize(self, table: Table) -> Generalization:
        """Return the generalization of the trained networks."""
        lam = check_between("lam", self.usual_lam if self.lam is None else self.lam, 0.0, 1.0)
        check_whole("k", self.k)
        check_whole("epochs", self.epochs)
        inputs, schedule, seed = Inputs.of(table, self.k), Schedule(epochs=self.epochs), self.seed
        with _own_torch():
            from leastwise.minimizers.neural.training import Trainer, read_generalization

            objective = self._objective(inputs, schedule, generator(seed, self.name, "objective"))
            random = generator(seed, self.name, "training")
            trainer, losses = Trainer(inputs, objective, lam, self.k, schedule, random), []
            progress = watcher()
            progress.begin("epoch", schedule.epochs)
            for epoch in range(schedule.epochs):
                losses.append(trainer.epoch(epoch))
                progress.advance()
            self.losses_ = tuple(losses)
            return read_generalization(trainer.network, inputs.layout, table, lam=lam)


class AdvTrainMinimizer(NeuralMinimizer):
    """Buckets that help a classifier and mislead an adversary, by adversarial training (needs PyTorch).

    The generalization and a classifier are trained to make ``(1 - lam) L_clf - lam L_adv`` small, while an
    adversary is trained to find the personal attributes from the same buckets. docs/neural-minimizers.md says
    how, and where this goes beyond the paper.

    Parameters
    ----------
    lam
        How much the adversary counts, from 0 (the classifier alone) to 1 (the adversary alone); None: 0.5.
        Without personal attributes there is no adversary.
    k
        The most buckets of an attribute; those that are not used are dropped.
    epochs
        How often the records are passed.
    schema, personal, random_state
        See ``Minimizer``.

    Attributes
    ----------
    losses_
        Of each epoch, the mean loss of the classifier and the mean penalty (minus the adversary's loss).

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 50
    >>> advtrain = AdvTrainMinimizer(lam=0.3, personal=["x1"], random_state=0)
    >>> advtrain.fit(X, ["no", "no", "yes", "yes"] * 50).generalization_.collected
    ('x0',)
    """

    name: ClassVar[str] = "advtrain"
    usual_lam: ClassVar[float] = 0.5

    def _objective(self, inputs: Inputs, schedule: Schedule, random: np.random.Generator) -> Objective | None:
        from leastwise.minimizers.neural.training import AdversarialTraining

        if not inputs.target_sizes:
            return None
        return AdversarialTraining(inputs, self.k, schedule.inner_steps, random)


class MutualInfMinimizer(NeuralMinimizer):
    """Buckets that help a classifier and tell little of the record, by mutual information (needs PyTorch).

    The generalization and a classifier are trained to make ``(1 - lam) L_clf + lam L_inf`` small, where L_inf is
    the paper's upper bound on the mutual information of the record and its buckets. It protects all attributes,
    personal or not. docs/neural-minimizers.md says how.

    Parameters
    ----------
    lam
        How much the information counts, from 0 (the classifier alone) to 1 (nothing is asked). The bound is
        large, a sum over all attributes: the interesting values are small. None: 0.02.
    k
        The most buckets of an attribute; those that are not used are dropped.
    epochs
        How often the records are passed.
    schema, personal, random_state
        See ``Minimizer``.

    Attributes
    ----------
    losses_
        Of each epoch, the mean loss of the classifier and the mean penalty (the bound).

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 50
    >>> mutualinf = MutualInfMinimizer(lam=0.05, random_state=0).fit(X, ["no", "no", "yes", "yes"] * 50)
    >>> mutualinf.generalization_.collected
    ('x0',)
    """

    name: ClassVar[str] = "mutualinf"
    usual_lam: ClassVar[float] = 0.02

    def _objective(self, inputs: Inputs, schedule: Schedule, random: np.random.Generator) -> Objective | None:
        from leastwise.minimizers.neural.training import MutualInformation

        return MutualInformation()


@contextmanager
def _own_torch() -> Iterator[None]:
    """Use PyTorch with gradients and one thread, whatever the caller has set, and leave that as it was.

    The matrices are small: beside other work, threads that wait for each other take several times as long.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "neural") from None
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode(False), torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(threads)
