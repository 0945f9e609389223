"""The first layer of a network on one-hot inputs: of hundreds of numbers a row has a few that are not 0.

A code of input column j is row ``first[j] + code`` of a form: its place is a row of the weights, and an ordered
column also adds its rank times the weights of ``rank_row[j]`` (-1: it has none).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]


@njit()
def forward(
    inputs: Ints, rows: Ints, first: Ints, place: Ints, rank: Floats, rank_row: Ints, weights: Floats, bias: Floats
) -> Floats:
    """Return what the layer makes of some rows: one-hot inputs times weights, plus the bias, nothing below 0."""
    width, columns = len(bias), inputs.shape[1]
    out = np.empty((len(rows), width), np.float32)
    # What a row adds up, in this order: rows of the weights, and how often each.
    adds, times = np.empty(2 * columns, np.int64), np.empty(2 * columns, np.float32)
    for r in range(len(rows)):
        terms = 0
        for j in range(columns):
            code = first[j] + inputs[rows[r], j]
            adds[terms], times[terms] = place[code], np.float32(1)
            terms += 1
            if rank_row[j] >= 0:
                adds[terms], times[terms] = rank_row[j], rank[code]
                terms += 1
        for h in range(width):
            out[r, h] = bias[h]
        # Two at once: what is summed up so far is read and written half as often. More at once is no faster.
        for i in range(0, terms - 1, 2):
            a, b, s, t = adds[i], adds[i + 1], times[i], times[i + 1]
            for h in range(width):
                out[r, h] = (out[r, h] + s * weights[a, h]) + t * weights[b, h]
        if terms % 2:
            a, s = adds[terms - 1], times[terms - 1]
            for h in range(width):
                out[r, h] += s * weights[a, h]
        for h in range(width):
            out[r, h] = max(out[r, h], np.float32(0))
    return out


@njit()
def add_up(inputs: Ints, first: Ints, adds: Floats, bias: Floats) -> Floats:
    """Return the layer where each code of column j adds its own row, ``first[j] + code``, and nothing else."""
    width = len(bias)
    out = np.empty((len(inputs), width), np.float32)
    for r in range(len(inputs)):
        own = out[r]
        for h in range(width):
            own[h] = bias[h]
        for j in range(inputs.shape[1]):
            one = adds[first[j] + inputs[r, j]]
            for h in range(width):
                own[h] += one[h]
        for h in range(width):
            own[h] = max(own[h], np.float32(0))
    return out


@njit()
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


@njit()
def adam(weight: Floats, gradient: Floats, mean: Floats, square: Floats, size: float, shrink: float) -> None:
    """Take one step of Adam with decoupled weight decay, in place, on arrays of one dimension."""
    tenth, thousandth, least = np.float32(0.1), np.float32(0.001), np.float32(1e-8)
    for i in range(len(weight)):
        g = gradient[i]
        mean[i] += tenth * (g - mean[i])
        square[i] += thousandth * (g * g - square[i])
        weight[i] = weight[i] * shrink - size * mean[i] / (np.sqrt(square[i]) + least)


@njit(fastmath=True)
def _exponentials(values: Floats, bits: Ints, powers: Floats) -> None:
    """Replace numbers from -40 to 40 (others count as these) by their exponentials, to single precision.

    e^x is 2^n 2^f: the power of two is written as the bits of a float (``powers`` are ``bits``, read as floats),
    the rest is a polynomial. No call to a library, so that several are done at once.
    """
    for i in range(len(values)):
        x = min(max(values[i], np.float32(-40)), np.float32(40)) * np.float32(1.4426950408889634)
        whole = np.floor(x + np.float32(0.5))
        bits[i] = (np.int32(whole) + np.int32(127)) << np.int32(23)
        f = (x - whole) * np.float32(0.6931471805599453)
        term = np.float32(1 / 720) * f + np.float32(1 / 120)
        term = (term * f + np.float32(1 / 24)) * f + np.float32(1 / 6)
        values[i] = ((term * f + np.float32(0.5)) * f + np.float32(1)) * f + np.float32(1)
    for i in range(len(values)):
        values[i] *= powers[i]


@njit(fastmath=True)
def softmax_delta(
    logits: Floats,
    bias: Floats,
    inputs: Ints,
    rows: Ints,
    masks: Ints,
    allowed: Floats,
    ends: Ints,
    places: Ints,
    people: Floats,
    bits: Ints,
    powers: Floats,
) -> None:
    """Replace logits (without their bias) by softmax minus truth, per head, times people by rows.

    Head k has the columns from ``ends[k]`` to ``ends[k + 1]``, and its truth is column ``places[row, k]``. A row
    (head, input column, start) of ``masks`` says where in ``allowed`` the 0 and 1 of each code of that column
    are: an impossible value has no part in it.
    """
    logits += bias
    flat = logits.ravel()
    _exponentials(flat, bits[: len(flat)], powers[: len(flat)])
    share = np.float32(1) / np.float32(len(rows))
    for r in range(len(rows)):
        own, row = logits[r], rows[r]
        for m in range(len(masks)):
            begin, size = ends[masks[m, 0]], ends[masks[m, 0] + 1] - ends[masks[m, 0]]
            start = masks[m, 2] + inputs[row, masks[m, 1]] * size
            for v in range(size):
                own[begin + v] *= allowed[start + v]
        weight = people[row] * share
        for k in range(len(ends) - 1):
            total = np.float32(0)
            for v in range(ends[k], ends[k + 1]):
                total += own[v]
            scale = weight / total
            for v in range(ends[k], ends[k + 1]):
                own[v] *= scale
            own[places[row, k]] -= weight


@njit()
def where_active(hidden: Floats, delta: Floats) -> None:
    """Set the gradient of a layer to 0 where the layer is, in place."""
    for r in range(len(hidden)):
        for h in range(hidden.shape[1]):
            if hidden[r, h] <= 0:
                delta[r, h] = np.float32(0)


@njit()
def summed_rows(rows: Floats) -> Floats:
    """Return the sum of all rows, added one by one from the first on."""
    total: Floats = rows[0].copy()
    for r in range(1, len(rows)):
        for h in range(len(total)):
            total[h] += rows[r, h]
    return total
