"""The verdict about a limit, made once: kept, probably kept, probably missed or missed, and the words for it.

A candidate is chosen on the validation part. People of the test part had no say in that; what they show of every
limit is its verdict. A limit is *kept* where they confirm it at the confidence that was asked for, and *missed*
where a check of the same figures would call it broken: where noise cannot explain them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import NormalDist

from leastwise.confidence import Interval
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import NO_BREAK, counted
from leastwise.evaluation.noise import bound_by_counts, of_increase
from leastwise.evaluation.risk import deciding
from leastwise.predictors.held_out import MARGIN, Difference, weighed
from leastwise.runs.budget import INCREASE, Budget, Limit, Size, bound_in_points, in_points, increase_in_words
from leastwise.runs.candidates import Figures
from leastwise.validation import check_choice

STANDINGS = KEPT, PROBABLY_KEPT, PROBABLY_MISSED, MISSED = "kept", "probably kept", "probably missed", "missed"
"""How a limit may stand, from the best to the worst."""
# So many times as many people are not worth naming.
_MOST_TIMES = 100.0
# Who reads that many times as many would be needed wonders why.
_MANY_TIMES = 10.0
NOISE = "which noise can explain"
"""What is said of a limit that is not kept by the figures, but may be by everybody; see ``evaluation.noise``."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How a limit stands by people who had no say in choosing.

    Attributes
    ----------
    limit
        Its name, as in the budget; those of attributes say which.
    standing
        ``kept`` (at the confidence of the budget), ``probably kept`` (by the estimate only), ``probably missed``
        (noise can explain it) or ``missed``.
    now, allowed
        The estimate, and what the limit is.
    interval
        That holds the true one with 95 % confidence; None where it was counted, or nothing tells how sure it is.
    finding
        What was found, in words.
    because, note
        What noise can explain, and what else must be said of it; empty where there is nothing to say.
    """

    limit: str
    standing: str
    now: float
    allowed: float
    interval: Interval | None = None
    finding: str
    because: str = field(default="", metadata=LEFT_OUT)
    note: str = field(default="", metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        check_choice("standing", self.standing, STANDINGS)

    @property
    def missed(self) -> bool:
        """Whether the figures are beyond the limit, be it by noise."""
        return self.standing in (PROBABLY_MISSED, MISSED)

    @property
    def only_noise(self) -> bool:
        """Whether they are, and noise can explain it."""
        return self.standing == PROBABLY_MISSED

    @property
    def words(self) -> str:
        """What was found, and whether noise can explain it."""
        return self.finding + f", {NOISE}" * self.only_noise

    @property
    def sentence(self) -> str:
        """The verdict, what was found, and what else must be said."""
        because, note = f": {self.because}" * bool(self.because), f" {self.note}" * bool(self.note)
        return f"{self.standing.capitalize()} on the test part: {self.words}{because}.{note}"


def verdicts(budget: Budget, figures: Figures, everything: float, size: Size | None = None) -> tuple[Verdict, ...]:
    """Return the verdict about each limit of a budget, by figures that had no say in choosing.

    ``everything`` is the error of the classifier with everything asked, on the same part.
    """
    limits = budget.limits(figures, everything, size)
    compared = figures.increase is not None
    return tuple(
        _of_the_increase(budget, figures) if limit.name == INCREASE and compared else _of(limit, budget, figures)
        for limit in limits
    )


def _of(limit: Limit, budget: Budget, figures: Figures) -> Verdict:
    chance = limit.chance()
    if limit.beyond > 0:
        standing = PROBABLY_MISSED if chance.beyond > budget.noise_level(figures) else MISSED
    else:
        standing = KEPT if chance.within <= 1 - budget.confidence else PROBABLY_KEPT
    return Verdict(
        limit=limit.name,
        standing=standing,
        now=limit.now,
        allowed=limit.allowed,
        interval=chance.interval,
        finding=limit.text,
    )


def _of_the_increase(budget: Budget, figures: Figures) -> Verdict:
    """Return the verdict about the label of which it is the least sure: all others are kept at least as surely."""
    if budget.worst_label(figures) is None:
        assert figures.increase is not None
        verdict = about_increase(budget, figures.increase, figures, figures.expected)
        return verdict if figures.number is None else replace(verdict, note=figures.number.what_points_are())
    each = [
        (about_increase(budget, label.increase, figures, label.expected, label.label), label.increase)
        for label in deciding(figures.labels)
        if label.increase is not None
    ]
    sure = {standing: place for place, standing in enumerate(STANDINGS)}
    return max(each, key=lambda pair: (sure[pair[0].standing], pair[1].bound(budget.errors)))[0]


def about_increase(
    budget: Budget, increase: Difference, figures: Figures, expected: float | None = None, label: str = ""
) -> Verdict:
    """Return the verdict about the limit on the increase of the error.

    It is kept where the labels of these people confirm it, and the beliefs of a classifier that is told everything
    (``expected``) do not speak against it: labels alone confirm a limit now and then by luck. Both have a
    margin: a limit is mostly claimed of candidates that are close to it. Where few people differ, exact counts
    bound it. Of several labels, ``label`` is the one that is meant.
    """
    most = budget.max_error_increase
    assert most is not None
    seen = increase
    # Who sees more can coarsen: an increase below zero is chance, and no reason to be surer.
    increase = replace(increase, mean=max(increase.mean, 0.0))
    errors = MARGIN * budget.errors
    by_labels = upper = increase.bound(errors)
    if figures.people and figures.number is None:
        by_labels = upper = max(upper, bound_by_counts(seen, figures.people, budget.confidence))
    if expected is not None and figures.number is None:
        upper = max(upper, weighed(increase, expected, looked_at=False).bound(errors))
    about, because = f" about {label}" * bool(label), ""
    own, allowed = in_points(increase.mean, most)
    reach, level = bound_in_points(upper, most), f"{budget.confidence * 100:g}{NO_BREAK}%"
    if upper <= most:
        standing = KEPT
        finding = (
            f"with {level} confidence the model errs at most {reach} points more{about} than with everything "
            f"asked (allowed: {allowed})"
        )
    elif increase.mean <= most:
        standing = PROBABLY_KEPT
        more = " by what a classifier expects that is told everything"
        if by_labels > most:
            believed = None if figures.number is not None else expected
            more = _how_many_would_tell(increase, believed, most, errors, figures, budget.confidence)
        at_most = "a little more than allowed" if in_points(upper, most)[0] == allowed else f"at most {reach}"
        finding = (
            f"the model errs {own} points more{about} than with everything asked (allowed: {allowed}), and with "
            f"{level} confidence {at_most}{more}"
        )
    else:
        finding = f"the model errs {increase_in_words(increase.mean, most, about)}"
        standing, noise = MISSED, budget.noise_level(figures)
        if of_increase(increase, most).beyond > noise:
            standing, because = PROBABLY_MISSED, _what_is_not_ruled_out(increase, most, noise)
    return Verdict(
        limit=INCREASE,
        standing=standing,
        now=seen.mean,
        allowed=most,
        interval=of_increase(seen, most).interval,
        finding=finding,
        because=because,
    )


def _how_many_would_tell(
    increase: Difference, expected: float | None, most: float, errors: float, figures: Figures, confidence: float
) -> str:
    """Say how many more people would confirm the limit if they showed the same; nothing where very many."""
    people = figures.people

    def confirm(times: float) -> bool:
        told = replace(increase, standard_error=increase.standard_error / times**0.5)
        beside = told if expected is None else weighed(told, expected, looked_at=False)
        upper = max(told.bound(errors), beside.bound(errors))
        if people and figures.number is None and upper <= most:
            upper = bound_by_counts(told, people * times, confidence)
        return upper <= most

    if not confirm(_MOST_TIMES):
        return ""
    few, enough = 1.0, _MOST_TIMES
    while enough - few > 0.001:
        middle = (few + enough) / 2
        few, enough = (few, middle) if confirm(middle) else (middle, enough)
    more = max(_rounded((enough - 1) * people), 1)
    near = "" if enough <= _MANY_TIMES else ": so near is the limit"
    return f"; about {counted(more, 'more person', 'more people')} to test would tell{near}"


def _what_is_not_ruled_out(increase: Difference, most: float, level: float) -> str:
    lowest = increase.bound(-NormalDist().inv_cdf(1 - level))
    low, allowed = in_points(lowest, most)
    rest = "that it errs no more at all" if lowest <= 0 else "what is allowed" if low == allowed else low
    return f"a test at {(1 - level) * 100:.1f}{NO_BREAK}% confidence does not rule out {rest}"


def _rounded(number: float) -> int:
    """Return a number with two digits that count.

    >>> _rounded(1234.5), _rounded(7.2)
    (1200, 7)
    """
    return int(float(f"{number:.2g}"))
