"""The exact partition as a minimizer, and the path of its results from untouched to suppressed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.interval_program import Buckets
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.minimizers.optimal.program import Program, make_program
from leastwise.minimizers.optimal.surrogate import Effects, Surrogate, effects_of
from leastwise.records.table import Table
from leastwise.validation import check_from_zero

# Two multipliers closer than this factor are not told apart.
_CLOSE = 1.001
_SMALLEST = 1e-9


class OptimalMinimizer(Minimizer):
    """The partition that is optimal when effects add up and buckets are attacked one at a time.

    It minimizes, over all strict generalizations whose buckets are runs of neighbouring values (discrete values in
    the order of their effects), the squared effect that is lost within buckets plus ``lam`` times the people whose
    personal values are the commonest of their bucket. See docs/optimal-partition.md for what is proved.

    Parameters
    ----------
    lam
        Lagrange multiplier of what is revealed: 0 keeps every value apart whose effect differs, a large one
        suppresses all.
    surrogate
        The model that says how much each value moves the prediction: boosted trees of one attribute each (the
        default), a logistic regression, or Shapley values of boosted trees; in Python also a function.
    weights
        By personal attribute, how much it matters; 1 where nothing is said. Where the schema declares no personal
        attribute, all count as personal.
    constraints
        Conditions on the result; the program stays exact under them.
    bucket_penalty
        What a bucket costs by itself, in units of squared effect: about 10 leaves out the answers that tell the
        classifier no more than chance would (Akaike's rule, where effects are log-odds). 0 asks as finely as
        the sample can tell.

    Attributes
    ----------
    gap_
        Of the last ``minimize``: a bound on what was given up because attributes with more than 1,000 values (or
        real-valued) were reduced to at most 512 runs first; 0 when none was.

    Examples
    --------
    >>> from leastwise import Attribute, Schema, Table
    >>> import numpy as np
    >>> pay = Attribute("grade", "ordinal", values=("a", "b", "c", "d"), personal=True)
    >>> table = Table(Schema((pay,), Attribute("y", values=("no", "yes"))),
    ...     np.repeat(np.arange(4), 50)[:, None], (np.array(pay.values),), np.repeat([0, 0, 1, 1], 50))
    >>> OptimalMinimizer(lam=0.5).minimize(table)["grade"].labels
    ('a or b', 'c or d')
    """

    name = "optimal"
    reference = "docs/optimal-partition.md"
    needs_label = True

    def __init__(
        self,
        lam: float = 1.0,
        surrogate: str | Surrogate | None = None,
        weights: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        bucket_penalty: float = 0.0,
        *,
        schema: Any = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.lam = lam
        self.surrogate = surrogate
        self.weights = weights
        self.constraints = constraints
        self.bucket_penalty = bucket_penalty

    def minimize(self, table: Table) -> Generalization:
        """Return the optimal partition for the multiplier ``lam``."""
        check_from_zero("lam", self.lam)
        held = self.constraints or Constraints()
        held.check(table.schema)
        effects = effects_of(table, self.surrogate, self.seed, held.suppressed)
        program = make_program(table, effects, self.weights, held, self.bucket_penalty)
        self.gap_ = program.gap(self.lam)
        return program.generalization(program.solve(self.lam))


@dataclass
class _Point:
    """One solution, and the multipliers between which it is known to be the best."""

    solution: Mapping[int, Buckets]
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
    path = [program.generalization(p.solution, minimizer="optimal", lam=p.low) for p in points]
    untouched = replace(Generalization.untouched(table.schema), origin={"minimizer": "optimal", "lam": 0.0})
    return (*([untouched] if held.empty else []), *path)


def _spread_out(program: Program, steps: int) -> list[_Point]:
    first, last = _point(program, 0.0), _last(program)
    points = [first] if last.same(first) else [first, last]
    while len(points) < steps:
        lost = abs(points[-1].lost - points[0].lost) or 1.0
        told = abs(points[-1].told - points[0].told) or 1.0
        gaps = [  # how far apart two solutions are, as shares of the whole path
            (math.hypot((right.lost - left.lost) / lost, (right.told - left.told) / told), -i)
            for i, (left, right) in enumerate(itertools.pairwise(points))
            if right.low > max(left.high * _CLOSE, _SMALLEST)
        ]
        if not gaps:
            break
        place = -max(gaps)[1]
        left, right = points[place], points[place + 1]
        # The geometric middle; between 0 and another, a hundredth of that. It is a new point, or narrows the gap.
        middle = _point(program, math.sqrt(left.high * right.low) if left.high > 0 else right.low / 100)
        if middle.same(left):
            left.high = middle.high
        elif middle.same(right):
            right.low = middle.low
        else:
            points.insert(place + 1, middle)
    return points


def _point(program: Program, lam: float) -> _Point:
    solution = program.solve(lam)
    return _Point(solution, *program.measured(solution), lam, lam)


def _last(program: Program) -> _Point:
    """Return the solution that no larger multiplier changes: the least that can be revealed."""
    point = _point(program, 1.0)
    for _ in range(60):
        further = _point(program, max(point.high, 1.0) * 4.0)
        if further.same(point) and all(b.size == 1 for b in point.solution.values()):
            break
        point = further
    return point
