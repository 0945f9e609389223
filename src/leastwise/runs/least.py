"""Asking less: every candidate of a frontier made the least that it can be, before it is judged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from leastwise.documents import write_whole
from leastwise.runs import folder as places
from leastwise.runs.candidates import ID_LENGTH, Candidate, Failure, read_line, write_line
from leastwise.runs.choice import DEFAULT, MARGIN
from leastwise.runs.job import Job
from leastwise.runs.judging import Allowed, made_least, made_to_spend
from leastwise.runs.labels import Asked
from leastwise.runs.proposals import Pool, candidate_that_asks_nothing

SPENDING = (None, 20.0)
"""Multipliers of the paths on which accuracy is spent: the best exchange rates, or few answers above all."""
NEAR = 0.02
"""Who errs by so much more than allowed in screening has nothing to spend, however strong the judge."""
MOST_SPENT = 3
"""So many candidates that spend all are judged: those that an attacker likes least."""
NOT_TOLD = 1.645
"""Standard errors (95 %, one-sided) below which the records do not tell that the label can be predicted at all."""


def make_least(job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked) -> tuple[Pool, list[Candidate]]:
    """Make every candidate of the frontier the least that it can be; return the pool with the new ones, and these.

    Where the budget leaves accuracy to spend, those that do are candidates too; and so is to ask nothing, where
    that would cost next to nothing.
    """
    together = len(pool.candidates) + 2 * len(front) + 1
    constraints, budget = job.options.constraints, job.task.budget or DEFAULT
    tasks = [(candidate, job.split, together, constraints) for candidate in front]
    increase, most = asked.increase_of_nothing(job.split), budget.max_error_increase
    nothing = candidate_that_asks_nothing(job.split.train)
    costs_little = increase.mean <= (most or 0.0) or increase.bound(-NOT_TOLD) <= 0
    if costs_little and not (constraints and constraints.wanted):
        tasks.append((nothing, job.split, together, None))
    name = name_of([task[0] for task in tasks])  # another budget may ask for nothing, or not
    found = _made(job, "asking less", f"least-{name}.jsonl", made_least, tasks)
    if most is not None:
        allowed, reach = Allowed(most, MARGIN * budget.errors), asked.error_of_everything(job.split) + most + NEAR
        near = [each for each in found if each.validation.utility_risk <= reach]
        spending = [(each, job.split, together, constraints, allowed, mu) for each in near for mu in SPENDING]
        name = f"spent-{name_of(found)}-{most:g}-{budget.confidence:g}.jsonl"
        spent = {
            each.fingerprint: each
            for each in _made(job, "spending what may be lost", name, made_to_spend, spending)
        }
        new = [each for each in spent.values() if each.fingerprint not in {one.fingerprint for one in found}]
        found += sorted(new, key=lambda each: -each.validation.adversary_error)[:MOST_SPENT]
    known = {candidate.fingerprint: candidate for candidate in pool.candidates}
    least = {each.fingerprint: known.get(each.fingerprint, each) for each in found}
    pool = pool._replace(candidates=tuple((known | least).values()))
    everyone: tuple[Candidate | Failure, ...] = (*pool.failures, *pool.candidates)
    write_whole(job.folder / places.CANDIDATES, "".join(write_line(each) for each in everyone))
    return pool, [*least.values()]


def _made(
    job: Job, words: str, journal: str, work: Callable[..., Candidate], tasks: Sequence[Any]
) -> list[Candidate]:
    read = partial(read_line, where="journal", schema=job.split.train.schema)
    found = job.resumed(words, job.journal(journal), tasks, partial(job.workers.map, work), write_line, read)
    return [each for each in found if isinstance(each, Candidate)]


def name_of(candidates: Sequence[Candidate]) -> str:
    """Return a name for a frontier: another budget may bring another, for which it must not be taken."""
    return hashlib.sha256("".join(candidate.id for candidate in candidates).encode()).hexdigest()[:ID_LENGTH]
