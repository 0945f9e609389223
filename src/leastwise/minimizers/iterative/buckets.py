"""For each attribute, its best buckets for 1, 2, ... up to k of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.variance_runs import variance_runs
from leastwise.minimizers.surrogate import one_hot_logistic
from leastwise.records.table import Table

Map = npt.NDArray[np.intp]
"""The bucket of each code of an attribute."""

Floats = npt.NDArray[np.float64]


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
        return variance_runs(_one_score(weights, table.use(j)), k)
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


def _one_score(weights: Floats, use: Floats) -> Floats:
    """Return one weight per value: of several classes, along the direction in which the people differ most."""
    if weights.shape[1] == 1:
        return weights[:, 0]
    centred = weights - (use @ weights) / max(use.sum(), 1.0)
    direction = np.linalg.svd(centred * np.sqrt(use)[:, None], full_matrices=False)[2][0]
    # The sign of a direction is arbitrary; fix it, so that the same records give the same order.
    return np.asarray(centred @ direction * (1 if direction[np.abs(direction).argmax()] > 0 else -1))
