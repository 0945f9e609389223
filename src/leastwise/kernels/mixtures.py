"""What mixtures of predictors guess, joint bucket by joint bucket: pure functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]


@njit()
def try_cells(
    probabilities: Floats, shares: Floats, starts: Ints, truth: Ints, wrong: Floats, of_truth: Floats
) -> None:
    """Write, for each mixture and cell, whether its guess is wrong and what probability it gives the truth.

    Parameters
    ----------
    probabilities
        Predictors x joint buckets x values.
    shares
        Mixtures x predictors; somebody has a part in each.
    starts, truth
        Where the cells of each joint bucket begin, and the end; and the value of each cell.
    wrong, of_truth
        Mixtures x cells; written.
    """
    _, buckets, values = probabilities.shape
    # Who has a part in each mixture, and how many these are: most have none.
    parts, many = np.zeros(shares.shape, np.int64), np.zeros(len(shares), np.int64)
    for m in range(len(shares)):
        for k in np.flatnonzero(shares[m] > 0):
            parts[m, many[m]] = k
            many[m] += 1
    mixed = np.empty(values)
    for b in range(buckets):
        for m in range(len(shares)):
            k = parts[m, 0]
            share = shares[m, k]
            for v in range(values):
                mixed[v] = share * probabilities[k, b, v]
            for i in range(1, many[m]):
                k = parts[m, i]
                share = shares[m, k]
                for v in range(values):
                    mixed[v] += share * probabilities[k, b, v]
            best, most = 0, mixed[0]
            for v in range(1, values):
                if not mixed[v] <= most:  # what is no number counts as the largest, as for NumPy
                    if np.isnan(most):
                        break
                    best, most = v, mixed[v]
            for c in range(starts[b], starts[b + 1]):
                wrong[m, c] = 0.0 if truth[c] == best else 1.0
                of_truth[m, c] = mixed[truth[c]]
