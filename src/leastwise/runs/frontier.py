"""The frontier of a run: chosen on validation, shown on test, framed by its two limit points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from leastwise.documents.versioned import from_text, to_text
from leastwise.evaluation.pareto import Limits, Point
from leastwise.runs.figures import Figures

FORMAT = "leastwise-frontier"


class Areas(NamedTuple):
    """The area between the limit points that the frontier covers, on each part."""

    validation: float
    test: float


@dataclass(frozen=True, kw_only=True)
class FrontierPoint:
    """One candidate of the frontier: by the figures of validation it was chosen, those of test are shown.

    ``name`` is empty, or says what it is known as: "knee", "cheapest" (least error of the model), "safest".
    """

    candidate: str
    name: str
    validation: Figures
    test: Figures


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """What was found.

    Attributes
    ----------
    points
        In ascending utility risk on validation.
    untouched, suppressed, untouched_validation, suppressed_validation
        The limit points: everything asked, and nothing; on test and on validation.
    knees
        The ids of the candidates beyond which more safety costs more, the most pronounced first.
    hypervolume
        The area between the limit points that the frontier covers.
    screened, thinned, repeated, dropped, failed
        How many distinct candidates were screened; how many of the screened frontier were left out so that the
        rest could be attacked in full; how many proposals were the same as an earlier one; how many broke a
        constraint; how many minimizers failed.
    """

    points: tuple[FrontierPoint, ...]
    untouched: Figures
    suppressed: Figures
    untouched_validation: Figures
    suppressed_validation: Figures
    knees: tuple[str, ...]
    hypervolume: Areas
    screened: int
    thinned: int
    repeated: int
    dropped: int
    failed: int

    def __getitem__(self, candidate: str) -> FrontierPoint:
        return next(point for point in self.points if point.candidate == candidate)

    def to_json(self) -> str:
        """Return the document; the same frontier gives the same bytes."""
        return to_text(self, FORMAT)

    @classmethod
    def from_json(cls, text: str, where: str = "frontier") -> Frontier:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        return from_text(cls, text, FORMAT, where)


def limits_of(untouched: Figures, suppressed: Figures) -> Limits:
    """Return the limit points as a rectangle.

    On few records full records can do worse than guessing; then nothing lies between the two.
    """
    best = min(untouched.utility_risk, suppressed.utility_risk)
    return Limits(Point(best, untouched.adversary_error), suppressed.point)


def thinned(points: Sequence[Point], front: Sequence[int], most: int, limits: Limits) -> list[int]:
    """Keep at most so many of a frontier: both ends and those whose absence would cost the most area.

    >>> points = [Point(0.1, 0.1), Point(0.11, 0.3), Point(0.115, 0.31), Point(0.2, 0.4)]
    >>> thinned(points, [0, 1, 2, 3], 3, Limits(Point(0.1, 0.0), Point(0.3, 0.5)))
    [0, 1, 3]
    """
    kept = list(front)
    while len(kept) > max(most, 1):
        inner = kept[1:-1] or kept[1:]
        areas = [limits.hypervolume([points[i] for i in kept if i != out]) for out in inner]
        kept.remove(inner[max(range(len(inner)), key=lambda i: areas[i])])
    return kept
