"""Frontiers of figures made by hand."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema
from leastwise.confidence import Interval
from leastwise.evaluation.pareto import Limits, Point
from leastwise.runs import Candidate, Figures, Frontier
from leastwise.runs.frontier import Areas

LIMITS = Limits(Point(0.1, 0.0), Point(0.3, 0.5))


def figures(risk: float, error: float, unique: int = 0, **by_attribute: float) -> Figures:
    return Figures(
        utility_risk=risk,
        utility_interval=Interval(0.0, 1.0),
        adversary_error=error,
        adversary_interval=Interval(0.0, 1.0),
        by_attribute=by_attribute or {"sex": error},
        certified=None,
        unique_people=unique,
    )


NOTHING = Generalization.suppressed(Schema([Attribute("sex", values=("f", "m"), personal=True)]))


def candidate(
    number: int, judged: Figures, tested: Figures | None = None, asked: int = 1, answers: int = 1
) -> Candidate:
    return Candidate(
        fingerprint=f"{number:012x}", minimizer="pat", parameters={}, seed=0, asked=asked, answers=answers,
        generalization=NOTHING, screened=judged, judged=judged, tested=tested or judged,
    )  # fmt: skip


def make(
    *points: Figures, test: Figures | None = None, sizes: Sequence[tuple[int, int]] | None = None
) -> Frontier:
    """Return a frontier of these figures; unless sizes are given, each asks less than the one before."""
    untouched, suppressed = figures(0.1, 0.0), figures(0.3, 0.5)
    sizes = sizes or [(8 - i, 60 - 20 * i) for i in range(len(points))]
    return Frontier(
        points=tuple(candidate(i, point, test, *sizes[i]) for i, point in enumerate(points)),
        untouched=untouched,
        suppressed=suppressed,
        untouched_validation=untouched,
        suppressed_validation=suppressed,
        knees=(f"{1:012x}",),
        hypervolume=Areas(0.0, 0.0),
        screened=len(points),
        thinned=0,
        repeated=0,
        dropped=0,
        failed=0,
    )


points = st.lists(st.tuples(st.floats(0.1, 0.3), st.floats(0, 0.5)), min_size=1, max_size=12)
