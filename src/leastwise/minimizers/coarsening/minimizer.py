"""Coarsening with restarts: what is suppressed changes what the rest is worth.

The effects of a value are those *beside* all other attributes: where education is known, an occupation adds little
that its mean label would show. Once attributes are suppressed, the groups that were made beside them are no longer
the right ones, and no merge can mend that. So whenever a path has given up a good part of its attributes, a new
one starts: the surrogate learns from the attributes that are left, the program makes fine groups of them again,
and they are coarsened. Each path is nested in itself; together they are the candidates. The minimizer takes the
safest that costs the classifier no more than was allowed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.coarsening.path import Step, coarsening_steps, thinned
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.constraints.constraints import Constraints, broken
from leastwise.minimizers.constraints.floor import brought_to
from leastwise.minimizers.merging.merging import fewest_people, increase_of, least, loss_near
from leastwise.minimizers.merging.rounding import rounded
from leastwise.minimizers.merging.search import Limit, last_that
from leastwise.minimizers.optimal.minimizer import optimal_path
from leastwise.minimizers.optimal.surrogate import Effects, Surrogate, effects_of
from leastwise.predictors.base import Predictor
from leastwise.predictors.held_out import (
    MARGIN,
    Difference,
    Reference,
    held_out,
    reference,
    utility_predictors,
)
from leastwise.random import generator
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
# So often all that nobody tells apart is merged, before a form of more answers is taken.
_TRIES = 2
# This share of the records chooses.
_CHOOSES = 1 / 3


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
    # Where records have survey weights, the program counts those, and a floor counts records.
    return [brought_to(held, path[int(share * (len(path) - 1))], table) for share in starts]


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

    Nested paths start from fine results of the exact partition, on two thirds of the records. Of all
    generalizations on them that are not beaten in both errors by leave-one-out counting, the safest is taken of
    which the other third says, at the stated confidence, that the classifier errs at most ``max_error_increase``
    more than with everything asked. What is left of that is spent on fewer answers. What those people do not tell
    apart is then merged, and edges move to round places. See docs/optimal-partition.md.

    Parameters
    ----------
    max_error_increase
        How much more often the classifier may be wrong: 0.01 is one person in a hundred.
    mu
        Lagrange multiplier: what an error of the classifier costs beside an error of the adversary along a path;
        None: it falls from merge to merge.
    surrogate
        Who gives the effects of values, a name or a function; None: the default.
    weights
        By personal attribute, how much it matters; 1 where nothing is said.
    constraints
        Conditions on the result and on everything on the way to it.
    confidence
        With which the limit must be kept, with the margin of a run. Where no generalization keeps it, the most
        accurate one is returned.

    Attributes
    ----------
    steps_
        Of the last ``minimize``: all paths, with the estimated errors of each generalization.
    increase_
        By how much the classifier errs more often, told what was found, than with everything asked, on the other
        third: estimated by labels and beliefs, as in a run (see ``Reference``).
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
        confidence: float = 0.9,
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
        self.confidence = confidence

    def minimize(self, table: Table) -> Generalization:
        """Return the safest generalization within the allowed loss."""
        check_between("max_error_increase", self.max_error_increase, 0.0, 1.0)
        check_between("confidence", self.confidence, 0.5, 0.9999)
        known, held = _parts(table, self.seed)
        same: Any = {"weights": self.weights, "constraints": self.constraints}
        self.steps_ = restarted_steps(known, self.mu, surrogate=self.surrogate, seed=self.seed, **same)
        self.increase_ = Difference(0.0, 0.0)
        if not self.steps_:  # the constraints suppress every attribute
            return Generalization.suppressed(table.schema)
        judge = _Judge.of(known, held, self.seed, MARGIN * NormalDist().inv_cdf(self.confidence))
        most = self.max_error_increase
        steps = [step.generalization for step in unbeaten([step for path in self.steps_ for step in path])]
        safe = steps[max(last_that(lambda n: judge.keeps(steps[n - 1], most), len(steps)), 1) - 1]
        # What is left of the allowed loss is spent on fewer answers; who sees a coarser record knows no more.
        saving = [step.generalization for step in coarsening_steps(known, safe, _SAVING, **same)]
        coarse = saving[last_that(lambda n: judge.keeps(saving[n], most), len(saving) - 1)]
        coarse = replace(coarse, origin=safe.origin)
        # Where nothing keeps the limit, nothing more is lost than by the most accurate one.
        most = max(most, judge.cost(coarse).bound(judge.errors))
        found = next(way for way in self._merged(judge, coarse, most) if judge.keeps(way, most))
        self.increase_ = judge.cost(found)
        return replace(found, origin={**safe.origin, "answers_saved": safe.total_buckets - found.total_buckets})

    def _merged(self, judge: _Judge, coarse: Generalization, most: float) -> Iterator[Generalization]:
        """Yield what becomes of a generalization that keeps a limit where all is merged that nobody tells apart.

        That keeps it by weaker classifiers, and round edges cost a little: so forms follow that are held to less,
        then one in which only rare answers are merged, and the given one.
        """
        held, loss = self.constraints or Constraints(), loss_near(most - judge.cost(coarse).mean)
        aim = most
        for _ in range(_TRIES):
            limit = judge.limit(coarse, aim)
            found = least(judge.known, judge.held, coarse, constraints=held, loss=loss, limit=limit)
            found = rounded(judge.known, judge.held, found, constraints=held)
            yield found
            aim -= judge.cost(found).bound(judge.errors) - most
        own, floor = judge.known.with_own_levels(), max(held.min_people, fewest_people(judge.known))
        without_rare = brought_to(replace(held, min_people=floor), coarse, own)
        if not broken(held, without_rare, own):
            yield without_rare
        yield coarse


class _Judge(NamedTuple):
    """The strongest classifiers, who learn from the known records and are judged on those that were held out.

    ``errors`` standard errors are added to what something costs. A weak classifier would lose less with everything
    asked, and the limit would be held against that. ``told`` holds what was judged, by fingerprint.
    """

    known: Table
    held: Table
    everything: Reference
    strong: Sequence[Predictor]
    errors: float
    told: dict[str, Difference]

    @classmethod
    def of(cls, known: Table, held: Table, seed: int, errors: float) -> _Judge:
        """Let them see everything first."""
        strong = utility_predictors(quick=True, seed=seed)
        everything = reference(Generalization.untouched(known.schema), known, held, strong)
        return cls(known, held, everything, strong, errors, {})

    def cost(self, generalization: Generalization) -> Difference:
        """Return by how much more often they err than with everything asked."""
        name = generalization.fingerprint
        if name not in self.told:
            judged, _ = held_out(generalization, self.known, self.held, self.strong)
            self.told[name] = self.everything.increase_of(judged)
        return self.told[name]

    def keeps(self, generalization: Generalization, most: float) -> bool:
        """Return whether that is at most so much, surely enough."""
        return self.cost(generalization).bound(self.errors) <= most

    def limit(self, begun: Generalization, most: float) -> Limit:
        """Return the limit for a search with weaker classifiers, corrected by what these are off at first."""
        seemed = increase_of(begun, self.known, self.held, self.everything).bound(self.errors)
        return Limit(self.everything, most + seemed - self.cost(begun).bound(self.errors), self.errors)


def unbeaten(steps: Sequence[Step]) -> list[Step]:
    """Return the steps that no other one beats, from accurate to safe, and among equally safe ones to coarse."""
    ordered = sorted(steps, key=lambda s: (s.utility_risk, -s.adversary_error, s.generalization.total_buckets))
    kept: list[Step] = []
    for step in ordered:
        safer = step.adversary_error - kept[-1].adversary_error if kept else 1.0
        coarser = kept and step.generalization.total_buckets < kept[-1].generalization.total_buckets
        if safer > _ALIKE or (coarser and safer >= -_ALIKE):
            kept.append(step)
    return kept


def _parts(table: Table, seed: int) -> tuple[Table, Table]:
    """Return the records that generalizations are made of, and those that choose."""
    order = generator(seed, "coarsening").permutation(len(table))
    chooses = max(int(len(table) * _CHOOSES), 1)
    known, held = (table.take(np.sort(rows)) for rows in (order[chooses:], order[:chooses]))
    return known, held
