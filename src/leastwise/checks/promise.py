"""What the sample promised: how people spread over the buckets, what is told, and how sure that was.

A generalization holds nothing counted from data; a promise is the opposite, and therefore a document of its own,
to be kept where statistics of the sample may be kept. Counts of people are rounded to multiples of ten, so that
no single person shows in them or in a difference of two; comparing with a promise allows for the rounding.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from leastwise.checks.use import BucketUse, bucket_use, counted, label_use
from leastwise.documents import Document
from leastwise.documents.plain import LEFT_OUT
from leastwise.errors import ArtefactError, ParameterError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.noise import people_behind
from leastwise.evaluation.risk import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.records.table import Table
from leastwise.runs import Run
from leastwise.runs.nearest import how_to_go_on
from leastwise.runs.shares import Shares

ROUNDED_TO = 10
DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Share:
    """A measured error, and how many right-or-wrong guesses it rests on."""

    error: float
    people: float

    @classmethod
    def of(cls, risk: UtilityRisk) -> Share:
        """Return the error of a classifier; of a number, as many right-or-wrong guesses as are known as well."""
        if risk.number is None:
            return cls(error=risk.error, people=risk.people)
        error = min(risk.error, 1.0)
        return cls(error=error, people=people_behind(error, risk.interval, risk.people))


def share_of_what(risk: UtilityRisk) -> str:
    """Say what an error is a share of: the guesses, or of a number the error of guessing."""
    return "of the time" if risk.number is None else "of the error of guessing"


@dataclass(frozen=True, kw_only=True)
class Told:
    """How often A1 is wrong about one personal attribute, beside guessing. Higher is safer."""

    attribute: str
    adversary_error: float
    baseline: float


@dataclass(frozen=True, kw_only=True)
class Promise(Document):
    """What the sample that a generalization was chosen on promises of the people to come.

    Attributes
    ----------
    fingerprint
        Of the generalization.
    people, known
        How many held-out people it rests on; of how many others classifier and adversary knew everything.
    rounded_to
        Counts of people are rounded to multiples of this.
    seed, quick
        How it was judged.
    use, label
        How many people are in each bucket, and in each class (None without a label).
    utility, everything
        The utility risk, and that of asking everything.
    risk, told
        A1: the mean over the personal attributes, and each.
    unique_people
        A8: how many were alone with their generalized record.
    by_label
        Of several labels, the utility risk about each.
    effective_people
        Where records had survey weights: how many people with equal weights would tell as much. What is counted is
        counted of so many, weighted; only who is alone is counted by records.
    sampled_people
        Where the records stay in an engine, and ``use`` and ``label`` were counted in a sample: of how many.
    """

    FORMAT: ClassVar[str] = "leastwise-promise"
    CALLED: ClassVar[str] = "the promise"

    fingerprint: str
    people: int
    known: int
    rounded_to: int
    seed: int
    quick: bool
    use: tuple[BucketUse, ...]
    label: tuple[int, ...] | None
    utility: Share | None
    everything: Share | None
    risk: Share | None
    told: tuple[Told, ...]
    unique_people: int
    by_label: Mapping[str, Share] | None = field(default=None, metadata=LEFT_OUT)
    effective_people: int | None = field(default=None, metadata=LEFT_OUT)
    sampled_people: int | None = field(default=None, metadata=LEFT_OUT)

    def about(self, label: str) -> Promise:
        """Return the promise whose utility risk is that about one of several labels."""
        return replace(self, utility=(self.by_label or {}).get(label))

    @classmethod
    def of(cls, generalization: Generalization, test: Table, evaluation: Evaluation) -> Promise:
        """Return what the held-out part of a sample and its evaluation (with A1 and A8) promise."""
        use, label = bucket_use(generalization, test), label_use(test)
        return cls.of_counts(generalization, use, label, evaluation, test.efficiency, round(test.headcount))

    @classmethod
    def of_counts(
        cls,
        generalization: Generalization,
        use: Sequence[BucketUse],
        label: tuple[int, ...] | None,
        evaluation: Evaluation,
        efficiency: float = 1.0,
        people: int | None = None,
    ) -> Promise:
        """Return what counts of the held-out part and its evaluation promise; they are rounded here.

        ``efficiency`` is that of the survey weights (Kish); the counts are of the effective number of people.
        ``people`` is how many were counted, where that is not everybody who was judged.
        """
        if evaluation.fingerprint != generalization.fingerprint:
            raise ParameterError("the evaluation must be of this generalization; judge it again")
        evaluation = with_effective_people(evaluation, efficiency)
        attacks = {attack.adversary: attack for attack in evaluation.attacks}
        return cls(
            fingerprint=evaluation.fingerprint,
            people=round(evaluation.people.test),
            known=round(evaluation.people.train + evaluation.people.validation),
            rounded_to=ROUNDED_TO,
            seed=evaluation.seed,
            quick=evaluation.quick,
            use=tuple(BucketUse(attribute=each.attribute, counts=_rounded(each.counts)) for each in use),
            label=None if label is None else _rounded(label),
            utility=_share_of(evaluation.utility),
            everything=_share_of(evaluation.everything),
            risk=risk_of(attacks.get("A1")),
            told=_told(attacks.get("A1")),
            unique_people=attacks["A8"].unique_people if "A8" in attacks else 0,  # type: ignore[attr-defined]
            by_label=_shares_by_label(evaluation.utility),
            effective_people=None if efficiency == 1 else round(evaluation.people.test * efficiency),
            sampled_people=people if people is not None and people < round(evaluation.people.test) else None,
        )

    @property
    def people_counted(self) -> int:
        """How many people the counts are of: all, a sample of them, or as many as tell as much unweighted."""
        return self.effective_people or self.sampled_people or self.people

    def check_fits(self, generalization: Generalization) -> None:
        """Raise unless this promise is of that generalization."""
        if self.fingerprint != generalization.fingerprint:
            raise ArtefactError(
                "the promise is of another generalization (its fingerprint differs); write it again with: "
                "leastwise check --write-promise"
            )
        sizes = {partition.attribute.name: partition.size for _, partition in counted(generalization)}
        if {use.attribute: len(use.counts) for use in self.use} != sizes:
            raise ArtefactError("the promise does not count the buckets of this generalization; write it again")
        classes = None if generalization.label is None else len(generalization.label.values)
        if self.label is not None and classes is not None and len(self.label) != classes:
            raise ArtefactError("the promise does not count the classes of this label; write it again")

    @classmethod
    def from_json(cls, text: str, where: str | None = None) -> Promise:
        """Read the document; an ``ArtefactError`` lists everything that is wrong with it."""
        promise = super().from_json(text, where)
        if problems := promise._problems():
            raise ArtefactError(f"{where or cls.CALLED}: not a promise that can be read", problems)
        return promise

    def _problems(self) -> list[str]:
        whole = {"people": self.people, "rounded_to": self.rounded_to}
        problems = [f"{name}: must be at least 1; got {number}" for name, number in whole.items() if number < 1]
        counts = [count for use in self.use for count in use.counts] + list(self.label or ())
        if any(not 0 <= count <= self.people + self.rounded_to for count in counts):
            problems.append(f"use: counts must lie between 0 and people, {self.people}")
        shares = [s.error for s in (self.utility, self.everything, self.risk) if s is not None]
        shares += [error for each in self.told for error in (each.adversary_error, each.baseline)]
        if any(not 0 <= share <= 1 for share in shares):
            problems.append("told: errors must lie between 0 and 1")
        return problems


def with_effective_people(evaluation: Evaluation, efficiency: float) -> Evaluation:
    """Return a judgement whose figures rest on the effective number of people; who is alone stays counted."""
    if efficiency == 1:
        return evaluation
    return replace(
        evaluation,
        utility=_fewer(evaluation.utility, efficiency),
        everything=_fewer(evaluation.everything, efficiency),
        attacks=tuple(_fewer(a, efficiency) if a.adversary != "A8" else a for a in evaluation.attacks),
    )


def _fewer(figure: Any, efficiency: float) -> Any:
    return None if figure is None else replace(figure, people=figure.people * efficiency)


def _rounded(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Round counts of people, halves up.

    >>> _rounded((0, 4, 5, 14, 15))
    (0, 0, 10, 10, 20)
    """
    return tuple((count + ROUNDED_TO // 2) // ROUNDED_TO * ROUNDED_TO for count in counts)


def _share_of(risk: UtilityRisk | None) -> Share | None:
    return None if risk is None else Share(error=round(risk.error, DIGITS), people=round(risk.people))


def _shares_by_label(risk: UtilityRisk | None) -> dict[str, Share] | None:
    if risk is None or not risk.labels:
        return None
    return {e.label: Share(error=round(e.error, DIGITS), people=round(risk.people)) for e in risk.labels}


def risk_of(attack: Any) -> Share | None:
    """Return the mean error of A1, and the guesses it is worth."""
    if attack is None:
        return None
    error = attack.adversary_error
    return Share(error=round(error, DIGITS), people=round(people_behind(error, attack.interval, attack.people)))


def _told(attack: Any) -> tuple[Told, ...]:
    return tuple(
        Told(
            attribute=each.attribute,
            adversary_error=round(each.adversary_error, DIGITS),
            baseline=round(each.baseline, DIGITS),
        )
        for each in (attack.attributes if attack is not None else ())
    )


def promise_of_run(run: Run) -> Promise:
    """Return what the test part of a run promises of the candidate that was chosen.

    A run keeps the share of people in each bucket, but not in each class of the label: label rates are not
    promised. ``Promise.of`` with the records at hand promises those, too.
    """
    chosen = run.choice.candidate
    if chosen is None:
        raise ArtefactError(f"{run.folder}: no candidate was chosen, so nothing is promised; {how_to_go_on(run)}")
    generalization, evaluation = run.generalization(chosen), run.evaluation(chosen)
    shares = Shares.stored(run).of(chosen)
    names = [partition.attribute.name for _, partition in counted(generalization)]
    if set(names) != set(shares):
        raise ArtefactError(
            f"{run.folder}: the run does not hold how many people give each answer; write the promise from the "
            "records with: leastwise check --write-promise"
        )
    # The shares of a run at a source are those of its sample.
    people = evaluation.people.test if run.task.source is None else run.task.records.test
    weighted = run.task.weighted
    efficiency = 1.0 if weighted is None else weighted / evaluation.people.test
    use = [
        BucketUse(attribute=n, counts=tuple(round(share * people * efficiency) for share in shares[n]))
        for n in names
    ]
    return Promise.of_counts(generalization, use, None, evaluation, efficiency, round(people))
