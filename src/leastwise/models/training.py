"""Training on generalized records, by the name of an estimator, and measuring on some that were held out."""

from __future__ import annotations

import importlib
import platform
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.confidence import distance_interval, error_interval
from leastwise.documents.wording import listed
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.models.inputs import Matrix, as_polars, classes_of, encoded, numbers_of
from leastwise.models.model import Model, ModelFacts
from leastwise.partition import Untouched
from leastwise.random import generator
from leastwise.records.encoding import derived_column
from leastwise.records.survey import read_weights, scaled
from leastwise.schema import Attribute
from leastwise.validation import check_between, did_you_mean

DEFAULT = "sklearn.ensemble.HistGradientBoostingClassifier"
FOR_NUMBERS = "sklearn.ensemble.HistGradientBoostingRegressor"
MOST_CATEGORIES = 255  # that gradient boosting splits as groups


def estimator_named(path: str) -> Any:
    """Return a new classifier of the class with this import path.

    Importing a module runs its code: the path is the operator's word, never a client's or a file's.
    """
    module, _, name = path.rpartition(".")
    try:
        kind = getattr(importlib.import_module(module), name) if module else None
    except (ImportError, AttributeError, ValueError, TypeError):
        raise ParameterError(
            f"there is no class {shorten(path)}; give its import path, such as {DEFAULT}"
        ) from None
    if not isinstance(kind, type) or not all(hasattr(kind, part) for part in ("fit", "predict", "get_params")):
        raise ParameterError(f"{shorten(path)} must be a scikit-learn classifier, such as {DEFAULT}")
    try:
        made = kind()
    except TypeError:
        raise ParameterError(f"{shorten(path)} cannot be made without arguments; make it in Python") from None
    return _checked(made)


def _checked(estimator: Any) -> Any:
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise ParameterError(f"{type(estimator).__name__} must be a classifier; it predicts something else")
    return estimator


def _check_kind(estimator: Any, number: bool) -> None:
    """Refuse a regressor for classes, and a classifier for a number."""
    if number and not is_regressor(estimator):
        raise ParameterError(
            f"{type(estimator).__name__} must be a regressor, because the label is a number; such as {FOR_NUMBERS}"
        )
    if not number and not is_classifier(estimator):
        raise ParameterError(f"{type(estimator).__name__} must be a classifier; it predicts something else")


