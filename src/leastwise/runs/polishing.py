"""Polishing: a candidate is made the least that it can be, its edges at round places, and screened again.

How much that may cost is told by the estimates of a search: a classifier of some records stands for the judge.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leastwise.documents import write_whole
from leastwise.evaluation.risk import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.minimizers.coarsening.path import thinned
from leastwise.minimizers.merging import (
    LOSS,
    LOSS_OF_A_NUMBER,
    Limit,
    coarser_forms,
    increase_of,
    loss_near,
    rounded,
)
from leastwise.minimizers.merging import least as least_of
from leastwise.predictors.held_out import Difference, Reference
from leastwise.records.table import Split
from leastwise.runs import folder as places
from leastwise.runs.candidates import ID_LENGTH, Candidate, Failure, read_line, write_line
from leastwise.runs.choice import budget_in_force
from leastwise.runs.job import Job
from leastwise.runs.proposals import Pool, answers, screen_by_counting

FORMS, FAR = 15, 2.5
"""So many forms there are on a path that spends a limit, and so many times the limit it reaches by counting."""
FOR_FEWER_ANSWERS = 0.5
"""Of what a limit leaves, so much may be lost for fewer answers; the rest is spent on safety."""


def estimated(generalization: Generalization, split: Split, everything: Reference) -> Difference:
    """Estimate by how much more often the classifier errs than with everything asked, on validation."""
    return increase_of(generalization, split.train, split.validation, everything)


class Allowed(NamedTuple):
    """How much more often the classifier may err than with everything asked, and with how many standard errors."""

    increase: float
    errors: float

    @classmethod
    def by(cls, job: Job) -> Allowed | None:
        """Return what a run allows, with the margin of the choice; None where its budget says nothing of it."""
        budget = budget_in_force(job.task.budget, job.split.train.number is not None)
        most = budget.max_error_increase
        return None if most is None else cls(most, budget.errors)

    def __str__(self) -> str:
        return f"{self.increase:g}-{self.errors:.4g}"

    def by_search(self, off: float) -> Allowed:
        """Return the same by the estimates of a search, which are so much too large."""
        return self._replace(increase=self.increase + off)

    def left(self, increase: Difference) -> float:
        """Return how much more might be lost; below 0 where too much is."""
        return self.increase - increase.bound(self.errors)


class Polishing(NamedTuple):
    """How candidates are made the least that they can be.

    Attributes
    ----------
    split, screening
        What the search looks at, and what others were screened on.
    together
        How many are screened on the same records.
    everything
        How everything asked is judged on validation.
    known
        How it was judged in screening, where the worst of several labels counts.
    """

    split: Split
    screening: Split
    together: int
    everything: Reference
    known: UtilityRisk | None

    def estimated(self, generalization: Generalization) -> Difference:
        """Estimate by how much more often the classifier errs than with everything asked, on validation."""
        return estimated(generalization, self.split, self.everything)

    def forms_beyond(
        self, generalization: Generalization, constraints: Constraints | None, most: float
    ) -> tuple[Generalization, ...]:
        """Return ever coarser forms by the best exchange rates, well spread, as long as few lose far more."""
        steps = coarser_forms(self.split.train, generalization, constraints)
        far = steps[0].utility_risk + FAR * most
        near = [step for number, step in enumerate(steps) if number == 0 or steps[number - 1].utility_risk <= far]
        return tuple(step.generalization for step in thinned(near, FORMS + 1)[1:]) if len(near) > 1 else ()

    def coarsened(self, candidate: Candidate, coarser: Generalization, held: Constraints | None) -> Candidate:
        """Return the candidate in a coarser form, its edges at round places, screened like all others."""
        before, train = candidate.generalization, self.split.train
        if coarser.fingerprint == before.fingerprint and "answers_saved" in before.origin:
            return candidate  # its edges were rounded before
        least = rounded(train, self.split.validation, coarser, constraints=held)
        if least.fingerprint == candidate.fingerprint and candidate.screened is not None:
            return candidate
        count = answers(least, train)
        saved = {"answers_saved": candidate.parameters.get("answers_saved", 0) + candidate.answers - count}
        saved = saved if saved["answers_saved"] > 0 else {}
        judged = screen_by_counting(least, self.screening, self.together, everything=self.known)
        return replace(
            candidate,
            fingerprint=least.fingerprint,
            parameters={**candidate.parameters, **saved},
            also_found_by=(),
            asked=len(least.collected),
            answers=count,
            generalization=replace(least, origin={**before.origin, **saved}),
            screened=judged.figures,
        )


def polished(
    candidate: Candidate,
    how: Polishing,
    constraints: Constraints | None,
    allowed: Allowed | None,
    share: float = FOR_FEWER_ANSWERS,
) -> Candidate:
    """Return the least that a candidate can be, screened like all others.

    ``share`` is how much of what a limit leaves may be lost for fewer answers. Near the limit hardly anything is
    lost, even where nobody would tell it: what is merged as far as an estimate allows will seem to keep a limit
    that it misses.
    """
    loss, limit = LOSS if how.split.train.number is None else LOSS_OF_A_NUMBER, None
    if allowed is not None:
        before = how.estimated(candidate.generalization)
        loss, left = loss_near(allowed.increase - before.mean, loss), allowed.left(before)
        loss = loss if share else loss / 4
        if left >= 0:
            limit = Limit(how.everything, allowed.increase - (1 - share) * left, allowed.errors)
    rest: Any = {"constraints": constraints, "loss": loss, "limit": limit, "cautious": not share}
    coarser = least_of(how.split.train, how.split.validation, candidate.generalization, **rest)
    return how.coarsened(candidate, coarser, constraints)


# Candidates of a run ---------------------------------------------------------------------------------------------


def made(
    job: Job, words: str, limit: str, tasks: Sequence[Any], work: Callable[..., Candidate]
) -> list[Candidate]:
    """Make of candidates, the first of each task, what an earlier run has not; the longest forms come first."""
    order = sorted(range(len(tasks)), key=lambda i: -tasks[i][0].answers)
    tasks = [tasks[i] for i in order]

    def read(text: str) -> Candidate:
        line = read_line(text, where="journal", schema=job.split.train.schema)
        assert isinstance(line, Candidate)
        return line

    journal = job.journal(f"least-{name_of([task[0] for task in tasks])}-{limit}.jsonl")
    outcomes = job.resumed(words, journal, tasks, partial(job.workers.map, work), write_line, read)
    return [outcomes[place] for place in np.argsort(order)]


def with_candidates(job: Job, pool: Pool, candidates: Sequence[Candidate]) -> tuple[Pool, list[Candidate]]:
    """Return the pool with these, and these as it has them; the run's file has them, too."""
    known = {candidate.fingerprint: candidate for candidate in pool.candidates}
    least = {each.fingerprint: known.get(each.fingerprint, each) for each in candidates}
    pool = pool._replace(candidates=tuple((known | least).values()))
    everyone: tuple[Candidate | Failure, ...] = (*pool.failures, *pool.candidates)
    write_whole(job.folder / places.CANDIDATES, "".join(write_line(each) for each in everyone))
    return pool, [*least.values()]


def name_of(candidates: Sequence[Candidate]) -> str:
    """Return a name for a frontier: another budget may bring another, for which it must not be taken."""
    return hashlib.sha256("".join(candidate.id for candidate in candidates).encode()).hexdigest()[:ID_LENGTH]
