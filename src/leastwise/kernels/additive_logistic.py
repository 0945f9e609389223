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


# Newton's method ends where no slope is steeper than this share of twice the rarer class (of one person among a
# million a slope of the mean says nothing), or after so many steps.
_FLAT, _MOST_STEPS = 1e-5, 25


@njit()
def _look(
    inputs: Array, effects: Floats, people: Floats, second: Floats, slopes: Floats, curves: Floats
) -> float:  # pragma: no cover
    """Return the log loss of two classes; put in its slopes, and the upper half of its curvature, code by code.

    What everybody has is the last of the ``effects``; it also comes last in ``slopes`` and ``curves``.
    """
    last, columns, loss = len(effects) - 1, inputs.shape[1], 0.0
    slopes[:], curves[:] = 0.0, 0.0
    for i in range(len(inputs)):
        row, s = inputs[i], effects[last]
        for j in range(columns):
            s += effects[row[j]]
        odds = np.exp(-abs(s))
        chance = 1.0 / (1.0 + odds) if s >= 0 else odds / (1.0 + odds)
        loss += people[i] * (max(s, 0.0) + np.log1p(odds)) - second[i] * s
        excess, curve = people[i] * chance - second[i], people[i] * chance * (1.0 - chance)
        slopes[last] += excess
        curves[last, last] += curve
        for j in range(columns):
            slopes[row[j]] += excess
            own = curves[row[j]]
            own[last] += curve
            for k in range(j, columns):
                own[row[k]] += curve
    return loss


@njit()
def _solved(matrix: Floats, right: Floats) -> Floats:  # pragma: no cover
    """Solve for a positive definite matrix, of which the upper half is given and used up (Cholesky)."""
    size, found = len(right), right.copy()
    for k in range(size):
        row = matrix[k]
        root = np.sqrt(max(row[k], 1e-300))
        for j in range(k, size):
            row[j] /= root
        found[k] /= root
        for i in range(k + 1, size):
            times, below = row[i], matrix[i]
            if times != 0.0:
                for j in range(i, size):
                    below[j] -= times * row[j]
                found[i] -= times * found[k]
    for k in range(size - 1, -1, -1):
        for j in range(k + 1, size):
            found[k] -= matrix[k, j] * found[j]
        found[k] /= matrix[k, k]
    return found


@njit()
def _in_weights(form: Sparse, back: Sparse, curves: Floats, penalty: float) -> Floats:  # pragma: no cover
    """Return the curvature in weights from that in codes, of which the upper half is given."""
    last = len(curves) - 1
    for a in range(last):
        for b in range(a):
            curves[a, b] = curves[b, a]
    half = _times(back[0], back[1], back[2], curves[:last])
    full = _times(back[0], back[1], back[2], half[:, :last].T.copy())
    size = len(full)
    out = np.empty((size + 1, size + 1))
    out[:size, :size], out[:size, size], out[size, size] = full, half[:, last], curves[last, last]
    for k in range(size):
        out[k, k] += penalty
    return out


@njit()
def fit_two_classes(
    inputs: Array, form: Sparse, back: Sparse, people: Floats, second: Floats, penalty: float, weights: int
) -> Floats:  # pragma: no cover
    """Return the weights, and behind them the intercept, that minimise log loss and half the penalised squares.

    By Newton's method: a few looks at the rows instead of dozens. ``people`` are those of each distinct row and
    ``second`` those of them with the second class: some of them and not all; ``inputs``, ``form`` and ``back`` are
    as for ``loss_and_slopes``.
    """
    codes, total = len(form[0]) - 1, people.sum()
    flat = _FLAT * 2 * min(second.sum(), total - second.sum())
    slopes, curves = np.empty(codes + 1), np.empty((codes + 1, codes + 1))
    now, step, least = np.zeros(weights + 1), np.zeros(weights + 1), np.inf
    step[weights] = np.log(second.sum() / (total - second.sum()))  # guessing: no step makes it worse than that
    for _ in range(_MOST_STEPS):
        effects = np.empty(codes + 1)
        effects[:codes] = _times(form[0], form[1], form[2], (now + step)[:weights].reshape(-1, 1))[:, 0]
        effects[codes] = now[weights] + step[weights]
        loss = _look(inputs, effects, people, second, slopes, curves)
        loss += penalty / 2 * ((now + step)[:weights] ** 2).sum()
        if not loss <= least + 1e-12 * total:  # too far
            step /= 2
            continue
        now, least = now + step, min(loss, least)
        gradient = np.empty(weights + 1)
        gradient[:weights] = _times(back[0], back[1], back[2], slopes[:codes].reshape(-1, 1))[:, 0]
        gradient[:weights] += penalty * now[:weights]
        gradient[weights] = slopes[codes]
        if np.abs(gradient).max() <= flat:
            break
        step = -_solved(_in_weights(form, back, curves, penalty), gradient)
    return now