def pipeline_for(generalization: Generalization, estimator: Any, seed: int) -> Any:
    """Return an unfitted pipeline from the numbers of buckets to the class.

    Gradient boosting reads the numbers themselves, groups without an order as categories; every other estimator
    gets a 0/1 column per bucket, and untouched numbers scaled.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.pipeline import Pipeline

    given = estimator_named(estimator) if isinstance(estimator, str) else _checked(clone(estimator))
    if "random_state" in given.get_params() and given.get_params()["random_state"] is None:
        given.set_params(random_state=seed)
    _check_kind(given, generalization.label is not None and generalization.label.continuous)
    if isinstance(given, HistGradientBoostingClassifier | HistGradientBoostingRegressor):
        asked = [p for p in generalization.partitions if not p.suppressed]
        groups = [p.attribute.kind == "discrete" and p.size <= MOST_CATEGORIES for p in asked]
        given.set_params(categorical_features=groups if any(groups) else None)
        return Pipeline([("classify", given)])
    return Pipeline([("prepare", _columns(generalization)), ("classify", given)])


def _columns(generalization: Generalization) -> Any:
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    asked = [p for p in generalization.partitions if not p.suppressed]
    numbers = [j for j, p in enumerate(asked) if isinstance(p, Untouched)]
    buckets = [j for j, p in enumerate(asked) if not isinstance(p, Untouched)]
    levels = [list(map(float, range(asked[j].size))) for j in buckets]
    parts: list[tuple[str, Any, list[int]]] = [("buckets", OneHotEncoder(categories=levels), buckets)]
    # A column that is missing everywhere keeps its place: the fitted width must not depend on the sample.
    scaled = make_pipeline(SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler())
    parts += [("numbers", scaled, numbers)] if numbers else []
    return ColumnTransformer([part for part in parts if part[2]], sparse_threshold=0)


Codes = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]
Known = npt.NDArray[np.bool_]
FEWEST = 20  # records with a label
# A record that more people have is given so many times, and weighs the more; and so many rows are given in all.
MOST_TIMES, MOST_ROWS = 20, 5_000_000


def train(
    generalization: Generalization,
    records: Any,
    label: str | None = None,
    *,
    estimator: Any = None,
    full: bool = False,
    test_share: float = 0.3,
    seed: int = 0,
    counts: npt.ArrayLike | None = None,
    survey_weights: str | None = None,
) -> Model:
    """Fit a classifier on generalized records.

    Parameters
    ----------
    generalization
        What was asked.
    records
        A frame of labels of buckets, as ``transform`` writes it, and the label's column.
    label
        The column to predict; by default the label of the generalization. Of several labels, which one.
    estimator
        A scikit-learn classifier (a regressor, where the label is a number), or the import path of its class;
        None: gradient boosting. Importing runs code: never pass on a path that a stranger wrote.
    full
        The records are full-granularity ones: generalize them first, in memory.
    test_share
        The share of records on which the error is measured. The model that is returned is then fitted on all.
    seed
        Of the held-out part and of the estimator.
    counts
        How many people each row stands for, where the rows are distinct records: a record that many have is fitted
        with its weight.
    survey_weights
        The column of survey weights: the model is fitted and measured by them, and no input has it.
    """
    check_between("test_share", test_share, 0.05, 0.9)
    name = _label_name(generalization, label)
    sample = _sample(generalization, as_polars(records), name, full, counts, survey_weights)
    number = not sample.classes
    chosen = (FOR_NUMBERS if number else DEFAULT) if estimator is None else estimator
    pipeline = pipeline_for(generalization, chosen, seed)
    used = pipeline.steps[-1][1]
    with threadpool_limits(1, "blas"):
        parts = _held_out(sample.people, test_share, seed)
        measure = _measured_number if number else _measured
        measured = measure(pipeline, sample.x, sample.y, *parts, sample.speaks)
        fitted = _fitted(pipeline, sample.x, sample.y, sample.people, sample.speaks)
    facts = ModelFacts(
        fingerprint=generalization.fingerprint,
        label=name,
        classes=sample.classes,
        collected=generalization.collected,
        estimator=f"{type(used).__module__}.{type(used).__qualname__}",
        trained=int(sample.people.sum()),
        unlabelled=sample.unlabelled,
        seed=seed,
        versions=_versions(used),
        unit=sample.unit,
        survey_weights=survey_weights,
        **measured,
    )
    return Model(generalization, fitted, facts)


class _Sample(NamedTuple):
    """What a model is fitted to: the records that have a label.

    Attributes
    ----------
    x, y
        The numbers of the buckets, and the label: the number of a class, or the number itself.
    people, speaks
        How many people each row stands for, and for how much each of them speaks.
    classes, unit
        Of the label; a number has no classes.
    unlabelled
        How many people were left out.
    """

    x: Matrix
    y: npt.NDArray[Any]
    people: Counts
    speaks: Weights
    classes: tuple[str, ...]
    unit: str
    unlabelled: int


def _sample(
    generalization: Generalization,
    frame: pl.DataFrame,
    name: str,
    full: bool,
    counts: npt.ArrayLike | None,
    survey_weights: str | None,
) -> _Sample:
    """Encode the records and their labels; refuse those of which nothing can be learned."""
    if name not in frame.columns:
        raise DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, frame.columns)}")
    declared = next((each for each in generalization.schema.labels if each.name == name), None)
    column = frame[name]
    if full and declared is not None and declared.derive:
        column = derived_column(nw.from_native(column, series_only=True), declared.derive).to_polars()
    classes, told, known = _labels(declared, column)
    speaks = _weights(frame, survey_weights, generalization, counts is not None)
    frame = frame if survey_weights is None else frame.drop(survey_weights)
    matrix = encoded(generalization, generalization.transform(frame) if full else frame)
    everybody = np.ones(len(told), dtype=np.int64) if counts is None else np.asarray(counts, dtype=np.int64)
    y, people = told[known], everybody[known]
    if people.sum() < FEWEST or len(np.unique(y)) < 2:
        raise DataError(
            f"{shorten(name)}: training needs {FEWEST} records with a label and two classes or more; "
            f"found {people.sum()} and {len(np.unique(y))}"
        )
    unit = declared.unit if declared is not None and declared.continuous else ""
    left_out = int(everybody.sum() - people.sum())
    return _Sample(matrix[known], y, people, speaks[known], classes, unit, left_out)


def _labels(label: Attribute | None, column: Any) -> tuple[tuple[str, ...], npt.NDArray[Any], Known]:
    """Return the classes (of a number none), the label of each record, and which records have one."""
    if label is not None and label.continuous:
        numbers = numbers_of(column)
        return (), numbers, ~np.isnan(numbers)
    classes, codes = classes_of(label, column)
    return classes, codes, codes >= 0


def _label_name(generalization: Generalization, label: str | None) -> str:
    declared = [each.name for each in generalization.schema.labels]
    if label is not None and label in generalization.schema.names:
        raise ParameterError(f"{shorten(label)} is an attribute; the label must be another column")
    if label is not None and declared and label not in declared:
        raise ParameterError(
            f"the label must be {shorten(listed(declared, 'or'))}, as the generalization says; got "
            f"{shorten(label)}"
        )
    if label is None and len(declared) > 1:
        raise ParameterError(f"a model predicts one label; name it: {listed(declared, 'or')}")
    if label is None and not declared:
        raise ParameterError("name the column to predict: the generalization declares no label")
    return label or declared[0]


def _weights(frame: Any, name: str | None, generalization: Generalization, counted: bool) -> Weights:
    """Return for how much each record speaks: as the survey says, or all for the same."""
    if name is None:
        return np.ones(frame.height)
    if counted:
        raise ParameterError("counted records have no survey weights; give the records themselves")
    return scaled(read_weights(frame, name, generalization.schema))


def _held_out(people: Counts, share: float, seed: int) -> tuple[Counts, Counts]:
    """Return from how many people behind each row a model learns, and on how many it is measured."""
    random, everybody = generator(seed, "train", "held out"), int(people.sum())
    cut = max(1, round(share * everybody))
    if everybody == len(people):
        test = np.zeros_like(people)
        test[random.permutation(len(people))[:cut]] = 1
    else:
        test = random.multivariate_hypergeometric(people, cut, method="marginals")
    return people - test, test


def _fitted(pipeline: Any, matrix: Matrix, y: npt.NDArray[Any], people: Counts, speaks: Weights) -> Any:
    """Return a clone, fitted to so many people behind each row, of whom each speaks for so much.

    Estimators ask how many rows a leaf has, or a class: a record that some have is given some times, one that many
    have is given with a weight.
    """
    used = np.flatnonzero((people > 0) & (speaks > 0))
    times = np.minimum(people[used], max(1, min(MOST_TIMES, MOST_ROWS // max(len(used), 1))))
    rows, weights = np.repeat(used, times), np.repeat(speaks[used] * people[used] / times, times)
    last, estimator = pipeline.steps[-1]
    weighed = {} if (weights == 1).all() else {f"{last}__sample_weight": weights}
    if weighed and not has_fit_parameter(estimator, "sample_weight"):
        raise ParameterError(
            f"{type(estimator).__name__} must take sample_weight, because many people have the same record, or by "
            f"survey weights; choose another estimator, such as {DEFAULT}"
        )
    return clone(pipeline).fit(matrix[rows], y[rows], **weighed)


def _measured(
    pipeline: Any, matrix: Matrix, y: Codes, rest: Counts, test: Counts, speaks: Weights
) -> dict[str, Any]:
    """Return the error of a clone that was fitted on the people who were not held out."""
    classes = np.bincount(y, weights=rest * speaks)
    if (classes > 0).sum() < 2:
        raise DataError(
            "one class is so rare that the records left for training show only the other; collect more"
        )
    rows, people = np.flatnonzero(test), (test * speaks)[test > 0]
    wrong = _fitted(pipeline, matrix, y, rest, speaks).predict(matrix[rows]) != y[rows]
    # Where people speak for more or less, the interval is that of a weighted mean, and one each they are bits.
    persons = None if (speaks == 1).all() else rows
    return {
        "error": float(np.average(wrong, weights=people)),
        "interval": error_interval(wrong, people, persons),
        "baseline": float(np.average(y[rows] != classes.argmax(), weights=people)),
        "tested": int(test.sum()),
    }


def _measured_number(
    pipeline: Any, matrix: Matrix, y: Matrix, rest: Counts, test: Counts, speaks: Weights
) -> dict[str, Any]:
    """Return how far off a clone is that was fitted on the people who were not held out."""
    rows = np.flatnonzero(test)
    people, truth, learned = (test * speaks)[rows], y[rows], rest * speaks
    off = _fitted(pipeline, matrix, y, rest, speaks).predict(matrix[rows]) - truth
    average = partial(np.average, weights=people)
    spread = float(average(np.square(truth - average(truth))))
    return {
        "error": float(average(np.abs(off))),
        "interval": distance_interval(np.abs(off), people, None if (speaks == 1).all() else rows),
        "baseline": float(average(np.abs(truth - _median(y, learned)))),
        "tested": int(test.sum()),
        "r2": 1 - float(average(np.square(off))) / spread if spread > 0 else 0.0,
    }


def _median(values: Matrix, weights: Weights) -> float:
    """Return the weighted median: half of the weight lies on either side; between two values, their middle.

    >>> _median(np.array([3.0, 1.0, 2.0, 4.0]), np.ones(4)), _median(np.array([1.0, 9.0]), np.array([1.0, 3.0]))
    (2.5, 9.0)
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    half = below[-1] / 2
    low, high = (int(np.searchsorted(below, half * (1 + e), side="left")) for e in (-1e-12, 1e-12))
    return float((values[order][low] + values[order][high]) / 2)


def _versions(estimator: Any) -> dict[str, str]:
    """Return the versions of what made the model."""
    packages = {"leastwise", "scikit-learn", "numpy", "skops"}
    module = type(estimator).__module__.partition(".")[0]
    packages |= set() if module == "sklearn" else {module}
    versions = {"python": platform.python_version()}
    for package in sorted(packages):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "unknown"
    return versions
