"""What may be lost and what must be protected: the budget that a candidate is chosen under."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from statistics import NormalDist
from typing import NamedTuple

from leastwise.documents import is_number
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import counted, percent, rounded_up
from leastwise.errors import ParameterError, shorten
from leastwise.evaluation.declared_groups import GroupErrors, less_chance
from leastwise.evaluation.noise import (
    COUNTED,
    FOR_LIMITS,
    NOISE_LEVEL,
    Chance,
    chance_of_gap,
    of_increase,
    of_number,
    of_share,
    people_behind,
    people_of_share,
)
from leastwise.evaluation.risk import LabelRisk, deciding
from leastwise.predictors.held_out import TOLD, Difference
from leastwise.runs.candidates import Figures
from leastwise.validation import check_between, check_choice, did_you_mean

MEAN = "mean"
INCREASE = "max_error_increase"
"""The limit that a choice is about first; the names of the others are said once."""
WORST, WEIGHTED = "worst", "weighted"
LABELS_BY = (WORST, WEIGHTED)


def _counted() -> Chance:
    return COUNTED


def _not_compared() -> Chance:
    return Chance(0.0, 1.0)  # nothing tells how sure it is: what is beyond is, and nothing is claimed


class Limit(NamedTuple):
    """One limit of a budget held against a candidate.

    Attributes
    ----------
    name
        Of the limit; those of attributes say which.
    now, allowed
        The figure, and the most (of adversaries' errors the least) that it may be.
    beyond
        How far beyond it is, weighed so that limits can be compared; 0 where it is kept.
    text
        What was found, in words.
    chance
        Returns how likely noise alone brings it so far.
    """

    name: str
    now: float
    allowed: float
    beyond: float
    text: str
    chance: Callable[[], Chance] = _counted


class Size(NamedTuple):
    """How many attributes a candidate asks, and how many answers it allows in all."""

    asked: int
    answers: int


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits that the chosen candidate must keep.

    Parameters
    ----------
    max_error_increase
        By how much the classifier may err more than with everything asked (0.01: one point). Where the label is a
        number, errors are shares of the error of guessing: what always saying the median is off on average.
    max_error
        How often the classifier may err.
    min_adversary_error
        By personal attribute how often A1 must be wrong; the key "mean" is for the mean over all.
    max_unique, max_unique_share
        How many people, and how large a share of all, may be alone with their generalized record.
    max_buckets, max_asked
        How many answers there may be in all, and how many questions.
    max_group_gap, max_group_error
        By how much the increase of the error may differ between two declared groups, and how often the classifier
        may err in any of them. The difference is the one that is left when chance has had its part: the largest of
        several is too large even where nobody differs.
    confidence
        With which ``max_error_increase`` and the limits of groups must be kept to count as kept: the upper bound,
        at this one-sided level, keeps it.
    labels_by
        Where several labels are predicted: limits of the error hold for every one of them, so that the ``worst``
        decides, or for their ``weighted`` mean. A label that is not told even with everything asked can lose
        nothing, and does not decide about the increase. Groups are judged by the weighted mean.

    Examples
    --------
    >>> Budget(max_error_increase=0.01, min_adversary_error={"sex": 0.3}).words()
    'the model errs at most 1 point more than with everything asked, and A1 is wrong about sex at least 0.3 of the
    time'
    """

    max_error_increase: float | None = None
    max_error: float | None = None
    min_adversary_error: Mapping[str, float] = field(default_factory=dict)
    max_unique: int | None = None
    max_unique_share: float | None = None
    max_buckets: int | None = None
    max_asked: int | None = None
    max_group_gap: float | None = None
    max_group_error: float | None = None
    confidence: float = 0.9
    labels_by: str = field(default=WORST, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        check_choice("labels_by", self.labels_by, LABELS_BY)
        object.__setattr__(self, "min_adversary_error", dict(self.min_adversary_error))
        for name in ("max_error_increase", "max_error", "max_unique_share", "max_group_gap", "max_group_error"):
            _check_share(name, getattr(self, name))
        for attribute, least in self.min_adversary_error.items():
            _check_share(f"min_adversary_error of {attribute}", least)
        for name in ("max_unique", "max_buckets", "max_asked"):
            _check_count(name, getattr(self, name))
        check_between("confidence", self.confidence, 0.5, 0.9999)

    def __bool__(self) -> bool:
        return self != Budget(confidence=self.confidence)

    @property
    def states_limits(self) -> bool:
        """Whether it limits anything; how labels are put together is no limit."""
        return bool(replace(self, labels_by=WORST))

    @property
    def errors(self) -> float:
        """How many standard errors above the estimate the upper bound of the increase lies."""
        return NormalDist().inv_cdf(self.confidence)

    @property
    def bounds_utility(self) -> bool:
        """Whether it says how much accuracy may be lost."""
        return self.max_error_increase is not None or self.max_error is not None

    def worth(self, figures: Figures) -> tuple[float, float]:
        """Return by what candidates that keep the budget are ordered, the best first.

        Where the loss of accuracy is limited the safest is the best, otherwise the most accurate.
        """
        risk, error = figures.point
        return (-error, risk) if self.bounds_utility else (risk, -error)

    def limits(
        self, figures: Figures, everything: float, size: Size | None = None, errors: float = 0.0
    ) -> list[Limit]:
        """Hold every limit against the figures of a candidate.

        Parameters
        ----------
        everything
            The error of the classifier with everything asked, on the same part.
        size
            Of the candidate, where that is limited too.
        errors
            How many standard errors are added to the increase of the error and to what is limited of groups.
        """
        limits = [*self._utility_limits(figures, everything, errors), *self._privacy_limits(figures)]
        limits += self._group_limits(figures, errors)
        return limits if size is None else [*limits, *self._size_limits(size)]

    def problems(self, figures: Figures, everything: float, size: Size | None = None) -> list[str]:
        """Say which limits a candidate breaks; an empty list means that it fits."""
        return [limit.text for limit in self.limits(figures, everything, size) if limit.beyond > 0]

    def noise_level(self, figures: Figures) -> float:
        """Return the chance up to which noise explains nothing: each figure pays for all that a check asks.

        Of several labels each must keep the limits of the error, unless their weighted mean does; every group
        must keep that of groups, and every grouping that of gaps.
        """
        labels = max(len(figures.labels), 1) if self.labels_by == WORST else 1
        groups = {} if figures.groups is None else figures.groups.increases
        asked = labels * len(self._utility_words()) + len(self._privacy_words()) + len(self._size_words())
        asked += (self.max_group_gap is not None) * max(len(groups), 1)
        asked += (self.max_group_error is not None) * max(sum(map(len, groups.values())), 1)
        return NOISE_LEVEL * FOR_LIMITS / asked

    def tells_nothing(self, nothing: Figures) -> bool:
        """Whether, by the figures with nothing asked, not even all answers show that the model would err less.

        Of several labels, about none of them, where each must keep the limits.
        """
        each = [label.increase for label in nothing.labels if self.labels_by == WORST] or [nothing.increase]
        return all(more is not None and more.bound(-TOLD) <= 0 for more in each)

    def worst_label(self, figures: Figures, errors: float = 0.0) -> LabelRisk | None:
        """Return, of several labels, the one whose error may rise most; None where their weighted mean counts."""
        told = [each for each in deciding(figures.labels) if each.increase is not None]
        if self.labels_by != WORST or not told:
            return None
        return max(told, key=lambda each: each.increase.bound(errors) if each.increase else 0.0)

    def increase_of(self, figures: Figures, errors: float = 0.0) -> Difference | None:
        """Return by how much the model errs more than with everything asked; of several labels, the worst."""
        worst = self.worst_label(figures, errors)
        return figures.increase if worst is None else worst.increase

    def _utility_limits(self, figures: Figures, everything: float, errors: float) -> list[Limit]:
        limits = []
        by_worst = self.labels_by == WORST
        if self.max_error_increase is not None:
            worst, increase = self.worst_label(figures, errors), self.increase_of(figures, errors)
            risk, most = figures.point.utility_risk if by_worst else figures.utility_risk, self.max_error_increase
            more = risk - everything if increase is None else increase.bound(errors)
            errs, sure = ("may err", f" ({percent(self.confidence)} sure)") if errors else ("errs", "")
            about = "" if worst is None else f" about {worst.label}"
            text = f"the model {errs} {increase_in_words(more, most, about, sure)}"
            chance = _not_compared if increase is None else partial(of_increase, increase, most)
            limits.append(Limit(INCREASE, more, most, _over(more, most), text, chance))
        if self.max_error is not None:
            of = "of the time" if figures.number is None else "of the error of guessing"
            each = [(label.error, f" about {label.label}") for label in figures.labels if by_worst]
            risk, about = max(each, default=(figures.utility_risk, ""))
            text = f"the model errs {risk:.4f} {of}{about}, allowed is {self.max_error:g}"
            chance = partial(_of_error, risk, self.max_error, figures)
            limits.append(Limit("max_error", risk, self.max_error, _over(risk, self.max_error), text, chance))
        return limits

    def _privacy_limits(self, figures: Figures) -> list[Limit]:
        limits = []
        for attribute, least in self.min_adversary_error.items():
            error = figures.adversary_error if attribute == MEAN else figures.by_attribute[attribute]
            who = "on average over the personal attributes" if attribute == MEAN else f"about {attribute}"
            text = f"A1 is wrong {who} {error:.4f} of the time, wanted is at least {least:g}"
            chance = partial(_of_adversary, error, least, figures, attribute == MEAN)
            name = f"min_adversary_error {attribute}"
            limits.append(Limit(name, error, least, _over(least, error), text, chance))
        if self.max_unique is not None:
            people, allowed = figures.unique_people, self.max_unique
            alone_are, are = counted(people, "person is", "people are"), "is" if allowed == 1 else "are"
            text = f"{alone_are} alone with their record, allowed {are} {allowed:,}"
            alone = partial(of_number, people, allowed)
            limits.append(Limit("max_unique", people, allowed, _share_over(people, allowed), text, alone))
        if self.max_unique_share is not None and figures.attacked:
            share, most = figures.unique_people / figures.attacked, self.max_unique_share
            text = f"{share:.4f} of the people are alone with their record, allowed are {most:g}"
            alone = partial(of_share, figures.unique_people, figures.attacked, most)
            limits.append(Limit("max_unique_share", share, most, _over(share, most), text, alone))
        return limits

    def _group_limits(self, figures: Figures, errors: float) -> list[Limit]:
        # Where no figures of groups are known, no limit of theirs is broken.
        if figures.groups is None:
            return []
        gap, error, limits = figures.groups.gap(errors), figures.groups.worst.bound(errors), []
        may, sure = ("may ", f" ({percent(self.confidence)} sure)") if errors else ("", "")
        if (most := self.max_group_gap) is not None:
            text = f"two groups {may}differ by {gap:.4f} in how much more the model errs{sure}"
            text += f", allowed is {most:g}"
            chance = partial(_of_gap, figures.groups, most)
            limits.append(Limit("max_group_gap", gap, most, _over(gap, most), text, chance))
        if (most := self.max_group_error) is not None:
            errs = "may err" if errors else "errs"
            text = f"the model {errs} {error:.4f} of the time in a group{sure}, allowed is {most:g}"
            chance = partial(_of_worst, figures.groups, most)
            limits.append(Limit("max_group_error", error, most, _over(error, most), text, chance))
        return limits

    def _size_limits(self, size: Size) -> list[Limit]:
        limits = []
        for name, count, most, what in (
            ("max_buckets", size.answers, self.max_buckets, "answer"),
            ("max_asked", size.asked, self.max_asked, "question"),
        ):
            if most is not None:
                there, allowed = ("is" if number == 1 else "are" for number in (count, most))
                in_all = " in all" * (what == "answer")
                text = f"there {there} {counted(count, what)}{in_all}, allowed {allowed} {most:,}"
                limits.append(Limit(name, count, most, _share_over(count, most), text))
        return limits

    @property
    def bounds_groups(self) -> bool:
        """Whether it says how declared groups must be served."""
        return self.max_group_gap is not None or self.max_group_error is not None

    def check_groups(self, declared: bool, how: str = "begin the run with some, such as --set groups=sex") -> None:
        """Refuse limits of groups where no groups were declared, and say how they are."""
        if self.bounds_groups and not declared:
            limits = "max_group_gap and max_group_error"
            raise ParameterError(f"{limits} need declared groups, and there are none; {how}")

    def check(self, suppressed: Mapping[str, float], mean: float, attributes: tuple[str, ...]) -> None:
        """Refuse what cannot be: unknown attributes, and errors above what guessing gives.

        Parameters
        ----------
        suppressed, mean
            The error of guessing, by personal attribute and on average.
        attributes
            The names of all attributes.
        """
        for attribute, least in self.min_adversary_error.items():
            self._check_attribute(attribute, suppressed, attributes)
            guess = mean if attribute == MEAN else suppressed[attribute]
            if least > guess + 1e-12:
                who = "on average" if attribute == MEAN else f"about {attribute}"
                most = math.floor(guess * 1000 + 1e-9) / 1000  # what is named must not be refused in its turn
                raise ParameterError(
                    f"min_adversary_error {attribute}={least:g} is impossible: nobody errs more than the guess, "
                    f"{most:.3f} {who}; ask for at most that"
                )

    def _check_attribute(self, name: str, personal: Mapping[str, float], attributes: tuple[str, ...]) -> None:
        if name == MEAN or name in personal:
            return
        if name in attributes:
            raise ParameterError(
                f"min_adversary_error is for personal attributes and {shorten(name)} is none; mark it so"
            )
        hint = did_you_mean(name, [*personal, MEAN])
        raise ParameterError(f"min_adversary_error: there is no personal attribute {shorten(name)}; {hint}")

    def words(self) -> str:
        """Say the budget in words."""
        parts = self.limits_in_words()
        if len(parts) < 2:
            return "".join(parts) or "nothing is limited"
        return ", ".join(parts[:-1]) + ", and " + parts[-1]

    def limits_in_words(self) -> list[str]:
        """Say each limit in words."""
        return [*self._utility_words(), *self.group_words(), *self._privacy_words(), *self._size_words()]

    def _utility_words(self) -> list[str]:
        words = []
        if self.max_error_increase is not None:
            points = counted_points(self.max_error_increase)
            words.append(f"the model errs at most {points} more than with everything asked")
        if self.max_error is not None:
            words.append(f"the model errs at most {self.max_error:g} of the time")
        return words

    def group_words(self) -> list[str]:
        """Say the limits of groups in words."""
        words = []
        if self.max_group_gap is not None:
            words.append(f"two groups differ by at most {self.max_group_gap:g} in how much more it errs")
        if self.max_group_error is not None:
            words.append(f"in no group it errs more than {self.max_group_error:g} of the time")
        return words

    def _privacy_words(self) -> list[str]:
        words = [
            f"A1 is wrong {'on average' if name == MEAN else f'about {name}'} at least {least:g} of the time"
            for name, least in self.min_adversary_error.items()
        ]
        if self.max_unique is not None:
            most = counted(self.max_unique, "person is", "people are")
            alone = f"at most {most}" if self.max_unique else "nobody is"
            words.append(f"{alone} alone with their generalized record")
        if self.max_unique_share is not None:
            words.append(f"at most {self.max_unique_share:g} of the people are alone with theirs")
        return words

    def _size_words(self) -> list[str]:
        words = [] if self.max_buckets is None else [f"at most {counted(self.max_buckets, 'answer')} in all"]
        return words if self.max_asked is None else [*words, f"at most {counted(self.max_asked, 'question')}"]


def counted_points(share: float) -> str:
    """Return a difference of shares in points.

    >>> counted_points(0.01), counted_points(0.025)
    ('1 point', '2.5 points')
    """
    return "1 point" if f"{share * 100:g}" == "1" else f"{share * 100:g} points"


def increase_in_words(more: float, most: float, about: str = "", sure: str = "") -> str:
    """Say an increase of the error beside what is allowed, both to the same digit.

    >>> increase_in_words(0.021, 0.01)
    '2.1 points more than with everything asked, allowed is 1.0'
    >>> increase_in_words(0.01003, 0.01)
    '1.0 points more than with everything asked, just above what is allowed, 1.0'
    """
    own, allowed = in_points(more, most)
    just = "just above what is allowed," if own == allowed and more > most else "allowed is"
    return f"{own} points more{about} than with everything asked{sure}, {just} {allowed}"


def in_points(share: float, most: float) -> tuple[str, str]:
    """Return a share and what is allowed of it in points: to one digit, or as many as the limit was stated with.

    >>> in_points(0.01003, 0.01), in_points(0.004, 0.0025), in_points(2e-7, 1e-7)
    (('1.0', '1.0'), ('0.40', '0.25'), ('0.00002', '0.00001'))
    """
    digits = _digits(most)
    return f"{share * 100:.{digits}f}", f"{most * 100:.{digits}f}"


def bound_in_points(bound: float, most: float) -> str:
    """Return what a share is at most in points, as ``in_points`` does, but rounded up: it is promised.

    >>> bound_in_points(0.01201, 0.02), bound_in_points(0.012, 0.02), bound_in_points(0.00991, 0.01)
    ('1.3', '1.2', '1.0')
    """
    digits = _digits(most)
    return f"{rounded_up(bound * 100, digits):.{digits}f}"


def _digits(most: float) -> int:
    return max(-int(Decimal(f"{most * 100:g}").as_tuple().exponent), 1)


def _of_error(error: float, most: float, figures: Figures) -> Chance:
    error = min(error, 1.0)  # of a number: how far off it is, in units of guessing
    people = _people_who_tell(figures)
    if figures.number is not None:
        people = people_behind(error, figures.utility_interval, people)
    return of_share(error * people, people, most)


def _of_adversary(error: float, least: float, figures: Figures, mean: bool) -> Chance:
    people = _people_who_tell(figures) if figures.everybody is None else float(figures.everybody)
    if mean:  # over several attributes, which is surer than of one
        people = people_behind(error, figures.adversary_interval, people)
    chance = of_share(error * people, people, least)
    return chance._replace(beyond=chance.within, within=chance.beyond)  # the larger the error, the better


def _people_who_tell(figures: Figures) -> float:
    """Return how many were judged, or where several are one person's, or weighted, how many tell as much."""
    if figures.number is not None:
        return float(figures.people)
    return min(people_behind(figures.utility_risk, figures.utility_interval, figures.people), figures.people)


def _of_gap(groups: GroupErrors, most: float) -> Chance:
    """Return how far the gap of the grouping is from the limit that is told best, each held as a check does."""
    every = [[*own.values()] for own in groups.increases.values() if own]
    chance = max((of_increase(less_chance(own), most) for own in every), key=lambda each: each.within)
    return chance._replace(beyond=min(chance_of_gap(own, most) for own in every))


def _of_worst(groups: GroupErrors, most: float) -> Chance:
    people = people_of_share(groups.worst)
    return of_share(groups.worst.mean * people, people, most)


def _share_over(count: int, most: int) -> float:
    """Return by how much a count is too large, as a share; of two counts the larger has the larger share.

    So counts of people and of answers can be weighed against errors.

    >>> _share_over(50, 40), _share_over(6, 0) < _share_over(10, 0), _share_over(3, 5)
    (0.2, True, 0.0)
    """
    over = max(0, count - most)
    return over / (over + max(most, 1))


def _over(value: float, most: float) -> float:
    # A difference of two shares of the same people is off in the last digits; that breaks no limit.
    return value - most if value - most > 1e-12 else 0.0


def _check_share(name: str, value: float | None) -> None:
    if value is not None and not (is_number(value) and 0 <= value <= 1):
        raise ParameterError(f"{name} must be between 0 and 1; got {shorten(value)}")


def _check_count(name: str, value: int | None) -> None:
    if value is not None and not (is_number(value) and value == int(value) and value >= 0):
        raise ParameterError(f"{name} must be a whole number from 0; got {shorten(value)}")
