"""What the sample promised: how people spread over the buckets, what is told, and how sure that was.

A generalization holds nothing counted from data; a promise is the opposite, and therefore a document of its own,
to be kept where statistics of the sample may be kept. Counts of people are rounded to multiples of ten, so that
no single person shows in them or in a difference of two; comparing with a promise allows for the rounding.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leastwise.checks.comparisons import people_behind
from leastwise.checks.use import BucketUse, bucket_use, counted, label_use
from leastwise.documents import Fields, Problems, check_format, read_json, read_text, write_whole
from leastwise.documents.plain import from_plain, to_plain
from leastwise.errors import ArtefactError, ParameterError
from leastwise.evaluation.evaluation import Evaluation, fingerprint_of
from leastwise.evaluation.utility import UtilityRisk
from leastwise.generalization import Generalization
from leastwise.records.table import Table

FORMAT = "leastwise-promise"
VERSION = 1
ROUNDED_TO = 10
DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Share:
    """A measured error, and how many right-or-wrong guesses it rests on."""

    error: float
    people: float


@dataclass(frozen=True, kw_only=True)
class Told:
    """How often A1 is wrong about one personal attribute, beside guessing. Higher is safer."""

    attribute: str
    adversary_error: float
    baseline: float


@dataclass(frozen=True, kw_only=True)
class Promise:
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
    """

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

    @classmethod
    def of(cls, generalization: Generalization, test: Table, evaluation: Evaluation) -> Promise:
        """Return what the held-out part of a sample and its evaluation (with A1 and A8) promise."""
        return cls.of_counts(generalization, bucket_use(generalization, test), label_use(test), evaluation)

    @classmethod
    def of_counts(
        cls,
        generalization: Generalization,
        use: Sequence[BucketUse],
        label: tuple[int, ...] | None,
        evaluation: Evaluation,
    ) -> Promise:
        """Return what counts of the held-out part and its evaluation promise; they are rounded here."""
        if evaluation.fingerprint != fingerprint_of(generalization):
            raise ParameterError("the evaluation must be of this generalization; judge it again")
        attacks = {attack.adversary: attack for attack in evaluation.attacks}
        return cls(
            fingerprint=evaluation.fingerprint,
            people=round(evaluation.people.test),
            known=round(evaluation.people.train + evaluation.people.validation),
            rounded_to=ROUNDED_TO,
            seed=evaluation.seed,
            quick=evaluation.quick,
            use=tuple(map(_rounded_use, use)),
            label=_rounded(label),
            utility=_share_of(evaluation.utility),
            everything=_share_of(evaluation.everything),
            risk=risk_of(attacks.get("A1")),
            told=told_of(attacks.get("A1")),
            unique_people=attacks["A8"].unique_people if "A8" in attacks else 0,  # type: ignore[attr-defined]
        )

    def check_fits(self, generalization: Generalization) -> None:
        """Raise unless this promise is of that generalization."""
        if self.fingerprint != fingerprint_of(generalization):
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

    def to_json(self) -> str:
        """Return the document; the same promise gives the same bytes."""
        document = {"format": FORMAT, "version": VERSION, **to_plain(self)}
        return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Promise:
        """Read the document; an ``ArtefactError`` lists everything that is wrong with it."""
        problems = Problems()
        document = read_json(text, problems)
        found = None if problems.texts else _from_document(document, problems)
        if found is None or problems.texts:
            raise ArtefactError("not a promise that can be read", problems.texts)
        return found

    def save(self, path: str | Path) -> None:
        """Write the document to a file."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | Path) -> Promise:
        """Read the document from a file."""
        text = read_text(path)
        try:
            return cls.from_json(text)
        except ArtefactError as error:
            raise ArtefactError(f"{path}: {error}") from None


def _from_document(document: Any, problems: Problems) -> Promise | None:
    if not check_format(Fields(document, (), problems), FORMAT, VERSION):
        return None
    rest = {key: value for key, value in document.items() if key not in ("format", "version")}
    found = from_plain(Promise, rest, (), problems)
    if found is not None:
        _check_numbers(found, problems)
    return found


def _check_numbers(promise: Promise, problems: Problems) -> None:
    whole = {"people": promise.people, "rounded_to": promise.rounded_to}
    for name, number in whole.items():
        if number < 1:
            problems.add((name,), f"must be at least 1; got {number}")
    counts = [count for use in promise.use for count in use.counts] + list(promise.label or ())
    if any(not 0 <= count <= promise.people + promise.rounded_to for count in counts):
        problems.add(("use",), f"counts must lie between 0 and people, {promise.people}")
    shares = [s.error for s in (promise.utility, promise.everything, promise.risk) if s is not None]
    shares += [error for each in promise.told for error in (each.adversary_error, each.baseline)]
    if any(not 0 <= share <= 1 for share in shares):
        problems.add(("told",), "errors must lie between 0 and 1")


def _rounded(counts: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """Round counts of people, halves up.

    >>> _rounded((0, 4, 5, 14, 15))
    (0, 0, 10, 10, 20)
    """
    return None if counts is None else tuple((c + ROUNDED_TO // 2) // ROUNDED_TO * ROUNDED_TO for c in counts)


def _rounded_use(use: BucketUse) -> BucketUse:
    return BucketUse(attribute=use.attribute, counts=_rounded(use.counts) or ())


def _share_of(risk: UtilityRisk | None) -> Share | None:
    return None if risk is None else Share(error=round(risk.error, DIGITS), people=round(risk.people))


def risk_of(attack: Any) -> Share | None:
    """Return the mean error of A1, and the guesses it is worth."""
    if attack is None:
        return None
    error = attack.adversary_error
    return Share(error=round(error, DIGITS), people=round(people_behind(error, attack.interval, attack.people)))


def told_of(attack: Any) -> tuple[Told, ...]:
    """Return the error of A1 on each personal attribute."""
    return tuple(
        Told(
            attribute=each.attribute,
            adversary_error=round(each.adversary_error, DIGITS),
            baseline=round(each.baseline, DIGITS),
        )
        for each in (attack.attributes if attack is not None else ())
    )
