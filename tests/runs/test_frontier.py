"""Knees and thinning, by hand and by law; of few records, the training part has a say in what is worth judging."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.evaluation.pareto import Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.minimizers import pat_grid
from leastwise.partition import suppress
from leastwise.runs import frontier
from leastwise.runs.frontier import (
    MORE,
    WORTH,
    distances,
    knees,
    limits_of,
    named,
    steadied,
    thinned,
    worth_attacking,
)
from leastwise.runs.proposals import screen_by_counting
from tests.runs.hand_made import LIMITS, figures, make, points
from tests.runs.small import SCHEMA, records

SPLIT = records().split(0)
ASKED = Generalization.untouched(SCHEMA).replacing(suppress(SCHEMA["town"]))


@given(points, st.integers(1, 6))
def test_thinning_keeps_both_ends_and_loses_as_little_area_as_one_by_one_can(found: Any, most: int) -> None:
    all_points = [Point(*point) for point in found]
    front = unbeaten(all_points)
    kept = thinned(all_points, front, most, LIMITS)
    assert len(kept) == min(len(front), max(most, 1))
    assert kept == [i for i in front if i in kept]
    if most >= 2:
        assert {front[0], front[-1]} <= {*kept}


@given(points, st.integers(0, 11))
def test_who_is_beaten_in_everything_is_not_attacked_and_no_limit_misses_it(found: Any, which: int) -> None:
    sizes = [(1 + i % 2, 9 - i % 5) for i in range(len(found))]
    own = [figures(*point, unique=i % 3, sex=(i % 4) / 8) for i, point in enumerate(sorted(found))]
    front = make(*own, sizes=sizes)
    chosen = front.points[which % len(front.points)]
    kept = worth_attacking(front, chosen.id, len(found))
    assert chosen.id in {point.id for point in kept.points}
    assert kept.thinned == len(front.points) - len(kept.points)
    for gone in {
        point.id: point for point in front.points if point.id not in {p.id for p in kept.points}
    }.values():
        assert any(
            other.answers <= gone.answers
            and other.validation.utility_risk <= gone.validation.utility_risk
            and other.validation.adversary_error >= gone.validation.adversary_error
            and other.validation.unique_people <= gone.validation.unique_people
            and other.validation.by_attribute["sex"] >= gone.validation.by_attribute["sex"]
            for other in kept.points
        )


@given(points, st.integers(1, 6), st.integers(0, 5), st.integers(0, 11))
def test_at_most_so_many_are_attacked_and_both_ends_and_who_is_chosen_are_among_them(
    found: Any, most: int, enough: int, which: int
) -> None:
    # Nobody is beaten: each has one more answer and is told one attribute less of than the one before.
    own = [figures(*point, unique=0, sex=i / 16) for i, point in enumerate(sorted(found))]
    front = make(*own, sizes=[(1, 2 + i) for i in range(len(found))])
    chosen = front.points[which % len(front.points)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leastwise.runs.frontier.ENOUGH", enough)
        kept = worth_attacking(front, chosen.id, most)
    ids = {point.id for point in kept.points}
    assert chosen.id in ids
    assert len(ids) <= max(most + MORE, enough) + 1
    assert len(ids) >= min(len({p.id for p in front.points}), max(most + MORE, enough))
    risks = [[point.validation.utility_risk for point in each.points] for each in (front, kept)]
    assert [min(risks[0]), max(risks[0])] == [min(risks[1]), max(risks[1])]
    assert kept.thinned == front.thinned + len({p.id for p in front.points}) - len(ids)


@given(points)
def test_the_first_knee_is_farthest_above_the_chord(found: Any) -> None:
    all_points = [Point(*point) for point in found]
    front = [all_points[i] for i in unbeaten(all_points)]
    away = distances(front, LIMITS)
    found_knees = knees(front, LIMITS)
    assert bool(found_knees) == (max(away) > 0)
    if found_knees:
        assert away[found_knees[0]] == max(away)
        assert all(away[i] >= max(away) / 2 for i in found_knees)


def test_a_second_knee_must_stand_out() -> None:
    near = [Point(0.11, 0.3), Point(0.12, 0.32), Point(0.13, 0.34)]
    assert knees(near, LIMITS) == [0]
    far = [Point(0.11, 0.3), Point(0.17, 0.31), Point(0.18, 0.48)]
    assert knees(far, LIMITS) == [2, 0]


def test_names_of_a_frontier() -> None:
    found = [Point(0.1, 0.1), Point(0.12, 0.3), Point(0.2, 0.4)]
    assert named(found, [1]) == ["cheapest", "knee", "safest"]
    assert named(found[:1], [0]) == ["knee, cheapest, safest"]


def test_full_records_that_do_worse_than_guessing_leave_nothing_between() -> None:
    assert limits_of(figures(0.4, 0.0), figures(0.3, 0.5)).area == 0


def test_both_parts_have_their_share() -> None:
    """What validation shows counts for its people, what training shows for a share of its own."""
    low, high = (steadied([(Point(risk, 0.0), ASKED)], SPLIT)[0].utility_risk for risk in (0.0, 1.0))
    share = SPLIT.validation.people / (SPLIT.validation.people + WORTH * SPLIT.train.people)
    assert high - low == pytest.approx(share)
    assert 0 < low < 0.25 * (1 - share)  # the training part errs about one in ten, leaving each person out


def test_of_many_records_validation_tells_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frontier, "FEW", len(SPLIT.train) - 1)
    shown = Point(0.3, 0.4)
    assert steadied([(shown, ASKED)], SPLIT) == [shown]


def test_luck_counts_for_less() -> None:
    """Over many splits, what is shown comes closer to what many fresh people tell than validation alone does."""
    fresh, alone, steady = records(20_000, seed=100), [], []
    for seed in range(100, 108):
        split = records(400, seed=seed).split(seed)
        for g in (g for row in pat_grid(split.train, (0.3, 0.8), (2, 4, 8), min_leaf=20) for g in row):
            shown = screen_by_counting(g, split, 1).figures.point
            truth = screen_by_counting(g, split._replace(validation=fresh), 1).figures.point
            (mixed,) = steadied([(shown, g)], split)
            alone.append(shown.utility_risk - truth.utility_risk)
            steady.append(mixed.utility_risk - truth.utility_risk)
    assert np.mean(np.square(steady)) < 0.8 * np.mean(np.square(alone))
