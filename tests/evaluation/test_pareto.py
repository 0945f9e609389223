"""Frontiers and their area."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise.errors import ParameterError
from leastwise.evaluation.pareto import Limits, Point, adversary_error_at, frontier

share = st.integers(0, 20).map(lambda number: number / 20)
points = st.lists(st.builds(Point, share, share), max_size=8)
LIMITS = Limits(Point(0.1, 0.0), Point(0.6, 0.8))


@given(points)
def test_the_frontier_is_what_nobody_beats(found):
    kept = {found[i] for i in frontier(found)}
    beaten = {p for p in found if any(q != p and q[0] <= p[0] and q[1] >= p[1] for q in found)}
    assert kept == set(found) - beaten


@given(points)
def test_the_area_equals_counting_small_squares(found):
    """All points lie on a grid of twentieths, so that the middle of each square tells for the whole square."""
    middles = (np.arange(20) + 0.5) / 20
    covered = [
        (u, a)
        for u in middles
        for a in middles
        if 0.1 < u < 0.6 and a < 0.8 and any(risk < u and error > a for risk, error in found)
    ]
    assert LIMITS.hypervolume(found) == pytest.approx(len(covered) / 400)


@given(points, st.builds(Point, share, share))
def test_one_more_point_never_covers_less(found, more):
    assert LIMITS.hypervolume([*found, more]) >= LIMITS.hypervolume(found) - 1e-12


@given(points)
def test_only_the_frontier_counts(found):
    front = [found[i] for i in frontier(found)]
    assert LIMITS.hypervolume(front) == pytest.approx(LIMITS.hypervolume(found))


def test_nothing_leaves_everything_and_the_ideal_leaves_nothing():
    assert LIMITS.remaining_area([]) == 1.0
    assert LIMITS.remaining_area([Point(0.1, 0.8)]) == pytest.approx(0.0)
    assert LIMITS.remaining_area([Point(0.0, 0.9)]) == pytest.approx(0.0)


def test_the_error_at_a_risk_is_the_best_that_is_allowed():
    found = [Point(0.2, 0.3), Point(0.1, 0.4), Point(0.3, 0.5)]
    assert [adversary_error_at(found, risk) for risk in (0.05, 0.1, 0.25, 0.3)] == [None, 0.4, 0.4, 0.5]


def test_limits_the_wrong_way_round_are_refused():
    with pytest.raises(ParameterError, match=r"0\.5 and 0\.1"):
        Limits(Point(0.5, 0.0), Point(0.1, 0.5))
