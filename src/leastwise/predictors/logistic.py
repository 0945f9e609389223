"""Multinomial logistic regression on one-hot buckets, fitted to the distinct rows with their weights."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from leastwise.partition import Codes
from leastwise.predictors.base import Probabilities, Samples
from leastwise.predictors.sklearn import SklearnPredictor
from leastwise.predictors.strongest import Strongest

# Joint buckets times values times steps: hundreds of values get fewer steps.
_MOST_WORK = 10**8


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
    """

    inverse_penalties: Sequence[float] = (0.1, 3.0)
    most_steps: int = 60
    name: str = field(default="logistic", init=False)

    def fit(self, train: Samples, validation: Samples) -> Logistic:
        """Fit one regression per target and penalty."""
        steps = int(np.clip(_MOST_WORK // (len(train.buckets[0]) * max(train.target_sizes)), 10, self.most_steps))
        models = [
            SklearnPredictor(LogisticRegression(C=c, max_iter=steps), name=f"logistic C={c:g}")
            for c in self.inverse_penalties
        ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.fitted_ = Strongest(models, mixtures=False).fit(train, validation)
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        return self.fitted_.predict(inputs)
