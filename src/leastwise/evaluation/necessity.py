"""Necessity: what each question, and each boundary between two answers, is worth; and what it gives an attacker.

Whoever must answer for a question is asked whether it is *necessary*. Everything is told one way round: how much
more often the model errs, and A1 errs, *without it*. See ``leaving_out`` for how that is found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, get_args

from leastwise.documents import Document, html
from leastwise.documents.wording import counted, listed
from leastwise.evaluation.risk import NumberErrors
from leastwise.evaluation.worth import (
    ASKED,
    LEVEL,
    NOT_ASKED,
    ONE_OF_SEVERAL,
    Buys,
    Worth,
    left_out,
    put_beside,
    reason,
    rows,
)

_SEVERAL = (
    " Errors are the weighted mean over the labels, and about each of them; what a question is needed for is told "
    "at that level by Holm's correction for so many labels."
)


_CHOSEN_BY_OTHERS = (
    " What is asked was chosen by other people, by estimates: a question may be asked that those judged here do "
    "not show to be needed, the more so the fewer they are."
)


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
            *(left_out(each, self.number, self._words) for each in self._left_out),
            *(put_beside(each, self.number) for each in self.not_asked),
            *self.boundary_sentences(),
        ]

    @property
    def _left_out(self) -> list[Worth]:
        return [*self.asked, *([] if self.together is None else [self.together])]

    @property
    def _alike(self) -> bool:
        """Whether questions that buy nothing one by one are needed together: each tells what others tell, too."""
        return self.together is not None and self.together.buys != "nothing"

    @property
    def _words(self) -> Mapping[Buys, str]:
        """What is said of what a question buys: nobody may read that all those can go that buy nothing alone."""
        return {**ASKED, "nothing": ONE_OF_SEVERAL} if self._alike else ASKED

    def boundary_sentences(self) -> list[str]:
        """Say which neighbouring answers could be one; nothing where boundaries were not judged."""
        if not self.boundaries:
            return []
        free, every = (
            Counter(each.attribute for each in self.boundaries if each.buys in buys)
            for buys in (("nothing",), get_args(Buys))
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
            "by itself: of many questions that buy nothing, a few will seem to. A1, who steals the records, "
            "attacks by counting."
            + (_CHOSEN_BY_OTHERS if any(each.buys != "accuracy" for each in self.asked) else "")
            + ("" if self.number is None else f" {self.number.what_points_are()}")
            + (_SEVERAL if self._several else "")
        )

    @property
    def _several(self) -> bool:
        return any(each.by_label for each in (*self.asked, *self.not_asked))

    @property
    def unneeded(self) -> tuple[str, ...]:
        """The asked questions that buy nothing that these records can tell, not even together."""
        if self._alike:
            return ()
        return tuple(each.attribute for each in self.asked if each.buys == "nothing")

    def reasons(self) -> dict[str, str]:
        """Return, by question, why it is asked, in the words of the people who are asked."""
        # Of questions that tell the same each buys nothing, and yet one is needed.
        return {each.attribute: reason(each, self._alike, self.number) for each in self.asked}

    def tables(self) -> list[Listing]:
        """Return what is asked, what is not, and the boundaries, each as a table of texts."""
        errors = [f"{who} errs more without it, in points" for who in ("the model", "A1")]
        return [
            Listing("Asked", ["question", "verdict", *errors, "asked as"], rows(self._left_out, self._words)),
            Listing("Not asked", ["question", "verdict", *errors, "tried as"], rows(self.not_asked, NOT_ASKED)),
            Listing(
                "Boundaries between answers (by counting)",
                ["question", "verdict", *errors, "between"],
                rows(self.boundaries, ASKED),
            ),
        ]


class Listing(NamedTuple):
    """A table of texts under its title."""

    title: str
    columns: list[str]
    rows: list[list[str]]
