"""Any scikit-learn classifier as a predictor; and logistic regression, which needs none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import block_diag, csr_matrix
from scipy.special import softmax
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from leastwise.errors import ParameterError
from leastwise.kernels.additive_logistic import Sparse, fit_two_classes, loss_and_slopes, score_rows
from leastwise.partition import Codes
from leastwise.predictors.base import OneHot, Probabilities, Samples, few_threads, starts
from leastwise.predictors.strongest import Strongest

Array = npt.NDArray[Any]
Inputs = Literal["one-hot", "numbers", "codes"]
# Joint buckets times values times steps: hundreds of values get fewer steps.
_MOST_WORK = 10**8
# Of two classes and up to so many codes, Newton's method takes a fraction of the time; more make it slow.
_MOST_CODES = 128
# L-BFGS ends where no slope of the mean log loss is steeper.
_FLAT = 1e-4


@dataclass
class Wrapped:
    """A scikit-learn estimator, and what it sees of the rows."""

    estimator: Any
    inputs: Inputs = "one-hot"
    name: str = ""

    def __post_init__(self) -> None:
        self.name = self.name or type(self.estimator).__name__

    def _look_at(self, train: Samples) -> None:
        self.one_hot_ = OneHot.with_numbers(train) if self.inputs == "numbers" else OneHot.of(train)

    def _matrix(self, inputs: Codes) -> Array:
        return inputs.astype(float) if self.inputs == "codes" else self.one_hot_(inputs)


@dataclass
class SklearnPredictor(Wrapped):
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

    def fit(self, train: Samples, validation: Samples) -> SklearnPredictor:
        """Fit one clone per target; a target that shows one value only needs none."""
        self.like_ = train
        self._look_at(train)
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

    The objective is scikit-learn's; but it looks at distinct rows and at the codes of each, never at a 0 of a
    one-hot row: of hundreds of numbers a row has a few that are not 0. Of two classes and few codes it is
    minimized by Newton's method, of others by L-BFGS.

    Parameters
    ----------
    inverse_penalties
        scikit-learn's ``C``, to choose from.
    most_steps
        Of L-BFGS, fewer where there are hundreds of values. A fit that is stopped early is a legitimate
        predictor: validation judges it.
    inputs
        What it sees: see ``SklearnPredictor``.
    """

    inverse_penalties: Sequence[float] = (0.1, 3.0)
    most_steps: int = 60
    inputs: Literal["one-hot", "numbers"] = "one-hot"
    name: str = "logistic"

    def worthwhile(self, train: Samples) -> bool:
        """Return whether the targets are classes; a number is for a linear regression."""
        return train.number is None

    def fit(self, train: Samples, validation: Samples) -> Logistic:
        """Fit one regression per target and penalty."""
        steps = int(np.clip(_MOST_WORK // (len(train.buckets[0]) * max(train.target_sizes)), 10, self.most_steps))
        design = _Design(train, OneHot.with_numbers(train) if self.inputs == "numbers" else OneHot.of(train))
        models = [_Penalised(design, c, steps, f"{self.name} C={c:g}") for c in self.inverse_penalties]
        strongest = Strongest(models, mixtures=False)
        fit = strongest.fit_alone if len(models) == 1 else strongest.fit
        self.fitted_ = fit(train, validation)
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        return self.fitted_.predict(inputs)


class _Design:
    """The distinct rows of a training part: each code as its place among all codes, and what a code looks like."""

    def __init__(self, train: Samples, one_hot: OneHot) -> None:
        first, self.bucket_of = train.buckets
        self.start = starts([len(table) for table in one_hot.rows])[:-1]
        tables = [csr_matrix(table) for table in one_hot.rows]  # of dense ones block_diag would keep every 0
        self.form = block_diag(tables, format="csr") if tables else csr_matrix((0, 0))
        self.inputs = self.places(train.inputs[first])
        self.sparse = _parts(self.form), _parts(self.form.T.tocsr())

    def places(self, inputs: Codes) -> npt.NDArray[np.int32]:
        return np.ascontiguousarray(inputs + self.start).astype(np.int32)

    def counts(self, train: Samples, target: int) -> npt.NDArray[np.float64]:
        """Return distinct rows x values: how many people have both."""
        size = train.target_sizes[target]
        cells = self.bucket_of * size + train.targets[:, target]
        found = np.bincount(cells, weights=train.weights, minlength=len(self.inputs) * size)
        return found.reshape(-1, size).astype(float)


def _parts(matrix: Any) -> Sparse:
    """Return the arrays of a sparse matrix, as kernels take them."""
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(float)


class _Penalised:
    """Logistic regression with one penalty, for every target; the design is shared with other penalties."""

    def __init__(self, design: _Design, inverse_penalty: float, steps: int, name: str) -> None:
        self.design, self.inverse_penalty, self.steps, self.name = design, inverse_penalty, steps, name

    def fit(self, train: Samples, validation: Samples) -> _Penalised:
        self.fitted_ = [self._fit_target(self.design.counts(train, t)) for t in range(len(train.target_sizes))]
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        places = self.design.places(inputs)
        return [each.predict(places) for each in self.fitted_]

    def _fit_target(self, counts: Array) -> _Effects:
        """Minimise the mean log loss and half the penalised squares; the intercept is not penalised."""
        use, form = counts.sum(axis=0), self.design.form
        present = np.flatnonzero(use)
        width = 1 if len(present) == 2 else len(present)
        if len(present) == 1 or not form.shape[1]:
            constant = np.log(use[present] / use.sum())  # there is nothing to learn
            return _Effects(present, np.zeros((form.shape[0], len(present))), constant, len(use))
        counts, people = np.ascontiguousarray(counts[:, present]), float(use.sum())
        if width == 1 and form.shape[0] <= _MOST_CODES:
            rows, penalty = self.design.inputs, 1.0 / self.inverse_penalty
            own = counts.sum(axis=1), np.ascontiguousarray(counts[:, 1])
            found = fit_two_classes(rows, *self.design.sparse, *own, penalty, form.shape[1])
        else:
            found = self._by_slopes(counts, people, width)
        weights = found.reshape(-1, width)
        return _Effects(present, np.ascontiguousarray(form @ weights[:-1]), weights[-1].copy(), len(use))

    def _by_slopes(self, counts: Array, people: float, width: int) -> Array:
        """Return the weights by L-BFGS, which looks at slopes only."""
        shape, penalty = (self.design.form.shape[1] + 1, width), 1.0 / (self.inverse_penalty * people)
        rows, sparse = self.design.inputs, self.design.sparse

        slopes = at = np.zeros(0)
        start, flat_enough = np.zeros(shape), _FLAT
        if width == 1:  # as by Newton's method: it begins with guessing, and the rarer class says what is flat
            first, second = counts.sum(axis=0)
            start[-1], flat_enough = np.log(second / first), _FLAT * 2 * min(first, second) / people

        def objective(flat: Array) -> float:
            nonlocal slopes, at
            weights, gradient = flat.reshape(shape), np.empty(shape)
            loss = loss_and_slopes(rows, *sparse, weights, counts, people, penalty, gradient)
            slopes, at = gradient.ravel(), flat.copy()
            return float(loss + penalty / 2 * float((weights[:-1] ** 2).sum()))

        def gradient_there(flat: Array) -> Array:
            if not np.array_equal(flat, at):  # L-BFGS asks for it where it has just asked for the objective
                objective(flat)
            return slopes

        options = {"maxiter": self.steps, "maxls": 50, "gtol": flat_enough, "ftol": 64 * np.finfo(float).eps}
        found = minimize(objective, start.ravel(), method="L-BFGS-B", jac=gradient_there, options=options)
        return np.asarray(found.x)


class _Effects(NamedTuple):
    """What each code adds to the scores of the values that training showed; for two of them, of the second."""

    present: npt.NDArray[np.intp]
    effects: npt.NDArray[np.float64]
    intercept: npt.NDArray[np.float64]
    size: int

    def predict(self, places: npt.NDArray[np.int32]) -> Probabilities:
        scores = score_rows(places, self.effects, self.intercept)
        if scores.shape[1] < len(self.present):
            scores = np.column_stack([np.zeros(len(scores)), scores])
        found = np.zeros((len(places), self.size))
        found[:, self.present] = softmax(scores, axis=1)
        return found
