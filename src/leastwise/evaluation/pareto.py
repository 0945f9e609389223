"""Candidates held against each other: the frontier, its area between the limit points, how alike two are.

A candidate is a point: utility risk (lower is better) and adversary error (higher is safer). The limit points are
everything untouched (best utility, adversary error 0) and everything suppressed (the majority is guessed, nothing
is told). They span a rectangle; a candidate covers the part of it that is worse in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.records.table import Table


class Point(NamedTuple):
    """How one candidate was judged."""

    utility_risk: float
    adversary_error: float


@dataclass(frozen=True)
class Limits:
    """The two limit points: ``untouched`` and ``suppressed``.

    Examples
    --------
    >>> limits = Limits(Point(0.1, 0.0), Point(0.3, 0.5))
    >>> round(limits.area, 3)
    0.1
    >>> round(limits.hypervolume([Point(0.2, 0.5)]), 3), round(limits.remaining_area([Point(0.2, 0.5)]), 3)
    (0.05, 0.5)
    """

    untouched: Point
    suppressed: Point

    def __post_init__(self) -> None:
        if not self.untouched.utility_risk <= self.suppressed.utility_risk:
            raise ParameterError(
                "guessing the majority must not beat full records; the limit points have utility risks "
                f"{self.untouched.utility_risk} and {self.suppressed.utility_risk}"
            )

    @property
    def area(self) -> float:
        """The area of the rectangle between the limit points."""
        width = self.suppressed.utility_risk - self.untouched.utility_risk
        return width * (self.suppressed.adversary_error - self.untouched.adversary_error)

    def hypervolume(self, points: Sequence[Point]) -> float:
        """Return the area of the rectangle that the points cover; what lies outside counts at its rim."""
        low, high = self.untouched.utility_risk, self.suppressed.utility_risk
        floor, top = self.untouched.adversary_error, self.suppressed.adversary_error
        area, reached = 0.0, floor
        for risk, error in sorted(points, key=lambda p: (p[0], -p[1])):
            height = min(error, top)
            if height > reached and risk < high:
                area += (high - max(risk, low)) * (height - reached)
                reached = height
        return area

    def remaining_area(self, points: Sequence[Point]) -> float:
        """Return the share of the rectangle that no point covers: 0 is perfect, 1 nothing."""
        return 1.0 - self.hypervolume(points) / self.area if self.area > 0 else 0.0


def frontier(points: Sequence[Point]) -> list[int]:
    """Return the positions of the points that no other one beats, in ascending utility risk.

    Of equal points the first stays.

    >>> frontier([Point(0.2, 0.3), Point(0.1, 0.1), Point(0.2, 0.2), Point(0.3, 0.3)])
    [1, 0]
    """
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1], i))
    kept: list[int] = []
    for i in order:
        if not kept or points[i][1] > points[kept[-1]][1]:
            kept.append(i)
    return kept


def adversary_error_at(points: Sequence[Point], utility_risk: float) -> float | None:
    """Return the best adversary error among points of at most this utility risk, None where there is none.

    >>> adversary_error_at([Point(0.1, 0.2), Point(0.2, 0.4)], 0.15)
    0.2
    """
    reached = [point[1] for point in points if point[0] <= utility_risk]
    return float(np.max(reached)) if reached else None


Array = npt.NDArray[Any]


def similarity(first: Generalization, second: Generalization, table: Table) -> float:
    """Return the mean agreement of the partitions, 1 if they are the same, about 0 if they have nothing in common.

    The agreement of two partitions of an attribute is the adjusted Rand index of the people in the table: over all
    pairs of people, how often both partitions put them together or both keep them apart, beyond chance. It is 0
    where only one of the two asks the attribute at all. Attributes that neither asks are left out.
    """
    scores = []
    maps = zip(table.bucket_maps(first), table.bucket_maps(second), strict=True)
    for j, (one, other) in enumerate(maps):
        if not (first.partitions[j].suppressed and second.partitions[j].suppressed):
            scores.append(adjusted_rand(one, other, table.use(j)))
    return float(np.mean(scores)) if scores else 1.0


def adjusted_rand(one: Array, other: Array, people: Array) -> float:
    """Return the adjusted Rand index of two partitions of values that so many people have.

    >>> adjusted_rand(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([2.0, 3.0, 4.0]))
    1.0
    >>> adjusted_rand(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([2.0, 3.0, 4.0]))
    0.0
    """
    together = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(together, (one, other), people)
    both, in_one, in_other = (_pairs(counts) for counts in (together, together.sum(axis=1), together.sum(axis=0)))
    expected = in_one * in_other / max(_pairs(people.sum()), 1e-300)
    most = (in_one + in_other) / 2
    # Everybody alone, or everybody together, in both: the same, though there is nothing to adjust for.
    return 1.0 if most - expected <= 1e-9 * max(most, 1.0) else float((both - expected) / (most - expected))


def _pairs(counts: Any) -> float:
    return float(np.sum(counts * (counts - 1) / 2))
