"""The first layer of a network on one-hot inputs: of hundreds of numbers a row has a few that are not 0.

A code of input column j is row ``first[j] + code`` of a form: its place is a row of the weights, and an ordered
column also adds its rank times the weights of ``rank_row[j]`` (-1: it has none).
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def forward(
    inputs: Ints, rows: Ints, first: Ints, place: Ints, rank: Floats, rank_row: Ints, weights: Floats, bias: Floats
) -> Floats:
    """Return what the layer makes of some rows: one-hot inputs times weights, plus the bias, nothing below 0."""
    width = len(bias)
    out = np.empty((len(rows), width), np.float32)
    for r in range(len(rows)):
        own = out[r]
        for h in range(width):
            own[h] = bias[h]
        for j in range(inputs.shape[1]):
            code = first[j] + inputs[rows[r], j]
            one = weights[place[code]]
            for h in range(width):
                own[h] += one[h]
            if rank_row[j] >= 0:
                times, ranked = rank[code], weights[rank_row[j]]
                for h in range(width):
                    own[h] += times * ranked[h]
        for h in range(width):
            own[h] = max(own[h], np.float32(0))
    return out


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def backward(
    inputs: Ints, rows: Ints, first: Ints, place: Ints, rank: Floats, rank_row: Ints, delta: Floats, weights: int
) -> Floats:
    """Return the gradient of the weights from that of the layer: one-hot inputs, transposed, times delta."""
    width = delta.shape[1]
    out = np.zeros((weights, width), np.float32)
    for r in range(len(rows)):
        own = delta[r]
        for j in range(inputs.shape[1]):
            code = first[j] + inputs[rows[r], j]
            one = out[place[code]]
            for h in range(width):
                one[h] += own[h]
            if rank_row[j] >= 0:
                times, ranked = rank[code], out[rank_row[j]]
                for h in range(width):
                    ranked[h] += times * own[h]
    return out


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def adam(weight: Floats, gradient: Floats, mean: Floats, square: Floats, size: float, shrink: float) -> None:
    """Take one step of Adam with decoupled weight decay, in place, on arrays of one dimension."""
    tenth, thousandth, least = np.float32(0.1), np.float32(0.001), np.float32(1e-8)
    for i in range(len(weight)):
        g = gradient[i]
        mean[i] += tenth * (g - mean[i])
        square[i] += thousandth * (g * g - square[i])
        weight[i] = weight[i] * shrink - size * mean[i] / (np.sqrt(square[i]) + least)
