"""Asking less: every candidate of a frontier made the least that it can be, before it is attacked.

What the judge says that a limit leaves is then spent: see ``spending``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.predictors.held_out import TOLD, Difference, Reference
from leastwise.runs.candidates import LONGEST, MOST_ANSWERS, Candidate
from leastwise.runs.frontier import thinned
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked, guess_labels
from leastwise.runs.polishing import Allowed, Polishing, estimated, made, name_of, polished, with_candidates
from leastwise.runs.proposals import Pool, candidate_that_asks_everything, candidate_that_asks_nothing
from leastwise.runs.spending import spend_what_is_left

NEAR = 0.02
"""Who errs by so much more than allowed in screening does not keep the limit, however strong the judge."""
MOST_STARTS = 2
"""So many more candidates than the frontier has are made the least: those near the limit, where it is decided."""
MOST_LONG = 1
"""Of candidates longer than anybody would answer, so many are made the least, and none above ``LONGEST``."""
SPARE = 0.25
"""Where somebody keeps a limit with so much of it to spare, nobody needs a form that loses nothing."""


def make_least(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, silent: Sequence[str]
) -> tuple[Pool, list[Candidate], Asked]:
    """Make every candidate of the frontier the least that it can be; return the pool, these, and what is judged.

    Where the budget leaves accuracy to spend, those that do are candidates too; so is the least that loses next to
    nothing beside everything asked, and to ask nothing, where that would cost next to nothing.
    """
    constraints, allowed = job.options.constraints, Allowed.by(job)
    everything, most = asked.reference(job.split, job.searching), None if allowed is None else allowed.increase
    starts, wholes = [*front, *near_the_limit(job, pool, front, asked, everything, most)], list[Candidate]()
    if job.options.grid is None:  # whoever brings a grid says who proposes
        wholes = asking_everything(job, silent, everything, most)
        starts = worth_the_time(
            [each for each in starts if each.fingerprint not in {w.fingerprint for w in wholes}]
        )
    together = len(pool.candidates) + 3 * len(starts) + 1
    how = Polishing(job.searching, job.fitting, together, everything, asked.known_for_screening(job.split))
    tasks: list[Any] = [(each, how, constraints, allowed) for each in (*starts, *wholes)]
    increase = asked.increases(job.split)[1]
    costs_little = increase.mean <= (most or 0.0) or increase.bound(-TOLD) <= 0
    if costs_little and not (constraints and constraints.wanted):
        tasks.append((candidate_that_asks_nothing(job.split.train), how, None, None))
    least = made(job, "asking less", f"{allowed}", tasks, polished)
    pool, least = with_candidates(job, pool, least)
    asked = guess_labels(job, asked.and_also(least))
    if allowed is None:
        return pool, least, asked
    if wholes and not any(
        allowed.left(each) >= SPARE * allowed.increase for each in asked.increases(job.split)[2:]
    ):
        # Where hardly anything may be lost, what loses nothing by any estimate is what is left.
        cautious = [(whole, how, constraints, allowed, 0.0) for whole in wholes]
        outcomes = made(job, "asking less, losing nothing", f"{allowed}-nothing", cautious, polished)
        pool, more = with_candidates(job, pool, outcomes)
        more = [each for each in more if each not in least]
        least, asked = [*least, *more], guess_labels(job, asked.and_also(more))
    return spend_what_is_left(job, pool, least, asked, how)


def asking_everything(
    job: Job, silent: Sequence[str], everything: Reference, most: float | None
) -> list[Candidate]:
    """Return what asks everything but what tells nothing; and everything, where that already costs too much."""
    candidates, constraints = list[Candidate](), job.options.constraints
    for left_out in ({*silent}, set[str]()):
        whole = candidate_that_asks_everything(job.split.train, sorted(left_out), constraints)
        if whole is None:
            break  # nothing tells anything by itself: to ask all of it in full is no alternative to asking nothing
        candidates.append(whole)
        if not left_out or most is None:
            break
        if estimated(whole.generalization, job.searching, everything).mean <= most:
            break
    return candidates


def near_the_limit(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, everything: Reference, most: float | None
) -> list[Candidate]:
    """Return those near a limit that nobody beats, by estimates that luck has less part in."""
    if most is None:
        return []
    reach = asked.risk_of_everything(job.split).error + most + NEAR
    near = [each for each in pool.candidates if each.validation.point.utility_risk <= reach]
    increases = job.resumed(
        "looking near the limit",
        job.journal(f"near-{name_of(near)}.jsonl"),
        [(each.generalization, job.searching, everything) for each in near],
        partial(job.workers.map, estimated),
        lambda told: json.dumps([told.mean, told.standard_error]) + "\n",
        lambda line: Difference(*json.loads(line)),
    )
    points = [
        Point(max(increase.mean, 0.0), each.validation.adversary_error)
        for each, increase in zip(near, increases, strict=True)
    ]
    new = [i for i in unbeaten(points) if near[i] not in front and points[i].utility_risk <= most + NEAR / 2]
    safest = max((points[i].adversary_error for i in new), default=0.0)
    limits = Limits(Point(0.0, 0.0), Point(most + NEAR / 2, safest))
    return [near[i] for i in thinned(points, new, MOST_STARTS, limits)]


def worth_the_time(starts: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates without the finest, and of those with very many answers only the safest.

    To make them the least takes longest of all, and what becomes of the finest is beaten by what becomes of
    everything asked, which is made the least in any case.
    """
    able = [each for each in starts if each.answers <= LONGEST]
    long = [each for each in able if each.answers > MOST_ANSWERS]
    long.sort(key=lambda each: -each.validation.adversary_error)
    return [each for each in able if each not in long[MOST_LONG:]]
