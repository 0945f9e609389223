"""Any scikit-learn regressor as a predictor of a label that is a number.

A regressor says one number. How sure that is, the people on whom it is held show: the numbers that a row may have
are its own number and those people's residuals added to it. So it gives probabilities of the levels like every
other predictor, is mixed and chosen like them, and its guess, the median, also mends a regressor that always says
too much.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from leastwise.errors import ParameterError
from leastwise.partition import Codes
from leastwise.predictors.base import Probabilities, Samples, few_threads
from leastwise.predictors.sklearn import Wrapped, fit_weighted

# So many quantiles of the residuals are kept; and what every level is thought possible by, all together.
_RESIDUALS, _DOUBT = 200, 0.02
# People below which a leaf is not made, and the penalty of a ridge regression, in people.
_FEWEST_IN_A_LEAF, _PENALTY = 20, 3.0


@dataclass
class Regression(Wrapped):
    """A scikit-learn regressor, cloned and fitted to the exact numbers.

    Parameters
    ----------
    estimator
        A regressor or a pipeline.
    inputs
        What it sees: see ``SklearnPredictor``.
    name
        How reports call it; by default the name of the class.
    brought
        Whether somebody brought it, so that it must not be left out in silence where the label has classes.
    """

    brought: bool = False

    def worthwhile(self, train: Samples) -> bool:
        """Return whether the target is a number."""
        if self.brought and train.number is None:
            raise ParameterError(
                f"{self.name} is a regressor, and the label has classes; bring a classifier, or declare the label "
                "continuous"
            )
        return train.number is not None

    def fit(self, train: Samples, validation: Samples) -> Regression:
        """Fit to the training rows; how sure it is, the validation rows say."""
        assert train.number is not None
        assert validation.number is not None
        self.number_ = train.number
        self._look_at(train)
        with few_threads(1):
            self.fitted_ = fit_weighted(
                clone(self.estimator), self._matrix(train.inputs), train.number.exact, train.weights
            )
        first, bucket_of = validation.buckets
        residuals = validation.number.exact - self._numbers(validation.inputs[first])[bucket_of]
        order = np.argsort(residuals, kind="stable")
        summed = np.cumsum(validation.weights[order])
        middles = (np.arange(_RESIDUALS) + 0.5) / _RESIDUALS * summed[-1]
        self.residuals_ = residuals[order][np.searchsorted(summed, middles, side="left")]
        use = np.bincount(train.targets[:, 0], weights=train.weights, minlength=train.target_sizes[0]) + 0.5
        self.prior_ = use / use.sum()
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return the probabilities of the levels for each row."""
        levels, numbers = self.number_.levels, self._numbers(inputs)
        ends = (levels[1:] + levels[:-1]) / 2
        up_to = np.searchsorted(self.residuals_, ends[None, :] - numbers[:, None], side="right") / _RESIDUALS
        whole = np.concatenate([np.zeros((len(numbers), 1)), up_to, np.ones((len(numbers), 1))], axis=1)
        return [(1 - _DOUBT) * np.diff(whole, axis=1) + _DOUBT * self.prior_]

    def _numbers(self, inputs: Codes) -> npt.NDArray[np.float64]:
        with few_threads(1):
            return np.asarray(self.fitted_.predict(self._matrix(inputs)), dtype=float)


def linear() -> Regression:
    """Return a linear regression on one column per bucket."""
    return Regression(Ridge(alpha=_PENALTY), name="linear")


def boosted(rounds: int = 100, rate: float = 0.1, leaves: int = 15, seed: int = 0) -> Regression:
    """Return gradient boosted trees that are off as little as they can be on average."""
    trees = HistGradientBoostingRegressor(
        loss="absolute_error",
        max_iter=rounds,
        learning_rate=rate,
        max_leaf_nodes=leaves,
        min_samples_leaf=_FEWEST_IN_A_LEAF,
        early_stopping=False,
        random_state=seed,
    )
    return Regression(trees, "numbers", "boosted regression")
