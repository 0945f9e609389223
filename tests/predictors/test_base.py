"""The rows that predictors learn from, and what the generalization rules out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.errors import ParameterError
from leastwise.predictors.base import Mask, OneHot, allowed_values, mask_of, masked, samples
from tests.predictors.populations import samples_of

AGE = Attribute("age", "continuous", lower=0, integer=True)
JOB = Attribute("job", values=("a", "b", "c"), personal=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
LABEL = Attribute("y", values=("no", "yes"))


@pytest.fixture
def table():
    rows = {"age": [20, 30, 40, 20], "job": ["a", "b", "c", "b"], "sex": ["f", "m", "f", "m"]}
    import polars as pl

    frame = pl.DataFrame({**rows, "y": ["no", "yes", "no", "yes"]})
    return Table.from_frame(frame, Schema((AGE, JOB, SEX), LABEL))


@pytest.fixture
def generalization():
    partitions = [Intervals(AGE, (25,)), Groups.of(JOB, [["a", "b"]])]
    return Generalization.of(partitions, [AGE, JOB, SEX], label=LABEL)


def test_only_what_is_collected_is_an_input(table, generalization):
    found = samples(table, generalization)
    assert found.inputs.tolist() == [[0, 0], [1, 0], [1, 1], [0, 0]]
    assert found.input_sizes == (2, 2)
    assert found.ordered == (True, False)
    assert found.targets.tolist() == [[0, 0], [1, 1], [2, 0], [1, 1]]
    assert found.target_sizes == (3, 2)


def test_a_bucket_rules_out_the_values_of_the_others(table, generalization):
    found = samples(table, generalization)
    assert found.allowed(0).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0]]
    assert found.allowed(1).all(), "sex is not collected, so nothing is ruled out"


def test_what_is_known_in_full_replaces_its_bucket(table, generalization):
    found = samples(table, generalization, targets=[2], known=[0, 1])
    assert found.input_sizes == (3, 3)
    assert found.inputs.tolist() == [[0, 0], [1, 1], [2, 2], [0, 1]]


def test_label_samples_have_no_masks(table, generalization):
    found = samples(table, generalization, "label")
    assert found.targets[:, 0].tolist() == [0, 1, 0, 1]
    assert found.target_masks == ((),)


def test_nothing_collected_leaves_no_inputs(table):
    found = samples(table, Generalization.suppressed(table.schema))
    assert found.inputs.shape == (4, 0)
    assert len(found.buckets[0]) == 1


def test_distinct_rows_keep_all_people(table, generalization):
    found = samples(table, generalization, [2]).distinct()
    assert len(found) == 4
    assert samples(table, generalization, "label").distinct().weights.sum() == 4
    one = samples(table, generalization).of_target(1)
    assert sorted(one.weights.tolist()) == [1, 1, 1, 1]
    doubled = samples(table.take(np.array([0, 0, 1, 1, 1])), generalization).of_target(1)
    assert sorted(doubled.weights.tolist()) == [2, 3]


def test_unknown_targets_are_refused(table, generalization):
    with pytest.raises(ParameterError, match="'personal' or 'label'"):
        samples(table, generalization, "lable")


def test_masks_of_two_columns_are_intersected():
    masks = (mask_of(0, np.array([0, 0, 1, 1])), mask_of(1, np.array([0, 1, 0, 1])))
    found = allowed_values(masks, np.array([[0, 0], [1, 1], [0, 1]]), 4)
    assert found.astype(int).tolist() == [[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_a_contradiction_excludes_nothing():
    contradiction = (Mask(0, np.array([[True, False]])), Mask(1, np.array([[False, True]])))
    assert allowed_values(contradiction, np.array([[0, 0]]), 2).all()


def test_a_bucket_behind_which_nothing_may_lie_excludes_nothing():
    alone = (Mask(0, np.array([[True, False], [False, False]])),)
    assert allowed_values(alone, np.array([[1], [0]]), 2).tolist() == [[True, True], [True, False]]


def test_where_nothing_is_said_of_what_is_allowed_everything_is():
    probabilities = np.array([[0.2, 0.6], [0.0, 0.0], [np.nan, 1.0]])
    found = masked(probabilities, np.ones((3, 2), dtype=bool))
    assert masked(probabilities, None).tolist() == found.tolist()


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


def test_of_very_many_codes_the_rarest_share_a_place() -> None:
    """One-hot rows grow with the codes, not with their square; what nobody shows looks like everybody."""
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(3000), rng.integers(0, 100, 2000)])
    rows = OneHot.of(samples_of(codes[:, None], codes[:, None] * 0, (5000,), (2,))).rows[0]
    assert rows.shape == (5000, 2048)
    assert (rows[:100].argmax(axis=1) == np.arange(100)).all(), "frequent ones have their own"
    assert (rows[2900:3000, -1] == 1).all(), "rare ones have one together"
    assert np.allclose(rows[3000:], np.bincount(rows.argmax(axis=1)[codes], minlength=2048) / len(codes))
