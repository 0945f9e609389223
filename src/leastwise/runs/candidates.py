"""A candidate, from its proposal to its judgement on test: one value that grows while a run goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from leastwise.confidence import Interval
from leastwise.documents import Path, Problems, format_of, from_plain, from_text, to_plain, to_text
from leastwise.documents.plain import LEFT_OUT
from leastwise.errors import ParameterError
from leastwise.evaluation.declared_groups import GroupErrors
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import Point
from leastwise.evaluation.risk import LabelRisk, NumberErrors, UtilityRisk
from leastwise.generalization import Generalization
from leastwise.predictors.held_out import Difference
from leastwise.schema import Schema

FORMAT = "leastwise-candidate"
FAILED = "leastwise-failure"
ID_LENGTH = 12
MOST_ANSWERS = 60
"""A form of more answers is nobody's design: it is chosen only where a stated limit is kept by no shorter one."""
LONGEST = 2 * MOST_ANSWERS
"""Proposals longer than this are not even judged, unless somebody brought the grid."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What a candidate costs and protects, on the validation part (to choose by) or the test part (to show).

    Attributes
    ----------
    utility_risk, utility_interval
        The error of the best classifier, with its 95 % interval. Lower is better.
    adversary_error, adversary_interval
        The error of A1, mean over the personal attributes. Higher is safer.
    by_attribute
        The error of A1 by personal attribute.
    certified
        No adversary who sees only the generalized records errs less than this on average over the personal
        attributes, at 95 % confidence that pays for all candidates compared; None where nothing was certified.
    unique_people
        How many people are alone with their generalized record (A8) in this part.
    increase
        By how much the classifier errs more often than with everything asked, paired, with its standard error;
        None for a candidate that was only screened.
    people
        How many people were judged.
    groups
        How the classifier serves the groups that were declared; None where there are none.
    number
        The errors of the model in the unit of the label, where that is a number.
    expected
        The increase of the error by what a classifier believes that is told everything; None where nobody asked.
    labels, worst
        Where there are several labels, what the model errs about each; see ``UtilityRisk``.
    everybody
        How many people were attacked, where those on whom the model was judged are a sample of them.
    """

    utility_risk: float
    utility_interval: Interval
    adversary_error: float
    adversary_interval: Interval
    by_attribute: Mapping[str, float]
    certified: float | None
    unique_people: int
    increase: Difference | None = None
    people: int = 0
    groups: GroupErrors | None = None
    number: NumberErrors | None = None
    expected: float | None = None
    labels: tuple[LabelRisk, ...] = field(default=(), metadata=LEFT_OUT)
    worst: float | None = field(default=None, metadata=LEFT_OUT)
    everybody: int | None = field(default=None, metadata=LEFT_OUT)

    @property
    def attacked(self) -> int:
        """How many people were attacked, and counted."""
        return self.people if self.everybody is None else self.everybody

    @property
    def point(self) -> Point:
        """The two figures that a frontier is made of; of several labels the worst counts, where it should."""
        return Point(self.utility_risk if self.worst is None else self.worst, self.adversary_error)

    @classmethod
    def of(cls, judged: Evaluation) -> Figures:
        """Read the figures off a full evaluation."""
        assert judged.utility is not None
        attack = judged["A1"]
        return cls(
            utility_risk=judged.utility.error,
            utility_interval=judged.utility.interval,
            adversary_error=attack.adversary_error,
            adversary_interval=attack.interval,
            by_attribute={result.attribute: result.adversary_error for result in attack.attributes},
            certified=None if judged.certificate is None else judged.certificate.mean.adversary_error_at_least,
            unique_people=judged["A8"].unique_people,
            increase=judged.utility.increase,
            people=round(judged.utility.people),
            groups=judged.utility.groups,
            number=judged.utility.number,
            expected=judged.utility.expected,
            labels=judged.utility.labels,
            worst=judged.utility.worst,
            everybody=_more_than(round(judged.utility.people), judged),
        )

    def of_everybody(self, judged: Evaluation, everything: UtilityRisk | None) -> Figures:
        """Return these, which are of a sample, with what was judged on all people.

        How often the model errs is told of them only beside ``everything``, the same with everything asked.
        """
        attack, risk = judged["A1"], judged.utility
        told = replace(
            self,
            adversary_error=attack.adversary_error,
            adversary_interval=attack.interval,
            by_attribute={result.attribute: result.adversary_error for result in attack.attributes},
            certified=None if judged.certificate is None else judged.certificate.mean.adversary_error_at_least,
            unique_people=judged["A8"].unique_people,
        )
        if risk is None or everything is None:
            return replace(told, everybody=_more_than(self.people, judged))
        increase = self.increase
        if increase is not None:
            increase = increase.with_mean_of(risk.people, risk.error - everything.error, self.people)
        people = round(risk.people)
        return replace(
            told, utility_risk=risk.error, utility_interval=risk.interval, increase=increase, people=people
        )


