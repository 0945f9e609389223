"""Asking less: every candidate of a frontier made the least that it can be, before it is judged.

A candidate is *polished*: made the least that it can be, its edges at round places, and screened again; where a
limit leaves accuracy to spend, what is spent on safety is a candidate too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from leastwise.documents import write_whole
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.evaluation.risk import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.minimizers.merging import (
    LOSS,
    LOSS_OF_A_NUMBER,
    Limit,
    increase_of,
    loss_near,
    rounded,
    spent_by_shares,
)
from leastwise.minimizers.merging import least as least_of
from leastwise.predictors.held_out import CHOICE_MARGIN, TOLD, Difference, Reference
from leastwise.records.table import Split
from leastwise.runs import folder as places
from leastwise.runs.candidates import ID_LENGTH, MOST_ANSWERS, Candidate, Failure, read_line, write_line
from leastwise.runs.choice import budget_in_force
from leastwise.runs.frontier import thinned
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked
from leastwise.runs.proposals import (
    Pool,
    answers,
    candidate_that_asks_everything,
    candidate_that_asks_nothing,
    screen_by_counting,
)

NEAR = 0.02
"""Who errs by so much more than allowed in screening does not keep the limit, however strong the judge."""
MOST_STARTS = 4
"""So many more candidates than the frontier has are made the least: those near the limit, where it is decided."""
MOST_LONG, LONGEST = 2, 2 * MOST_ANSWERS
"""Of candidates longer than anybody would answer, so many are made the least, and none above the second."""
SPARE = 0.25
"""Where somebody keeps a limit with so much of it to spare, nobody needs a form that loses nothing."""
SHARES = (1.0, 0.75, 0.5)
"""Of what they become, the safest are judged that seem to keep such a share of the limit."""
SPENDING = (None, 20.0)
"""Multipliers of the paths on which accuracy is spent: the best exchange rates, or few answers above all."""
FOR_FEWER_ANSWERS = 0.5
"""Of what a limit leaves, so much may be lost for fewer answers; the rest is spent on safety."""
PARTS = (1.0, 0.5)
"""Of what may be lost, these shares are spent."""


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
        wholes = asking_everything(job, silent, everything, most)
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
    outcomes = _made(job, "asking less", limit, tasks, polished)
    enough = SPARE * (most or 0.0)
    if wholes and allowed and not any(allowed.left(first.increase) >= enough for first, *_ in outcomes):
        # Where hardly anything may be lost, what loses nothing by any estimate is what is left.
        cautious = [(whole, how, constraints, allowed, 0.0) for whole in wholes]
        outcomes += _made(job, "asking less, losing nothing", f"{limit}-nothing", cautious, polished)
        tasks += cautious
    # What was only near the limit is there for what it becomes when the limit is spent.
    only_near = {each.fingerprint for each in starts} - {each.fingerprint for each in front}
    pairs = zip(tasks, outcomes, strict=True)
    least = [first.candidate for (start, *_), (first, *_) in pairs if start.fingerprint not in only_near]
    made = {each.fingerprint for each in least}
    others = [each for one in outcomes for each in one if each.candidate.fingerprint not in made]
    if allowed is not None and others:
        spent = [(each, how, constraints, allowed) for each in spending_best(others, allowed)]
        again = _made(job, "asking less, with the limit spent", f"{limit}-spent", spent, polished_again)
        least += [each.candidate for (each,) in again]
    return _with(job, pool, least)


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


def spending_best(candidates: Sequence[Polished], allowed: Allowed) -> list[Candidate]:
    """Return the safest of those that seem to keep the limit, three quarters of it, and half.

    The estimates are not the judge's. Where nobody seems to keep so much, it is the one that comes closest.
    """
    left = {each.candidate.fingerprint: each for each in candidates}
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

    def write(outcome: Sequence[Polished]) -> str:
        plain = [(write_line(c), told.mean, told.standard_error) for c, told in outcome]
        return json.dumps(plain) + "\n"

    journal = job.journal(f"least-{name_of([task[0] for task in tasks])}-{limit}.jsonl")
    outcomes = job.resumed(words, journal, tasks, partial(job.workers.map, work), write, read)
    return [outcomes[place] for place in np.argsort(order)]


def _with(job: Job, pool: Pool, candidates: Sequence[Candidate]) -> tuple[Pool, list[Candidate]]:
    known = {candidate.fingerprint: candidate for candidate in pool.candidates}
    least = {each.fingerprint: known.get(each.fingerprint, each) for each in candidates}
    pool = pool._replace(candidates=tuple((known | least).values()))
    everyone: tuple[Candidate | Failure, ...] = (*pool.failures, *pool.candidates)
    write_whole(job.folder / places.CANDIDATES, "".join(write_line(each) for each in everyone))
    return pool, [*least.values()]


def name_of(candidates: Sequence[Candidate]) -> str:
    """Return a name for a frontier: another budget may bring another, for which it must not be taken."""
    return hashlib.sha256("".join(candidate.id for candidate in candidates).encode()).hexdigest()[:ID_LENGTH]


# Polishing one candidate -----------------------------------------------------------------------------------------


class Polished(NamedTuple):
    """A candidate in the least form, and the estimate of how much more often its classifier errs."""

    candidate: Candidate
    increase: Difference


def estimated(generalization: Generalization, split: Split, everything: Reference) -> Difference:
    """Estimate by how much more often the classifier errs than with everything asked, on validation."""
    return increase_of(generalization, split.train, split.validation, everything)


class Allowed(NamedTuple):
    """How much more often the classifier may err than with everything asked, and with how many standard errors."""

    increase: float
    errors: float

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
) -> tuple[Polished, ...]:
    """Return the least that a candidate can be, screened like all others, and what it becomes when all is spent.

    Nothing is spent where nothing is ``allowed``, or where the least errs too much for that. ``share`` is how much
    of what a limit leaves may be lost for fewer answers; who may lose nothing spends nothing.
    """
    parts = how.split.train, how.split.validation
    first = _made_least(candidate, how, constraints, allowed, share)
    ways = [first]
    left = 0.0 if allowed is None or not share else allowed.left(first.increase)
    if left > 0:
        same: Any = {"constraints": constraints, "everything": how.everything}
        spent = spent_by_shares(*parts, first.candidate.generalization, left, PARTS, SPENDING, **same)
        made = {each.fingerprint: each for each in spent}  # two ways may end at the same place
        for each in made.values():
            way = how.coarsened(first.candidate, each, constraints)
            ways.append(Polished(way, how.estimated(way.generalization)))
    return tuple(ways)


def polished_again(
    candidate: Candidate, how: Polishing, constraints: Constraints | None, allowed: Allowed | None
) -> tuple[Polished, ...]:
    """Return the least that a candidate can be on which a limit was spent: what it has left may go for that."""
    return (_made_least(candidate, how, constraints, allowed, 1.0),)


def _made_least(
    candidate: Candidate,
    how: Polishing,
    constraints: Constraints | None,
    allowed: Allowed | None,
    share: float,
) -> Polished:
    """Return the least that a candidate can be; of what a limit leaves, at most a share is lost for that.

    Near the limit hardly anything is lost, even where nobody would tell it: what is merged as far as an estimate
    allows will seem to keep a limit that it misses.
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
    way = how.coarsened(candidate, coarser, constraints)
    return Polished(way, how.estimated(way.generalization))
