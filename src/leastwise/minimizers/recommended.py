"""The recommended candidates of a training table: the program's path, and coarsening from good starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from leastwise.generalization import Generalization
from leastwise.minimizers.base import chosen_on
from leastwise.minimizers.coarsening_restarts import restarted_paths
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.path import optimal_path
from leastwise.minimizers.teacher import Teacher
from leastwise.table import Table


def recommended_paths(
    table: Table,
    seed: int = 0,
    *,
    steps: int = 40,
    constraints: Constraints | None = None,
    teacher: str | Teacher | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
) -> list[Generalization]:
    """Return all candidates that are worth judging, each once: what a frontier is chosen from.

    They are those of ``optimal_path`` and of ``restarted_paths``; the artefact's origin says which.

    Parameters
    ----------
    table
        Training records.
    steps
        How many generalizations of the program's path; of each nested path a little more than half as many.
    constraints
        What every candidate must hold to.
    """
    from leastwise import __version__

    own = table.with_own_levels()
    found = [*optimal_path(own, steps, teacher=teacher, weights=weights, constraints=constraints, seed=seed)]
    paths = restarted_paths(
        own, steps=max(steps * 5 // 8, 2), teacher=teacher, weights=weights, constraints=constraints, seed=seed
    )
    found += [generalization for path in paths for generalization in path]
    common = {"leastwise": __version__, **chosen_on(table)}
    return [replace(g, origin={**g.origin, **common}) for g in distinct(found)]


def distinct(found: Iterable[Generalization]) -> list[Generalization]:
    """Return each generalization once, where it comes first."""
    kept: dict[str, Generalization] = {}
    for generalization in found:
        kept.setdefault(generalization.fingerprint, generalization)
    return [*kept.values()]
