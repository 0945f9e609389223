"""Planted leaks are found to the error that they must have; excluded values never win; the choice is told."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.errors import ParameterError
from leastwise.predictors import (
    Boosting,
    JointBuckets,
    Logistic,
    Network,
    Strongest,
    default_predictors,
    errors,
    guesses,
    strongest,
)
from leastwise.predictors.base import masked
from leastwise.predictors.strongest import Tried, believes, mixtures_of, try_mixtures, try_on_cells
from tests.predictors.populations import best_errors, masked_population, population

EVERY = [JointBuckets(), Network(), Logistic(), Boosting(), strongest(quick=True), strongest()]
NAMES = ["joint buckets", "network", "logistic", "boosting", "strongest, quick", "strongest"]


@pytest.mark.parametrize("quick", [False, True])
def test_planted_leaks_are_found(quick):
    parts = population(8000, 0, columns=8), population(1500, 1, columns=8), population(8000, 2, columns=8)
    train, validation, test = parts
    found = errors(guesses(strongest(quick=quick).fit(train, validation), test), test)
    slack = 3 * np.sqrt(best_errors() * (1 - best_errors()) / len(test)) + 0.005
    assert (np.abs(found - best_errors()) < slack).all(), found


@pytest.mark.parametrize("predictor", EVERY, ids=NAMES)
def test_excluded_values_never_win(predictor):
    train, validation, test = masked_population(3000, 0), masked_population(500, 1), masked_population(2000, 2)
    (found,) = guesses(predictor.fit(train, validation), test)
    assert test.allowed(0)[np.arange(len(test)), found.values].all()
    assert set(found.values.tolist()) == {0, 2, 4}, "the likeliest value of each bucket"
    assert np.all(found.confidence <= 1 + 1e-6)


@pytest.mark.parametrize("predictor", EVERY, ids=NAMES)
def test_probabilities_sum_to_one_and_the_same_seed_gives_the_same(predictor):
    train, validation = population(1500, 0), population(300, 1)
    unseen = population(200, 2).inputs
    first = predictor.fit(train, validation).predict(unseen)
    second = predictor.fit(train, validation).predict(unseen)
    for a, b, size in zip(first, second, train.target_sizes, strict=True):
        assert a.shape == (200, size)
        assert np.allclose(a.sum(axis=1), 1, atol=1e-5)
        assert np.array_equal(a, b)


class Constant:
    """Predicts the same probabilities for everybody."""

    def __init__(self, name, probabilities):
        self.name, self.probabilities = name, [np.asarray(p) for p in probabilities]

    def fit(self, train, validation):
        return self

    def predict(self, inputs):
        return [np.tile(p, (len(inputs), 1)) for p in self.probabilities]


def test_each_target_uses_the_best_on_validation():
    records = population(2000, 0)
    a = Constant("a", [[0.4, 0.3, 0.3], [1, 0, 0, 0], [0.5, 0.5], [0.1, 0.1, 0.8]])
    b = Constant("b", [[0.4, 0.3, 0.3], [1, 0, 0, 0], [0.5, 0.5], [0.5, 0.3, 0.2]])
    choice = strongest([a, b]).fit(records, records)
    assert choice.chosen_[3] == "b"
    assert choice.chosen_[0] == "a", "of equals the first"
    assert choice.scores_[3]["b"] < choice.scores_[3]["a"]


def test_a_mixture_wins_where_two_correct_each_other():
    records = population(4000, 0)
    sure = Constant("sure", [[1, 0, 0], [1, 0, 0, 0], [1, 0], [0.98, 0.01, 0.01]])
    vague = Constant("vague", [[0.4, 0.3, 0.3], [0.3, 0.3, 0.2, 0.2], [0.5, 0.5], [0.34, 0.33, 0.33]])
    choice = strongest([sure, vague]).fit(records, records)
    assert choice.chosen_[3] == "sure + vague"
    alone = Strongest([sure, vague], mixtures=False).fit(records, records)
    assert alone.chosen_[3] == "vague"


def test_no_predictors_are_refused():
    with pytest.raises(ParameterError, match="at least one"):
        strongest([]).fit(population(10, 0), population(10, 1))


def test_the_network_is_left_out_where_counting_is_exact():
    filled, thin = population(50_000, 0, columns=2), population(8000, 0, columns=8)
    network = default_predictors()[1]
    assert isinstance(network, Network)
    assert not network.worthwhile(filled)
    assert network.worthwhile(thin)
    choice = Strongest().fit(filled, population(500, 1, columns=2))
    assert set(choice.chosen_) == {"joint_buckets"}


def test_blocks_do_not_change_the_guesses(monkeypatch):
    train, validation, test = population(1000, 0), population(200, 1), population(700, 2)
    fitted = JointBuckets().fit(train, validation)
    whole = guesses(fitted, test)
    monkeypatch.setattr(sys.modules["leastwise.predictors.strongest"], "_LARGEST_BLOCK", 100)
    for a, b in zip(whole, guesses(fitted, test), strict=True):
        assert np.array_equal(a.values, b.values)
        assert np.array_equal(a.of_truth, b.of_truth)
    direct = masked(fitted.predict(test.inputs)[0], test.allowed(0))
    assert np.array_equal(whole[0].values, direct.argmax(axis=1))
    assert np.allclose(whole[0].of_truth, direct[np.arange(len(test)), test.targets[:, 0]])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_people_of_one_joint_bucket_and_value_are_tried_together(seed, count):
    random = np.random.default_rng(seed)
    rows = replace(population(200, seed, columns=2), weights=random.integers(1, 4, 200).astype(float))
    several = [_Fixed(random.random((9, 12))) for _ in range(count)]
    mixtures = mixtures_of(count)
    found = try_on_cells(several, mixtures, rows)
    for t, guessed in enumerate(try_mixtures(several, mixtures, rows)):
        slow = Tried.of(t, guessed, rows)
        assert np.allclose(found[t].errors, slow.errors)
        assert np.allclose(found[t].log_losses, slow.log_losses)
        assert found[t].best() == slow.best()


class _Fixed:
    """Says of each of nine joint buckets what it was told to."""

    name = "fixed"

    def __init__(self, told):
        self.told = told

    def fit(self, train, validation):
        return self

    def predict(self, inputs):
        own = self.told[inputs[:, 0] * 3 + inputs[:, 1]]
        return [own[:, a:b] / own[:, a:b].sum(axis=1, keepdims=True) for a, b in ((0, 3), (3, 7), (7, 9), (9, 12))]


def test_people_who_all_weigh_nothing_tell_nothing_and_break_nothing():
    """A part of a survey may hold only records of weight 0."""
    wrong, nobody = np.array([[1.0, 0.0], [0.0, 1.0]]), np.zeros(2)
    assert Tried(wrong, np.full((2, 2), 0.5), nobody).best() == 0


def test_what_is_believed_in_choosing_is_what_is_predicted():
    train, validation = population(1500, 0), population(300, 1)
    choice = Strongest((JointBuckets(), Logistic()))
    believed = choice.fit_believing(train, validation)
    assert np.array_equal(
        believed, believes(Strongest((JointBuckets(), Logistic())).fit(train, validation), validation)
    )
    assert np.array_equal(believed, choice.predict(validation.inputs)[0])
