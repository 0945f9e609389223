"""Chances are honest: equal to scipy's exact tests, and never below what they promise."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from leastwise.checks.budgets import utility_comparisons
from leastwise.checks.comparisons import Comparison, chance_of_shares, statuses
from leastwise.confidence import Interval
from leastwise.errors import ParameterError
from leastwise.evaluation.risk import LabelRisk, UtilityRisk
from leastwise.predictors.held_out import Difference
from leastwise.runs import Budget

COUNTS = st.tuples(st.integers(1, 60), st.integers(1, 60)).flatmap(
    lambda n: st.tuples(st.integers(0, n[0]), st.just(n[0]), st.integers(0, n[1]), st.just(n[1]))
)


@settings(deadline=None)
@given(COUNTS)
def test_one_sided_shares_are_fishers_test(counts: tuple[int, int, int, int]) -> None:
    c1, n1, c2, n2 = counts
    table = [[c2, n2 - c2], [c1, n1 - c1]]
    for direction, alternative in (("more", "greater"), ("less", "less")):
        expected = stats.fisher_exact(table, alternative=alternative).pvalue
        assert chance_of_shares(c1, n1, c2, n2, direction) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(COUNTS, st.integers(0, 10))
def test_allowing_for_rounding_makes_no_alarm_likelier(counts: tuple[int, int, int, int], slack: int) -> None:
    c1, n1, c2, n2 = counts
    assert chance_of_shares(c1, n1, c2, n2, slack=slack) >= chance_of_shares(c1, n1, c2, n2) - 1e-9


def test_two_sided_chance_keeps_its_promise() -> None:
    """Over all outcomes of two samples of the same share, at most 5 % have a chance of at most 5 %."""
    alarms = [[chance_of_shares(a, 20, b, 15) <= 0.05 for b in range(16)] for a in range(21)]
    for share in (0.03, 0.2, 0.5):
        first, second = stats.binom.pmf(range(21), 20, share), stats.binom.pmf(range(16), 15, share)
        assert first @ np.asarray(alarms) @ second <= 0.05


def test_shares_of_nobody_say_nothing() -> None:
    assert chance_of_shares(0, 0, 3, 10) == 1.0


def one(chance: float, matters: bool = True, then: float | None = None) -> Comparison:
    return Comparison(about="x", name="x", then=then, now=1.0, chance=chance, matters=matters, reason="r")


def test_small_differences_are_no_alarm_however_sure() -> None:
    assert statuses([one(0.0, matters=False), one(0.0), one(0.4)], 0.05) == ("fine", "broken", "watch")


def test_many_buckets_do_not_hide_a_broken_budget() -> None:
    buckets = [one(0.5, then=0.1) for _ in range(200)]
    assert statuses([one(0.004), *buckets], 0.01)[0] == "broken"
    assert statuses([one(0.006), *buckets], 0.01)[0] == "watch"  # half of the level is for the buckets
    assert statuses([one(0.006)], 0.01)[0] == "broken"


def test_a_level_is_a_share() -> None:
    with pytest.raises(ParameterError, match="level must be between"):
        statuses([], 2.0)


def test_a_label_that_no_answers_tell_is_shown_and_not_held() -> None:
    more = Difference(0.05, 0.001)
    share = {"error": 0.4, "interval": Interval(0.3, 0.5), "baseline": 0.4, "increase": more}
    labels = (LabelRisk(label="paid", **share), LabelRisk(label="noise", untold=True, **share))
    utility = UtilityRisk(people=1000, predictor="", labels=labels, **share)
    judged = SimpleNamespace(utility=utility, everything=utility)
    paid, noise = utility_comparisons(judged, Budget(max_error_increase=0.01))
    assert paid.name == "more error about paid than with everything asked"
    assert paid.matters
    assert noise.name == "more error about noise than with everything asked, which does not tell it either"
    assert (noise.matters, noise.limit, noise.now) == (False, None, 0.05)
