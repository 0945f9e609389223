"""Any scikit-learn classifier can be plugged in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import CategoricalNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from leastwise.errors import ParameterError
from leastwise.predictors import Boosting, Logistic, SklearnPredictor, errors, guesses
from leastwise.predictors.base import OneHot
from leastwise.predictors.sklearn import _Design, fit_weighted
from tests.predictors.populations import best_errors, population, samples_of


@pytest.mark.parametrize(
    "predictor",
    [
        SklearnPredictor(DecisionTreeClassifier(min_samples_leaf=5, random_state=0), inputs="codes"),
        SklearnPredictor(DecisionTreeClassifier(min_samples_leaf=5, random_state=0)),
        Boosting(),
    ],
    ids=["tree on codes", "tree on one-hot", "boosting"],
)
def test_trees_find_planted_leaks(predictor):
    train, validation, test = (
        population(6000, 0, columns=5),
        population(500, 1, columns=5),
        population(4000, 2, columns=5),
    )
    found = errors(guesses(predictor.fit(train, validation), test), test)
    assert (found[:3] < best_errors()[:3] + 0.03).all(), found


@pytest.mark.parametrize("estimator", [CategoricalNB(min_categories=3), LogisticRegression(max_iter=500)])
def test_distinct_rows_with_weights_equal_all_rows(estimator):
    train = population(3000, 0)
    inputs = "codes" if isinstance(estimator, CategoricalNB) else "one-hot"
    predictor = SklearnPredictor(estimator, inputs=inputs).fit(train, train)
    whole = estimator.fit(predictor._matrix(train.inputs), train.targets[:, 0])
    expected = whole.predict_proba(predictor._matrix(train.inputs[:50]))
    assert np.allclose(predictor.predict(train.inputs[:50])[0], expected, atol=2e-3)


def test_rows_are_repeated_for_those_who_take_no_weights():
    x, y = np.array([[0.0], [1.0], [1.0]]), np.array([0, 0, 1])
    fitted = fit_weighted(KNeighborsClassifier(4), x, y, np.array([1, 1, 3]))
    assert fitted.n_samples_fit_ == 5
    assert fitted.predict([[1.0]]).tolist() == [1]
    with pytest.raises(ParameterError, match="whole numbers"):
        fit_weighted(KNeighborsClassifier(1), x, y, np.array([1, 1, 0.5]))


def test_the_last_step_of_a_pipeline_gets_the_weights():
    x, y = np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1])
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier())
    assert fit_weighted(pipeline, x, y, np.array([1, 5, 1])).predict([[0.0]]).tolist() == [1]


def test_a_guess_without_probabilities_counts_as_certain():
    train = population(1000, 0)
    predictor = SklearnPredictor(RidgeClassifier()).fit(train, train)
    assert predictor.name == "RidgeClassifier"
    found = predictor.predict(train.inputs[:10])[0]
    assert set(np.unique(found)) == {0, 1}


@pytest.mark.parametrize("target", range(4))
@pytest.mark.parametrize("inputs", ["one-hot", "numbers"])
def test_logistic_regression_is_scikit_learns(target, inputs):
    people = replace(population(3000, 0), ordered=(True, False) * 3)  # an ordered column has a rank too
    people = people.of_target(target)
    ours = Logistic((0.5,), most_steps=500, inputs=inputs).fit(people, people).predict(people.inputs)[0]
    theirs = SklearnPredictor(LogisticRegression(C=0.5, max_iter=500), inputs=inputs).fit(people, people)
    assert np.allclose(ours, theirs.predict(people.inputs)[0], atol=2e-3)


@pytest.mark.parametrize("values", [5, 200])  # few codes: Newton's method; many: L-BFGS
def test_logistic_regression_of_the_rare_is_never_worse_than_guessing(values):
    inputs = np.arange(values)[:, None].repeat(2, axis=0)
    people = samples_of(inputs, np.tile([[0], [1]], (values, 1)), (values,), (2,))
    weights = np.tile([200_000.0 // values, 0.0], values)
    weights[1] = 3  # of 200,000 people, all with the first value
    people = replace(people, weights=weights)
    told = Logistic((0.1,)).fit(people, people).predict(people.inputs)[0]
    share = 3 / weights.sum()
    loss = -(weights * np.log(told[np.arange(2 * values), people.targets[:, 0]])).sum()
    assert (told[:, 1] * weights.reshape(-1, 2).sum(axis=1).repeat(2) / 2).sum() == pytest.approx(3, rel=0.01)
    assert loss < -3 * np.log(share) - weights[::2].sum() * np.log1p(-share)


def test_no_step_looks_at_a_0_of_a_one_hot_row():
    values = np.arange(2_000)  # an amount, which everybody has another one of
    train = replace(samples_of(values[:, None], values[:, None] % 2), ordered=(True,))
    form = OneHot.of(train)
    assert _Design(train, form).form.nnz == np.count_nonzero(form.rows[0]) < 2 * len(values)


def test_values_that_training_never_showed_have_no_probability():
    train = samples_of([[0], [1]] * 50, [[0], [2]] * 50, (2,), (4,))
    for predictor in (SklearnPredictor(LogisticRegression()), Logistic(), Boosting()):
        found = predictor.fit(train, train).predict(np.array([[0], [1]]))[0]
        assert found.shape == (2, 4)
        assert found.argmax(axis=1).tolist() == [0, 2]


def test_boosting_shares_out_the_rest():
    random = np.random.default_rng(0)
    inputs = random.integers(0, 40, (8000, 1))
    values = np.where(random.random(8000) < 0.9, inputs[:, 0], random.integers(0, 40, 8000))
    train = samples_of(inputs, values[:, None], (40,), (40,))
    predictor = Boosting(most_values=5, rounds=10).fit(train, train)
    found = predictor.predict(np.arange(40)[:, None])[0]
    assert np.allclose(found.sum(axis=1), 1)
    assert (found.argmax(axis=1) == np.arange(40)).mean() > 0.9
