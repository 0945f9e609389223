"""Gradient boosted trees, for targets of many values too.

Boosting grows one tree per value and round: 522 occupations would take hours. The most frequent values are
boosted and all others are one value "the rest", whose probability is divided as the joint buckets say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from leastwise.partition import Codes
from leastwise.predictors.base import Probabilities, Samples, few_threads, masked
from leastwise.predictors.joint_buckets import JointBuckets

# scikit-learn takes at most 255 codes of an unordered input.
_MOST_CATEGORIES = 255
# Rows from which more threads gain more than they lose by waiting for each other, and which are not repeated.
_MANY_ROWS = 200_000
# People that a value needs to be boosted by name.
_LEAST = 2


@dataclass
class Boosting:
    """scikit-learn's histogram gradient boosting, one model per target.

    Parameters
    ----------
    rounds, leaves, rate
        Of the boosting; it stops early when a tenth of the training rows says so.
    most_values
        How many values of a target are boosted by name.
    most_work
        People times classes of a target from which on it is left to counting: what boosting costs.
    """

    rounds: int = 60
    leaves: int = 15
    rate: float = 0.15
    most_values: int = 16
    most_work: float = np.inf
    seed: int = 0
    name: str = "boosting"

    def worthwhile(self, train: Samples) -> bool:
        """Return whether there is a target that is not too much work."""
        return bool(train.weights.sum() * 2 <= self.most_work)

    def fit(self, train: Samples, validation: Samples) -> Boosting:
        """Fit one model per target."""
        self.like_ = train
        with few_threads(None if len(train) > _MANY_ROWS else 1):
            self.boosted_ = [self._fit_target(_people(train.of_target(t))) for t in range(len(train.target_sizes))]
        # Counting divides what is left of the rest; where every value is boosted by name, nothing is.
        needed = any(boosted is None or np.bincount(boosted[1]).max() > 1 for boosted in self.boosted_)
        self.counting_ = JointBuckets(seed=self.seed).fit(train, validation) if needed else None
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        counted = (
            self.counting_.predict(inputs) if self.counting_ else [np.ones((len(inputs), 0))] * len(self.boosted_)
        )
        return [
            masked(_spread(*boosted, inputs, counted[t]), self.like_.allowed(t, inputs)) if boosted else counted[t]
            for t, boosted in enumerate(self.boosted_)
        ]

    def _fit_target(self, rows: Samples) -> tuple[Any, npt.NDArray[np.intp]] | None:
        """Return the model and the class that each value belongs to; None where counting is all there is."""
        use = np.bincount(rows.targets[:, 0], weights=rows.weights, minlength=rows.target_sizes[0])
        # A value that one person has is no class: it cannot be both learned and held out for early stopping.
        order = np.argsort(-use, kind="stable")[: min(self.most_values, int((use >= _LEAST).sum()))]
        class_of = np.full(len(use), len(order), dtype=np.intp)
        class_of[order] = np.arange(len(order))
        classes = class_of[rows.targets[:, 0]]
        present = np.bincount(classes)
        many = int((present > 0).sum())
        if many < 2 or not rows.input_sizes or len(rows) * many > self.most_work:
            return None
        pairs = zip(rows.ordered, rows.input_sizes, strict=True)
        unordered = [not ordered and size <= _MOST_CATEGORIES for ordered, size in pairs]
        model = HistGradientBoostingClassifier(
            max_iter=self.rounds,
            max_leaf_nodes=self.leaves,
            learning_rate=self.rate,
            # A penalty counts people, where a least number of rows would count rows.
            min_samples_leaf=1,
            l2_regularization=5.0,
            categorical_features=unordered,
            early_stopping=len(rows) > 2000 and present[present > 0].min() >= _LEAST,
            n_iter_no_change=5,
            random_state=self.seed,
        )
        return model.fit(rows.inputs, classes, sample_weight=rows.weights), class_of


def _people(rows: Samples) -> Samples:
    """Return a row per person: scikit-learn leaves out codes of an unordered input that few *rows* have."""
    times = np.round(rows.weights).astype(np.intp)
    if times.sum() > _MANY_ROWS or not np.array_equal(times, rows.weights):
        return rows
    place = np.repeat(np.arange(len(rows)), times)
    return replace(rows, inputs=rows.inputs[place], targets=rows.targets[place], weights=np.ones(len(place)))


def _spread(
    model: Any, class_of: npt.NDArray[np.intp], inputs: Codes, counted: Probabilities
) -> npt.NDArray[np.float64]:
    """Return probabilities of all values: of each boosted one its own, of the rest as the joint buckets say."""
    by_class = np.zeros((len(inputs), int(class_of.max()) + 1))
    by_class[:, model.classes_] = model.predict_proba(inputs)
    rest = np.bincount(class_of)[class_of] > 1
    if not rest.any():
        return np.asarray(by_class[:, class_of])
    share = np.ones(counted.shape)
    share[:, rest] = counted[:, rest] / np.maximum(counted[:, rest].sum(axis=1, keepdims=True), 1e-12)
    return np.asarray(by_class[:, class_of] * share)
