"""Utility risk: how often the best classifier is wrong that sees only generalized records.

Where the label is a number, it is how far off the best regression is, as a share of the error of guessing (see
``records.numbers``); the same guesses also give the errors in the label's own unit.

It is the error on the test part of the predictor that the validation part prefers; where records are few, of the
one that cross-validation prefers, learned from all that is not tested. Two limit points frame it: everything
suppressed (the majority is guessed) and everything untouched. A user's own scikit-learn pipeline can be the judge
instead.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor

from leastwise.adversaries.guessing import MakePredictor, StrongestOf
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.label_guesses import label_guesses, utilities_together
from leastwise.evaluation.risk import UtilityLimits, UtilityRisk, label_risks, number_errors, risk_of
from leastwise.generalization import Generalization
from leastwise.partition import Untouched
from leastwise.predictors.base import Predictor
from leastwise.predictors.held_out import utility_predictors
from leastwise.predictors.regression import Regression
from leastwise.predictors.sklearn import SklearnPredictor, fit_weighted
from leastwise.records.table import Split, Table
from leastwise.validation import check_choice, described

Array = npt.NDArray[Any]
Frame = Literal["labels", "codes"]


def utility_risk(
    generalization: Generalization,
    records: Table | Split,
    predictors: Sequence[Predictor] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
) -> UtilityRisk:
    """Return the utility risk of a generalization by the protocol.

    Parameters
    ----------
    records
        All records, which are split by the seed, or the three parts.
    predictors
        To choose from on the validation part, by cross-validation where records are few; by default ours.
    quick
        Train less: for a first look.
    """
    parts = parts_of(records, seed)
    chosen_from = utility_predictors(quick, seed) if predictors is None else predictors
    return label_guesses(generalization, parts, chosen_from).risk(parts, "test")


def utility_limits(
    records: Table | Split,
    predictors: Sequence[Predictor] | None = None,
    *,
    quick: bool = False,
    seed: int = 0,
) -> UtilityLimits:
    """Return the utility risk of the two limit points."""
    parts = parts_of(records, seed)
    points = [Generalization.untouched(parts.train.schema), Generalization.suppressed(parts.train.schema)]
    chosen_from = utility_predictors(quick, seed) if predictors is None else predictors
    told = [label_guesses(point, parts, chosen_from) for point in points]
    untouched, suppressed = utilities_together(points, told, parts)
    return UtilityLimits(suppressed.test, untouched.test)


def judged_by(
    estimator: Any,
    generalization: Generalization,
    records: Table | Split,
    *,
    frame: Frame = "labels",
    seed: int = 0,
) -> UtilityRisk:
    """Return the utility risk with one's own scikit-learn classifier or pipeline as the judge.

    Parameters
    ----------
    estimator
        Is cloned and fitted to the training part; a random forest should bring its own ``random_state``.
    frame
        What the estimator sees: a column per collected attribute, with the ``labels`` that people read (texts;
        numbers where a number is asked exactly), or with the ``codes`` of the buckets. The classes are the
        positions of the label's values. The frame is pandas where that is installed, otherwise Polars.
    """
    check_choice("frame", frame, ("labels", "codes"))
    start = time.perf_counter()
    parts = parts_of(records, seed)
    fitted = fit_weighted(
        clone(estimator),
        generalized_frame(parts.train, generalization, frame),
        parts.train.y.astype(int) if parts.train.number is None else parts.train.number.exact,
        parts.train.counts,
    )
    predicted = np.asarray(fitted.predict(generalized_frame(parts.test, generalization, frame)))
    seconds, number = time.perf_counter() - start, parts.test.number
    if number is None:
        guessed, several = predicted.astype(int), parts.test.several
        wrong = guessed != parts.test.y if several is None else several.off(guessed)
        risk = risk_of(wrong, parts.train, parts.test, type(estimator).__name__, seconds)
        return replace(risk, labels=label_risks(guessed, parts.train, parts.test))
    off = np.abs(predicted - number.exact) / number.scale
    risk = risk_of(off, parts.train, parts.test, type(estimator).__name__, seconds)
    return replace(risk, number=number_errors(predicted, parts.test))


def generalized_frame(table: Table, generalization: Generalization, frame: Frame = "labels") -> Any:
    """Return the generalized records as a frame: a column of labels or codes per collected attribute."""
    columns = {
        partition.attribute.name: _column(table, j, partition, bucket_of, frame)
        for j, (partition, bucket_of) in enumerate(
            zip(generalization.partitions, table.bucket_maps(generalization), strict=True)
        )
        if not partition.suppressed
    }
    try:
        import pandas
    except ImportError:
        import polars

        return polars.DataFrame(columns)
    return pandas.DataFrame(columns, index=range(len(table)))


def _column(table: Table, j: int, partition: Any, bucket_of: Array, frame: Frame) -> Array:
    if frame == "codes":
        return np.asarray(bucket_of[table.codes[:, j]])
    if isinstance(partition, Untouched):
        extras = [np.nan] * partition.attribute.extra_values
        return np.asarray([*table.levels[j], *extras], dtype=float)[table.codes[:, j]]
    return np.asarray(partition.labels, dtype=object)[bucket_of[table.codes[:, j]]]


def parts_of(records: Table | Split, seed: int) -> Split:
    """Return the three parts: those that were given, or a split by the seed."""
    return records.split(seed) if isinstance(records, Table) else records


@dataclass(frozen=True)
class Judges:
    """The strongest there are, and what a user brings.

    Parameters
    ----------
    quick, seed
        Whether they train less, for a first look; of all that is drawn.
    estimator
        A scikit-learn classifier, or a predictor, that is judged beside ours: the best of all counts.
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
        return {name: described(each) for name, each in brought.items() if each is not None}


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
            return _predictor(self.given())
        return _predictor(self.given if hasattr(self.given, "get_params") else deepcopy(self.given))


def _predictor(given: Any) -> Predictor:
    """Return a predictor; a scikit-learn classifier or regressor becomes one."""
    if hasattr(given, "get_params"):
        return Regression(given, brought=True) if is_regressor(given) else SklearnPredictor(given)
    made: Predictor = given
    return made
