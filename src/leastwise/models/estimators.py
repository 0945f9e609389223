"""From a name to a pipeline that can be fitted on generalized records."""

from __future__ import annotations

import importlib
from typing import Any

from sklearn.base import clone, is_classifier

from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Untouched

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
        given.set_params(categorical_features=_categories(generalization))
        return Pipeline([("classify", given)])
    return Pipeline([("prepare", _columns(generalization)), ("classify", given)])


def _categories(generalization: Generalization) -> list[bool] | None:
    asked = [p for p in generalization.partitions if not p.suppressed]
    mask = [p.attribute.kind == "discrete" and p.size <= MOST_CATEGORIES for p in asked]
    return mask if any(mask) else None


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
