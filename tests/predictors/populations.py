"""Populations whose best predictor is known."""

from __future__ import annotations

import numpy as np

from leastwise.predictors import Samples
from leastwise.predictors.base import mask_of


def samples_of(inputs, targets, input_sizes=None, target_sizes=None, weights=None, masks=()):
    inputs, targets = np.asarray(inputs, dtype=np.intp), np.asarray(targets, dtype=np.intp)
    input_sizes = tuple(input_sizes or (inputs.max(axis=0) + 1).tolist())
    target_sizes = tuple(target_sizes or (targets.max(axis=0) + 1).tolist())
    weights = np.ones(len(inputs)) if weights is None else np.asarray(weights, dtype=float)
    return Samples(inputs, input_sizes, (False,) * len(input_sizes), targets, target_sizes, weights, masks)


def population(rows, seed, *, columns=6, size=3, noise=0.1):
    """Return inputs at random and four targets: a copy, a function of two, an XOR, and pure chance.

    Of the first three a share ``noise`` is replaced by chance.
    """
    random = np.random.default_rng(seed)
    inputs = random.integers(0, size, (rows, columns))
    a, b, c, d, e = (inputs[:, j % columns] for j in range(5))
    truths = [a, (b * 2 + c) % 4, (d > 0) ^ (e > 0)]
    sizes = (size, 4, 2, 3)
    targets = np.empty((rows, 4), dtype=np.intp)
    for t, truth in enumerate(truths):
        chance = random.random(rows) < noise
        targets[:, t] = np.where(chance, random.integers(0, sizes[t], rows), truth)
    targets[:, 3] = random.choice(3, rows, p=[0.5, 0.3, 0.2])
    return samples_of(inputs, targets, (size,) * columns, sizes)


def best_errors(noise=0.1, size=3):
    """Return the errors that nobody can beat on ``population``."""
    return np.array([noise * (1 - 1 / size), noise * 3 / 4, noise / 2, 0.5])


def masked_population(rows, seed):
    """Return a target of six values of which the input shows the third it lies in, and nothing else helps."""
    random = np.random.default_rng(seed)
    value = random.choice(6, rows, p=[0.4, 0.02, 0.28, 0.02, 0.18, 0.1])
    bucket_of = np.array([0, 0, 1, 1, 2, 2])
    inputs = np.column_stack([random.integers(0, 4, rows), bucket_of[value]])
    return samples_of(inputs, value[:, None], (4, 3), (6,), masks=((mask_of(1, bucket_of),),))
