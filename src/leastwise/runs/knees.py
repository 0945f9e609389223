"""Knee points: where more safety begins to cost more."""

from __future__ import annotations

from collections.abc import Sequence

from leastwise.evaluation.pareto import Limits, Point

# A second knee must stand out: this share of the first one's distance, and a dip of this much before it.
_SHARE = 0.5
_DIP = 0.05


def distances(points: Sequence[Point], limits: Limits) -> list[float]:
    """Return how far each point lies above the chord between the limit points, both axes scaled to 1.

    >>> limits = Limits(Point(0.1, 0.0), Point(0.3, 0.5))
    >>> [round(d, 3) for d in distances([Point(0.1, 0.0), Point(0.1, 0.5), Point(0.3, 0.25)], limits)]
    [0.0, 0.707, -0.354]
    """
    width = limits.suppressed.utility_risk - limits.untouched.utility_risk
    height = limits.suppressed.adversary_error - limits.untouched.adversary_error
    if width <= 0 or height <= 0:
        return [0.0] * len(points)
    return [
        ((error - limits.untouched.adversary_error) / height - (risk - limits.untouched.utility_risk) / width)
        / 2**0.5
        for risk, error in points
    ]


def knees(points: Sequence[Point], limits: Limits) -> list[int]:
    """Return the positions of the knees of a frontier in ascending utility risk, the most pronounced first.

    The first is the point farthest above the chord. Others are local maxima of the distance that reach half of
    the first one's and are parted from every larger one by a dip.

    >>> limits = Limits(Point(0.0, 0.0), Point(1.0, 1.0))
    >>> knees([Point(0.05, 0.4), Point(0.2, 0.45), Point(0.25, 0.9), Point(0.6, 0.95)], limits)
    [2, 0]
    """
    away = distances(points, limits)
    found: list[int] = []
    for i in sorted(range(len(points)), key=lambda i: (-away[i], i)):
        if away[i] > 0 and away[i] >= _SHARE * max(away) and all(_dip(away, i, j) >= _DIP for j in found):
            found.append(i)
    return found


def _dip(away: Sequence[float], one: int, other: int) -> float:
    """Return how far the distance falls between two points below the lower of them."""
    between = away[min(one, other) + 1 : max(one, other)]
    return min(away[one], away[other]) - min(between) if between else 0.0
