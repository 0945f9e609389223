"""A1 and A2: what do the stolen records themselves tell?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.counting import find_counted
from leastwise.adversaries.guessing import (
    STRONGEST,
    Finding,
    MakePredictor,
    find_alone,
    find_deployed,
    least,
    reconstruction_fields,
)
from leastwise.adversaries.result import AttackResult, ReconstructionResult, Told
from leastwise.confidence import Interval, binomial_interval
from leastwise.documents.wording import counted, percent
from leastwise.errors import ParameterError
from leastwise.records.table import Table

SHARES = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


R = TypeVar("R", bound=ReconstructionResult)


@dataclass(frozen=True)
class Guessing(Adversary, Generic[R]):
    """Base of A1 to A6: learns from people it knows, and guesses every personal attribute of the stolen ones."""

    predictor: MakePredictor = STRONGEST
    result: ClassVar[type[AttackResult]] = ReconstructionResult
    counts: ClassVar[bool] = False
    """Whether it sees no more than the stolen records, so that it may guess by the counts of everybody else."""

    @classmethod
    def configured(cls, setting: Setting) -> Guessing[R]:
        """Return it set up for a judgement."""
        return cls(setting.predictor)

    def attack(self, breach: Breach) -> R:
        """Guess every personal attribute of every stolen record."""
        start = time.perf_counter()
        found, blind, deployed = self._find(breach), self._find_blindly(breach), self._find_deployed(breach)
        less = self._find_less(breach)
        if breach.counting and self.counts:
            deployed = least(deployed, find_counted(breach.deployed()))
            found = least(found, find_counted(breach))
            less = deployed
        strongest = least(found, less)
        fields = reconstruction_fields(self.name, breach, strongest, start, blind, deployed)
        result: Any = self.result
        return cast(R, result(**fields, **self._more(breach, found)))

    def _find(self, breach: Breach) -> list[Finding]:
        _ = breach.generalization  # A6 is for several
        return find_alone(breach, self.predictor)

    def _find_deployed(self, breach: Breach) -> list[Finding]:
        """Return what it finds where the labels are not stolen, if it looks at that too."""
        return []

    def _find_less(self, breach: Breach) -> list[Finding]:
        """Return what those find who know less; it need not do worse than they."""
        return self._find_deployed(breach)

    def _find_blindly(self, breach: Breach) -> list[Finding]:
        """Return what it finds without the stolen records, where that is asked for."""
        return []

    def _more(self, breach: Breach, found: Sequence[Finding]) -> dict[str, Any]:
        """Return what its result has beside the errors."""
        return {}


@dataclass(frozen=True)
class Reconstruction(Guessing[ReconstructionResult]):
    """A1: somebody steals generalized records and wants every personal attribute of everybody.

    The adversary holds the stolen records, the generalization, and full records of other people from the same
    population. It learns from those how generalized records and personal attributes go together, rules out what
    the generalization rules out, and guesses.

    0: every personal attribute of everybody is told. 1: none of anybody. The baseline, the majority guess, needs
    no stolen records at all; an error near it means that the breach told nothing new.

    Labels that lie beside the records (the training phase) are used where they help; ``without_label`` is the
    error without them (the deployment phase). With ``compared=False`` only the breach itself is attacked, in half
    the time.
    """

    compared: bool = True

    counts: ClassVar[bool] = True
    name: ClassVar[str] = "A1"
    words: ClassVar[str] = "reconstruction"
    title: ClassVar[str] = "The stolen records alone"
    scenario: ClassVar[str] = (
        "Somebody steals the generalized records of the test people, with the labels that are stored beside them "
        "for training, knows which questions were asked and how, and has full records of other people from the "
        "same population. From these it learns what goes with what, and guesses every personal attribute of "
        "everybody."
    )

    def _find(self, breach: Breach) -> list[Finding]:
        _ = breach.generalization  # A6 is for several
        return find_alone(breach, self.predictor, self.compared)

    def _find_deployed(self, breach: Breach) -> list[Finding]:
        return find_deployed(breach, self.predictor) if self.compared else []


@dataclass(frozen=True, kw_only=True)
class CertaintyPoint:
    """The error on the people about whom the adversary is surest.

    ``share`` is their percentage; ``errors`` and ``intervals`` follow the order of the attributes.
    """

    share: float
    people: float
    mean: float
    minimum: float
    errors: tuple[float, ...]
    intervals: tuple[Interval, ...]


@dataclass(frozen=True, kw_only=True)
class HighCertaintyResult(ReconstructionResult):
    """Error on the top q % (A2); the headline figures are those of q = 100, which is A1."""

    points: tuple[CertaintyPoint, ...]

    def at(self, share: float) -> CertaintyPoint:
        """Return the point of one percentage."""
        return next(point for point in self.points if point.share == share)

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the error among the guesses that it holds for safest."""
        names = [result.attribute for result in self.attributes]
        series = [
            {"name": "mean over personal attributes", "values": [p.mean for p in self.points], "strong": True}
        ]
        series += [{"name": name, "values": [p.errors[i] for p in self.points]} for i, name in enumerate(names)]
        rows = [[f"{p.share:g} %", percent(p.mean, 1), *(percent(e, 1) for e in p.errors)] for p in self.points]
        shares = [point.share for point in self.points]
        return Told(
            _surest_finding(self, names),
            {"kind": "curve", "axis": "the surest … % of the guesses", "x": shares, "series": series},
            {"columns": ["surest", "mean", *names], "rows": rows},
        )


