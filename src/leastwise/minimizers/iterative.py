"""Iterative: k buckets per attribute, taken away one by one while the classifier still errs little enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import fit_additive
from leastwise.kernels.interval_program import variance_runs
from leastwise.minimizers.base import Minimizer, check_two_classes, held_out
from leastwise.minimizers.optimal.surrogate import one_hot_logistic
from leastwise.minimizers.orders import principal_direction
from leastwise.predictors.base import Samples, samples_by
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between, check_whole

LOSS = 0.01
"""By how much the error may rise above that of the start when no threshold is given."""
Map = npt.NDArray[np.intp]
HELD_OUT = 0.2
"""The share of the training records on which errors are measured."""
Floats = npt.NDArray[np.float64]


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
    needs_label = True
    takes_numbers = False

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


def iterative_path(
    table: Table, threshold: float | None = None, k: int = 4, *, random_state: int = 0
) -> list[Step]:
    """Return every candidate from the start to the minimizer's result; see ``IterativeMinimizer``.

    With ``threshold=1`` the path ends where nothing is asked.
    """
    return _path(table.with_own_levels(), threshold, k, random_state)[0]


def _path(table: Table, threshold: float | None, k: int, seed: int) -> tuple[list[Step], list[int]]:
    if threshold is not None:
        check_between("threshold", threshold, 0.0, 1.0)
    check_whole("k", k)
    check_two_classes(table)
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


@dataclass(frozen=True, eq=False)
class Judge:
    """Errors on records that were held out of the training part.

    Attributes
    ----------
    train, held
        What the models learn from, and what they are measured on.
    """

    train: Table
    held: Table

    @classmethod
    def of(cls, table: Table, seed: int) -> Judge:
        """Hold a fifth of the records out; with too few to hold any out, measure on all."""
        return cls(*held_out(table, HELD_OUT, seed))

    def classifier_error(self, maps: Sequence[Map]) -> float:
        """Return the error of the better of counting and logistic regression that see these buckets."""
        train, held = self._samples(maps, lambda part: part.y, self.train.classes)
        counted = _counting_error(train, held)
        return min(counted, _error(_additive(train, held), held)) if train.input_sizes else counted

    def adversary_error(self, target: int) -> float:
        """Return the error of guessing an attribute from all others at full granularity."""
        maps = [np.arange(size) if j != target else np.zeros(size, int) for j, size in enumerate(self.train.sizes)]
        return _counting_error(*self._samples(maps, lambda part: part.codes[:, target], self.train.sizes[target]))

    def _samples(self, maps: Sequence[Map], target: Callable[[Table], Any], size: int) -> tuple[Samples, Samples]:
        parts = (self.train, self.held)
        train, held = (samples_by(p, maps, target(p)[:, None].astype(np.intp), (size,), ()) for p in parts)
        return train.distinct(), held.distinct()


def impacts(judge: Judge) -> list[float]:
    """Return, per attribute, by how much its suppression hurts the classifier more than the adversary.

    All others stay as they are, so that a personal attribute that is suppressed is the only one that the adversary
    can miss, and suppressing one that is not personal costs an adversary nothing.
    """
    full = [np.arange(size) for size in judge.train.sizes]
    start = judge.classifier_error(full)
    personal = judge.train.personal
    hurt = []
    for j, map_ in enumerate(full):
        without = judge.classifier_error([*full[:j], np.zeros_like(map_), *full[j + 1 :]])
        adversary = judge.adversary_error(j) / len(personal) if j in personal else 0.0
        hurt.append(without - start - adversary)
    return hurt


def _additive(train: Samples, held: Samples) -> npt.NDArray[np.intp]:
    classes = train.target_sizes[0]
    columns = list(train.inputs.T)
    fitted = fit_additive(columns, train.input_sizes, train.targets[:, 0], classes, train.weights)
    scores = fitted.intercept + sum(w[held.inputs[:, j]] for j, w in enumerate(fitted.weights))
    return (scores[:, 0] > 0).astype(np.intp) if classes == 2 else scores.argmax(axis=1)


def _counting_error(train: Samples, held: Samples) -> float:
    if not train.input_sizes:
        return _error(np.bincount(train.targets[:, 0], weights=train.weights).argmax(), held)
    return _error(JointBuckets().fit(train, held).predict(held.inputs)[0].argmax(axis=1), held)


def _error(guesses: npt.NDArray[Any] | np.intp, held: Samples) -> float:
    return float(held.weights[guesses != held.targets[:, 0]].sum() / held.weights.sum())


def bucket_series(table: Table, k: int) -> list[list[Map]]:
    """Return, per attribute, maps of ever more buckets, from one (suppressed) to at most k.

    Numbers and ordinal values are cut at the quantiles of the sample; "missing" and "other" have a bucket of their
    own beside. Discrete values are sorted by their weight in a logistic regression on one column per value, and
    cut where the variance of the weights inside the groups is least. A value that nobody has weighs nothing
    and goes where zero is.
    """
    weights = one_hot_logistic(table)
    return [_series(table, j, weights[j], k) for j in range(len(table.schema))]


def _series(table: Table, j: int, weights: Floats, k: int) -> list[Map]:
    if table.schema.attributes[j].kind == "discrete":
        use, score = table.use(j), weights[:, 0]
        if weights.shape[1] > 1:  # one weight per value, along the direction in which the people differ most
            centred = weights - (use @ weights) / max(use.sum(), 1.0)
            score = centred @ principal_direction(centred, use)
        return variance_runs(score, k)
    maps = [np.zeros(table.sizes[j], dtype=np.intp)]
    for count in range(2, k + 1):
        cut = quantile_runs(table.use(j)[: len(table.levels[j])], count)
        extras = int(cut.max(initial=-1)) + 1 + np.arange(table.sizes[j] - len(cut))
        both = np.concatenate([cut, extras]).astype(np.intp)
        # Where many people share a number, more quantiles need not give more runs.
        if both.max(initial=0) > maps[-1].max(initial=0):
            maps.append(both)
    return maps


def quantile_runs(use: npt.NDArray[Any], k: int) -> Map:
    """Return the runs of ordered values between the k-quantiles; a value at a quantile belongs to the left run.

    >>> quantile_runs(np.array([1.0, 1, 1, 1]), 2).tolist(), quantile_runs(np.array([9.0, 1, 1, 1]), 4).tolist()
    ([0, 0, 1, 1], [0, 1, 1, 1])
    """
    total = use.sum()
    below = (np.cumsum(use) - use) / total if total else np.zeros(len(use))
    passed = np.minimum(np.floor(below * k + 1e-9), k - 1).astype(np.intp)
    return np.unique(passed, return_inverse=True)[1].reshape(-1).astype(np.intp)
