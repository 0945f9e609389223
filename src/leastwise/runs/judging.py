"""Judging a candidate for the run: fast, by counting, for all; with the strongest predictors for the frontier.

Both judge by validation: the adversary knows the training part and attacks the validation part.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import MakePredictor
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.evaluation.certificate import certify
from leastwise.evaluation.declared_groups import GroupErrors, ServedBefore
from leastwise.evaluation.label_guesses import LabelGuesses, label_guesses
from leastwise.evaluation.risk import UtilityRisk
from leastwise.evaluation.utility import Judges
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.minimizers.merging import LOSS, LOSS_OF_A_NUMBER, Limit, increase_of, loss_near, spent_by_shares
from leastwise.minimizers.merging import least as least_of
from leastwise.minimizers.rounding import rounded
from leastwise.partition import Untouched
from leastwise.predictors import JointBuckets, Logistic
from leastwise.predictors.held_out import Difference, Reference
from leastwise.predictors.regression import linear
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import Candidate, Figures

SPENDING = (None, 20.0)
"""Multipliers of the paths on which accuracy is spent: the best exchange rates, or few answers above all."""
FOR_FEWER_ANSWERS = 0.5
"""Of what a limit leaves, so much may be lost for fewer answers; the rest is spent on safety."""
EVERYTHING = "everything"
"""Who proposes the candidate that asks everything in full."""
PARTS = (1.0, 0.5)
"""Of what may be lost, these shares are spent."""


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The figures of a candidate on one part."""

    figures: Figures
    seconds: float = field(default=0.0, compare=False)


def screen_by_counting(
    generalization: Generalization,
    split: Split,
    candidates: int,
    before: ServedBefore | None = None,
    everything: UtilityRisk | None = None,
) -> Judged:
    """Judge on validation by counting (and for the label an additive model, which carries over).

    Parameters
    ----------
    candidates
        How many are screened on the same records: the certificate pays for all of them.
    before
        How declared groups are served with everything asked, where there are any.
    everything
        Where the worst of several labels counts: how everything asked is judged.
    """
    part = split.on_validation()
    told = label_guesses(generalization, part, (JointBuckets(), Logistic(), linear()))
    risk = told.risk(part, "test")
    risk = risk if everything is None else risk.worst_beside(everything)
    if before is not None:
        wrong = told.wrong("test", part.test)
        risk = replace(risk, groups=GroupErrors.of(wrong, before.wrong, part.test, before.groupings))
    return judge_risk(generalization, part, candidates, risk, JointBuckets)


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
    found = [first]
    left = 0.0 if allowed is None or not share else allowed.left(first.increase)
    if left > 0:
        same: Any = {"constraints": constraints, "everything": how.everything}
        spent = spent_by_shares(*parts, first.candidate.generalization, left, PARTS, SPENDING, **same)
        made = {each.fingerprint: each for each in spent}  # two ways may end at the same place
        for each in made.values():
            way = how.coarsened(first.candidate, each, constraints)
            found.append(Polished(way, how.estimated(way.generalization)))
    return tuple(found)


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


def guess_label(generalization: Generalization, split: Split, judges: Judges) -> LabelGuesses:
    """Let the strongest classifiers guess the label; each task has its own, which learn."""
    return label_guesses(generalization, split, judges.classifiers())


def judge_strongly(
    generalization: Generalization, split: Split, candidates: int, risk: UtilityRisk, judges: Judges
) -> Judged:
    """Judge on the last part with the strongest adversary; the utility risk is known."""
    return judge_risk(generalization, split, candidates, risk, judges.adversary(), judges.seed)


def judge_risk(
    generalization: Generalization,
    split: Split,
    candidates: int,
    risk: UtilityRisk,
    adversary: MakePredictor,
    seed: int = 0,
) -> Judged:
    """Attack and certify the last part, and put the figures together."""
    start = time.perf_counter()
    breach = Breach.of(generalization, split, seed=seed)
    attack = Reconstruction(adversary, compared=False).attack(breach)
    # What counts as told was settled on the training part, as for the attack.
    told = {target.attribute.name: target.tolerance for target in breach.targets.values()}
    tolerances = {name: tolerance for name, tolerance in told.items() if tolerance is not None}
    certificate = certify(generalization, split.test, candidates=candidates, tolerances=tolerances)
    assert attack.interval is not None
    figures = Figures(
        utility_risk=risk.error,
        utility_interval=risk.interval,
        adversary_error=attack.adversary_error,
        adversary_interval=attack.interval,
        by_attribute={result.attribute: result.adversary_error for result in attack.attributes},
        certified=certificate.mean.adversary_error_at_least,
        unique_people=SinglingOut(0).attack(breach).unique_people,
        increase=risk.increase,
        people=round(risk.people),
        groups=risk.groups,
        number=risk.number,
        expected=risk.expected,
        labels=risk.labels,
        worst=risk.worst,
    )
    return Judged(figures=figures, seconds=time.perf_counter() - start)


def guessing(split: Split) -> dict[str, float]:
    """Return the error of guessing, by personal attribute: on validation or test, wherever it is larger."""
    nothing = Generalization.suppressed(split.train.schema)
    found: dict[str, float] = {}
    for parts in (split.on_validation(), split):
        breach = Breach.of(nothing, parts)
        counts = breach.truth.counts
        for target in breach.targets.values():
            error = float(target.naive_wrong @ counts) / breach.people
            found[target.attribute.name] = max(error, found.get(target.attribute.name, 0.0))
    return found


def answers(generalization: Generalization, train: Table) -> int:
    """Return how many different answers there are in all; a number asked exactly has as many as were given."""
    total = 0
    for level, partition in zip(train.levels, generalization.partitions, strict=True):
        if isinstance(partition, Untouched):
            total += partition.size or len(level) + partition.attribute.extra_values
        elif not partition.suppressed:
            total += partition.size
    return total
