"""Who sees more can coarsen: an attack on a coarser candidate is an attack on every finer one.

Candidates of one run are attacked on the same people. Where less is told of a finer one than of a coarser one, its
attacker drowned in what it saw: it would coarsen what it stole, and do as the other does. Decided on the attacked
people themselves, attribute by attribute, in favour of the adversary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from leastwise.adversaries.reconstruction import CertaintyPoint, HighCertaintyResult
from leastwise.adversaries.result import AttackResult, AttributeResult, ReconstructionResult
from leastwise.confidence import Interval
from leastwise.evaluation.evaluation import Evaluation
from leastwise.generalization import Generalization
from leastwise.runs.candidates import Candidate

NOTE = " of a coarser one"


def judged_together(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Let the figures of validation keep the law."""
    return [
        _judged(own, [other for other in candidates if _is_coarser(other.generalization, own.generalization)])
        for own in candidates
    ]


def attacked_together(
    generalizations: Mapping[str, Generalization], evaluations: Mapping[str, Evaluation]
) -> dict[str, Evaluation]:
    """Let what every adversary found keep the law; both are by the name of the candidate."""
    found = {}
    for name, own in evaluations.items():
        coarser = [
            evaluations[other]
            for other, generalization in generalizations.items()
            if _is_coarser(generalization, generalizations[name])
        ]
        found[name] = replace(own, attacks=tuple(_least(attack, coarser) for attack in own.attacks))
    return found


def _is_coarser(one: Generalization, other: Generalization) -> bool:
    return one.fingerprint != other.fingerprint and one.is_coarser_than(other)


def _judged(own: Candidate, coarser: Sequence[Candidate]) -> Candidate:
    assert own.judged is not None
    errors = [own.judged.by_attribute, *(each.judged.by_attribute for each in coarser if each.judged is not None)]
    least = {name: min(each[name] for each in errors) for name in own.judged.by_attribute}
    if least == own.judged.by_attribute:
        return own
    less = own.judged.adversary_error - float(np.mean([*least.values()]))
    figures = replace(
        own.judged,
        by_attribute=least,
        adversary_error=own.judged.adversary_error - less,
        adversary_interval=_lower(own.judged.adversary_interval, less),
    )
    return replace(own, judged=figures)


def _least(own: AttackResult, coarser: Sequence[Evaluation]) -> AttackResult:
    """Return what one adversary finds who may also do what it does to coarser records."""
    same = [each for judged in coarser for each in judged.attacks if each.adversary == own.adversary]
    others = [each for each in same if isinstance(each, ReconstructionResult)]
    if not isinstance(own, ReconstructionResult) or not others:
        return own
    attributes = tuple(_best(result, [other[result.attribute] for other in others]) for result in own.attributes)
    less = own.adversary_error - float(np.mean([each.adversary_error for each in attributes]))
    if attributes == own.attributes or own.interval is None:
        return own
    found = replace(
        own,
        attributes=attributes,
        adversary_error=own.adversary_error - less,
        interval=_lower(own.interval, less),
    )
    if not isinstance(found, HighCertaintyResult):
        return found
    surest = [other.points for other in others if isinstance(other, HighCertaintyResult)]
    return replace(found, points=tuple(map(_surest, zip(found.points, *surest, strict=True))))


def _best(own: AttributeResult, others: Sequence[AttributeResult]) -> AttributeResult:
    best = min((own, *others), key=lambda each: each.adversary_error)
    if best is own:
        return own
    without = [each.without_label for each in (own, *others) if each.without_label is not None]
    return replace(
        best,
        predictor=best.predictor.removesuffix(NOTE) + NOTE,
        without_breach=own.without_breach,
        without_label=min(without, default=None),
    )


def _surest(points: Sequence[CertaintyPoint]) -> CertaintyPoint:
    """Return the least errors on the people about whom somebody is surest."""
    which = np.argmin([point.errors for point in points], axis=0).tolist()
    errors = tuple(points[k].errors[i] for i, k in enumerate(which))
    intervals = tuple(points[k].intervals[i] for i, k in enumerate(which))
    return replace(points[0], errors=errors, intervals=intervals, mean=float(np.mean(errors)), minimum=min(errors))


def _lower(interval: Interval, less: float) -> Interval:
    return Interval(max(interval.low - less, 0.0), max(interval.high - less, 0.0))
