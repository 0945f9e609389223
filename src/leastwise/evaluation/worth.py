"""What a question, or a boundary between two answers, is worth: how it is without it; and that in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from scipy import stats

from leastwise.confidence import Interval
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import listed
from leastwise.evaluation.risk import NumberErrors
from leastwise.predictors.held_out import Difference

LEVEL = 0.95
Buys = Literal["accuracy", "perhaps", "sureness", "nothing"]
_NOTHING = "buys nothing that these records can tell"
_SO_MANY = "with so many labels chance can explain it"
ASKED: dict[Buys, str] = {
    "accuracy": "needed",
    "perhaps": f"perhaps needed: {_SO_MANY}",
    "sureness": "makes the model surer only",
    "nothing": _NOTHING,
}
ONE_OF_SEVERAL = "by itself it could be left out, but not together with others that could"
"""Of a question that buys nothing alone, where all of those together are needed."""
NOT_ASKED: dict[Buys, str] = {
    "accuracy": "would buy accuracy",
    "perhaps": f"would perhaps buy accuracy: {_SO_MANY}",
    "sureness": "would make the model surer only",
    "nothing": _NOTHING,
}


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A paired difference with its interval."""

    mean: float
    interval: Interval

    @classmethod
    def of(cls, difference: Difference) -> Estimate:
        """Return the difference with its interval at ``LEVEL``."""
        z = float(stats.norm.ppf((1 + LEVEL) / 2))
        return cls(mean=difference.mean, interval=Interval(difference.bound(-z), difference.bound(z)))

    @property
    def turned(self) -> Estimate:
        """The difference the other way round."""
        return Estimate(mean=-self.mean, interval=Interval(-self.interval.high, -self.interval.low))