def _more_than(people: int, judged: Evaluation) -> int | None:
    """Return how many people were counted, where these are more than so many."""
    counted = round(judged["A8"].people)
    return counted if counted > people else None


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One distinct generalization: who found it, what it asks, and how it has been judged so far.

    Attributes
    ----------
    fingerprint
        Of its buckets; the first twelve characters are its ``id``.
    minimizer, parameters, seed
        Who found it first.
    also_found_by
        Who else did, in words.
    asked, answers
        How many attributes are asked, and how many different answers they allow in all.
    generalization
        The artefact.
    screened
        Its figures on validation by counting; every candidate gets them.
    judged
        Its figures on validation by the strongest predictors, once it is on the frontier.
    tested
        Its figures on test, once it was attacked in full.
    name
        What it is known as on the frontier: "knee", "cheapest" (least error of the model), "safest", or nothing.
    """

    fingerprint: str
    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    asked: int
    answers: int
    generalization: Generalization = field(repr=False)
    also_found_by: tuple[str, ...] = ()
    screened: Figures | None = None
    judged: Figures | None = None
    tested: Figures | None = None
    name: str = ""

    @property
    def id(self) -> str:
        """By which people and files name it."""
        return self.fingerprint[:ID_LENGTH]

    @property
    def words(self) -> str:
        """Who found it, in words."""
        return words_of(self.minimizer, self.parameters)

    @property
    def validation(self) -> Figures:
        """The best figures on validation that there are: it is chosen by them."""
        figures = self.judged or self.screened
        if figures is None:
            raise ParameterError(f"candidate {self.id} was only proposed; screen it first")
        return figures

    @property
    def test(self) -> Figures:
        """The figures on test, which are shown."""
        if self.tested is None:
            raise ParameterError(f"candidate {self.id} was not attacked on the test part; only the frontier is")
        return self.tested

    def within(self, schema: Schema) -> Candidate:
        """Return it with the domains of what it does not ask: its file has none."""
        return replace(self, generalization=self.generalization.within(schema))

    def to_document(self) -> dict[str, Any]:
        """Return it as the file of candidates holds it: who found it, what it asks, how it was screened."""
        names = ("id", "fingerprint", "minimizer", "parameters", "also_found_by", "seed", "asked", "answers")
        own = {name: to_plain(getattr(self, name)) for name in (*names, "generalization")}
        return {**own, "validation": to_plain(self.screened)}

    @classmethod
    def from_document(cls, data: Any, path: Path, problems: Problems) -> Candidate | None:
        """Read such a document; note its problems and return None if there are any."""
        stored = from_plain(_Stored, data, path, problems)
        if stored is None:
            return None
        if stored.id != stored.fingerprint[:ID_LENGTH] or not set(stored.id) <= set("0123456789abcdef"):
            problems.add(path, f"the id must be the first {ID_LENGTH} hex digits of the fingerprint")
        elif stored.generalization.fingerprint != stored.fingerprint:
            problems.add(path, f"the generalization of {stored.id} was changed after it was judged")
        own = {name: value for name, value in vars(stored).items() if name not in ("id", "validation")}
        return cls(**own, screened=stored.validation)


@dataclass(frozen=True, kw_only=True)
class _Stored:
    """What the file of candidates holds of one."""

    id: str
    fingerprint: str
    minimizer: str
    parameters: Mapping[str, Any]
    also_found_by: tuple[str, ...]
    seed: int
    asked: int
    answers: int
    generalization: Generalization
    validation: Figures | None


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A minimizer that could not propose anything, and why."""

    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    reason: str

    @property
    def words(self) -> str:
        """Who failed, in words."""
        return words_of(self.minimizer, self.parameters)


def write_line(one: Candidate | Failure) -> str:
    """Return the line of a candidate, or of a failure, in the run's file of candidates."""
    return to_text(one, FAILED if isinstance(one, Failure) else FORMAT, line=True)


def read_line(text: str, where: str, schema: Schema) -> Candidate | Failure:
    """Read such a line of a run whose attributes are these."""
    if format_of(text) == FAILED:
        return from_text(Failure, text, FAILED, where)
    return from_text(Candidate, text, FORMAT, where).within(schema)


def words_of(minimizer: str, parameters: Mapping[str, Any]) -> str:
    """Name a minimizer with its parameters.

    >>> words_of("pat", {"alpha": 0.7, "max_leaves": 20})
    'pat (alpha 0.7, max_leaves 20)'
    """
    settings = ", ".join(f"{name} {_short(value)}" for name, value in parameters.items())
    # What a run recommends is one of many candidates of the minimizer of that name: one word each.
    name = "combined search" if minimizer == "recommended" else minimizer
    return f"{name} ({settings})" if settings else name


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
