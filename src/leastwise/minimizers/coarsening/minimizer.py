"""Coarsening as a minimizer: the safest generalization that costs the classifier no more than was allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening.path import Step, coarsening_steps
from leastwise.minimizers.coarsening.restarts import restarted_steps
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.surrogate import Surrogate
from leastwise.records.table import Table
from leastwise.validation import check_between

# Adversary errors that differ by less count as equal: what nobody is safer for is not asked.
_ALIKE = 0.001
# Lagrange multiplier of the classifier error while answers are saved: nearly all that counts.
_SAVING = 20.0


class CoarseningMinimizer(Minimizer):
    """Buckets merged on joint counts, as far as the classifier error may rise.

    Nested paths start from fine results of the exact partition; of all generalizations on them, the one is taken
    that an adversary errs most on while the classifier errs at most ``max_error_increase`` more than on the best.
    What is left of that increase is spent on fewer answers: buckets are merged on until it is used up. Both errors
    are those of leave-one-out counting on the training records. See docs/optimal-partition.md.

    Parameters
    ----------
    max_error_increase
        How much more often the classifier may be wrong: 0.01 is one person in a hundred.
    mu
        Lagrange multiplier: what an error of the classifier costs beside an error of the adversary along a path;
        None: it falls from merge to merge.
    surrogate
        Who gives the effects: a name of ``leastwise.minimizers.surrogate.SURROGATES``, a function, or None.
    weights
        By personal attribute, how much it matters; 1 where nothing is said.
    constraints
        Conditions on the result and on everything on the way to it.

    Attributes
    ----------
    steps_
        Of the last ``minimize``: all paths, with the estimated errors of each generalization; the last one starts
        from the safest and saves answers.
    """

    name = "coarsening"
    reference = "docs/optimal-partition.md"
    needs_label = True

    def __init__(
        self,
        max_error_increase: float = 0.01,
        mu: float | None = None,
        surrogate: str | Surrogate | None = None,
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
        self.surrogate = surrogate
        self.weights = weights
        self.constraints = constraints

    def minimize(self, table: Table) -> Generalization:
        """Return the safest generalization within the allowed loss."""
        check_between("max_error_increase", self.max_error_increase, 0.0, 1.0)
        same: Any = {"weights": self.weights, "constraints": self.constraints}
        paths = restarted_steps(table, self.mu, surrogate=self.surrogate, seed=self.seed, **same)
        steps = [step for path in paths for step in path]
        if not steps:  # the constraints suppress every attribute
            self.steps_ = []
            return Generalization.suppressed(table.schema)
        safe = safest(steps, self.max_error_increase)
        saving = coarsening_steps(table, safe.generalization, _SAVING, **same)
        self.steps_ = [*paths, saving]
        coarse = fewest_answers(saving, allowed_risk(steps, self.max_error_increase)).generalization
        saved = safe.generalization.total_buckets - coarse.total_buckets
        return replace(coarse, origin={**safe.generalization.origin, "answers_saved": saved})


def safest(steps: Sequence[Step], max_error_increase: float) -> Step:
    """Return the coarsest of the safest steps whose utility risk is at most so much above the least.

    Adversary errors that differ by less than a thousandth count as equal.
    """
    allowed = allowed_risk(steps, max_error_increase)
    near = [step for step in steps if step.utility_risk <= allowed]
    reached = max(step.adversary_error for step in near) - _ALIKE
    safe = [step for step in near if step.adversary_error >= reached]
    return min(safe, key=lambda step: (step.generalization.total_buckets, -step.adversary_error))


def fewest_answers(saving: Sequence[Step], allowed: float) -> Step:
    """Return the coarsest step of a nested path that errs no more often than allowed, or than its start.

    It is as safe as the start: who sees a coarser record knows less, even where the estimates differ by chance.
    """
    limit = max(allowed, saving[0].utility_risk)
    return [step for step in saving if step.utility_risk <= limit][-1]


def allowed_risk(steps: Sequence[Step], max_error_increase: float) -> float:
    """Return the utility risk that may be reached: so much above the least."""
    return min(step.utility_risk for step in steps) + max_error_increase + 1e-12
