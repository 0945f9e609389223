"""Asking less: every candidate of a frontier made the least that it can be, before it is judged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from leastwise.documents import write_whole
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.predictors.held_out import CHOICE_MARGIN, TOLD, Difference, Reference
from leastwise.runs import folder as places
from leastwise.runs.candidates import ID_LENGTH, Candidate, Failure, read_line, write_line
from leastwise.runs.choice import MOST_ANSWERS, budget_in_force
from leastwise.runs.frontier import thinned
from leastwise.runs.job import Job
from leastwise.runs.judging import (
    Allowed,
    Polished,
    Polishing,
    estimated,
    polished,
    polished_again,
)
from leastwise.runs.labels import Asked
from leastwise.runs.proposals import Pool, candidate_that_asks_everything, candidate_that_asks_nothing

NEAR = 0.02
"""Who errs by so much more than allowed in screening does not keep the limit, however strong the judge."""
MOST_STARTS = 4
"""So many more candidates than the frontier has are made the least: those near the limit, where it is decided."""
MOST_LONG = 2
"""Of candidates that are longer than anybody would answer, so many are made the least."""
SHARES = (1.0, 0.75, 0.5)
"""Of what they become, the safest are judged that seem to keep such a share of the limit."""


def make_least(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, silent: Sequence[str]
) -> tuple[Pool, list[Candidate]]:
    """Make every candidate of the frontier the least that it can be; return the pool with the new ones, and these.

    Where the budget leaves accuracy to spend, those that do are candidates too; so is the least that loses next to
    nothing beside everything asked, and to ask nothing, where that would cost next to nothing.
    """
    constraints = job.options.constraints
    budget = budget_in_force(job.task.budget, job.split.train.number is not None)
    everything, most = asked.reference(job.split, job.searching), budget.max_error_increase
    allowed = None if most is None else Allowed(most, CHOICE_MARGIN * budget.errors)
    starts, wholes = [*front, *near_the_limit(job, pool, front, asked, everything, most)], list[Candidate]()
    if job.options.grid is None:  # whoever brings a grid says who proposes
        wholes = _asking_everything(job, silent, everything, most)
        starts = worth_the_time(
            [each for each in starts if each.fingerprint not in {w.fingerprint for w in wholes}]
        )
    together = len(pool.candidates) + 3 * len(starts) + 1
    how = Polishing(job.searching, job.fitting, together, everything, asked.known_for_screening(job.split))
    tasks: list[Any] = [(each, how, constraints, allowed) for each in (*starts, *wholes)]
    increase = asked.increase_of_nothing(job.split)
    costs_little = increase.mean <= (most or 0.0) or increase.bound(-TOLD) <= 0
    if costs_little and not (constraints and constraints.wanted):
        tasks.append((candidate_that_asks_nothing(job.split.train), how, None, None))
    limit = f"{most}-{budget.confidence:g}"
    found = _made(job, "asking less", limit, tasks, polished)
    half = most / 2 if most else 0.0
    if wholes and allowed and not any(allowed.left(first.increase) >= half for first, *_ in found):
        # Where hardly anything may be lost, what loses nothing by any estimate is what is left.
        cautious = [(whole, how, constraints, allowed, 0.0) for whole in wholes]
        found += _made(job, "asking less, losing nothing", f"{limit}-nothing", cautious, polished)
        tasks += cautious
    # What was only near the limit is there for what it becomes when the limit is spent.
    only_near = {each.fingerprint for each in starts} - {each.fingerprint for each in front}
    pairs = zip(tasks, found, strict=True)
    least = [first.candidate for (start, *_), (first, *_) in pairs if start.fingerprint not in only_near]
    made = {each.fingerprint for each in least}
    others = [each for one in found for each in one if each.candidate.fingerprint not in made]
    if allowed is not None and others:
        spent = [(each, how, constraints, allowed) for each in spending_best(others, allowed)]
        again = _made(job, "asking less, with the limit spent", f"{limit}-spent", spent, polished_again)
        least += [each.candidate for (each,) in again]
    return _with(job, pool, least)


def _asking_everything(
    job: Job, silent: Sequence[str], everything: Reference, most: float | None
) -> list[Candidate]:
    """Return what asks everything but what tells nothing; and everything, where that already costs too much."""
    found, constraints = list[Candidate](), job.options.constraints
    for left_out in ({*silent}, set[str]()):
        whole = candidate_that_asks_everything(job.split.train, sorted(left_out), constraints)
        found += [] if whole is None else [whole]
        if not left_out or most is None:
            break
        if whole is not None and estimated(whole.generalization, job.searching, everything).mean <= most:
            break
    return found


def near_the_limit(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, everything: Reference, most: float | None
) -> list[Candidate]:
    """Return those near a limit that nobody beats, by estimates that luck has less part in."""
    if most is None:
        return []
    reach = asked.risk_of_everything(job.split).error + most + NEAR
    near = [each for each in pool.candidates if each.validation.point.utility_risk <= reach]
    found = job.resumed(
        "looking near the limit",
        job.journal(f"near-{name_of(near)}.jsonl"),
        [(each.generalization, job.searching, everything) for each in near],
        partial(job.workers.map, estimated),
        lambda told: json.dumps([told.mean, told.standard_error]) + "\n",
        lambda line: Difference(*json.loads(line)),
    )
    points = [
        Point(max(increase.mean, 0.0), each.validation.adversary_error)
        for each, increase in zip(near, found, strict=True)
    ]
    new = [i for i in unbeaten(points) if near[i] not in front and points[i].utility_risk <= most + NEAR / 2]
    safest = max((points[i].adversary_error for i in new), default=0.0)
    limits = Limits(Point(0.0, 0.0), Point(most + NEAR / 2, safest))
    return [near[i] for i in thinned(points, new, MOST_STARTS, limits)]


def worth_the_time(starts: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates without all but the safest of those that have very many answers.

    To make them the least takes longest of all, and what becomes of the finest is beaten by what becomes of
    everything asked, which is made the least in any case.
    """
    long = [each for each in starts if each.answers > MOST_ANSWERS]
    long.sort(key=lambda each: -each.validation.adversary_error)
    return [each for each in starts if each not in long[MOST_LONG:]]


