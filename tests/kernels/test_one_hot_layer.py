"""The first layer of a network is a product with one-hot inputs."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise.kernels.one_hot_layer import adam, backward, forward, softmax_delta, summed_rows, where_active
from leastwise.predictors.base import OneHot
from tests.predictors.populations import samples_of


@given(st.integers(0, 2**32), st.lists(st.integers(1, 200), max_size=4))
def test_it_is_the_product_of_the_dense_form(seed: int, sizes: list[int]) -> None:
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([np.zeros((30, 0), dtype=int), *(rng.integers(0, size, 30) for size in sizes)])
    ordered = tuple(bool(each) for each in rng.integers(0, 2, len(sizes)))
    rows = samples_of(inputs.astype(int), np.zeros((30, 1), dtype=int), tuple(sizes), (2,))
    form = OneHot.of(replace(rows, ordered=ordered))
    picked = rng.permutation(30)[:20]
    dense = form(inputs[picked].astype(int))
    weights, bias = rng.normal(size=(form.width, 7)).astype(np.float32), rng.normal(size=7).astype(np.float32)
    delta = rng.normal(size=(20, 7)).astype(np.float32)
    codes = np.ascontiguousarray(inputs, dtype=np.int64)
    found = forward(codes, picked, *form.form, weights, bias)
    assert np.allclose(found, np.maximum(dense @ weights + bias, 0), atol=1e-4)
    assert np.allclose(backward(codes, picked, *form.form, delta, form.width), dense.T @ delta, atol=1e-4)


def test_a_step_of_adam_by_hand() -> None:
    weight, gradient = np.array([1.0, 2.0], dtype=np.float32), np.array([0.5, 0.0], dtype=np.float32)
    mean, square = np.zeros(2, dtype=np.float32), np.zeros(2, dtype=np.float32)
    adam(weight, gradient, mean, square, np.float32(0.1), np.float32(0.9))
    assert np.allclose(mean, [0.05, 0])
    assert np.allclose(square, [0.00025, 0])
    assert np.allclose(weight, [0.9 - 0.1 * 0.05 / 0.00025**0.5, 1.8], atol=1e-5)


@given(st.integers(0, 2**32), st.lists(st.integers(2, 9), min_size=1, max_size=3))
def test_softmax_minus_truth_per_head_with_what_is_impossible_left_out(seed: int, heads: list[int]) -> None:
    rng = np.random.default_rng(seed)
    ends, rows = np.concatenate([[0], np.cumsum(heads)]), rng.permutation(12)[:7]
    inputs, truth = rng.integers(0, 2, (12, 1)), np.column_stack([rng.integers(0, k, 12) for k in heads])
    logits = rng.normal(scale=20, size=(7, ends[-1])).astype(np.float32)
    bias, people = rng.normal(size=ends[-1]).astype(np.float32), rng.random(12).astype(np.float32) + 0.5
    allowed = rng.integers(0, 2, (2, heads[0])).astype(np.float32)
    allowed[:, truth[:, 0]] = 1
    expected = []
    for logit, row in zip(logits + bias, rows, strict=True):
        parts = []
        for k, (a, b) in enumerate(itertools.pairwise(ends)):
            odds = np.exp(np.clip(logit[a:b].astype(float), -40, 40)) * (allowed[inputs[row, 0]] if k == 0 else 1)
            parts.append(odds / odds.sum() - np.eye(b - a)[truth[row, k]])
        expected.append(np.concatenate(parts) * people[row] / 7)
    bits = np.zeros(logits.size, dtype=np.int32)
    masks = np.array([[0, 0, 0]])
    where = (masks, allowed.ravel(), ends, truth + ends[:-1], people, bits, bits.view(np.float32))
    softmax_delta(logits, bias, inputs, rows, *where)
    assert np.allclose(logits, expected, atol=1e-5)


def test_nothing_goes_back_through_what_is_zero() -> None:
    hidden, delta = np.array([[0.0, 2.0]], dtype=np.float32), np.array([[3.0, 4.0]], dtype=np.float32)
    where_active(hidden, delta)
    assert delta.tolist() == [[0.0, 4.0]]


@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(2, 70))
def test_rows_are_summed_bit_for_bit_as_numpy_sums_them(seed: int, rows: int, width: int) -> None:
    drawn = np.random.default_rng(seed).normal(size=(rows, width)).astype(np.float32)
    assert summed_rows(drawn).tolist() == drawn.sum(axis=0).tolist()
