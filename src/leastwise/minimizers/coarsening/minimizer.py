"""Coarsening with restarts: what is suppressed changes what the rest is worth.

The effects of a value are those *beside* all other attributes: where education is known, an occupation adds little
that its mean label would show. Once attributes are suppressed, the groups that were made beside them are no longer
the right ones, and no merge can mend that. So whenever a path has given up a good part of its attributes, a new
one starts: the surrogate learns from the attributes that are left, the program makes fine groups of them again,
and they are coarsened. Each path is nested in itself; together they are the candidates. The minimizer takes the
safest that costs the classifier no more than was allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening.path import Step, coarsening_steps, thinned
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.minimizer import optimal_path
from leastwise.minimizers.surrogate import Effects, Surrogate, effects_of
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between

# Paths start this far along the path of the program, untouched being 0 and suppressed 1. From a fine start the
# path has more to choose from, from a coarse one joint buckets are well filled and merges are judged better.
_STARTS = (0.3, 0.5)
# Buckets of one attribute at the start of a path. Of hundreds of merges that change next to nothing, the best by
# counting are the luckiest, and the path believes its own luck.
_MOST_BUCKETS = 32
# A new path starts when so large a share of the attributes is left.
_LEFT = 0.75
# Adversary errors that differ by less count as equal: what nobody is safer for is not asked.
_ALIKE = 0.001
# Lagrange multiplier of the classifier error while answers are saved: nearly all that counts.
_SAVING = 20.0


def restarted_paths(
    table: Table,
    mu: float | None = None,
    *,
    steps: int = 25,
    starts: Sequence[float] = _STARTS,
    surrogate: str | Surrogate | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    seed: int = 0,
) -> list[tuple[Generalization, ...]]:
    """Return several nested paths; the first starts from all attributes, each other from those left on the way.

    Parameters
    ----------
    steps
        How many generalizations of each path to return at most.
    starts
        How far along the program's path, from untouched (0) to suppressed (1), coarsening begins.
    constraints
        What every generalization must hold to.
    """
    paths = restarted_steps(
        table, mu, starts=starts, surrogate=surrogate, weights=weights, constraints=constraints, seed=seed
    )
    return [tuple(step.generalization for step in thinned(path, steps)) for path in paths]


def restarted_steps(
    table: Table,
    mu: float | None = None,
    *,
    starts: Sequence[float] = _STARTS,
    surrogate: str | Surrogate | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    seed: int = 0,
) -> list[list[Step]]:
    """Return the same paths with one step per merge and the estimated errors."""
    if not all(0 <= start <= 1 for start in starts):
        raise ParameterError(f"starts must lie between 0 and 1; got {list(starts)}")
    held = constraints or Constraints()
    held.check(table.schema)
    paths, records = list[list[Step]](), Records.of(table)

    @cache  # all starts begin with the same attributes
    def fine(unseen: tuple[str, ...]) -> list[Generalization]:
        effects = effects_of(table, surrogate, seed, unseen)
        return fine_starts(
            table, starts, effects=effects, weights=weights, constraints=replace(held, suppressed=unseen)
        )

    for i, start in enumerate(starts):
        unseen, restart = tuple(held.suppressed), 0
        while {*unseen} < {*table.schema.names}:
            path = coarsening_steps(table, fine(unseen)[i], mu, weights=weights, records=records, constraints=held)
            paths.append(_marked(path, start=start, restart=restart))
            unseen, restart = _given_up(path, table.schema), restart + 1
    return paths


def fine_starts(
    table: Table,
    starts: Sequence[float],
    *,
    effects: Effects,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    bucket_penalty: float = 0.0,
) -> list[Generalization]:
    """Return the generalizations this far along the program's path.

    Each attribute has no more buckets than are needed to have a choice.
    """
    held, few = constraints or Constraints(), {}
    for name in table.schema.names:
        if name not in {*held.suppressed, *held.untouched}:
            needed = len(held.edges.get(name, ())) + sum(len(values) for values in held.apart.get(name, ()))
            few[name] = min(held.max_buckets.get(name, _MOST_BUCKETS + needed), _MOST_BUCKETS + needed)
    path = optimal_path(
        table,
        effects=effects,
        weights=weights,
        constraints=replace(held, max_buckets=few),
        bucket_penalty=bucket_penalty,
        steps=40,
    )
    return [path[int(share * (len(path) - 1))] for share in starts]


def _marked(path: Sequence[Step], **origin: float) -> list[Step]:
    """Write into each artefact which path it lies on, and how many merges along."""
    return [
        replace(step, generalization=replace(g, origin={**g.origin, **origin, "merges": merges}))
        for merges, step in enumerate(path)
        for g in (step.generalization,)
    ]


def _given_up(path: Sequence[Step], schema: Schema) -> tuple[str, ...]:
    """Return what is not collected at the first step that collects far fewer than the start; all, without one."""
    at_most = int(_LEFT * len(path[0].generalization.collected))
    for step in path:
        if len(step.generalization.collected) <= at_most:
            return step.generalization.not_collected
    return schema.names


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
        The model that says how much each value moves the prediction: boosted trees of one attribute each (the
        default), a logistic regression, or Shapley values of boosted trees; in Python also a function.
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
