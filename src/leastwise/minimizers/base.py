"""What every minimizer is: a scikit-learn transformer that learns a generalization."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

from leastwise.generalization import Generalization
from leastwise.table import Table


class Minimizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Base of all minimizers.

    A minimizer turns training records into a ``Generalization``. Whoever holds a ``Table`` calls
    ``minimize(table)``; whoever lives in scikit-learn calls ``fit(X, y)`` and ``transform(X)``.
    """

    @abstractmethod
    def minimize(self, table: Table) -> Generalization:
        """Return the generalization found on these training records."""

    def fit(self, X: Any, y: Any = None) -> Minimizer:
        """Learn ``generalization_`` from a frame or array."""
        raise NotImplementedError
