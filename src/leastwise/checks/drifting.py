"""What the sample promised against what is now: what counts as drift, and the questions that look for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leastwise.checks.comparisons import Comparison, chance_of_shares
from leastwise.checks.promise import Promise, Share, risk_of
from leastwise.checks.use import BucketUse
from leastwise.confidence import binomial_interval
from leastwise.documents.wording import percent
from leastwise.evaluation.noise import NOISE_LEVEL, chance_above
from leastwise.generalization import Generalization
from leastwise.schema import Attribute
from leastwise.validation import check_between

USE, LABEL, ACCURACY, RISK, UNSEEN = "Bucket use", "Label rate", "Accuracy", "Risk", "Values outside the domain"
WORDS = {USE: "answer", LABEL: "class"}


@dataclass(frozen=True, kw_only=True)
class DriftLimits:
    """How sure and how large a difference must be to be called drift.

    Parameters
    ----------
    level
        How often a whole check may alarm although nothing changed: 0.01 is once in a hundred checks.
    share
        The change of a bucket's (or a class's) share of the people that matters.
    error
        The increase of the classifier's error that matters.
    adversary_error
        The decrease of an adversary's error that matters.
    max_unseen
        The share of records that may have a value outside the domain of an attribute.
    """

    level: float = NOISE_LEVEL
    share: float = 0.02
    error: float = 0.01
    adversary_error: float = 0.02
    max_unseen: float = 0.001

    def __post_init__(self) -> None:
        for name in ("level", "share", "error", "adversary_error", "max_unseen"):
            check_between(name, getattr(self, name), 0.0, 1.0)


def use_comparisons(
    promise: Promise, now: Iterable[BucketUse], generalization: Generalization, limits: DriftLimits
) -> list[Comparison]:
    """Compare the share of people in each bucket of each attribute."""
    then = {use.attribute: use.counts for use in promise.use}
    comparisons = []
    for use in now:
        labels = generalization[use.attribute].labels
        names = [f"{use.attribute}: {label}" for label in labels]
        comparisons += _shares(USE, names, then[use.attribute], use.counts, promise, limits)
    return comparisons


def label_comparisons(
    promise: Promise, now: Sequence[int] | None, label: Attribute | None, limits: DriftLimits
) -> list[Comparison]:
    """Compare the share of each class of the label."""
    if promise.label is None or now is None or label is None or not sum(now):
        return []
    of = "" if len(label.parts) > 1 else f"{label.name}: "  # a combination names its labels
    names = [f"{of}{label.label_of(value)}" for value in label.values]
    return _shares(LABEL, names, promise.label, now, promise, limits)


def _shares(
    about: str,
    names: Sequence[str],
    then: Sequence[int],
    now: Sequence[int],
    promise: Promise,
    limits: DriftLimits,
) -> list[Comparison]:
    comparisons, people, slack = [], sum(now), promise.rounded_to / 2
    for name, before, count in zip(names, then, now, strict=True):
        was, share = before / max(sum(then), 1), count / max(people, 1)
        comparisons.append(
            Comparison(
                about=about,
                name=name,
                then=was,
                now=share,
                limit=limits.share,
                interval=binomial_interval(count, people) if people else None,
                chance=chance_of_shares(before, promise.people_counted, count, people, slack=slack),
                matters=abs(share - was) >= limits.share,
                reason=f"{name} is now the {WORDS[about]} of {percent(share, 1)} of the people, promised were "
                f"{percent(was, 1)}",
            )
        )
    return comparisons


def accuracy_comparisons(
    promise: Promise, now: Share | None, limits: DriftLimits, who: str = "the model", of: str = "of the time"
) -> list[Comparison]:
    """Compare the classifier's error; only more of it is of interest."""
    then = promise.utility
    if then is None or now is None:
        return []
    errors = now.error * now.people
    return [
        Comparison(
            about=ACCURACY,
            name=f"error of {who}",
            then=then.error,
            now=now.error,
            limit=limits.error,
            interval=binomial_interval(errors, now.people),
            chance=chance_of_shares(then.error * then.people, then.people, errors, now.people, "more"),
            matters=now.error - then.error >= limits.error,
            reason=f"{who} errs {now.error:.3f} {of}, promised was {then.error:.3f}",
        )
    ]


def risk_drift(promise: Promise, attack: Any, limits: DriftLimits) -> list[Comparison]:
    """Compare the error of A1, on average and by attribute; only less of it is of interest."""
    mean = risk_of(attack)
    comparisons = []
    if promise.risk is not None and mean is not None:
        comparisons.append(_told("on average", promise.risk, mean, attack.interval, limits))
    then = {told.attribute: told.adversary_error for told in promise.told}
    for each in attack.attributes:
        if each.attribute in then:
            was = Share(error=then[each.attribute], people=promise.people_counted)
            now = Share(error=each.adversary_error, people=attack.people)
            comparisons.append(_told(f"about {each.attribute}", was, now, each.interval, limits))
    return comparisons


def _told(what: str, then: Share, now: Share, interval: Any, limits: DriftLimits) -> Comparison:
    return Comparison(
        about=RISK,
        name=f"A1 {what}",
        then=then.error,
        now=now.error,
        limit=limits.adversary_error,
        interval=interval,
        chance=chance_of_shares(then.error * then.people, then.people, now.error * now.people, now.people, "less"),
        matters=then.error - now.error >= limits.adversary_error,
        reason=f"A1 is wrong {what} {now.error:.3f} of the time, promised was {then.error:.3f}",
    )


def unseen_comparisons(unseen: Mapping[str, int], people: int, limits: DriftLimits) -> list[Comparison]:
    """Hold the share of records with a value outside the domain against what is allowed."""
    most = limits.max_unseen
    what = "of the records have a value outside its domain, allowed is"
    return [
        Comparison(
            about=UNSEEN,
            name=name,
            now=count / people,
            limit=most,
            interval=binomial_interval(count, people),
            chance=chance_above(count, people, most),
            matters=count / people > most,
            reason=f"{name}: {percent(count / people, 2)} {what} {percent(most, 2)}",
        )
        for name, count in unseen.items()
    ]
