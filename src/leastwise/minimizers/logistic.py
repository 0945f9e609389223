"""Logistic regression on one column per bucket, penalised; several classes; starts from an earlier fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from scipy.special import log_softmax

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Logistic:
    """An additive model of the log-odds: per attribute, buckets x scores, and what everybody has.

    For two classes there is one score (that of the second class), otherwise one per class.
    """

    weights: tuple[Floats, ...]
    intercept: Floats


def fit_logistic(
    columns: Sequence[npt.NDArray[Any]],
    sizes: Sequence[int],
    labels: npt.NDArray[Any],
    classes: int,
    people: Floats,
    *,
    penalty: float = 1.0,
    start: Logistic | None = None,
    iterations: int = 60,
) -> Logistic:
    """Fit by L-BFGS; ``penalty`` is the inverse variance of a weight, so 1 person weighs about as much as it."""
    scores = 1 if classes == 2 else classes
    rows = _one_hot(columns, sizes, len(labels))
    truth = np.eye(classes)[labels][:, -scores:] if scores > 1 else (labels == 1)[:, None].astype(float)
    first = np.zeros((rows.shape[1], scores)) if start is None else np.vstack([*start.weights, start.intercept])

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(-1, scores)
        log_likelihood, chance = _likelihood(rows @ weights, truth)
        slope = rows.T @ (people[:, None] * (chance - truth))
        penalised = np.vstack([weights[:-1], np.zeros((1, scores))])
        value = -float(people @ log_likelihood) + penalty / 2 * float((penalised**2).sum())
        return value / people.sum(), ((slope + penalty * penalised) / people.sum()).ravel()

    options = {"maxiter": iterations, "gtol": 1e-6}
    found = minimize(loss, first.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(-1, scores)
    ends = np.cumsum(sizes)
    return Logistic(tuple(np.split(found[:-1], ends[:-1])) if len(sizes) else (), found[-1:])


def _one_hot(columns: Sequence[npt.NDArray[Any]], sizes: Sequence[int], rows: int) -> Any:
    """Return the sparse matrix with a 1 per attribute and one for the intercept."""
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    places = [column.astype(np.int64) + offset for column, offset in zip(columns, offsets, strict=False)]
    places.append(np.full(rows, offsets[-1]))
    flat = np.stack(places, axis=1).ravel()
    ends = np.arange(rows + 1) * len(places)
    return csr_matrix((np.ones(len(flat)), flat, ends), shape=(rows, int(offsets[-1]) + 1))


def _likelihood(scores: Floats, truth: Floats) -> tuple[Floats, Floats]:
    """Return the log-likelihood of each row and the chance of each scored class."""
    if scores.shape[1] == 1:
        both = np.concatenate([np.zeros_like(scores), scores], axis=1)
        logs = log_softmax(both, axis=1)
        right = np.where(truth[:, 0] > 0, logs[:, 1], logs[:, 0])
        return right, np.exp(logs[:, 1:])
    logs = log_softmax(scores, axis=1)
    return (truth * logs).sum(axis=1), np.exp(logs)
