"""The network of numpy: its gradients, what it finds, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise.predictors import Boosting, JointBuckets, Logistic, Network, errors, guesses
from leastwise.predictors.base import OneHot, starts
from leastwise.predictors.network import Training, softmax
from tests.predictors.populations import best_errors, masked_population, population, samples_of


def test_gradients_are_those_of_the_cross_entropy():
    train = masked_population(60, 0)
    one_hot = OneHot.of(train)
    training = Training(Network(hidden=5), train, one_hot, np.random.default_rng(0))
    rows = np.arange(len(train))
    gradients = training._gradients(rows)

    def loss(weights):
        logits = np.maximum(one_hot(train.inputs) @ weights[0] + weights[1], 0) @ weights[2] + weights[3]
        found = softmax(logits.astype(np.float64), train.allowed(0))
        return -np.log(found[rows, train.targets[:, 0]]).mean()

    for k, gradient in enumerate(gradients):
        for place in [0, gradient.size // 2, gradient.size - 1]:
            moved = [[w.astype(np.float64) for w in training.weights] for _ in range(2)]
            moved[0][k].flat[place] += 1e-4
            moved[1][k].flat[place] -= 1e-4
            slope = (loss(moved[0]) - loss(moved[1])) / 2e-4
            assert abs(gradient.flat[place] - slope) < 2e-4


def test_planted_leaks_are_found():
    train, validation, test = population(8000, 0), population(100, 1), population(5000, 2)
    found = errors(guesses(Network().fit(train, validation), test), test)
    assert (np.abs(found - best_errors()) < 0.02).all(), found


def test_a_target_that_the_masks_tell_is_read_off():
    base = masked_population(300, 0)
    from leastwise.predictors.base import mask_of

    told = samples_of(base.inputs, base.inputs[:, 1:], (4, 3), (3,), masks=((mask_of(1, np.arange(3)),),))
    network = Network().fit(told, told)
    assert network.open_ == []
    (found,) = network.predict(told.inputs)
    assert np.array_equal(found, np.eye(3)[told.inputs[:, 1]])


def test_no_inputs_at_all():
    train = samples_of(np.zeros((400, 0), dtype=int), np.repeat([[0], [1], [1], [1]], 100, axis=0), (), (2,))
    (found,) = Network().fit(train, train).predict(np.zeros((3, 0), dtype=int))
    assert found.argmax(axis=1).tolist() == [1, 1, 1]


def test_one_hot_of_an_ordered_input_has_its_rank_and_at_most_so_many_runs():
    many = replace(samples_of([[0], [999]], [[0], [1]], (1000,), (2,)), ordered=(True,))
    form = OneHot.of(many)
    found = form(many.inputs)
    assert found.shape == (2, 129)
    assert found[:, -1].tolist() == [0, 1]
    assert found[:, :-1].sum(axis=1).tolist() == [1, 1]
    assert starts([2, 3]).tolist() == [0, 2, 5]


def test_a_code_that_training_never_showed_looks_like_everybody_or_like_its_neighbour():
    """Weights that no record ever moved are noise, and rare values are met for the first time in test."""
    rows = samples_of([[0], [0], [0], [3], [4]], [[0], [0], [1], [1], [1]], (6,), (2,))
    form = OneHot.of(rows)
    assert (
        form(np.array([[1], [5]])).tolist() == [[np.float32(0.6), 0, 0, np.float32(0.2), np.float32(0.2), 0]] * 2
    )
    assert form(np.array([[3]])).tolist() == [[0, 0, 0, 1, 0, 0]]
    ordered = OneHot.of(replace(rows, ordered=(True,)))
    assert ordered(np.array([[1], [2], [5]]))[:, :-1].argmax(axis=1).tolist() == [0, 3, 4]
    assert ordered(np.array([[1]]))[0, -1] == np.float32(0.2), "its place among the numbers is known"


@pytest.mark.parametrize("make", [Network, Logistic, Boosting, JointBuckets])
def test_unseen_values_are_guessed_as_the_rest_of_the_record_says(make):
    """A predictor may not let a value that it never saw drown what it knows."""
    train, validation, test = (population(4000, seed) for seed in (0, 1, 2))
    only = np.flatnonzero(train.inputs[:, 5] < 2)  # the sixth input tells nothing, and lacks a value here
    shown = replace(train, inputs=train.inputs[only], targets=train.targets[only], weights=train.weights[only])
    fitted = make().fit(shown, validation)
    new = np.flatnonzero(test.inputs[:, 5] == 2)
    met = replace(test, inputs=test.inputs[new], targets=test.targets[new], weights=test.weights[new])
    found, known = (errors(guesses(fitted, part), part) for part in (met, test))
    assert (found <= known + 0.03).all(), (found, known)


def test_boosting_bears_a_value_that_one_person_has():
    """Parts are random samples: a class may be there once, which can not be both learned and held out."""
    train = population(3000, 0)
    targets = train.targets[:, 3:].copy()
    targets[targets == 2] = 0
    targets[7] = 2
    rare = replace(train, targets=targets, target_sizes=(3,))
    (found,) = Boosting(rounds=5).fit(rare, rare).predict(rare.inputs[:5])
    assert np.allclose(found.sum(axis=1), 1)


def test_boosting_leaves_what_is_too_much_work_to_counting():
    train = population(400, 0)
    boosting = Boosting(most_work=400 * 2)
    assert boosting.worthwhile(train)
    assert not boosting.worthwhile(population(401, 0))
    assert [fitted is None for fitted in boosting.fit(train, train).boosted_] == [True, True, False, True]
    assert [boosting.worthwhile(train.of_target(t)) for t in range(4)] == [False, False, True, False]
