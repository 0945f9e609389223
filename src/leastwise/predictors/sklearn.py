"""Any scikit-learn classifier as a predictor, and logistic regression among them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import has_fit_parameter

from leastwise.errors import ParameterError
from leastwise.partition import Codes
from leastwise.predictors.base import OneHot, Probabilities, Samples, few_threads
from leastwise.predictors.strongest import Strongest

Array = npt.NDArray[Any]
Inputs = Literal["one-hot", "numbers", "codes"]
# Joint buckets times values times steps: hundreds of values get fewer steps.
_MOST_WORK = 10**8


@dataclass
class SklearnPredictor:
    """A scikit-learn classifier, cloned for each target and trained on its distinct rows.

    Parameters
    ----------
    estimator
        A classifier or a pipeline. Without ``predict_proba`` its guess counts as certain.
    inputs
        ``one-hot`` (a 0/1 column per bucket), ``numbers`` (the same, but what has an order is a number, scaled,
        and its rank) or ``codes`` (the number of the bucket, for trees).
    name
        How reports call it; by default the name of the class.
    """

    estimator: Any
    inputs: Inputs = "one-hot"
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.name or type(self.estimator).__name__

    def fit(self, train: Samples, validation: Samples) -> SklearnPredictor:
        """Fit one clone per target; a target that shows one value only needs none."""
        self.like_ = train
        self.one_hot_ = OneHot.with_numbers(train) if self.inputs == "numbers" else OneHot.of(train)
        # The products are small: a second thread would only wait for the first.
        with few_threads(1, "blas"):
            self.fitted_ = [self._fit_target(train.of_target(t)) for t in range(len(train.target_sizes))]
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        x = self._matrix(inputs)
        return [
            _probabilities(fitted, x, size)
            for fitted, size in zip(self.fitted_, self.like_.target_sizes, strict=True)
        ]

    def _fit_target(self, rows: Samples) -> Any:
        values = rows.targets[:, 0]
        if len(np.unique(values)) == 1 or not rows.input_sizes:
            return np.bincount(values, weights=rows.weights, minlength=rows.target_sizes[0]) / rows.weights.sum()
        return fit_weighted(clone(self.estimator), self._matrix(rows.inputs), values, rows.weights)

    def _matrix(self, inputs: Codes) -> Array:
        return inputs.astype(float) if self.inputs == "codes" else self.one_hot_(inputs)


def fit_weighted(estimator: Any, x: Any, y: Array, weights: Array) -> Any:
    """Fit with as many people per row as the weights say: passed on where accepted, otherwise rows repeated."""
    if np.all(weights == 1):
        return estimator.fit(x, y)
    parameter = _weight_parameter(estimator)
    if parameter:
        return estimator.fit(x, y, **{parameter: weights})
    times = np.round(weights).astype(int)
    if not np.allclose(times, weights):
        raise ParameterError(
            f"{type(estimator).__name__} takes no sample_weight, so the weights must be whole numbers of people"
        )
    return estimator.fit(x[np.repeat(np.arange(len(y)), times)], np.repeat(y, times))


def _weight_parameter(estimator: Any) -> str | None:
    if has_fit_parameter(estimator, "sample_weight"):
        return "sample_weight"
    steps = getattr(estimator, "steps", None)
    if steps and has_fit_parameter(steps[-1][1], "sample_weight"):
        return f"{steps[-1][0]}__sample_weight"
    return None


def _probabilities(fitted: Any, x: Array, size: int) -> Probabilities:
    if isinstance(fitted, np.ndarray):
        return np.tile(fitted, (len(x), 1))
    found = np.zeros((len(x), size))
    if hasattr(fitted, "predict_proba"):
        found[:, fitted.classes_.astype(int)] = fitted.predict_proba(x)
    else:
        found[np.arange(len(x)), fitted.predict(x).astype(int)] = 1
    return found


@dataclass
class Logistic:
    """Logistic regression whose strength of regularization is chosen per target on validation.

    Parameters
    ----------
    inverse_penalties
        scikit-learn's ``C``, to choose from.
    most_steps
        Steps of L-BFGS, fewer where there are hundreds of values. A fit that is stopped early is a legitimate
        predictor: validation judges it.
    inputs
        What it sees: see ``SklearnPredictor``.
    """

    inverse_penalties: Sequence[float] = (0.1, 3.0)
    most_steps: int = 60
    inputs: Inputs = "one-hot"
    name: str = "logistic"

    def worthwhile(self, train: Samples) -> bool:
        """Return whether the targets are classes; a number is for a linear regression."""
        return train.number is None

    def fit(self, train: Samples, validation: Samples) -> Logistic:
        """Fit one regression per target and penalty."""
        steps = int(np.clip(_MOST_WORK // (len(train.buckets[0]) * max(train.target_sizes)), 10, self.most_steps))
        models = [
            SklearnPredictor(LogisticRegression(C=c, max_iter=steps), self.inputs, f"{self.name} C={c:g}")
            for c in self.inverse_penalties
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.fitted_ = Strongest(models, mixtures=False).fit(train, validation)
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        return self.fitted_.predict(inputs)
