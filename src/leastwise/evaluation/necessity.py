"""Necessity: what each question, and each boundary between two answers, is worth; and what it gives an attacker.

Whoever must answer for a question is asked whether it is *necessary*. Everything is told one way round: how much
more often the model errs, and A1 errs, *without it*. See ``leaving_out`` for how that is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from scipy import stats

from leastwise.confidence import Interval
from leastwise.documents import Document, html
from leastwise.documents.wording import counted, listed
from leastwise.evaluation.risk import NumberErrors
from leastwise.predictors.held_out import Difference

LEVEL = 0.95

Buys = Literal["accuracy", "sureness", "nothing"]
_NOTHING = "buys nothing that these records can tell"
_ASKED: dict[Buys, str] = {"accuracy": "needed", "sureness": "makes the model surer only", "nothing": _NOTHING}
_NOT_ASKED: dict[Buys, str] = {
    "accuracy": "would buy accuracy",
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
    """

    attribute: str
    personal: bool
    asked_as: str
    error: Estimate
    log_loss: Estimate
    adversary_error: float | None
    own: float | None

    @property
    def buys(self) -> Buys:
        """What it buys, as far as these records can tell."""
        if self.error.interval.low > 0:
            return "accuracy"
        return "sureness" if self.log_loss.interval.low > 0 and self.error.interval.high > 0 else "nothing"

    def figures(self) -> tuple[str, str]:
        """Return as texts how much more often the model errs without it, with its interval, and A1."""
        attacker = "" if self.adversary_error is None else points(self.adversary_error)
        if self.own is not None:
            attacker += f" (about {self.attribute} {points(self.own)})"
        return f"{points(self.error.mean)} ({interval_in_points(self.error.interval)})", attacker


@dataclass(frozen=True, kw_only=True)
class Necessity(Document):
    """What every question and every boundary of a generalization is worth.

    Attributes
    ----------
    fingerprint
        Of the generalization.
    seed, people
        Of the split, and how many people its test part has.
    error, adversary_error
        How often the model errs as things are, and A1 by counting; None where nothing is personal.
    asked, not_asked, boundaries
        Each question that is asked, each that is not, and each pair of neighbouring answers.
    together
        All asked questions at once that buy nothing one by one: of two that tell the same, one is needed. None
        where there are not two.
    number
        How far off the model is in the unit of the label, where that is a number.
    """

    FORMAT: ClassVar[str] = "leastwise-necessity"
    CALLED: ClassVar[str] = "necessity"

    fingerprint: str
    seed: int
    people: float
    error: float
    adversary_error: float | None
    asked: tuple[Worth, ...]
    not_asked: tuple[Worth, ...]
    boundaries: tuple[Worth, ...]
    together: Worth | None
    number: NumberErrors | None = None

    def __repr__(self) -> str:
        needed = sum(each.buys == "accuracy" for each in self.asked)
        return f"<Necessity of {counted(len(self.asked), 'question')}, {needed} needed>"

    def __str__(self) -> str:
        return "\n".join([*self.sentences(), self.method()])

    def _repr_html_(self) -> str:
        *shown, _ = self.tables()  # a cell has no room for boundaries; a sentence tells them
        parts = [html.heading(each.title) + html.table(each.columns, each.rows) for each in shown if each.rows]
        return html.box(*parts, html.paragraphs([*self.boundary_sentences(), self.method()], soft=True))

    def sentences(self) -> list[str]:
        """Say of each question what it is worth, and of the boundaries which could go."""
        return [
            *(_left_out(each, self.number) for each in self._left_out),
            *(_put_beside(each, self.number) for each in self.not_asked),
            *self.boundary_sentences(),
        ]

    @property
    def _left_out(self) -> list[Worth]:
        return [*self.asked, *([] if self.together is None else [self.together])]

    def boundary_sentences(self) -> list[str]:
        """Say which neighbouring answers could be one; nothing where boundaries were not judged."""
        if not self.boundaries:
            return []
        free, every = (
            Counter(each.attribute for each in self.boundaries if each.buys in buys)
            for buys in (("nothing",), ("nothing", "sureness", "accuracy"))
        )
        of = f"Of {counted(len(self.boundaries), 'pair')} of neighbouring answers"
        if not free:
            return [f"{of} none could be one answer without a loss that these records can tell."]
        named = listed([f"{count} of {every[name]} of {name}" for name, count in free.items()])
        return [f"{of} {free.total()} could be one answer, each by itself and by counting: {named}."]

    def method(self) -> str:
        """Say how it was found, once for all sentences."""
        return (
            f"Judged on {counted(self.people, 'person', 'people')} of whom the generalization was not made, the "
            f"model learned anew each time; ranges are {100 * LEVEL:.0f} % intervals of paired differences, each "
            "by itself. A1, who steals the records, attacks by counting."
            + ("" if self.number is None else f" {self.number.what_points_are()}")
        )

    def reasons(self) -> dict[str, str]:
        """Return, by question, why it is asked, in the words of the people who are asked."""
        # Of questions that tell the same each buys nothing, and yet one is needed.
        alike = self.together is not None and self.together.buys != "nothing"
        return {each.attribute: _reason(each, alike, self.number) for each in self.asked}

    def tables(self) -> list[Listing]:
        """Return what is asked, what is not, and the boundaries, each as a table of texts."""
        errors = [f"{who} errs more without it, in points" for who in ("the model", "A1")]
        return [
            Listing("Asked", ["question", "verdict", *errors, "asked as"], _rows(self._left_out, _ASKED)),
            Listing("Not asked", ["question", "verdict", *errors, "tried as"], _rows(self.not_asked, _NOT_ASKED)),
            Listing(
                "Boundaries between answers (by counting)",
                ["question", "verdict", *errors, "between"],
                _rows(self.boundaries, _ASKED),
            ),
        ]


class Listing(NamedTuple):
    """A table of texts under its title."""

    title: str
    columns: list[str]
    rows: list[list[str]]


# In words --------------------------------------------------------------------------------------------------------


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


def _rows(all_worth: Sequence[Worth], words: Mapping[Buys, str]) -> list[list[str]]:
    return [[each.attribute, words[each.buys], *each.figures(), each.asked_as] for each in all_worth]


def _left_out(each: Worth, number: NumberErrors | None) -> str:
    costs = f"costs {_in_points(each.error, number)}{_attacker(each, 'more', 'less')}"
    return f"Leaving out {each.attribute} {costs}. {_sentence(_ASKED[each.buys])}"


def _put_beside(each: Worth, number: NumberErrors | None) -> str:
    saves = f"would save {_in_points(each.error, number)}{_attacker(each, 'less', 'more')}"
    return f"Asking {each.attribute} {each.asked_as} too {saves}. {_sentence(_NOT_ASKED[each.buys])}"


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


def _reason(each: Worth, alike: bool, number: NumberErrors | None = None) -> str:
    if each.buys == "sureness":
        return "It makes the predictions surer."
    if each.buys == "nothing" and alike:
        return "Another question tells nearly the same; one of them is needed."
    if each.buys == "nothing":
        return "We could not measure that it makes a difference."
    if number is not None:
        return f"Without it, predictions would be off by {number.in_its_unit(each.error.mean)} more on average."
    people = round(1000 * each.error.mean)
    many = f"about {people:,}" if people else "fewer than 1"
    return f"Without it, {many} more of 1,000 people would get a wrong prediction."
