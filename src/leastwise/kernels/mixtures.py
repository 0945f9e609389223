"""What mixtures of predictors guess, joint bucket by joint bucket: pure functions of arrays."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]


@numba.njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def try_cells(
    probabilities: Floats, shares: Floats, starts: Ints, truth: Ints, wrong: Floats, of_truth: Floats
) -> None:
    """Write, for each mixture and cell, whether its guess is wrong and what probability it gives the truth.

    Parameters
    ----------
    probabilities
        Predictors x joint buckets x values.
    shares
        Mixtures x predictors.
    starts, truth
        Where the cells of each joint bucket begin, and the end; and the value of each cell.
    wrong, of_truth
        Mixtures x cells; written.
    """
    predictors, buckets, values = probabilities.shape
    mixed = np.empty(values)
    for b in range(buckets):
        for m in range(len(shares)):
            mixed[:] = 0.0
            for k in range(predictors):
                share = shares[m, k]
                if share > 0:
                    for v in range(values):
                        mixed[v] += share * probabilities[k, b, v]
            best = np.argmax(mixed)
            for c in range(starts[b], starts[b + 1]):
                wrong[m, c] = 0.0 if truth[c] == best else 1.0
                of_truth[m, c] = mixed[truth[c]]
