"""Logistic regression on one column per bucket, fitted attribute by attribute.

The buckets of one attribute do not overlap, so that given all other attributes each bucket's weight has its own
Newton step. Going round the attributes a few times is all that is needed, and a fit starts from an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit
from leastwise.records.grouping import joint_buckets

Floats = npt.NDArray[np.float64]
Array = npt.NDArray[Any]
Sparse = tuple[Array, Array, Array]
"""A matrix row by row: where each ends, the columns of what is not 0, and that."""

# A weight moves by at most so much at a time: far from the optimum a Newton step can overshoot.
_LONGEST_STEP = 2.0


@dataclass(frozen=True, eq=False)
class Additive:
    """Per attribute, buckets x scores; and what everybody has.

    For two classes there is one score, that of the second class; otherwise one per class.
    """

    weights: tuple[Floats, ...]
    intercept: Floats


@njit()
def _chances(scores: Array, chance: Array) -> None:  # pragma: no cover
    rows, width = scores.shape
    for i in range(rows):
        if width == 1:
            chance[i, 0] = 1.0 / (1.0 + np.exp(-scores[i, 0]))
            continue
        most = scores[i].max()
        total = 0.0
        for c in range(width):
            chance[i, c] = np.exp(scores[i, c] - most)
            total += chance[i, c]
        for c in range(width):
            chance[i, c] /= total


@njit()
def _sweep(
    columns: Array, weights: Array, scores: Array, truth: Array, people: Array, penalty: float
) -> float:  # pragma: no cover
    """Go round all attributes once; return the largest change of a weight. ``columns`` is attribute x record."""
    rows, width = scores.shape
    chance = np.empty((rows, width))
    largest = 0.0
    for j in range(len(columns)):
        column = columns[j]
        _chances(scores, chance)
        slope = np.zeros((weights.shape[1], width))
        curve = np.zeros((weights.shape[1], width))
        for i in range(rows):
            b = column[i]
            for c in range(width):
                slope[b, c] += people[i] * (chance[i, c] - truth[i, c])
                curve[b, c] += people[i] * chance[i, c] * (1.0 - chance[i, c])
        # The last column is the intercept, which everybody has and which is not penalised.
        own = penalty if j < len(columns) - 1 else 1e-9
        for b in range(slope.shape[0]):
            for c in range(width):
                step = -(slope[b, c] + own * weights[j, b, c]) / (curve[b, c] + own)
                slope[b, c] = min(max(step, -_LONGEST_STEP), _LONGEST_STEP)
                weights[j, b, c] += slope[b, c]
                if curve[b, c] > 0:
                    largest = max(largest, abs(slope[b, c]))
        for i in range(rows):
            for c in range(width):
                scores[i, c] += slope[column[i], c]
    return largest


def fit_additive(
    columns: Sequence[Array],
    sizes: Sequence[int],
    labels: Array,
    classes: int,
    people: Floats,
    *,
    penalty: float = 1.0,
    sweeps: int = 30,
    tolerance: float = 0.01,
    start: Additive | None = None,
) -> Additive:
    """Fit the weights of all buckets; a penalty of 1 weighs about as much as one person at even odds does four.

    Stops when no weight moves by more than ``tolerance`` in a round. What has one bucket only tells nothing, and
    its weight is 0; people whom no column and no label tells apart are one row.
    """
    width, told = 1 if classes == 2 else classes, [j for j, size in enumerate(sizes) if size > 1]
    rows, labels, people = _collapsed(
        [columns[j] for j in told], [sizes[j] for j in told], labels, classes, people
    )
    weights = np.zeros((len(rows), max(sizes, default=1), width))
    if start is not None:
        for own, j in zip(weights, told, strict=False):
            own[: len(start.weights[j])] = start.weights[j]
        silent = [given[0] for j, given in enumerate(start.weights) if j not in told]
        weights[-1, 0] = start.intercept + np.sum([np.zeros(width), *silent], axis=0)
    truth = (labels == 1)[:, None].astype(float) if width == 1 else np.eye(classes)[labels]
    scores = np.zeros((len(labels), width))
    for own, row in zip(weights, rows, strict=True):
        scores += own[row]
    for _ in range(sweeps):
        if _sweep(rows, weights, scores, truth, people, penalty) <= tolerance:
            break
    found = [np.zeros((size, width)) for size in sizes]
    for own, j in zip(weights, told, strict=False):
        found[j] = own[: sizes[j]].copy()
    return Additive(tuple(found), weights[-1, 0].copy())


def _collapsed(
    columns: Sequence[Array], sizes: Sequence[int], labels: Array, classes: int, people: Floats
) -> tuple[Array, Array, Floats]:
    """Return attribute x distinct row, a last column that everybody has alike, their labels and their people."""
    codes = np.stack([*columns, labels], axis=1).astype(np.int64)
    first, row_of = joint_buckets(codes, [*sizes, classes])
    together = np.bincount(row_of, weights=people, minlength=len(first)).astype(float)
    codes = np.ascontiguousarray(codes[first].T)
    labels, codes[-1] = codes[-1].copy(), 0
    return codes, labels, together


def fit_beside(scores: Floats, column: Array, size: int, labels: Array, people: Floats, sweeps: int = 3) -> Floats:
    """Return the effects of one column's buckets beside scores that stay; about as a fit of all columns would."""
    width = scores.shape[1]
    rows = np.stack([column, np.zeros_like(column)])
    weights = np.zeros((2, size, width))
    truth = (labels == 1)[:, None].astype(float) if width == 1 else np.eye(width)[labels]
    moved = scores.copy()
    for _ in range(sweeps):
        _sweep(rows, weights, moved, truth, people, 1.0)
    return np.asarray(weights[0] + weights[1, :1])


