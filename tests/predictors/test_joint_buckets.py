"""Counting is exact where joint buckets are filled, and sensible where they are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.kernels import backoff
from leastwise.predictors import JointBuckets, errors, guesses
from leastwise.predictors.joint_buckets import _Chain
from tests.predictors.populations import best_errors, population, samples_of

PLAIN = {"pseudo_counts": (0.0,), "discounts": (0.0,)}


def counted(train, inputs, target):
    """The slow truth: the shares of each value among the training rows with the same inputs."""
    found = np.zeros((len(inputs), train.target_sizes[target]))
    for q, row in enumerate(inputs):
        same = (train.inputs == row).all(axis=1)
        np.add.at(found[q], train.targets[same, target], train.weights[same])
    return found / found.sum(axis=1, keepdims=True)


@settings(max_examples=30, deadline=None)
# An input of one value divides nobody: then the prior answers, which keeps a trace of every value.
@given(st.integers(0, 2**32), st.integers(1, 120), st.integers(1, 5), st.integers(2, 4))
def test_plain_counting_is_exact(seed, rows, columns, size):
    random = np.random.default_rng(seed)
    inputs, targets = random.integers(0, size, (rows, columns)), random.integers(0, 3, (rows, 2))
    weights = random.integers(1, 4, rows)
    train = samples_of(inputs, targets, (size,) * columns, (3, 3), weights)
    predictor = JointBuckets(**PLAIN).fit(train, train)
    predicted = predictor.predict(train.inputs)
    for t in range(2):
        assert np.allclose(predicted[t], counted(train, train.inputs, t), atol=1e-6)


def test_well_filled_joint_buckets_are_guessed_as_by_counting():
    train, validation = population(20_000, 0, columns=3), population(2000, 1, columns=3)
    every = train.inputs[train.buckets[0]]
    assert len(every) == 27
    predicted = JointBuckets().fit(train, validation).predict(every)
    for t in range(2):
        expected = counted(train, every, t)
        assert np.array_equal(predicted[t].argmax(axis=1), expected.argmax(axis=1))
        assert np.abs(predicted[t] - expected).max() < 0.03


def test_rare_joint_buckets_back_off():
    train, validation, test = (
        population(rows, seed, columns=10) for rows, seed in [(6000, 0), (1000, 1), (4000, 2)]
    )
    assert len(train.buckets[0]) > 0.9 * len(train), "most joint buckets hold one person"
    found = errors(guesses(JointBuckets().fit(train, validation), test), test)
    assert (found[:3] < best_errors()[:3] + 0.02).all()


def test_what_lies_deeper_than_is_asked_is_forgotten_and_missed_by_nobody(monkeypatch):
    train, validation, test = (population(n, seed, columns=10) for n, seed in [(3000, 0), (1000, 1), (500, 2)])
    fitted = JointBuckets().fit(train, validation)
    monkeypatch.setattr(_Chain, "_forget_deeper", lambda _: None)
    whole = JointBuckets().fit(train, validation)
    assert min(len(chain.order) for chain in fitted.chains_) < 10
    for mine, all_of_it in zip(fitted.chains_, whole.chains_, strict=True):
        assert len(mine.order) == mine.depth == all_of_it.depth
        pairs = zip(mine.counts, all_of_it.counts, strict=True)
        assert all(len(kept) <= len(part) for kept, part in pairs)
    monkeypatch.setattr(_Chain, "_path", lambda self, inputs: _walked(self, inputs))
    for mine, all_of_it in zip(fitted.predict(test.inputs), whole.predict(test.inputs), strict=True):
        assert np.array_equal(mine, all_of_it)


def _walked(chain, inputs):
    return backoff.walk(inputs, chain.order[: chain.depth], chain.sizes, *chain.trie, chain.counts[3])


def test_unseen_joint_buckets_use_what_they_share_with_seen_ones():
    random = np.random.default_rng(0)
    inputs = random.integers(0, 2, (2000, 3))
    train = samples_of(
        np.column_stack([inputs[:, 0], np.zeros(2000), inputs[:, 2]]), inputs[:, :1], (2, 5, 2), (2,)
    )
    predictor = JointBuckets().fit(train, train)
    (found,) = predictor.predict(np.array([[0, 4, 1], [1, 3, 0]]))
    assert found.argmax(axis=1).tolist() == [0, 1]
    assert np.allclose(found.sum(axis=1), 1)


def test_weights_equal_repeated_rows():
    rows = population(3000, 3, columns=4)
    times = np.random.default_rng(0).integers(1, 4, 3000)
    weighted = samples_of(rows.inputs, rows.targets, rows.input_sizes, rows.target_sizes, times)
    repeated = samples_of(
        np.repeat(rows.inputs, times, axis=0),
        np.repeat(rows.targets, times, axis=0),
        rows.input_sizes,
        rows.target_sizes,
    )
    validation = population(500, 4, columns=4)
    ours = JointBuckets().fit(weighted, validation).predict(validation.inputs)
    theirs = JointBuckets().fit(repeated, validation).predict(validation.inputs)
    collapsed = JointBuckets().fit(repeated.distinct(), validation).predict(validation.inputs)
    for a, b, c in zip(ours, theirs, collapsed, strict=True):
        assert np.allclose(a, b)
        assert np.allclose(a, c)


def test_without_inputs_the_majority_is_guessed():
    targets = np.array([[0]] * 3 + [[1]] * 7)
    train = samples_of(np.zeros((10, 0), dtype=int), targets, (), (2,))
    (found,) = JointBuckets().fit(train, train).predict(np.zeros((2, 0), dtype=int))
    assert found.argmax(axis=1).tolist() == [1, 1]
    assert found[0, 1] == pytest.approx(7.5 / 11)


def test_the_most_telling_input_comes_first():
    train = population(4000, 0)
    chains = JointBuckets().fit(train, population(500, 1)).chains_
    assert chains[0].order[0] == 0
    assert set(chains[1].order[:2]) == {1, 2}
    assert set(chains[2].order[:2]) == {3, 4}


def test_many_distinct_records_and_values_are_handled():
    random = np.random.default_rng(0)
    inputs = random.integers(0, 40, (40_000, 6))
    targets = (inputs[:, :1] * 13 + random.integers(0, 2, (40_000, 1))) % 520
    train = samples_of(inputs, targets, (40,) * 6, (520,))
    test = samples_of(inputs[:500], targets[:500], (40,) * 6, (520,))
    found = errors(guesses(JointBuckets().fit(train, test), test), test)
    assert found[0] < 0.55


def test_hundreds_of_inputs_are_ordered_in_seconds():
    random = np.random.default_rng(0)
    inputs = random.integers(0, 3, (3000, 200))
    train = samples_of(inputs, inputs[:, [150]], (3,) * 200, (3,))
    chain = JointBuckets().fit(train, train).chains_[0]
    assert chain.order[0] == 150
    assert sorted(chain.order.tolist()) == list(range(200))


def test_what_was_just_looked_up_is_said_of_these_rows_only():
    train, validation, others = (population(400, seed) for seed in range(3))
    fresh, used = (JointBuckets().fit(train, validation) for _ in range(2))
    first, _ = validation.buckets
    for asked in (validation.inputs[first], others.inputs, validation.inputs[first]):
        for chain in fresh.chains_:
            chain.walked = None
        for one, other in zip(fresh.predict(asked), used.predict(asked), strict=True):
            assert np.array_equal(one, other)