def told_together(estimates: Sequence[Estimate]) -> list[bool]:
    """Return which differences are above 0 beyond chance, by Holm's correction for so many of one question.

    One by itself is told where its interval lies above 0. So the level is that of a question, however many labels.

    >>> few = Estimate(mean=0.02, interval=Interval(0.001, 0.039))
    >>> many = Estimate(mean=0.02, interval=Interval(0.01, 0.03))
    >>> told_together([few]), told_together([few, few]), told_together([few, many])
    ([True], [False, False], [True, True])
    """
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    above = [z * each.mean / max(each.mean - each.interval.low, 1e-12) for each in estimates]
    told, left = [False] * len(above), len(above)
    for i in sorted(range(len(above)), key=lambda i: -above[i]):
        if above[i] <= float(stats.norm.ppf(1 - (1 - LEVEL) / 2 / left)):
            break
        told[i], left = True, left - 1
    return told


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a question, or a boundary between two answers, is worth: how it is without it.

    Attributes
    ----------
    attribute, personal
        The question, and whether its disclosure is measured.
    asked_as
        In what form; of a boundary, the two answers that it parts.
    error
        How much more often the model errs without it.
    log_loss
        How much the model's log loss rises without it, which tells weak effects better.
    adversary_error, own
        How much more often A1 errs without it: on average over the personal attributes, and about this one where
        it is personal. None where nothing is.
    by_label
        Where there are several labels, how much more often the model errs about each without it; ``error`` is
        their weighted mean.
    """

    attribute: str
    personal: bool
    asked_as: str
    error: Estimate
    log_loss: Estimate
    adversary_error: float | None
    own: float | None
    by_label: Mapping[str, Estimate] | None = field(default=None, metadata=LEFT_OUT)

    @property
    def serves(self) -> tuple[str, ...]:
        """Which of several labels it is needed for, as far as these records can tell."""
        told = told_together([*(self.by_label or {}).values(), self.error])
        return tuple(name for name, is_told in zip(self.by_label or {}, told, strict=False) if is_told)

    @property
    def buys(self) -> Buys:
        """What it buys, as far as these records can tell."""
        if any(told_together([*(self.by_label or {}).values(), self.error])):
            return "accuracy"
        if self.error.interval.low > 0:  # by itself it is told; beside so many labels it may be luck
            return "perhaps"
        return "sureness" if self.log_loss.interval.low > 0 and self.error.interval.high > 0 else "nothing"

    def figures(self) -> tuple[str, str]:
        """Return as texts how much more often the model errs without it, with its interval, and A1."""
        attacker = "" if self.adversary_error is None else points(self.adversary_error)
        if self.own is not None:
            attacker += f" (about {self.attribute} {points(self.own)})"
        error = f"{points(self.error.mean)} ({interval_in_points(self.error.interval)})"
        each = [f"{name} {points(one.mean)}" for name, one in (self.by_label or {}).items()]
        return f"{error}; {', '.join(each)}" if each else error, attacker


def points(difference: float) -> str:
    """Write a difference of two errors in points.

    >>> points(0.0052), points(-0.1234), points(-0.00001)
    ('0.52', '-12.3', '0.00')
    """
    shown = f"{100 * difference:.{1 if abs(difference) >= 0.1 else 2}f}"
    return shown.removeprefix("-") if not float(shown) else shown


def interval_in_points(interval: Interval) -> str:
    """Write the interval of a difference.

    >>> interval_in_points(Interval(-0.001, 0.008))
    '-0.10 to 0.80'
    """
    return f"{points(interval.low)} to {points(interval.high)}"


def rows(all_worth: Sequence[Worth], words: Mapping[Buys, str]) -> list[list[str]]:
    """Return a row of texts for each; ``words`` is what is said of what it buys."""
    return [[each.attribute, words[each.buys] + _for(each), *each.figures(), each.asked_as] for each in all_worth]


def _for(each: Worth) -> str:
    """Say which of several labels it buys accuracy for."""
    return f" for {listed(each.serves)}" if each.serves else ""


def _about_each(each: Worth) -> str:
    """Say what it costs about each of several labels; nothing where there is one."""
    told = [f"{points(one.mean)} about {name}" for name, one in (each.by_label or {}).items()]
    return f": {listed(told)}" if told else ""


def left_out(each: Worth, number: NumberErrors | None, words: Mapping[Buys, str] = ASKED) -> str:
    """Say what leaving out a question costs, or saves."""
    costs = f"{_told(each, number, 'costs', 'saves')}{_attacker(each, 'more', 'less')}"
    return f"Leaving out {each.attribute} {costs}. {_sentence(words[each.buys] + _for(each))}"


def put_beside(each: Worth, number: NumberErrors | None) -> str:
    """Say what asking one question more would save, or cost."""
    saves = f"would {_told(each, number, 'save', 'cost')}{_attacker(each, 'less', 'more')}"
    return f"Asking {each.attribute} {each.asked_as} too {saves}. {_sentence(NOT_ASKED[each.buys] + _for(each))}"


def _told(each: Worth, number: NumberErrors | None, above: str, below: str) -> str:
    """Say how much more the model errs without it; of what is below zero by the verb, not by a sign."""
    if float(points(each.error.mean)) >= 0:
        return f"{above} {_in_points(each.error, number)}{_about_each(each)}"
    labels = None if each.by_label is None else {name: one.turned for name, one in each.by_label.items()}
    other = replace(each, error=each.error.turned, by_label=labels)
    return f"{below} {_in_points(other.error, number)}{_about_each(other)}"


def _in_points(estimate: Estimate, number: NumberErrors | None) -> str:
    """Write an estimate in points, or in the unit of a label that is a number."""
    if number is not None:
        low, high = (number.in_its_unit(end) for end in estimate.interval)
        return f"{number.in_its_unit(estimate.mean)} ({low} to {high})"
    return f"{points(estimate.mean)} points ({interval_in_points(estimate.interval)})"


def _attacker(each: Worth, positive: str, negative: str) -> str:
    changes = [("", each.adversary_error), (f"about {each.attribute} ", each.own)]
    told = [
        f"{about}{points(abs(change))} points {positive if change > 0 else negative}"
        for about, change in changes
        if change is not None and float(points(change))
    ]
    if each.adversary_error is None:
        return ""
    return f"; A1 would err {' and '.join(told)}" if told else "; A1 would err as often"


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def reason(each: Worth, alike: bool, number: NumberErrors | None = None) -> str:
    """Say why a question is asked, to the people who are; ``alike``: another one tells nearly the same."""
    if each.buys == "perhaps":
        return "It seems to make the predictions better, which may be chance."
    if each.buys == "sureness":
        return "It makes the predictions surer."
    if each.buys == "nothing" and alike:
        return "Another question tells nearly the same; one of them is needed."
    if each.buys == "nothing":
        return "We could not measure that it makes a difference."
    if number is not None:
        return f"Without it, predictions would be off by {number.in_its_unit(each.error.mean)} more on average."
    if each.by_label and each.serves:
        return " ".join(_wrong_without(each.by_label[name].mean, f" of {name}") for name in each.serves)
    return _wrong_without(each.error.mean)


def _wrong_without(more: float, of: str = "") -> str:
    people = round(1000 * more)
    many = f"about {people:,}" if people else "fewer than 1"
    return f"Without it, {many} more of 1,000 people would get a wrong prediction{of}."
