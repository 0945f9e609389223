"""Training on generalized records, by the name of an estimator, and measuring on some that were held out."""

from __future__ import annotations

import importlib
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.confidence import binomial_interval
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.models.inputs import Matrix, as_polars, classes_of, encoded
from leastwise.models.model import Model, ModelFacts
from leastwise.partition import Untouched
from leastwise.random import generator
from leastwise.records.encoding import derived_column
from leastwise.validation import check_between, did_you_mean

DEFAULT = "sklearn.ensemble.HistGradientBoostingClassifier"
MOST_CATEGORIES = 255  # that gradient boosting splits as groups


def estimator_named(path: str) -> Any:
    """Return a new classifier of the class with this import path.

    Importing a module runs its code: the path is the operator's word, never a client's or a file's.
    """
    module, _, name = path.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), name) if module else None
    except (ImportError, AttributeError, ValueError, TypeError):
        raise ParameterError(
            f"there is no class {shorten(path)}; give its import path, such as {DEFAULT}"
        ) from None
    if not isinstance(found, type) or not all(hasattr(found, part) for part in ("fit", "predict", "get_params")):
        raise ParameterError(f"{shorten(path)} must be a scikit-learn classifier, such as {DEFAULT}")
    try:
        made = found()
    except TypeError:
        raise ParameterError(f"{shorten(path)} cannot be made without arguments; make it in Python") from None
    return _checked(made)


def _checked(estimator: Any) -> Any:
    if not is_classifier(estimator):
        raise ParameterError(f"{type(estimator).__name__} must be a classifier; it predicts something else")
    return estimator


def pipeline_for(generalization: Generalization, estimator: Any, seed: int) -> Any:
    """Return an unfitted pipeline from the numbers of buckets to the class.

    Gradient boosting reads the numbers themselves, groups without an order as categories; every other estimator
    gets a 0/1 column per bucket, and untouched numbers scaled.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import Pipeline

    given = estimator_named(estimator) if isinstance(estimator, str) else _checked(clone(estimator))
    if "random_state" in given.get_params() and given.get_params()["random_state"] is None:
        given.set_params(random_state=seed)
    if isinstance(given, HistGradientBoostingClassifier):
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
FEWEST = 20  # records with a label


def train(
    generalization: Generalization,
    records: Any,
    label: str | None = None,
    *,
    estimator: Any = DEFAULT,
    full: bool = False,
    test_share: float = 0.3,
    seed: int = 0,
) -> Model:
    """Fit a classifier on generalized records.

    Parameters
    ----------
    generalization
        What was asked.
    records
        A frame of labels of buckets, as ``transform`` writes it, and the label's column.
    label
        The column to predict; by default the label of the generalization.
    estimator
        A scikit-learn classifier, or the import path of its class. Importing runs code: never pass on a path
        that a stranger wrote.
    full
        The records are full-granularity ones: generalize them first, in memory.
    test_share
        The share of records on which the error is measured. The model that is returned is then fitted on all.
    seed
        Of the held-out part and of the estimator.
    """
    check_between("test_share", test_share, 0.05, 0.9)
    name = _label_name(generalization, label)
    frame = as_polars(records)
    if name not in frame.columns:
        raise DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, frame.columns)}")
    rule = "" if generalization.label is None else generalization.label.derive
    labels = (
        derived_column(nw.from_native(frame[name], series_only=True), rule).to_polars()
        if full and rule
        else frame[name]
    )
    classes, codes = classes_of(generalization.label, labels)
    matrix = encoded(generalization, generalization.transform(frame) if full else frame)
    x, y = matrix[codes >= 0], codes[codes >= 0]
    if len(y) < FEWEST or len(np.unique(y)) < 2:
        raise DataError(
            f"{shorten(name)}: training needs {FEWEST} records with a label and two classes or more; "
            f"found {len(y)} and {len(np.unique(y))}"
        )
    pipeline = pipeline_for(generalization, estimator, seed)
    used = pipeline.steps[-1][1]
    with threadpool_limits(1, "blas"):
        measured = _measured(pipeline, x, y, test_share, seed)
        fitted = clone(pipeline).fit(x, y)
    facts = ModelFacts(
        fingerprint=generalization.fingerprint,
        label=name,
        classes=classes,
        collected=generalization.collected,
        estimator=f"{type(used).__module__}.{type(used).__qualname__}",
        trained=len(y),
        unlabelled=len(codes) - len(y),
        seed=seed,
        versions=_versions(used),
        **measured,
    )
    return Model(generalization, fitted, facts)


def _label_name(generalization: Generalization, label: str | None) -> str:
    declared = None if generalization.label is None else generalization.label.name
    if label is not None and label in generalization.schema.names:
        raise ParameterError(f"{shorten(label)} is an attribute; the label must be another column")
    if label is not None and declared is not None and label != declared:
        raise ParameterError(
            f"the label must be {shorten(declared)}, as the generalization says; got {shorten(label)}"
        )
    name = label or declared
    if name is None:
        raise ParameterError("name the column to predict: the generalization declares no label")
    return name


def _measured(pipeline: Any, matrix: Matrix, y: Codes, share: float, seed: int) -> dict[str, Any]:
    """Return the error of a clone that was fitted on the records that were not held out."""
    order = generator(seed, "train", "held out").permutation(len(y))
    cut = max(1, round(share * len(y)))
    test, rest = order[:cut], order[cut:]
    majority = np.bincount(y[rest]).argmax()
    if len(np.unique(y[rest])) < 2:
        raise DataError(
            "one class is so rare that the records left for training show only the other; collect more"
        )
    wrong = int(np.sum(clone(pipeline).fit(matrix[rest], y[rest]).predict(matrix[test]) != y[test]))
    return {
        "error": wrong / len(test),
        "interval": binomial_interval(wrong, len(test)),
        "baseline": float(np.mean(y[test] != majority)),
        "tested": len(test),
    }


def _versions(estimator: Any) -> dict[str, str]:
    """Return the versions of what made the model."""
    packages = {"leastwise", "scikit-learn", "numpy", "skops"}
    module = type(estimator).__module__.partition(".")[0]
    packages |= set() if module == "sklearn" else {module}
    found = {"python": platform.python_version()}
    for package in sorted(packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
