"""Cross-validation: everybody has a say in the choice, and nobody is guessed by who learned from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema
from leastwise.evaluation import label_guesses as guessing
from leastwise.evaluation import utility
from leastwise.predictors import JointBuckets, Logistic
from leastwise.predictors.base import OneHot, samples
from leastwise.predictors.cross_validation import CrossValidated, pool
from tests.predictors.populations import samples_of
from tests.samples import LABEL, age_tells, coded


class Remembers:
    """Knows by heart whom it learned from; of everybody else it guesses 0."""

    name = "remembers"

    def fit(self, train, validation):
        self.known = dict(zip(train.inputs[:, 0].tolist(), train.targets[:, 0].tolist(), strict=True))
        return self

    def predict(self, inputs):
        return [np.eye(2)[[self.known.get(i, 0) for i in inputs[:, 0].tolist()]]]


def everybody_alone(rows=60):
    return samples_of(np.arange(rows)[:, None], np.ones((rows, 1), dtype=int), (rows,), (2,))


def test_nobody_is_guessed_by_who_learned_from_them():
    found = CrossValidated([Remembers()]).fit(everybody_alone())
    assert not found.beliefs_.argmax(axis=1).any()  # whoever had been learned from would be guessed as 1
    again = found.predict(everybody_alone()).argmax(axis=1)
    assert again.mean() == pytest.approx(0.9)  # all but the tenth that chooses hyperparameters


def test_the_records_of_a_person_are_in_one_fold():
    rows = samples_of(np.repeat(np.arange(30), 4)[:, None], np.ones((120, 1), dtype=int), (30,), (2,))
    assert not CrossValidated([Remembers()]).fit(rows, np.repeat(np.arange(30), 4)).beliefs_.argmax(axis=1).any()
    assert CrossValidated([Remembers()]).fit(rows).beliefs_.argmax(axis=1).any()
    two = CrossValidated([Remembers()]).fit(rows, np.arange(120) % 2)  # fewer persons than folds: by rows
    assert len(two.beliefs_) == 120


def test_the_better_one_is_chosen_and_predictors_are_not_shared():
    random = np.random.default_rng(0)
    inputs = random.integers(0, 3, (400, 2))
    label = (inputs[:, :1] > 0) ^ (random.random((400, 1)) < 0.1)
    given = JointBuckets()
    rows = samples_of(inputs, label, (3, 3), (2,))
    found = CrossValidated([Remembers(), given]).fit(rows)
    assert "joint_buckets" in found.chosen_
    assert not hasattr(given, "fitted_")
    assert (found.beliefs_.argmax(axis=1) != label[:, 0]).mean() == pytest.approx(0.1, abs=0.05)


class Coin:
    """Believes, of everybody it did not learn from, what a coin says that is thrown anew for each learning."""

    name = "coin"

    def __init__(self):
        self.random = np.random.default_rng(0)

    def __deepcopy__(self, _):
        return self  # the coin is the same: what is learned from other records is other chance

    def fit(self, train, validation):
        return self

    def predict(self, inputs):
        yes = self.random.random(len(inputs))
        return [np.stack([1 - yes, yes], axis=1)]


def test_repeats_average_what_is_chance():
    """The mean of many throws is near a half; of one throw it is anywhere."""
    spread = []
    for repeats in (1, 16):
        found = CrossValidated([Coin()], repeats=repeats).fit(everybody_alone(300))
        spread.append(float(found.beliefs_[:, 1].std()))
        assert len(found.fitted_) == repeats
    assert spread[1] == pytest.approx(spread[0] / 4, rel=0.2)
    assert float(found.predict(everybody_alone(300))[:, 1].std()) == pytest.approx(spread[1], rel=0.3)


def test_repeats_never_guess_somebody_by_who_learned_from_them():
    found = CrossValidated([Remembers()], repeats=4).fit(everybody_alone())
    assert not found.beliefs_.argmax(axis=1).any()


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_no_shares_have_a_lower_log_loss_than_the_pool(seed, predictors):
    random = np.random.default_rng(seed)
    of_truth = random.uniform(0.01, 1, (predictors, 40))
    weights = random.integers(1, 4, 40).astype(float)

    def loss(shares):
        return -np.average(np.log(shares @ of_truth), weights=weights)

    shares = np.array(pool([*of_truth], weights).shares)
    assert shares.sum() == pytest.approx(1)
    others = random.dirichlet(np.ones(predictors), 200)
    assert loss(shares) <= min(map(loss, others)) + 1e-3


def test_three_who_know_a_third_each_are_heard_together():
    """No one and no two of them know enough: of three clues the label follows the majority."""
    random = np.random.default_rng(0)
    inputs = random.integers(0, 2, (3000, 3))
    label = (inputs.sum(axis=1) >= 2).astype(int)[:, None]

    class Clue:
        def __init__(self, column):
            self.column, self.name = column, f"clue {column}"

        def fit(self, train, validation):
            return self

        def predict(self, inputs):
            yes = np.where(inputs[:, self.column] == 1, 0.75, 0.25)
            return [np.stack([1 - yes, yes], axis=1)]

    found = CrossValidated([Clue(0), Clue(1), Clue(2)]).fit(samples_of(inputs, label, (2, 2, 2), (2,)))
    assert found.chosen_ == "clue 0 + clue 1 + clue 2"
    assert np.array_equal(found.beliefs_.argmax(axis=1), label[:, 0])


def test_few_records_are_cross_validated_and_many_are_not(monkeypatch):
    split, everything = age_tells().split(0), Generalization.untouched(age_tells().schema)
    used = []
    monkeypatch.setattr(CrossValidated, "predict", lambda self, rows: used.append(1) or self.beliefs_)
    monkeypatch.setattr(guessing, "FEW", 100)
    plain = guessing.label_guesses(everything, split, [JointBuckets()])
    assert not used
    monkeypatch.undo()
    few = guessing.label_guesses(everything, split, [JointBuckets()])
    assert len(few.wrong("test", split.test)) == len(split.test)
    assert few != plain


def test_what_is_tested_is_not_learned_from():
    """Other labels on test: the guesses stay, so exactly what changed is wrong or right anew."""
    table = age_tells()
    split, everything = table.split(0), Generalization.untouched(table.schema)
    changed = replace(split.test, labels=1 - split.test.y)
    told = [
        guessing.label_guesses(everything, parts, [JointBuckets(), Logistic()]).wrong("test", parts.test)
        for parts in (split, split._replace(test=changed))
    ]
    assert np.array_equal(told[0], ~told[1])


def test_where_validation_stands_for_test_nobody_tested_is_learned_from():
    table = age_tells()
    chance = replace(table, labels=np.random.default_rng(7).integers(0, 2, len(table)))
    split = chance.split(0, (0.4, 0.3, 0.3))
    found = utility.utility_risk(Generalization.untouched(table.schema), split.on_validation())
    assert found.error > 0.42  # labels at random cannot be told


def test_missing_is_no_rank():
    schema = Schema((Attribute("grade", "ordinal", values=("a", "b", "c"), missing=True),), LABEL)
    table = coded(schema, [0, 1, 2, 3], labels=[0, 1, 0, 1])
    (grade,) = OneHot.with_numbers(samples(table, Generalization.untouched(schema), "label")).rows
    assert grade[:, 2].tolist() == [0, 0, 0, 1]
    assert grade[3, :2].tolist() == [0, 0]


def test_a_number_is_scaled_and_ranked():
    schema = Schema((Attribute("age", "continuous", missing=True), Attribute("job", values=("a", "b"))), LABEL)
    table = coded(schema, [0, 1, 2, 3], [0, 1, 0, 1], labels=[0, 1, 0, 1], numbers={"age": [1.0, 2.0, 9.0]})
    form = OneHot.with_numbers(samples(table, Generalization.untouched(schema), "label"))
    age, job = form.rows
    assert np.average(age[:3, 0]) == pytest.approx(0, abs=1e-6)
    assert age[:3, 0] @ age[:3, 0] / 3 == pytest.approx(1, abs=1e-6)
    assert age[:3, 1].tolist() == pytest.approx([-1 / 3, 1 / 3, 1], abs=1e-6)
    assert age[:, 2].tolist() == [0, 0, 0, 1]  # missing is no number
    assert job.tolist() == [[1, 0], [0, 1]]


def test_a_straight_line_needs_few_records():
    """Where a number has a slope, two figures tell more than a figure for every value."""
    random = np.random.default_rng(0)
    schema = Schema((Attribute("age", "continuous"),), LABEL)
    age = random.integers(0, 100, 5000)
    table = coded(schema, age, labels=random.random(5000) < age / 100)
    rows = samples(table, Generalization.untouched(schema), "label")
    few, many = rows.take(np.arange(80)), rows.take(np.arange(80, 5000))
    errors = []
    for inputs in ("numbers", "one-hot"):
        (found,) = Logistic((0.3,), inputs=inputs).fit(few, few).predict(many.inputs)
        errors.append((found.argmax(axis=1) != many.targets[:, 0]).mean())
    assert errors[0] < 0.27 < errors[1]
