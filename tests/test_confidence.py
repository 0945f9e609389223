"""Intervals: known ends, and coverage counted exactly rather than sampled."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from leastwise.confidence import binomial_interval, mean_interval
from leastwise.errors import ParameterError


def test_ends_are_scipys_exact_ones() -> None:
    for errors, n, level in [(0, 1, 0.95), (3, 20, 0.9), (20, 20, 0.99), (431, 1000, 0.95)]:
        known = stats.binomtest(errors, n).proportion_ci(level, method="exact")
        assert binomial_interval(errors, n, level) == pytest.approx((known.low, known.high))


@pytest.mark.parametrize("n", [1, 7, 40])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_covers_at_least_as_often_as_it_says(n: int, level: float) -> None:
    intervals = np.array([binomial_interval(errors, n, level) for errors in range(n + 1)])
    for share in np.linspace(0.001, 0.999, 97):
        inside = (intervals[:, 0] <= share) & (share <= intervals[:, 1])
        assert stats.binom.pmf(np.arange(n + 1), n, share) @ inside >= level - 1e-12


@pytest.mark.parametrize("attributes", [1, 3])
@pytest.mark.parametrize("share", [0.003, 0.05, 0.3, 0.9])
def test_the_mean_interval_covers(attributes: int, share: float) -> None:
    rng = np.random.default_rng(0)
    draws = rng.binomial(attributes, share, size=(1000, 1000)) / attributes
    hits = sum(low <= share <= high for low, high in map(mean_interval, draws))
    assert hits / 1000 >= 0.935  # 950 expected at least, minus two standard errors


@pytest.mark.slow
@pytest.mark.parametrize("people", [5, 10, 20, 30, 50, 100, 300])
def test_the_mean_interval_covers_for_few_people_too(people: int) -> None:
    """People differ from a little to all-or-nothing, and of some samples hardly anybody is wrong."""
    rng = np.random.default_rng(people)
    for attributes, share, alike in product((2, 10, 30), (0.01, 0.03, 0.1, 0.5, 0.7, 0.97), (None, 3.0, 0.3)):
        each = share if alike is None else rng.beta(share * alike, (1 - share) * alike, size=(1000, people))
        draws = rng.binomial(attributes, each, size=(1000, people)) / attributes
        hits = sum(low <= share <= high for low, high in map(mean_interval, draws))
        assert hits / 1000 >= 0.93, (attributes, share, alike)  # three standard errors below 950


def test_the_mean_interval_is_not_needlessly_wide() -> None:
    rng = np.random.default_rng(0)
    low, high = mean_interval(rng.binomial(4, 0.3, size=1000) / 4)
    assert high - low < 1.15 * 2 * 1.96 * (0.3 * 0.7 / 4 / 1000) ** 0.5


def test_weights_mean_people() -> None:
    values, weights = np.array([0.0, 1.0, 0.5]), np.array([3, 1, 2])
    assert mean_interval(values, weights) == pytest.approx(mean_interval(np.repeat(values, weights)))


def test_no_spread_is_not_certainty() -> None:
    low, high = mean_interval(np.zeros(10))
    assert low == 0
    assert high > 0.3


@pytest.mark.parametrize(("errors", "n"), [(-1, 5), (6, 5), (0, 0), (float("nan"), 5)])
def test_refuses_impossible_counts(errors: float, n: float) -> None:
    with pytest.raises(ParameterError, match="between 0 and n"):
        binomial_interval(errors, n)
