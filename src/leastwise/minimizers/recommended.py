"""The recommended candidates of a training table: the program's path, descents on joint counts, and coarsening."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import starmap
from operator import call
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.base import chosen_on
from leastwise.minimizers.coarsening.minimizer import fine_starts
from leastwise.minimizers.coarsening.path import Step, coarsening_steps, countable, thinned
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints.constraints import Constraints, broken
from leastwise.minimizers.constraints.floor import brought_to
from leastwise.minimizers.descent import MULTIPLIERS, ROUNDS, joint_path
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.optimal.minimizer import optimal_path
from leastwise.minimizers.optimal.surrogate import Surrogate, effects_of, neighbours_told
from leastwise.minimizers.pat import ALPHAS, pat_grid
from leastwise.records.table import Table
from leastwise.schema import Schema

# Answers that tell the classifier no more than chance would are not worth asking apart (Akaike's rule).
BUCKET_PENALTY = 10.0
# Nested paths start this far along the path of the program, untouched being 0 and suppressed 1. Where little may
# be lost they do better than descents, whose joint buckets are too sparse there to tell. A descent is made of the
# buckets of the first.
_STARTS = (0.15, 0.3)
# With fewer people, or fewer of the rarer classes, trees propose, too: all that they do rests on leaves of so
# large a share of them, where joint counts and effects of single values are mostly chance. So they do with more
# attributes: joint buckets of so many are mostly one person's, and a tree begins with the few that matter.
_FEW, _FEW_RARE, _MANY = 6_000, 3_000, 50
_LEAF_SHARES, _FEWEST_IN_A_LEAF = (0.0, 0.003, 0.01, 0.03), 10
_LEAVES = (2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 50, 100)
# Two candidates guess about so many people differently; it makes the difference of their errors uncertain.
_DIFFERENTLY = 0.1
# Who wants fewer steps than these makes less effort, too.
_ALL_STEPS = 40
Mapped = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], Iterator[Any]]
"""Does tasks, perhaps several at once, and gives what comes of them in their order."""


class _Effort(NamedTuple):
    """How much is searched for beside the program's path.

    Attributes
    ----------
    multipliers, rounds
        Of a descent: see ``joint_path``.
    nested
        Of its solutions, from fine to coarse, nested paths start at these: they fill what lies between.
    many
        With more attributes trees propose, too.
    """

    multipliers: tuple[float, ...] = MULTIPLIERS
    rounds: int = ROUNDS
    nested: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8)
    many: float = _MANY


_LESS = _Effort((0.1, 0.3, 0.8, 1.6, 2.8, 4.8, 9.0, 20.0, 50.0), 2, (0.0, 0.25, 0.5, 0.75), np.inf)


def recommended_paths(
    table: Table,
    seed: int = 0,
    *,
    steps: int = 40,
    constraints: Constraints | None = None,
    surrogate: str | Surrogate | None = None,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    mapped: Mapped = starmap,
) -> list[Generalization]:
    """Return all candidates that are worth judging, each once: what a frontier is chosen from.

    They are those of ``optimal_path`` (buckets penalised, and its fine end without), of ``joint_path`` from
    a fine start, and of ``coarsening_path`` from that start, from a coarser one and from some solutions of the
    descent, and where records are few or attributes many also privacy-aware trees; without those that are beaten
    on the training records. Where neighbouring codes are alike, the program and a nested path also work by
    smoothed effects. The origin of each artefact says where it comes from. Judge them on validation and keep the
    frontier.

    Parameters
    ----------
    table
        Training records.
    steps
        How many generalizations of the program's path, and half as many of each nested one; below 40 less
        effort is made for what is searched for beside it.
    constraints
        What every candidate must hold to.
    surrogate
        Who gives the effects of values, see ``OptimalMinimizer``.
    weights
        By personal attribute, how much it matters; 1 where nothing is said.
    mapped
        Looks for several paths at once, where there are workers for that.
    """
    from leastwise import __version__

    own, held = table.with_own_levels(), constraints or Constraints()
    held.check(table.schema)
    records = Records.of(own)
    effects = effects_of(own, surrogate, seed, held.suppressed)
    same: Any = {"weights": weights, "constraints": constraints, "effects": effects}
    path = optimal_path(own, steps, bucket_penalty=BUCKET_PENALTY, **same)
    # Where almost nothing may be lost, buckets without a penalty are worth it: a classifier with interactions uses
    # differences that an additive surrogate does not see.
    finest = optimal_path(own, max(steps // 2, 2), **same)[: steps // 4]
    fine = distinct(fine_starts(own, _STARTS, bucket_penalty=BUCKET_PENALTY, **same))
    smoothed = partial(_smoothed, own, steps, surrogate, seed, held, weights)
    effort = _Effort() if steps >= _ALL_STEPS else _LESS
    search = _Search(own, records, held, weights, max(steps // 2, 2), effort)
    found = search.found(path, finest, fine, smoothed, mapped)
    common = {"leastwise": __version__, **chosen_on(table)}
    return [replace(g, origin={**g.origin, **common}) for g in found]


class _Search(NamedTuple):
    """What all searches for candidates have in common; ``steps`` are kept of each nested path."""

    own: Table
    records: Records
    held: Constraints
    weights: Mapping[str, float] | Sequence[float] | None
    steps: int
    effort: _Effort

    def found(
        self,
        path: Sequence[Generalization],
        finest: Sequence[Generalization],
        fine: Sequence[Generalization],
        smoothed: Callable[[], list[Generalization]],
        mapped: Mapped,
    ) -> list[Generalization]:
        """Return what is worth judging of what the program found, and of what is searched for from there on.

        ``path`` and ``finest`` are the program's; ``fine`` is where descent and nested paths start.
        """
        same: Any = {"weights": self.weights, "constraints": self.held, "records": self.records}
        most: Any = {"multipliers": self.effort.multipliers, "rounds": self.effort.rounds}
        descent = partial(joint_path, self.own, fine[0], **most, **same)
        trees = partial(_trees, self.own, self.held, self.weights, self.effort.many)
        nested = partial(coarsening_steps, self.own, **same)
        tell = partial(estimate, self.records, weights=target_weights(self.own, self.weights))
        # The descent takes longest: what does not wait for it is done meanwhile. A nested path tells its own.
        judged = [g for g in distinct([*path, *finest]) if g.collected and g.fingerprint not in _names(fine)]
        tasks: list[tuple[Any, ...]] = [(descent,), (smoothed,), (trees,), *((nested, start) for start in fine)]
        tasks += [(tell, g) for g in judged]
        joint, by_effects, grown, *rest = mapped(call, tasks)
        paths: list[list[Step]] = rest[: len(fine)]
        known: dict[str, Estimate] = dict(zip(_names(judged), rest[len(fine) :], strict=True))
        starts = [g for g in _spread_over(joint, self.effort.nested) if g.fingerprint not in _names(fine)]
        judged = [
            g for g in distinct([*joint, *grown]) if g.fingerprint not in {*known, *_names([*fine, *starts])}
        ]
        rest = [*mapped(call, [*((nested, start) for start in starts), *((tell, g) for g in judged)])]
        known |= dict(zip(_names(judged), rest[len(starts) :], strict=True))
        kept = [step for steps in (*paths, *rest[: len(starts)]) for step in thinned(steps, self.steps)]
        known |= {
            step.generalization.fingerprint: Estimate(step.utility_risk, step.adversary_error) for step in kept
        }
        found = [*path, *finest, *joint, *(step.generalization for step in kept), *grown]
        candidates = distinct([path[0], path[-1], *found])
        return distinct([*_worth_judging(candidates, known, tell, self.records), *by_effects])


def _names(generalizations: Iterable[Generalization]) -> list[str]:
    return [generalization.fingerprint for generalization in generalizations]


def _smoothed(
    own: Table,
    steps: int,
    surrogate: str | Surrogate | None,
    seed: int,
    held: Constraints,
    weights: Mapping[str, float] | Sequence[float] | None,
) -> list[Generalization]:
    """Return the program's path by smoothed effects, where neighbouring codes of an attribute are alike.

    They are not held against the others on the training records: there groups that follow the luck of a few people
    look better than they are.
    """
    if not neighbours_told(own):
        return []
    effects = effects_of(own, surrogate, seed, held.suppressed, smoothed=True)
    same: Any = {"weights": weights, "constraints": held, "effects": effects, "bucket_penalty": BUCKET_PENALTY}
    (fine,) = fine_starts(own, _STARTS[:1], **same)
    nested = thinned(coarsening_steps(own, fine, weights=weights, constraints=held), max(steps // 2, 2))
    found = [*optimal_path(own, steps, **same), *(step.generalization for step in nested)]
    return [replace(g, origin={**g.origin, "smoothed": True}) for g in found]


def _trees(
    own: Table, constraints: Constraints, weights: Mapping[str, float] | Sequence[float] | None, many: float
) -> list[Generalization]:
    """Return the privacy-aware trees, where records are few or attributes many; nothing elsewhere."""
    kept = [j for j, name in enumerate(own.schema.names) if name not in constraints.suppressed]
    if not (_few(own) or len(kept) > many) or not {*kept} & {*own.personal}:
        return []
    schema = Schema(tuple(own.schema.attributes[j] for j in kept), own.schema.label)
    asked = replace(own, schema=schema, codes=own.codes[:, kept], levels=tuple(own.levels[j] for j in kept))
    matters = dict(zip(own.schema.personal, target_weights(own, weights).tolist(), strict=False))
    by_name = {name: matters[name] for name in schema.personal}
    fewest = {max(share * own.people, _FEWEST_IN_A_LEAF) for share in _LEAF_SHARES}
    grids = (pat_grid(asked, ALPHAS, _LEAVES, min_leaf=least, weights=by_name) for least in sorted(fewest))
    nothing, found = [*Generalization.suppressed(own.schema).partitions], list[Generalization]()
    for tree in (tree for grid in grids for row in grid for tree in row):
        partitions = nothing.copy()
        for j, partition in zip(kept, tree.partitions, strict=True):
            partitions[j] = partition
        found.append(brought_to(constraints, replace(tree, partitions=tuple(partitions)), own))
    return [g for g in found if not broken(constraints, g, own)]


def _few(table: Table) -> bool:
    """Whether there are few people, or few whose label is not the most frequent one."""
    if table.people < _FEW or table.graded is not None:
        return table.people < _FEW
    classes = np.bincount(table.y, weights=table.counts, minlength=1)
    return float(classes.sum() - classes.max()) < _FEW_RARE


def _worth_judging(
    candidates: Sequence[Generalization],
    known: Mapping[str, Estimate],
    tell: Callable[[Generalization], Estimate],
    records: Records,
) -> list[Generalization]:
    """Return the candidates that are not beaten on the training records; the first two, the ends, stay."""
    estimates = [known.get(g.fingerprint) or tell(g) for g in candidates]
    kept = {0, 1, *unbeaten(estimates, float(records.people.sum()))}
    return [generalization for i, generalization in enumerate(candidates) if i in kept]


def _spread_over(solutions: Sequence[Generalization], nested: Sequence[float]) -> list[Generalization]:
    """Return some of the solutions for nested paths to start from, from the finest on."""
    ordered = sorted(solutions, key=lambda g: -float(g.origin["mu"]))
    return distinct(ordered[int(share * (len(ordered) - 1))] for share in nested) if ordered else []


def distinct(generalizations: Iterable[Generalization]) -> list[Generalization]:
    """Return each generalization once, where it comes first."""
    kept: dict[str, Generalization] = {}
    for generalization in generalizations:
        kept.setdefault(generalization.fingerprint, generalization)
    return [*kept.values()]


class Estimate(NamedTuple):
    """Errors by leave-one-out counting on the training records."""

    utility_risk: float
    adversary_error: float


def estimate(records: Records, generalization: Generalization, weights: npt.NDArray[np.float64]) -> Estimate:
    """Return the errors of a generalization; ``weights`` are those of the personal attributes."""
    table, none = records.table, Constraints()
    partitions = tuple(countable(table, j, p, none) for j, p in enumerate(generalization.partitions))
    maps = table.bucket_maps(Generalization(partitions))
    columns = [maps[j][table.codes[:, j]].astype(np.int64) for j in range(len(maps))]
    state, _ = make_state(records, columns, [partition.size for partition in partitions], PseudoCounts())
    hits = state.hits.sum(axis=0) / max(records.people.sum(), 1e-12)
    return Estimate(1 - float(hits[-1]), 1 - float(hits[:-1] @ weights / max(weights.sum(), 1e-12)))


def unbeaten(estimates: Sequence[Estimate], people: float) -> list[int]:
    """Return the positions of those that no other one beats in both errors by more than a standard error.

    Validation is small. Among hundreds of close candidates it prefers the lucky ones, and a lucky candidate on its
    frontier hides a better one. So what the many more training records show to be beaten is not judged.

    ``people`` is how many the estimates were counted on.

    >>> found = [Estimate(0.2, 0.3), Estimate(0.2005, 0.2995), Estimate(0.21, 0.29), Estimate(0.21, 0.4)]
    >>> unbeaten(found, people=30_000), unbeaten(found, people=300)
    ([0, 1, 3], [0, 1, 2, 3])
    """
    tolerance = (_DIFFERENTLY / max(people, 1.0)) ** 0.5
    points = np.array(estimates, dtype=float).reshape(-1, 2)
    risk, error = points[:, 0], points[:, 1]
    better = (risk[:, None] < risk[None, :] - tolerance) & (error[:, None] > error[None, :] + tolerance)
    return np.flatnonzero(~better.any(axis=0)).tolist()
