"""Frontiers and their area."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from leastwise import Generalization, Table
from leastwise.errors import ParameterError
from leastwise.evaluation.pareto import Limits, Point, adjusted_rand, adversary_error_at, frontier, similarity
from tests.strategies import generalizations, tables

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


values = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), min_size=2, max_size=7)


@given(values)
def test_equals_the_index_of_the_people_one_by_one(rows: list[tuple[int, int, int]]) -> None:
    one, other, people = (np.array(column) for column in zip(*rows, strict=True))
    if people.sum() < 2:
        return
    expected = adjusted_rand_score(np.repeat(one, people), np.repeat(other, people))
    assert adjusted_rand(one, other, people.astype(float)) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(st.data(), tables())
def test_same_is_one_symmetric_and_never_more(data: st.DataObject, table: Table) -> None:
    first, second = (data.draw(generalizations(table.schema)) for _ in range(2))
    assert similarity(first, first, table) == pytest.approx(1.0)
    there, back = similarity(first, second, table), similarity(second, first, table)
    assert there == pytest.approx(back)
    assert there <= 1 + 1e-9


def test_attributes_that_neither_asks_are_left_out() -> None:
    from tests.evaluation.test_minimum_sample import SCHEMA, people

    table = people(200)
    nothing, everything = Generalization.suppressed(SCHEMA), Generalization.untouched(SCHEMA)
    assert similarity(nothing, nothing, table) == 1.0
    assert similarity(nothing, everything, table) == pytest.approx(0.0)
    half = Generalization.of([everything["job"]], SCHEMA.attributes, label=SCHEMA.label)
    assert similarity(half, half.replacing(nothing["job"]), table) == pytest.approx(0.0)
    assert similarity(half, everything, table) == pytest.approx(1 / 3)
