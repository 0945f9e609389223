"""A value that the generalization excludes is impossible."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise.predictors.masks import Mask, allowed_values, mask_of, masked


def test_masks_of_two_columns_are_intersected():
    masks = (mask_of(0, np.array([0, 0, 1, 1])), mask_of(1, np.array([0, 1, 0, 1])))
    found = allowed_values(masks, np.array([[0, 0], [1, 1], [0, 1]]), 4)
    assert found.astype(int).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_a_contradiction_excludes_nothing():
    contradiction = (Mask(0, np.array([[True, False]])), Mask(1, np.array([[False, True]])))
    assert allowed_values(contradiction, np.array([[0, 0]]), 2).all()


@given(st.integers(0, 2**32), st.integers(1, 20), st.integers(1, 8))
def test_masked_probabilities_sum_to_one_over_what_is_allowed(seed, rows, values):
    random = np.random.default_rng(seed)
    probabilities = random.random((rows, values)) * (random.random((rows, values)) < 0.6)
    allowed = random.random((rows, values)) < 0.5
    allowed[np.arange(rows), random.integers(0, values, rows)] = True
    found = masked(probabilities, allowed)
    assert np.allclose(found.sum(axis=1), 1)
    assert (found[~allowed] == 0).all()
    kept = np.where(allowed, probabilities, 0)
    some = kept.sum(axis=1) > 0
    assert np.allclose(found[some] * kept[some].sum(axis=1, keepdims=True), kept[some])
