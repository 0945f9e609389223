"""What noise can explain: chances equal scipy's exact tests, and a run is never louder than a check."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leastwise.confidence import binomial_interval
from leastwise.evaluation.noise import (
    adjusted,
    chance_above,
    chance_below,
    chance_of_increase,
    chance_of_number,
    people_behind,
)
from leastwise.predictors.held_out import Difference


def test_shares_of_nobody_say_nothing() -> None:
    assert chance_above(0, 0, 0.1) == chance_below(0, 0, 0.1) == 1.0


def test_limits_are_binomial() -> None:
    assert chance_above(7, 20, 0.2) == pytest.approx(stats.binomtest(7, 20, 0.2, "greater").pvalue)
    assert chance_below(7, 20, 0.5) == pytest.approx(stats.binomtest(7, 20, 0.5, "less").pvalue)
    assert chance_above(1, 20, 0.0) == 0.0


def test_nobody_may_be_alone_means_nobody() -> None:
    assert chance_of_number(1, 0) == 0.0
    assert chance_of_number(0, 0) == 1.0
    assert chance_of_number(5, 4) == pytest.approx(stats.poisson.sf(4, 4))


def test_an_increase_of_the_same_classifier_is_never_sure() -> None:
    wrong = np.random.default_rng(0).random(500) < 0.2
    none = Difference.of(wrong.astype(float) - wrong, np.ones(500))
    assert chance_of_increase(none, 0.0) == pytest.approx(0.5)
    assert chance_of_increase(none, 0.05) > 0.99


def test_an_increase_at_the_limit_alarms_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    alarms = 0
    for _ in range(1000):
        reference = random.random(300) < 0.2
        wrong = np.where(random.random(300) < 0.0625, True, reference)  # five points more: the limit
        more = Difference.of(wrong.astype(float) - reference, np.ones(300))
        alarms += chance_of_increase(more, 0.05) <= 0.05
    assert alarms <= 1000 * 0.05 + 3 * np.sqrt(1000 * 0.05 * 0.95)


def test_holm_by_hand() -> None:
    assert adjusted([0.04, 0.01, 0.03]) == (0.06, 0.03, 0.06)
    assert adjusted([]) == ()


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_lies_between_the_chances_and_bonferroni(chances: list[float]) -> None:
    found = adjusted(chances)
    assert all(c <= a <= min(1.0, len(chances) * c) + 1e-12 for c, a in zip(chances, found, strict=True))
    assert np.all(np.diff(np.asarray(found)[np.argsort(chances, kind="stable")]) >= 0)


def test_people_behind_an_interval() -> None:
    assert people_behind(0.2, binomial_interval(50, 250), 99) == pytest.approx(250, rel=1e-3)
    assert people_behind(0.2, None, 99) == 99
