"""The path of the exact partition: Lagrange multipliers chosen from the data, from untouched to suppressed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.interval_program import Buckets
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.minimizer import Program, make_program
from leastwise.minimizers.surrogate import Effects, Surrogate, effects_of
from leastwise.records.table import Table

# Two multipliers closer than this factor are not told apart.
_CLOSE = 1.001
_SMALLEST = 1e-9


@dataclass
class _Point:
    """One solution, and the multipliers between which it is known to be the best."""

    found: Mapping[int, Buckets]
    lost: float
    told: float
    low: float
    high: float

    def same(self, other: _Point) -> bool:
        return (self.lost, self.told) == (other.lost, other.told)


def optimal_path(
    table: Table,
    steps: int = 40,
    *,
    surrogate: str | Surrogate | None = None,
    effects: Effects | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    bucket_penalty: float = 0.0,
    seed: int = 0,
) -> tuple[Generalization, ...]:
    """Return generalizations from untouched to suppressed, finest first (without constraints both are in it).

    The multipliers are found from the data: between the two ends, the pair of neighbours that lie farthest apart
    in what they lose and what they reveal gets another one between them, until there are ``steps``.

    Parameters
    ----------
    table
        Training records.
    steps
        How many generalizations at most; fewer when the data have no more different optima.
    effects
        The effects of all values, where they are known already; otherwise the surrogate is asked.
    bucket_penalty
        What a bucket costs by itself, see ``OptimalMinimizer``.
    """
    if steps < 2:
        raise ParameterError(f"a path needs at least its two ends; steps must be 2 or more, got {steps}")
    held = constraints or Constraints()
    held.check(table.schema)
    effects = effects_of(table, surrogate, seed, held.suppressed) if effects is None else effects
    program = make_program(table, effects, weights, held, bucket_penalty)
    points = _spread_out(program, steps - held.empty)
    path = [program.generalization(p.found, minimizer="optimal", lam=p.low) for p in points]
    untouched = replace(Generalization.untouched(table.schema), origin={"minimizer": "optimal", "lam": 0.0})
    return (*([untouched] if held.empty else []), *path)


def _spread_out(program: Program, steps: int) -> list[_Point]:
    first, last = _point(program, 0.0), _last(program)
    points = [first] if last.same(first) else [first, last]
    while len(points) < steps:
        gaps = [(_distance(a, b, points), i) for i, (a, b) in enumerate(itertools.pairwise(points)) if _open(a, b)]
        if not gaps:
            break
        place = max(gaps, key=lambda gap: (gap[0], -gap[1]))[1]
        _insert(points, place, program)
    return points


def _insert(points: list[_Point], place: int, program: Program) -> None:
    """Solve for a multiplier between two neighbours; it is a new point, or narrows the gap between them."""
    left, right = points[place], points[place + 1]
    middle = _point(program, _between(left.high, right.low))
    if middle.same(left):
        left.high = middle.high
    elif middle.same(right):
        right.low = middle.low
    else:
        points.insert(place + 1, middle)


def _point(program: Program, lam: float) -> _Point:
    found = program.solve(lam)
    return _Point(found, *program.measured(found), lam, lam)


def _last(program: Program) -> _Point:
    """Return the solution that no larger multiplier changes: the least that can be revealed."""
    point = _point(program, 1.0)
    for _ in range(60):
        further = _point(program, max(point.high, 1.0) * 4.0)
        if further.same(point) and all(b.size == 1 for b in point.found.values()):
            break
        point = further
    return point


def _open(left: _Point, right: _Point) -> bool:
    return right.low > max(left.high * _CLOSE, _SMALLEST)


def _between(low: float, high: float) -> float:
    """Return the geometric middle; between 0 and another, a hundredth of that."""
    return math.sqrt(low * high) if low > 0 else high / 100


def _distance(left: _Point, right: _Point, points: list[_Point]) -> float:
    """Return how far apart two solutions are, as shares of the whole path."""
    lost = abs(points[-1].lost - points[0].lost) or 1.0
    told = abs(points[-1].told - points[0].told) or 1.0
    return math.hypot((right.lost - left.lost) / lost, (right.told - left.told) / told)
