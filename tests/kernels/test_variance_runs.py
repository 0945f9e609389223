"""Runs of least variance against every way to cut the sorted scores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.kernels.variance_runs import variance_runs

scores = st.lists(st.integers(-9, 9).map(float) | st.floats(-5, 5, width=32), min_size=1, max_size=10)


def variance(groups: list[list[float]]) -> float:
    return sum(float(np.var(group)) for group in groups)


def least(values: list[float], k: int) -> float:
    """The least sum of variances over all partitions of the sorted values into k runs."""
    ordered = sorted(values)
    cuts = itertools.combinations(range(1, len(ordered)), k - 1)
    return min(variance([ordered[b:e] for b, e in itertools.pairwise([0, *cut, len(ordered)])]) for cut in cuts)


@settings(deadline=None, max_examples=200)
@given(scores, st.integers(1, 5))
def test_equals_brute_force(values: list[float], k: int) -> None:
    found = variance_runs(np.array(values), k)
    assert len(found) == min(k, len(set(values)))
    for count, runs in enumerate(found, start=1):
        groups = [[v for v, run in zip(values, runs, strict=True) if run == r] for r in range(count)]
        assert all(groups)
        assert [*itertools.chain.from_iterable(map(sorted, groups))] == sorted(values)  # runs of the sorted scores
        # Equal scores stay together here; where a cut between equals would be better still, it may differ.
        assert variance(groups) == pytest.approx(least_apart(values, count), abs=1e-9)


def least_apart(values: list[float], k: int) -> float:
    """As ``least``, but equal scores are never parted."""
    ordered = sorted(values)
    places = [i for i in range(1, len(ordered)) if ordered[i - 1] != ordered[i]]
    cuts = itertools.combinations(places, k - 1)
    return min(variance([ordered[b:e] for b, e in itertools.pairwise([0, *cut, len(ordered)])]) for cut in cuts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=10, unique=True), st.integers(1, 5))
def test_of_different_scores_no_cut_at_all_is_better(values: list[float], k: int) -> None:
    for count, runs in enumerate(variance_runs(np.array(values), k), start=1):
        groups = [[v for v, run in zip(values, runs, strict=True) if run == r] for r in range(count)]
        assert variance(groups) == pytest.approx(least(values, count), abs=1e-9)


@settings(deadline=None)
@given(scores)
def test_more_runs_never_vary_more(values: list[float]) -> None:
    found = variance_runs(np.array(values), 6)
    sums = [
        variance([[v for v, r in zip(values, runs, strict=True) if r == g] for g in set(runs)]) for runs in found
    ]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(sums))


def test_variances_are_averaged_over_groups_not_over_values() -> None:
    # Squared distances, 19 against 8, would put 5 and 9 together; variances, 3.8 against 4, do not.
    runs = variance_runs(np.array([0, 0.1, 0.2, 0.3, 5.0, 9.0]), 2)[1]
    assert runs.tolist() == [0, 0, 0, 0, 0, 1]


def test_large_scores_keep_their_digits() -> None:
    assert variance_runs(1e8 + np.array([0.0, 0.1, 1.0, 1.1]), 2)[1].tolist() == [0, 0, 1, 1]


def test_nothing_has_one_empty_way() -> None:
    assert [runs.tolist() for runs in variance_runs(np.zeros(0), 3)] == [[]]
