"""Who judges: the classifiers whose best is the utility risk, and what adversaries predict with."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from leastwise.adversaries.guessing import MakePredictor, StrongestOf
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.utility import utility_predictors
from leastwise.predictors.base import Predictor
from leastwise.predictors.sklearn import SklearnPredictor


@dataclass(frozen=True)
class Judges:
    """The strongest there are, and what a user brings.

    Parameters
    ----------
    quick, seed
        Whether they train less, for a first look; of all that is drawn.
    estimator
        A scikit-learn classifier, or a predictor, that is judged beside ours: the best on validation counts.
    predictor
        What adversaries predict with instead of the strongest of ours: a scikit-learn classifier, a predictor,
        or a function that makes one for each fit.
    """

    quick: bool = False
    seed: int = 0
    estimator: Any = None
    predictor: Any = None

    def __post_init__(self) -> None:
        self.classifiers()
        self.adversary()

    def classifiers(self) -> tuple[Predictor, ...]:
        """Return what the best classifier is chosen from."""
        ours = utility_predictors(self.quick, self.seed)
        return ours if self.estimator is None else (*ours, _Maker(self.estimator)())

    def adversary(self) -> MakePredictor:
        """Return what makes the predictor of an adversary."""
        return StrongestOf(self.quick, self.seed) if self.predictor is None else _Maker(self.predictor)

    def words(self) -> dict[str, str]:
        """Say what the user brought."""
        brought = {"estimator": self.estimator, "predictor": self.predictor}
        return {name: " ".join(repr(each).split()) for name, each in brought.items() if each is not None}


@dataclass(frozen=True)
class _Maker:
    """Makes a fresh predictor of whatever was given."""

    given: Any

    def __post_init__(self) -> None:
        if not (callable(self.given) or (hasattr(self.given, "fit") and hasattr(self.given, "predict"))):
            raise ParameterError(
                "a judge must be a scikit-learn classifier, a predictor with fit and predict, or a function that "
                f"makes one; got {shorten(self.given)}"
            )

    # Findings are remembered by their maker: one object, one maker, whatever it holds.
    def __hash__(self) -> int:
        return id(self.given)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Maker) and self.given is other.given

    def __call__(self) -> Predictor:
        if isinstance(self.given, type) or not hasattr(self.given, "fit"):
            made: Predictor = self.given()
            return made
        return SklearnPredictor(self.given) if hasattr(self.given, "get_params") else deepcopy(self.given)
