"""The two neural minimizers of the paper. PyTorch (extra: neural) is imported when one of them is used."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from leastwise.errors import MissingExtraError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.neural.inputs import Inputs
from leastwise.minimizers.neural.schedule import Schedule, watcher
from leastwise.random import generator
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between, check_whole

if TYPE_CHECKING:
    from leastwise.minimizers.neural.objectives import Objective

_PAPER = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §6 and appendix"


class NeuralMinimizer(Minimizer):
    """Base of both: one small network per attribute, trained together with a classifier."""

    reference: ClassVar[str] = _PAPER
    needs_label = True

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
            from leastwise.minimizers.neural.training import read_generalization, train

            objective = self._objective(inputs, schedule, generator(seed, self.name, "objective"))
            random = generator(seed, self.name, "training")
            trained = train(inputs, objective, lam, self.k, schedule, random, watcher())
            self.losses_ = trained.losses
            return read_generalization(trained.network, inputs.layout, table, lam=lam)


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
        from leastwise.minimizers.neural.objectives import AdversarialTraining

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
        from leastwise.minimizers.neural.objectives import MutualInformation

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