def _surest_finding(attack: HighCertaintyResult, names: Sequence[str]) -> str:
    first = attack.points[0]
    best = min(range(len(names)), key=lambda i: first.errors[i])
    wrong = [error * first.people for error in first.errors]
    ties = any(abs(each - round(each)) > 0.01 for each in wrong)  # no number of people
    return (
        f"Among the {first.share:g} % about whom it is surest "
        f"({counted(round(first.people), 'person', 'people')} for each attribute) it is wrong "
        f"{percent(first.mean, 1)} of the time on average, and {percent(first.errors[best], 1)} on {names[best]}; "
        f"among everybody {percent(attack.adversary_error, 1)} on average."
        f"{' Of people about whom it is equally sure, any are meant: that is the mean.' * ties}"
    )


@dataclass(frozen=True)
class HighCertainty(Guessing[HighCertaintyResult]):
    """A2: the thief of A1 picks the people about whom it is surest.

    It holds what A1 holds, and publishes only the guesses that its own probabilities call safest: for each
    attribute the top q % of the stolen records. What is harmless on average may be certain for a few.

    0: all of those few are told; 1: none of them. At q = 100 it is A1. People whose records look the same are
    equally sure guesses: where the line falls among them, the error expected over a random choice is reported.
    """

    shares: Sequence[float] = SHARES
    counts: ClassVar[bool] = True
    name: ClassVar[str] = "A2"
    words: ClassVar[str] = "the surest guesses"
    title: ClassVar[str] = "The people it is surest about"
    scenario: ClassVar[str] = (
        "The same attacker picks, for each attribute, the people about whom its own probabilities call the "
        "guess safest. What is harmless on average may be certain for a few."
    )
    result: ClassVar[type[AttackResult]] = HighCertaintyResult

    def _find(self, breach: Breach) -> list[Finding]:
        if not self.shares or any(not 0 < share <= 100 for share in self.shares):
            raise ParameterError(f"shares must be percentages above 0, up to 100; got {list(self.shares)}")
        return super()._find(breach)

    def _find_deployed(self, breach: Breach) -> list[Finding]:
        return find_deployed(breach, self.predictor)

    def _more(self, breach: Breach, found: Sequence[Finding]) -> dict[str, Any]:
        # People of equal confidence are counted once, not for every share.
        counted = [_Surest.of(each.wrong, each.confidence, each.target.counts) for each in found]
        points = (_point(found, counted, breach.truth, breach.people, share) for share in sorted(self.shares))
        return {"points": tuple(points)}


def _point(
    found: Sequence[Finding], counted: Sequence[_Surest], truth: Table, everybody: float, share: float
) -> CertaintyPoint:
    # Of several records of one person each tells less.
    worth = truth.effective_people / truth.people
    people = max(1.0, everybody * share / 100)
    wrong = [
        # Of people picked at random the majority guess tells as many as of all; it need not do worse than that.
        min(
            # Who is withheld counts as told, and as told most surely.
            surest.errors_among(people - finding.target.withheld),
            float(finding.target.naive_wrong @ finding.target.counts) * people / finding.target.people,
        )
        for finding, surest in zip(found, counted, strict=True)
    ]
    errors = tuple(each / people for each in wrong)
    return CertaintyPoint(
        share=share,
        people=max(1.0, people * truth.headcount / truth.people),  # as many as so many records are of, on average
        mean=float(np.mean(errors)),
        minimum=min(errors),
        errors=errors,
        intervals=tuple(_interval(each, people, worth) for each in wrong),
    )


def _interval(wrong: float, people: float, worth: float) -> Interval:
    number = max(1.0, people * worth)
    return binomial_interval(wrong / people * number, number)


class _Surest(NamedTuple):
    """How many people are guessed equally surely, the surest first, and how many of them wrongly."""

    size: npt.NDArray[np.float64]
    errors: npt.NDArray[np.float64]

    @classmethod
    def of(cls, wrong: npt.NDArray[Any], confidence: npt.NDArray[Any], counts: npt.NDArray[Any]) -> _Surest:
        # Equal probabilities that differ in the last digit, by the order of a sum, are ties all the same.
        levels, group = np.unique(-np.round(confidence, 6), return_inverse=True)
        both = (np.bincount(group, weights=each, minlength=len(levels)) for each in (counts, counts * wrong))
        return cls(*(each.astype(float) for each in both))  # of nobody, whole numbers

    def errors_among(self, people: float) -> float:
        """Return how many of the surest people are guessed wrongly, ties at the line shared out evenly."""
        size = self.size
        taken = np.clip(people - (np.cumsum(size) - size), 0, size)
        return float((self.errors * np.divide(taken, size, out=np.zeros_like(size), where=size > 0)).sum())


def top_errors(
    wrong: npt.NDArray[Any], confidence: npt.NDArray[Any], counts: npt.NDArray[Any], people: float
) -> float:
    """Return how many of the surest people are guessed wrongly, ties at the line shared out evenly.

    >>> wrong, confidence = np.array([0, 1, 0, 1]), np.array([0.9, 0.5, 0.5, 0.2])
    >>> top_errors(wrong, confidence, np.ones(4), 2)
    0.5
    """
    return _Surest.of(wrong, confidence, counts).errors_among(people)
