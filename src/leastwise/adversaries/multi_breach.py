"""A6: what do several generalizations of the same people tell together?"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import (
    Finding,
    MakePredictor,
    Model,
    find,
    findings,
    model_of,
    read_off,
)
from leastwise.adversaries.reconstruction import Guessing
from leastwise.adversaries.result import NOTICEABLE, WRONG, AttackResult, ReconstructionResult, Told
from leastwise.documents.pictures import bar, bars, bars_table
from leastwise.documents.wording import in_interval, percent
from leastwise.errors import ParameterError
from leastwise.predictors.base import Probabilities, Samples, masked


@dataclass(frozen=True, kw_only=True)
class MultiBreachResult(ReconstructionResult):
    """Error of somebody who holds several generalizations of the same people (A6).

    ``single_errors`` are the A1 errors of each generalization alone.
    """

    single_errors: tuple[float, ...]

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell what all breaches tell together, beside each of them alone."""
        first, *others = self.single_errors
        rows = [
            bar("all of them together", self.adversary_error, self.interval, self.baseline),
            bar("this generalization alone", first, None, self.baseline),
            *(
                bar(f"other generalization {i}, alone", error, None, self.baseline)
                for i, error in enumerate(others, 1)
            ),
        ]
        added = "The others add next to nothing."
        if first - self.adversary_error >= NOTICEABLE:
            added = "That difference is the price of asking twice."
        return Told(
            f"From this generalization alone the attacker is wrong {percent(first, 1)} of the time, from all "
            f"{len(self.single_errors)} together {percent(self.adversary_error, 1)}"
            f"{in_interval(self.interval)}. {added}",
            bars(WRONG, rows, "naive guess"),
            bars_table(["held by the attacker", "wrong", "95 % interval"], rows),
        )


@dataclass(frozen=True)
class MultiBreach(Guessing[MultiBreachResult]):
    """A6: the same people were asked under several generalizations, and all of it was stolen.

    The adversary can tell which records belong to the same person, knows what each generalization rules out, and
    so rules out what any of them does. It predicts by averaging what A1 predicts from each breach alone, by one
    model of the records joined, or from the one breach that tells most, and uses for each attribute the way that
    did best on the validation part.

    0: every personal attribute is told; 1: none. Compare with ``single_errors``, the A1 error of each breach
    alone: what lies between is what it costs to ask the same people twice. Nested generalizations cost nothing.
    """

    counts: ClassVar[bool] = True
    name: ClassVar[str] = "A6"
    words: ClassVar[str] = "several breaches"
    title: ClassVar[str] = "Several breaches of the same people"
    scenario: ClassVar[str] = (
        "The same people were asked twice or more, under different generalizations, and all of it was stolen. "
        "Whatever one of them rules out is ruled out."
    )
    result: ClassVar[type[AttackResult]] = MultiBreachResult
    wants_others: ClassVar[bool] = True
    not_run: ClassVar[str] = "It needs a second generalization of the same people, and there was none."

    def _more(self, breach: Breach, found: Sequence[Finding]) -> dict[str, Any]:
        return {"single_errors": tuple(self._error_alone(breach, each) for each in breach.generalizations)}

    def _error_alone(self, breach: Breach, generalization: Any) -> float:
        alone = breach.alone(generalization)
        found = find(alone, tuple(alone.targets), (), self.predictor)
        return float(np.mean([finding.or_majority().error() for finding in found]))

    def _find(self, breach: Breach) -> list[Finding]:
        if len(breach.generalizations) < 2:
            raise ParameterError("A6 needs a breach of two generalizations or more; got one")
        key = _key(breach, self.predictor)
        if key not in breach.memory:
            breach.memory[key] = self._found(breach)
        found: list[Finding] = breach.memory[key]
        return found

    def _found(self, breach: Breach) -> list[Finding]:
        plain = {p for p in breach.targets if breach.joined.partitions[p].untouched}
        hidden = [p for p in breach.targets if p not in plain]
        found = {p: read_off(breach.targets[p]) for p in plain}
        if hidden:
            seen = (breach.joined, *breach.generalizations)
            models = ways([model_of(breach, each, hidden, (), self.predictor) for each in seen])
            several = zip(*(findings(breach, model, hidden) for model in models), strict=True)
            best = (min(own, key=lambda finding: finding.doubt) for own in several)
            found |= dict(zip(hidden, best, strict=True))
        return [found[p] for p in breach.targets]


def remember_several(breach: Breach, predictor: MakePredictor, found: Sequence[Finding]) -> None:
    """Let a breach of several generalizations know what was found of all of them together elsewhere."""
    breach.memory[_key(breach, predictor)] = [*found]


def _key(breach: Breach, predictor: MakePredictor) -> Hashable:
    return "several", tuple(each.partitions for each in breach.generalizations), breach.labelled, predictor


def ways(models: Sequence[Model]) -> list[Model]:
    """Return how several breaches are guessed from, given the model of the records joined and that of each alone.

    Of one breach there is one way: its own model.
    """
    joined, *single = models
    return [joined, AveragedModel(joined, single), *single] if single else [joined]


class AveragedModel:
    """The mean of what A1 predicts from each breach alone, with the masks of all breaches.

    Parameters
    ----------
    joined
        By which the rows are told apart: the model of the records joined.
    single
        The models of each breach alone.
    """

    doubts = None

    def __init__(self, joined: Model, single: Sequence[Model]) -> None:
        self.joined, self.single = joined, single
        self.names = ["average of single breaches"] * len(joined.names)

    def view(self, part: int) -> Samples:
        """Return the rows of a part, told apart by all generalizations together."""
        return self.joined.view(part)

    def probabilities(self, part: int, rows: npt.NDArray[Any]) -> list[Probabilities]:
        """Return the mean of the single predictions; what any breach rules out is impossible."""
        view = self.view(part)
        several = [model.probabilities(part, rows) for model in self.single]
        means = [np.mean(each, axis=0) for each in zip(*several, strict=True)]
        return [masked(mean, view.allowed(t, view.inputs[rows])) for t, mean in enumerate(means)]
