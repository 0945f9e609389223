"""What the limit leaves by the strongest judge is spent, too.

While candidates are made the least, a classifier of some records stands for the judge, and is off by as much as a
limit leaves. So the judge himself says how far merging may go on: from the candidates that keep the limit by his
estimate, along a nested path of the best exchange rates, which is bisected. Before that half of what is left goes
to fewer answers, and after it what is left then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple

from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.predictors.held_out import Difference
from leastwise.runs.candidates import MOST_ANSWERS, Candidate
from leastwise.runs.choice import ALIKE
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked, guess_labels
from leastwise.runs.polishing import (
    FOR_FEWER_ANSWERS,
    Allowed,
    Polishing,
    made,
    polished,
    with_candidates,
)
from leastwise.runs.proposals import Pool

STARTS = 3
"""From so many candidates at most merging goes on."""
LONG = MOST_ANSWERS // 2
"""Of longer forms fewer answers come first; shorter ones hardly become shorter still."""
PROBES = 4
"""So many forms of each path are judged, which tells one of sixteen from its neighbours."""
LEAST_REACH = 0.25
"""A path reaches as far as if at least this share of the limit were left: counting may be off by so much."""
TRIES = 2
"""So often a search may try to end within the limit by the judge."""
WORTH = 0.1
"""Less than this share of the limit is not worth a search."""


class Way(NamedTuple):
    """A path that is bisected.

    Attributes
    ----------
    forms
        Ever coarser forms; the first is where it begins.
    judged
        Those the judge has spoken of, by their place.
    """

    forms: tuple[Generalization, ...]
    judged: dict[int, Candidate]

    def kept(self, left: Mapping[str, float]) -> int:
        """Return the place of the last that is known to keep the limit; where it begins, it is kept."""
        return max(place for place, each in self.judged.items() if left[each.id] >= 0 or place == 0)

    def next(self, left: Mapping[str, float]) -> int | None:
        """Return the place half-way from there to the first that is known to miss it; None where there is none."""
        kept = self.kept(left)
        missed = min((place for place in self.judged if place > kept), default=len(self.forms))
        return (kept + missed) // 2 if missed - kept > 1 else None


class Judgement:
    """The candidates judged so far, what each costs by the judge, and what it leaves of the limit."""

    def __init__(
        self, job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, how: Polishing, allowed: Allowed
    ) -> None:
        self.job, self.pool, self.front, self.asked = job, pool, [*front], asked
        self.rest, self.allowed = (how, job.options.constraints), allowed
        self._given = {each.id for each in front}
        self._hear()

    def _hear(self) -> None:
        costs = self.asked.increases(self.job.split)[2:]
        self.costs = dict(zip((each.id for each in self.front), costs, strict=True))
        self.left = {name: self.allowed.left(cost) for name, cost in self.costs.items()}

    def ask(self, new: Sequence[Candidate]) -> list[Candidate]:
        """Have candidates judged that are not yet, and return each of them as the pool has it."""
        self.pool, found = with_candidates(self.job, self.pool, new)
        absent = [each for each in found if each.id not in self.costs]
        if absent:
            self.front += absent
            self.asked = guess_labels(self.job, self.asked.and_also(absent))
            self._hear()
        known = {each.fingerprint: each for each in found}
        return [known[each.fingerprint] for each in new]

    def ask_less(self, candidates: Sequence[Candidate], share: float) -> None:
        """Have judged what candidates become when such a share of what they leave goes to fewer answers.

        Where that misses the limit by the judge, the search thought too well of it, and tries again with as much
        less to lose.
        """
        tries = [(each, 0.0) for each in {each.id: each for each in candidates}.values()]
        for number in range(TRIES):
            tasks = [(one, *self.rest, self.allowed, self.costs[one.id], share, less) for one, less in tries]
            if not tasks:
                return
            words = f"{self.allowed}-{share:g}-{number}"
            found = self.ask(made(self.job, "asking less, to the limit", words, tasks, with_fewer_answers))
            tries = [
                (one, less + (1 - share) * self.left[one.id] - self.left[fewer.id])
                for (one, less), fewer in zip(tries, found, strict=True)
                if self.left[fewer.id] < 0
            ]

    def worth_keeping(self) -> tuple[Pool, list[Candidate], Asked]:
        """Return the pool, the candidates and what is judged, without new ones that nobody would choose.

        Another one that asks no more, costs no more and is about as safe would be chosen instead. Where the budget
        limits something else, too, or groups or several labels are judged, that is not looked at here.
        """
        budget, train = self.job.task.budget, self.job.split.train
        others = budget is not None and replace(budget, max_error_increase=None).states_limits
        if others or self.job.options.groups or train.several is not None:
            return self.pool, self.front, self.asked
        size = {each.id: (each.answers, self.costs[each.id].mean) for each in self.front}
        kept: list[Candidate] = []
        for one in sorted(self.front, key=lambda each: (each.id not in self._given, size[each.id])):
            no_larger = (e for e in kept if all(a <= b for a, b in zip(size[e.id], size[one.id], strict=True)))
            if one.id in self._given or all(_safety(each) < _safety(one) - ALIKE for each in no_larger):
                kept.append(one)
        stays = [each in kept for each in self.front]
        return self.pool, [*compress(self.front, stays)], self.asked.only(stays)


def _safety(candidate: Candidate) -> float:
    return candidate.validation.adversary_error


def spend_what_is_left(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, how: Polishing
) -> tuple[Pool, list[Candidate], Asked]:
    """Return the candidates and those that some of them become where all of the limit is spent."""
    allowed = Allowed.by(job)
    if allowed is None:
        return pool, [*front], asked
    judge = Judgement(job, pool, front, asked, how, allowed)
    able = worth_going_on(judge.front, judge.left, allowed, STARTS)
    judge.ask_less([each for each in able if each.answers > LONG], FOR_FEWER_ANSWERS)
    starts = worth_going_on(judge.front, judge.left, allowed, STARTS)
    least = LEAST_REACH * allowed.increase
    tasks: list[Any] = [(each.generalization, *judge.rest, max(judge.left[each.id], least)) for each in starts]
    paths = job.workers.map(forms_beyond, tasks)
    ways = [Way(forms, {0: start}) for forms, start in zip(paths, starts, strict=True)]
    for number in range(PROBES):
        places = [(way, place) for way in ways if (place := way.next(judge.left)) is not None]
        if not places:
            break
        tasks = [(way.judged[0], *judge.rest, way.forms[place]) for way, place in places]
        found = judge.ask(made(job, "spending what is left", f"{allowed}-probe-{number}", tasks, probe))
        for (way, place), one in zip(places, found, strict=True):
            way.judged[place] = one
    judge.ask_less([way.judged[way.kept(judge.left)] for way in ways], 1.0)
    return judge.worth_keeping()


def forms_beyond(
    generalization: Generalization, how: Polishing, constraints: Constraints | None, left: float
) -> tuple[Generalization, ...]:
    """Return a form and ever coarser ones, until one loses far more than what is left."""
    return (generalization, *how.forms_beyond(generalization, constraints, left))


def probe(start: Candidate, how: Polishing, constraints: Constraints | None, form: Generalization) -> Candidate:
    """Return a form of a path, its edges at round places, screened like all others."""
    return how.coarsened(start, form, constraints)


def with_fewer_answers(
    candidate: Candidate,
    how: Polishing,
    constraints: Constraints | None,
    allowed: Allowed,
    judged: Difference,
    share: float,
    less: float,
) -> Candidate:
    """Return what a candidate becomes when such a share of what it leaves by the judge goes to fewer answers.

    ``less`` is how much too little the search expects it to lose.
    """
    off = how.estimated(candidate.generalization).bound(allowed.errors) - judged.bound(allowed.errors)
    return polished(candidate, how, constraints, allowed.by_search(off - less), share)


def worth_going_on(
    front: Sequence[Candidate], left: Mapping[str, float], allowed: Allowed, most: int
) -> list[Candidate]:
    """Return at most so many that leave some of the limit by the judge: the safest, and those that leave most."""
    able = [each for each in front if left[each.id] > WORTH * allowed.increase]
    safest = sorted(able, key=lambda each: -each.validation.adversary_error)[: most - most // 2]
    others = sorted((each for each in able if each not in safest), key=lambda each: -left[each.id])
    return [*safest, *others[: most // 2]]
