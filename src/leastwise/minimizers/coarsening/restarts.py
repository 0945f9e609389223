"""Coarsening with restarts: what is suppressed changes what the rest is worth.

The effects of a value are those *beside* all other attributes: where education is known, an occupation adds little
that its mean label would show. Once attributes are suppressed, the groups that were made beside them are no longer
the right ones, and no merge can mend that. So whenever a path has given up a good part of its attributes, a new
one starts: the surrogate learns from the attributes that are left, the program makes fine groups of them again,
and they are coarsened. Each path is nested in itself; together they are the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.path import Step, coarsening_steps, thinned
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.minimizer import optimal_path
from leastwise.minimizers.surrogate import Effects, Surrogate, effects_of
from leastwise.records.table import Table
from leastwise.schema import Schema

# Paths start this far along the path of the program, untouched being 0 and suppressed 1. From a fine start the
# path has more to choose from, from a coarse one joint buckets are well filled and merges are judged better.
_STARTS = (0.3, 0.5)
# Buckets of one attribute at the start of a path. Of hundreds of merges that change next to nothing, the best by
# counting are the luckiest, and the path believes its own luck.
_MOST_BUCKETS = 32
# A new path starts when so large a share of the attributes is left.
_LEFT = 0.75


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
    def fine_path(unseen: tuple[str, ...]) -> tuple[Generalization, ...]:
        effects = effects_of(table, surrogate, seed, unseen)
        return _fine_path(table, effects, weights, replace(held, suppressed=unseen))

    for start in starts:
        unseen, restart = tuple(held.suppressed), 0
        while {*unseen} < {*table.schema.names}:
            fine = _along(fine_path(unseen), start)
            path = coarsening_steps(table, fine, mu, weights=weights, records=records, constraints=constraints)
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
    """Return the generalizations this far along the program's path, with few enough buckets to choose well."""
    held = constraints or Constraints()
    path = _fine_path(table, effects, weights, held, bucket_penalty)
    return [_along(path, start) for start in starts]


def _along(path: Sequence[Generalization], share: float) -> Generalization:
    return path[int(share * (len(path) - 1))]


def _most_buckets(held: Constraints, name: str) -> int:
    """Return how many buckets an attribute may start with: no more than are needed to have a choice."""
    needed = len(held.edges.get(name, ())) + sum(len(values) for values in held.apart.get(name, ()))
    return min(held.max_buckets.get(name, _MOST_BUCKETS + needed), _MOST_BUCKETS + needed)


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


def _fine_path(
    table: Table,
    effects: Effects,
    weights: Mapping[str, float] | Sequence[float] | None,
    held: Constraints,
    bucket_penalty: float = 0.0,
) -> tuple[Generalization, ...]:
    """Return the program's path, each attribute in few buckets."""
    limited = [name for name in table.schema.names if name not in {*held.suppressed, *held.untouched}]
    few = {name: _most_buckets(held, name) for name in limited}
    return optimal_path(
        table,
        effects=effects,
        weights=weights,
        constraints=replace(held, max_buckets=few),
        bucket_penalty=bucket_penalty,
        steps=40,
    )