@njit()
def score_rows(inputs: Array, effects: Floats, intercept: Floats) -> Floats:  # pragma: no cover
    """Return rows x scores; ``inputs`` are rows x columns of places among the ``effects`` of all columns."""
    rows, width = len(inputs), effects.shape[1]
    scores = np.empty((rows, width))
    for i in range(rows):
        for c in range(width):
            total = intercept[c]
            for j in range(inputs.shape[1]):
                total += effects[inputs[i, j], c]
            scores[i, c] = total
    return scores


@njit()
def _times(ends: Array, columns: Array, entries: Array, factors: Floats) -> Floats:  # pragma: no cover
    """Return a sparse matrix (rows of it end at ``ends``) times a dense one."""
    out = np.zeros((len(ends) - 1, factors.shape[1]))
    for i in range(len(out)):
        for k in range(ends[i], ends[i + 1]):
            for c in range(factors.shape[1]):
                out[i, c] += entries[k] * factors[columns[k], c]
    return out


@njit()
def loss_and_slopes(
    inputs: Array,
    form: Sparse,
    back: Sparse,
    weights: Floats,
    counts: Floats,
    people: float,
    penalty: float,
    gradient: Floats,
) -> float:  # pragma: no cover
    """Return the mean log loss; write its gradient, with that of half the penalised squares.

    Parameters
    ----------
    inputs
        Distinct rows x columns of places among the codes of all columns.
    form, back
        Codes x weights: what each code is made of; and the same transposed.
    weights, gradient
        Weights x scores, the last row the intercept, which is not penalised.
    counts, people
        Distinct rows x classes: how many people have these inputs and this class; and all of them.
    """
    effects, intercept = _times(form[0], form[1], form[2], weights[:-1]), weights[-1]
    (rows, width), columns, last = (len(inputs), effects.shape[1]), inputs.shape[1], len(weights) - 1
    scores, chance = score_rows(inputs, effects, intercept), np.empty((rows, width))
    if width > 1:
        _chances(scores, chance)
    slopes, slope, loss = np.zeros(effects.shape), np.zeros(width), 0.0
    for i in range(rows):
        here = 0.0
        for c in range(counts.shape[1]):
            here += counts[i, c]
        if width == 1:
            s = scores[i, 0]
            odds = np.exp(-s)
            chance[i, 0] = 1.0 / (1.0 + odds)
            loss += here * (max(s, 0.0) + np.log1p(odds if s >= 0 else np.exp(s))) - counts[i, 1] * s
        for c in range(width):
            if width > 1:
                loss -= counts[i, c] * np.log(max(chance[i, c], 1e-300))
            excess = here * chance[i, c] - counts[i, c if width > 1 else 1]
            slope[c] += excess
            for j in range(columns):
                slopes[inputs[i, j], c] += excess
    gradient[:last] = _times(back[0], back[1], back[2], slopes)
    for c in range(width):
        for k in range(last):
            gradient[k, c] = gradient[k, c] / people + penalty * weights[k, c]
        gradient[last, c] = slope[c] / people
    return loss / people
