"""The minimizer and its path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leastwise.errors import DataError, ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.iterative.buckets import Map, bucket_series
from leastwise.minimizers.iterative.judging import Judge, impacts
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between

LOSS = 0.01
"""By how much the error may rise above that of the start when no threshold is given."""


class Step(NamedTuple):
    """A candidate on the way, and its classifier error on held-out training records."""

    generalization: Generalization
    error: float


class IterativeMinimizer(Minimizer):
    """Start with k buckets per attribute and take buckets away while the classifier still errs little enough.

    The paper's heuristic (§6 and its appendix). Numbers begin with k quantiles, discrete values in the k groups
    whose weights in a logistic regression vary least. The attributes whose suppression hurts the classifier
    least and the adversary most come first; each loses buckets, down to none, while the error stays below the
    threshold.

    Parameters
    ----------
    threshold
        The classifier error that must not be exceeded: an error rate between 0 and 1 (the paper's T), measured on
        a fifth of the training records that is held out. None: 0.01 above that of the start. Where already
        the start errs more, nothing is taken away and the start is the result.
    k
        How many buckets each attribute starts with; "missing" and "other" of an ordered one come beside.
    schema, personal, random_state
        See ``Minimizer``. The seed decides which records are held out.

    Attributes
    ----------
    path_
        Every candidate from the start to the result, with its error.
    order_
        The names of the attributes in the order in which they were coarsened.

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 10
    >>> found = IterativeMinimizer(0.1, random_state=0).fit(X, ["no", "no", "yes", "yes"] * 10)
    >>> found.generalization_.collected
    ('x0',)
    """

    name: ClassVar[str] = "iterative"
    reference: ClassVar[str] = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §6"

    def __init__(
        self,
        threshold: float | None = None,
        k: int = 4,
        *,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.threshold = threshold
        self.k = k

    def minimize(self, table: Table) -> Generalization:
        """Return the last generalization whose error is below the threshold."""
        self.path_, order = _path(table, self.threshold, self.k, self.seed)
        self.order_ = tuple(table.schema.names[j] for j in order)
        return self.path_[-1].generalization

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def iterative_path(
    table: Table, threshold: float | None = None, k: int = 4, *, random_state: int = 0
) -> list[Step]:
    """Return every candidate from the start to the minimizer's result; see ``IterativeMinimizer``.

    With ``threshold=1`` the path ends where nothing is asked.
    """
    return _path(table.with_own_levels(), threshold, k, random_state)[0]


def _path(table: Table, threshold: float | None, k: int, seed: int) -> tuple[list[Step], list[int]]:
    _check(table, threshold, k)
    judge = Judge.of(table, seed)
    series = bucket_series(judge.train, k)
    importance = impacts(judge)
    order = sorted(range(len(series)), key=lambda j: importance[j])
    steps = _reduce(judge, series, order, threshold)
    return [Step(table.generalization(maps), error) for maps, error in steps], order


def _reduce(
    judge: Judge, series: Sequence[Sequence[Map]], order: Sequence[int], threshold: float | None
) -> Iterator[tuple[list[Map], float]]:
    """Yield the start and every coarser candidate whose error does not exceed the threshold."""
    maps = [attribute[-1] for attribute in series]
    error = judge.classifier_error(maps)
    most = error + LOSS if threshold is None else threshold
    yield maps, error
    if error > most:
        return
    for j in order:
        for coarser in reversed(series[j][:-1]):
            tried = [*maps[:j], coarser, *maps[j + 1 :]]
            error = judge.classifier_error(tried)
            if error > most:
                break
            maps = tried
            yield maps, error


def _check(table: Table, threshold: float | None, k: int) -> None:
    if threshold is not None:
        check_between("threshold", threshold, 0.0, 1.0)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ParameterError(f"k must be a whole number, at least 1; got {k!r}")
    if len(np.unique(table.y)) < 2:
        raise DataError("the label must have at least two classes in the records; found one class")
