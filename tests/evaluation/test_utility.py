"""Utility risk: exact on populations that are known, framed by its limit points, judged by whom the user likes."""

from __future__ import annotations

import sys

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.errors import ParameterError, SchemaError
from leastwise.evaluation.utility import generalized_frame, judged_by, utility_limits, utility_risk
from leastwise.predictors import JointBuckets, Logistic
from tests.samples import unlabelled

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
JOB = Attribute("job", values=("a", "b", "c", "d"), personal=True)
LABEL = Attribute("y", values=("no", "yes"))
SCHEMA = Schema((AGE, JOB), LABEL)


@pytest.fixture(scope="module")
def table():
    """The label is "older than 40, and job c or d", wrong for every tenth person."""
    random = np.random.default_rng(0)
    age, job = random.integers(0, 100, 6000), random.integers(0, 4, 6000)
    label = ((age > 40) & (job >= 2)) ^ (random.random(6000) < 0.1)
    ages = [None if missing else int(a) for a, missing in zip(age, random.random(6000) < 0.01, strict=True)]
    frame = {"age": ages, "job": np.array(list("abcd"))[job], "y": np.where(label, "yes", "no")}
    return Table.from_frame(pl.DataFrame(frame), SCHEMA)


@pytest.fixture(scope="module")
def enough():
    """All that the label needs."""
    partitions = [Intervals(AGE, (40,), (2,)), Groups.of(JOB, [["a", "b"], ["c", "d"]])]
    return Generalization.of(partitions, SCHEMA.attributes, label=LABEL)


def test_what_is_enough_reaches_the_noise(table, enough):
    found = utility_risk(enough, table)
    assert found.interval.low <= 0.1 <= found.interval.high
    assert found.error == pytest.approx(0.1, abs=0.02)
    assert found.people == 1800
    assert found.baseline > 0.25


def test_limit_points_frame_every_candidate(table, enough):
    split = table.split(0)
    suppressed, untouched = utility_limits(split)
    assert suppressed.error == suppressed.baseline, "nothing known: the majority is guessed"
    assert untouched.error <= 0.13
    assert untouched.error - 0.02 <= utility_risk(enough, split).error <= suppressed.error


def test_the_same_seed_gives_the_same_risk(table, enough):
    assert utility_risk(enough, table, quick=True) == utility_risk(enough, table, quick=True)


def test_own_predictors_may_judge(table, enough):
    assert utility_risk(enough, table, [JointBuckets()]).predictor == "joint_buckets"


def test_the_limit_points_are_judged_as_everything_else(table):
    few, predictors = table.take(np.arange(400)).split(0), [JointBuckets(), Logistic()]
    _, untouched = utility_limits(few, predictors)
    alone = utility_risk(Generalization.untouched(SCHEMA), few, predictors)
    assert (untouched.error, untouched.predictor) == (alone.error, alone.predictor)


@pytest.mark.parametrize("frame", ["labels", "codes"])
def test_ones_own_pipeline_may_judge(table, enough, frame):
    pipeline = make_pipeline(OneHotEncoder(handle_unknown="ignore"), DecisionTreeClassifier(random_state=0))
    found = judged_by(pipeline, enough, table, frame=frame)
    assert found.error == pytest.approx(utility_risk(enough, table).error, abs=0.01)
    assert found.predictor == "Pipeline"


def test_the_judge_sees_only_what_is_collected(table, enough):
    frame = generalized_frame(table, enough)
    assert list(frame.columns) == ["age", "job"]
    assert set(frame["age"]) == {"0 to 40", "41 to 99", "missing"}
    fewer = enough.replacing(Intervals(AGE, (), (0,)))
    assert list(generalized_frame(table, fewer).columns) == ["job"]
    exact = generalized_frame(table, Generalization.untouched(SCHEMA))
    assert exact["age"].dtype == float
    assert int(exact["age"].isna().sum()) == int((table.codes[:, 0] == 100).sum())


def test_without_pandas_the_frame_is_polars(table, enough, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pandas", None)
        frame = generalized_frame(table, enough)
    assert isinstance(frame, pl.DataFrame)
    judge = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression())
    assert (judge.fit(frame, table.y).predict(frame) != table.y).mean() < 0.35


def test_weights_count_people(table, enough):
    split = table.split(0)
    halves = split.test.take(np.concatenate([np.arange(len(split.test))] * 2))
    twice = split._replace(test=halves.distinct())
    assert twice.test.people == 2 * len(split.test)
    ours, theirs = (utility_risk(enough, parts, [JointBuckets()]) for parts in (split, twice))
    assert ours.error == pytest.approx(theirs.error)
    assert theirs.interval.high < ours.interval.high, "more people, more certainty"


def test_bad_arguments_are_named(table, enough):
    with pytest.raises(ParameterError, match="did you mean 'labels'"):
        judged_by(LogisticRegression(), enough, table, frame="label")
    without = unlabelled(table)
    with pytest.raises(SchemaError, match="needs a label"):
        utility_risk(Generalization.suppressed(without.schema), without)