def spending_best(found: Sequence[Polished], allowed: Allowed) -> list[Candidate]:
    """Return the safest of those that seem to keep the limit, three quarters of it, and half.

    The estimates are not the judge's. Where nobody seems to keep so much, it is the one that comes closest.
    """
    left = {each.candidate.fingerprint: each for each in found}
    chosen: list[Candidate] = []
    for share in SHARES:

        def worth(each: Polished, most: float = share * allowed.increase) -> tuple[float, float]:
            beyond = each.increase.bound(allowed.errors) - most
            return max(beyond, 0.0), -each.candidate.validation.adversary_error

        if left:
            best = min(left.values(), key=worth).candidate
            chosen.append(best)
            del left[best.fingerprint]
    return chosen


def _made(
    job: Job, words: str, limit: str, tasks: Sequence[Any], work: Callable[..., tuple[Polished, ...]]
) -> list[tuple[Polished, ...]]:
    """Polish candidates that an earlier run has not; those of most answers, which take longest, come first."""
    schema = job.split.train.schema
    order = sorted(range(len(tasks)), key=lambda i: -tasks[i][0].answers)
    tasks = [tasks[i] for i in order]

    def read(text: str) -> tuple[Polished, ...]:
        lines = [(read_line(line, where="journal", schema=schema), told) for line, *told in json.loads(text)]
        return tuple(Polished(c, Difference(*told)) for c, told in lines if isinstance(c, Candidate))

    def write(found: Sequence[Polished]) -> str:
        plain = [(write_line(c), told.mean, told.standard_error) for c, told in found]
        return json.dumps(plain) + "\n"

    journal = job.journal(f"least-{name_of([task[0] for task in tasks])}-{limit}.jsonl")
    found = job.resumed(words, journal, tasks, partial(job.workers.map, work), write, read)
    return [found[place] for place in np.argsort(order)]


def _with(job: Job, pool: Pool, found: Sequence[Candidate]) -> tuple[Pool, list[Candidate]]:
    known = {candidate.fingerprint: candidate for candidate in pool.candidates}
    least = {each.fingerprint: known.get(each.fingerprint, each) for each in found}
    pool = pool._replace(candidates=tuple((known | least).values()))
    everyone: tuple[Candidate | Failure, ...] = (*pool.failures, *pool.candidates)
    write_whole(job.folder / places.CANDIDATES, "".join(write_line(each) for each in everyone))
    return pool, [*least.values()]


def name_of(candidates: Sequence[Candidate]) -> str:
    """Return a name for a frontier: another budget may bring another, for which it must not be taken."""
    return hashlib.sha256("".join(candidate.id for candidate in candidates).encode()).hexdigest()[:ID_LENGTH]
