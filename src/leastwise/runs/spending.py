"""What the limit leaves by the strongest judge is spent, too.

While candidates are made the least, a classifier of some records stands for the judge. It mostly loses more than
the judge does, so that what it calls spent is not. Once the judge has spoken, merging goes on from the candidates
that keep the limit: by the same estimates, each corrected by as much as it was off about where it began, and once
more by as much as they were off about what the judge was asked next.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from statistics import fmean
from typing import Any

from leastwise.minimizers import Constraints
from leastwise.predictors.held_out import Difference
from leastwise.runs.candidates import Candidate
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked, guess_labels
from leastwise.runs.polishing import Allowed, Polished, Polishing, made, polished, with_candidates
from leastwise.runs.proposals import Pool

ROUNDS = 4, 2, 2
"""So often the judge is asked what is left, and from so many candidates at most merging goes on then."""
AIMS = (1.0, 0.75, 0.5)
"""Such shares of the limit each of them comes to keep."""
SHARES = (1.0, 0.85)
"""Of what they become, the safest are judged that seem to keep such a share of the limit: estimates are off."""
WORTH = 0.1
"""Less than this share of the limit is not worth a search."""


def spend_what_is_left(
    job: Job, pool: Pool, front: Sequence[Candidate], asked: Asked, how: Polishing
) -> tuple[Pool, list[Candidate], Asked]:
    """Return the candidates and those that some of them become where all of the limit is spent."""
    allowed, front, rest = Allowed.by(job), [*front], (how, job.options.constraints)
    if allowed is None:
        return pool, front, asked
    ways, begun, judged = list[Polished](), set[str](), _judged(job, front, asked)
    for most in ROUNDS:
        starts = worth_going_on([each for each in front if each.id not in begun], judged, allowed, most)
        begun |= {each.id for each in starts}
        tasks: list[Any] = [(each, *rest, allowed, judged[each.id]) for each in starts]
        if tasks:
            ways += chain.from_iterable(made(job, "spending what is left", f"{allowed}-left", tasks, spent))
        # Two searches may end at the same form, or at one that is judged already: that is known better.
        ways = [*{way.candidate.id: way for way in ways if way.candidate.id not in judged}.values()]
        best = spending_best(ways, allowed, SHARES)
        if not best:
            break
        pool, found = with_candidates(job, pool, [each.candidate for each in best])
        new = [each for each in found if each.id not in judged]
        front, asked = [*front, *new], guess_labels(job, asked.and_also(new))
        judged = _judged(job, front, asked)
        more = fmean(judged[each.candidate.id].mean - each.increase.mean for each in best)
        ways = [way.believing(-more) for way in ways]
    return pool, front, asked


def _judged(job: Job, front: Sequence[Candidate], asked: Asked) -> dict[str, Difference]:
    """Return what each candidate costs by the judge."""
    return dict(zip((each.id for each in front), asked.increases(job.split)[2:], strict=True))


def spent(
    candidate: Candidate, how: Polishing, constraints: Constraints | None, allowed: Allowed, judged: Difference
) -> tuple[Polished, ...]:
    """Return what a candidate becomes when all is spent that the limit leaves by the judge."""
    off = how.estimated(candidate.generalization).bound(allowed.errors) - judged.bound(allowed.errors)
    ways = [way.believing(off) for way in how.spent(candidate, constraints, allowed.left(judged))]
    least = [
        polished(each.candidate, how, constraints, allowed.by_search(off, share), 1.0)
        for each, share in zip(spending_best(ways, allowed, AIMS), AIMS, strict=False)
    ]
    return tuple({each.candidate.id: each.believing(off) for (each,) in least}.values())


def worth_going_on(
    front: Sequence[Candidate], judged: dict[str, Difference], allowed: Allowed, most: int
) -> list[Candidate]:
    """Return at most so many that leave some of the limit by the judge: the safest, and those that leave most."""
    left = {each.id: allowed.left(judged[each.id]) for each in front}
    able = [each for each in front if left[each.id] > WORTH * allowed.increase]
    safest = sorted(able, key=lambda each: -each.validation.adversary_error)[: most - most // 2]
    others = sorted((each for each in able if each not in safest), key=lambda each: -left[each.id])
    return [*safest, *others[: most // 2]]


def spending_best(candidates: Sequence[Polished], allowed: Allowed, shares: Sequence[float]) -> list[Polished]:
    """Return the safest of those that seem to keep the limit, or only such shares of it.

    The estimates are not the judge's. Where nobody seems to keep so much, it is the one that comes closest.
    """
    left = {each.candidate.fingerprint: each for each in candidates}
    chosen: list[Polished] = []
    for share in shares:

        def worth(each: Polished, most: float = share * allowed.increase) -> tuple[float, float]:
            beyond = each.increase.bound(allowed.errors) - most
            return max(beyond, 0.0), -each.candidate.validation.adversary_error

        if left:
            best = min(left.values(), key=worth)
            chosen.append(best)
            del left[best.candidate.fingerprint]
    return chosen
