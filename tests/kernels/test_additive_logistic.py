"""The additive label model, against scikit-learn's penalised logistic regression on one column per bucket."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from leastwise.kernels.additive_logistic import Additive, fit_additive, fit_two_classes, loss_and_slopes

SIZES = (4, 3, 1)


def drawn(classes: int, rows: int = 400) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    random = np.random.default_rng(classes)
    columns = [random.integers(0, size, rows) for size in SIZES]
    noise = random.normal(0, 1.5, rows)
    labels = np.clip(np.round(columns[0] - columns[1] + noise - 1), 0, classes - 1).astype(int)
    return columns, labels, random.integers(1, 4, rows).astype(float)


def chances(fitted: Additive, columns: list[np.ndarray]) -> np.ndarray:
    scores = fitted.intercept + sum(w[column] for w, column in zip(fitted.weights, columns, strict=True))
    if scores.shape[1] == 1:
        scores = np.concatenate([np.zeros_like(scores), scores], axis=1)
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("classes", [2, 3])
def test_it_finds_what_scikit_learn_finds(classes):
    columns, labels, people = drawn(classes)
    fitted = fit_additive(columns, SIZES, labels, classes, people, sweeps=3000, tolerance=1e-10)
    one_hot = np.concatenate([np.eye(size)[c] for size, c in zip(SIZES, columns, strict=True)], axis=1)
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(one_hot, labels, sample_weight=people)
    assert_allclose(chances(fitted, columns), peer.predict_proba(one_hot), atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_fit_goes_on_from_an_earlier_one(classes):
    columns, labels, people = drawn(classes)
    whole = fit_additive(columns, SIZES, labels, classes, people, sweeps=4, tolerance=0.0)
    half = fit_additive(columns, SIZES, labels, classes, people, sweeps=2, tolerance=0.0)
    rest = fit_additive(columns, SIZES, labels, classes, people, sweeps=2, tolerance=0.0, start=half)
    assert_allclose(rest.intercept, whole.intercept)
    for one, other in zip(rest.weights, whole.weights, strict=True):
        assert_allclose(one, other)


@pytest.mark.parametrize("classes", [2, 4])
def test_the_loss_and_its_slopes_are_those_of_the_dense_form(classes):
    random = np.random.default_rng(classes)
    inputs = np.stack([random.integers(0, 3, 40), 3 + random.integers(0, 4, 40)], axis=1).astype(np.int32)
    form, counts = random.normal(size=(7, 5)) * random.integers(0, 2, (7, 5)), random.random((40, classes))
    shape = (6, 1 if classes == 2 else classes)
    sparse = [
        (m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data) for m in map(csr_matrix, (form, form.T))
    ]

    def loss(flat: np.ndarray) -> float:
        weights = flat.reshape(shape)
        scores = (form @ weights[:-1])[inputs].sum(axis=1) + weights[-1]
        scores = np.column_stack([np.zeros(40), scores]) if classes == 2 else scores
        return float((counts * (np.logaddexp.reduce(scores, axis=1)[:, None] - scores)).sum() / counts.sum())

    weights, gradient = random.normal(size=shape), np.empty(shape)
    found = loss_and_slopes(inputs, *sparse, weights, counts, float(counts.sum()), 0.3, gradient)
    assert_allclose(found, loss(weights.ravel()))
    penalised = 0.3 * np.concatenate([weights[:-1], np.zeros((1, shape[1]))])
    assert_allclose(gradient, approx_fprime(weights.ravel(), loss).reshape(shape) + penalised, atol=1e-5)


@pytest.mark.parametrize("penalty", [0.3, 30.0])
def test_newtons_method_ends_where_no_slope_is_left(penalty):
    random = np.random.default_rng(3)
    inputs = np.stack([random.integers(0, 3, 200), 3 + random.integers(0, 4, 200)], axis=1).astype(np.int32)
    form = random.normal(size=(7, 5)) * random.integers(0, 2, (7, 5))
    counts = random.integers(0, 9, (200, 2)).astype(float)
    counts[inputs[:, 0] == 2, 0] = 0  # a code that only one class has: far away without a penalty
    people, second = counts.sum(axis=1), np.ascontiguousarray(counts[:, 1])
    sparse = [
        (m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data) for m in map(csr_matrix, (form, form.T))
    ]
    found = fit_two_classes(inputs, *sparse, people, second, penalty, 5)
    slopes, total = np.empty((6, 1)), float(people.sum())
    loss_and_slopes(inputs, *sparse, found[:, None], counts, total, penalty / total, slopes)
    assert_allclose(slopes, 0, atol=2e-5)


@pytest.mark.parametrize("rare", [1, 5])
@pytest.mark.parametrize("people_of_each", [10_000.0, 200_000.0])
def test_the_rare_are_told_as_often_as_they_are(rare, people_of_each):
    inputs = np.array([[0, 2], [0, 3], [1, 2], [1, 3], [0, 4]], dtype=np.int32)
    sparse = [(m.indptr.astype(np.int64), m.indices.astype(np.int64), m.data) for m in [csr_matrix(np.eye(5))] * 2]
    people, second = np.full(5, people_of_each), np.array([rare, 0.0, 0, 0, 0])
    found = fit_two_classes(inputs, *sparse, people, second, 0.3, 5)
    scores = found[:5][inputs].sum(axis=1) + found[5]
    loss = (people * np.logaddexp(0, scores) - second * scores).sum()
    share = rare / people.sum()
    assert_allclose((people / (1 + np.exp(-scores))).sum(), rare, rtol=1e-3)
    assert loss < -rare * np.log(share) - (people.sum() - rare) * np.log1p(-share)  # better than guessing
