"""What every adversary is: somebody who stole generalized records, and attacks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, ClassVar, NamedTuple

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import STRONGEST, MakePredictor
from leastwise.adversaries.result import AttackResult


@dataclass(frozen=True)
class Setting:
    """How adversaries are set up for one judgement.

    Attributes
    ----------
    predictor
        Makes the predictor of those who predict.
    quick
        Whether to draw less, for a first look.
    without_breach
        Whether those with side information also attack without the stolen records.
    predicates
        How many sentences that describe real people may be returned at most.
    """

    predictor: MakePredictor = STRONGEST
    quick: bool = False
    without_breach: bool = False
    predicates: int = 10


class Adversary(ABC):
    """Base of all adversaries: implement ``attack``, and say who it is.

    The class attributes are what a report says of it. An adversary need not inherit from this class: any object
    with ``attack(breach)`` will do, and what it does not say is made from its name and its docstring.

    Attributes
    ----------
    name
        Short, for files and tables ("A1").
    words
        What it does, in a few words, for tables and progress.
    title, scenario
        What a report says of it: a heading, and what it holds and wants.
    not_run
        What a report says when it did not attack.
    result
        What it returns.
    wants_personal
        Whether it is after the personal attributes, so that there must be some.
    wants_others
        Whether it attacks several generalizations of the same people.
    fewest_attributes
        How many attributes there must be for it to have anything to do.
    side_information
        Whether it knows more than the stolen records, and takes a model per attribute to use that.
    """

    name: ClassVar[str]
    words: ClassVar[str] = ""
    title: ClassVar[str] = ""
    scenario: ClassVar[str] = ""
    not_run: ClassVar[str] = "It was not run."
    result: ClassVar[type[AttackResult]] = AttackResult
    wants_personal: ClassVar[bool] = True
    wants_others: ClassVar[bool] = False
    fewest_attributes: ClassVar[int] = 1
    side_information: ClassVar[bool] = False

    @classmethod
    def configured(cls, setting: Setting) -> Adversary:
        """Return it set up for a judgement."""
        return cls()

    @abstractmethod
    def attack(self, breach: Breach) -> AttackResult:
        """Attack the stolen records."""


class About(NamedTuple):
    """Who an adversary is, whether or not it inherits from ``Adversary``."""

    name: str
    words: str
    title: str
    scenario: str


def about(adversary: Any) -> About:
    """Return what an adversary says of itself; what it does not say comes from its name and its docstring."""
    kind = adversary if isinstance(adversary, type) else type(adversary)
    name = str(getattr(adversary, "name", None) or kind.__name__)
    told = cleandoc(kind.__doc__ or "")
    words = getattr(adversary, "words", "") or name
    title = getattr(adversary, "title", "") or told.split("\n")[0].rstrip(".") or name
    return About(name, words, title, getattr(adversary, "scenario", "") or told or "Its author does not say.")
