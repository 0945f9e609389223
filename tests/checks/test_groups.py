"""Limits of declared groups in a check: a gap that is there alarms, one that chance can explain does not."""

from __future__ import annotations

from leastwise.checks.budgets import group_comparisons
from leastwise.checks.comparisons import statuses
from leastwise.confidence import Interval
from leastwise.evaluation.groups import Gap, GroupFigures, Groups
from leastwise.runs import Budget


def served(gap: float, standard_error: float) -> Groups:
    far = 1.96 * standard_error / 2**0.5  # each of the two is as sure as the other
    figures = [
        GroupFigures(
            grouping="sex",
            group=name,
            people=people,
            error=error,
            interval=Interval(0.0, 1.0),
            everything=0.1,
            increase=error - 0.1,
            increase_interval=Interval(error - 0.1 - far, error - 0.1 + far),
            adversary_error=None,
            adversary_interval=None,
            baseline=None,
            alone=0,
        )
        for name, people, error in (("f", 1000.0, 0.1 + gap), ("m", 1000.0, 0.1), ("few", 10.0, 1.0))
    ]
    found = Gap(
        grouping="sex",
        most="f",
        least="m",
        gap=gap,
        interval=Interval(0.0, 1.0),
        standard_error=standard_error,
        among=2,
    )
    return Groups(fingerprint="x", seed=0, groups=tuple(figures), gaps=(found,))


def test_a_gap_that_is_there_alarms() -> None:
    found = group_comparisons(served(0.1, 0.01), Budget(max_group_gap=0.02, max_group_error=0.15))
    assert statuses(found, 0.01) == ("broken", "fine", "broken")
    assert "f pay 0.100 more than m" in found[-1].reason


def test_one_that_chance_can_explain_is_watched() -> None:
    (found,) = group_comparisons(served(0.03, 0.02), Budget(max_group_gap=0.02))
    assert statuses([found], 0.01) == ("watch",)


def test_too_few_people_are_held_against_nothing() -> None:
    found = group_comparisons(served(0.0, 0.01), Budget(max_group_error=0.5))
    assert [each.name for each in found] == ["error of the model for f", "error of the model for m"]
