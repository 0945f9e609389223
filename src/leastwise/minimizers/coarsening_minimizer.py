"""Coarsening as a minimizer: the safest generalization that costs the classifier no more than was allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening import Step
from leastwise.minimizers.coarsening_restarts import restarted_steps
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.teacher import Teacher
from leastwise.table import Table

# Adversary errors that differ by less count as equal: what nobody is safer for is not asked.
_ALIKE = 0.001


class CoarseningMinimizer(Minimizer):
    """Buckets merged on joint counts, as far as the classifier error may rise.

    Nested paths start from fine results of the exact partition; of all generalizations on them, the one is taken
    that an adversary errs most on while the classifier errs at most ``max_error_increase`` more than on the best.
    Both errors are those of leave-one-out counting on the training records. See docs/optimal-partition.md.

    Parameters
    ----------
    max_error_increase
        How much more often the classifier may be wrong: 0.01 is one person in a hundred.
    mu
        What an error of the classifier costs beside an error of the adversary along a path; None: a price that
        falls from merge to merge.
    teacher
        Who gives the effects: a name of ``leastwise.minimizers.teacher.TEACHERS``, a function, or None.
    weights
        By personal attribute, how much it matters; 1 where nothing is said.
    constraints
        Conditions on the result and on everything on the way to it.

    Attributes
    ----------
    steps_
        Of the last ``minimize``: all paths, with the estimated errors of each generalization.
    """

    name = "coarsening"
    reference = "docs/optimal-partition.md"

    def __init__(
        self,
        max_error_increase: float = 0.01,
        mu: float | None = None,
        teacher: str | Teacher | None = None,
        weights: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        *,
        schema: Any = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.max_error_increase = max_error_increase
        self.mu = mu
        self.teacher = teacher
        self.weights = weights
        self.constraints = constraints

    def minimize(self, table: Table) -> Generalization:
        """Return the safest generalization within the allowed loss."""
        if not 0 <= self.max_error_increase <= 1:
            raise ParameterError(f"max_error_increase must lie between 0 and 1; got {self.max_error_increase}")
        self.steps_ = restarted_steps(
            table,
            self.mu,
            teacher=self.teacher,
            weights=self.weights,
            constraints=self.constraints,
            seed=self.seed,
        )
        return safest([step for path in self.steps_ for step in path], self.max_error_increase).generalization

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def safest(steps: Sequence[Step], max_error_increase: float) -> Step:
    """Return the coarsest of the safest steps whose utility risk is at most so much above the least.

    Adversary errors that differ by less than a thousandth count as equal.
    """
    allowed = min(step.utility_risk for step in steps) + max_error_increase
    near = [step for step in steps if step.utility_risk <= allowed + 1e-12]
    reached = max(step.adversary_error for step in near) - _ALIKE
    safe = [step for step in near if step.adversary_error >= reached]
    return min(safe, key=lambda step: (step.generalization.total_buckets, -step.adversary_error))
