"""What an attack found: always an adversary error (HIGHER IS SAFER), beside its baseline and with its interval.

``adversary_error`` is the share of what the adversary wanted and did not get: 0 means that it got everything,
1 that it got nothing. ``baseline`` is the same figure for somebody who never saw the stolen records and only
guesses. A generalization protects where the two are close; an error far below the baseline is a leak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from leastwise.confidence import Interval
from leastwise.documents.pictures import bar, bars, bars_table
from leastwise.documents.wording import counted, in_interval, percent, percent_range, some

Facts = dict[str, Any]
WRONG = "how often the attacker is wrong (further right is safer)"
NOTICEABLE = 0.005
"""A difference of half a point is not worth a sentence."""


class Told(NamedTuple):
    """What a report says of one attack: a few sentences, a picture, the table behind it, and more facts."""

    finding: str
    picture: Facts | None = None
    table: Facts | None = None
    more: Facts = {}  # noqa: RUF012  a named tuple's default; nobody writes to it

    def facts(self) -> Facts:
        """Return it as plain facts."""
        return {"finding": self.finding, "picture": self.picture, "table": self.table, **self.more}


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """The outcome of one attack.

    Attributes
    ----------
    adversary
        The name of who attacked: "A1" to "A8", or that of an adversary of your own.
    people
        How many people were attacked.
    adversary_error
        Share of failures, higher is safer; for several attributes the mean over them.
    interval
        Where the error lies with 95 % confidence; None where it was counted and not estimated.
    baseline
        The error of the naive guess.
    seconds
        How long the attack took; not part of equality, and not of the document.
    """

    adversary: str
    people: float
    adversary_error: float
    interval: Interval | None
    baseline: float
    seconds: float = field(default=0.0, compare=False)

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell what was found, for a report.

        Parameters
        ----------
        plain
            What A1 found on the same records, to compare with.
        predicates
            Whether sentences that describe single real people may be told.
        """
        rows = [bar("this attacker", self.adversary_error, self.interval, self.baseline)]
        return Told(
            f"This attacker fails {percent(self.adversary_error, 1)} of the time{in_interval(self.interval)}; "
            f"guessing without any record fails {percent(self.baseline, 1)} of the time.",
            bars("how often the attacker fails (further right is safer)", rows, "naive guess"),
            bars_table(["", "fails", "95 % interval"], rows),
        )


@dataclass(frozen=True, kw_only=True)
class GuestResult(AttackResult):
    """The outcome of an adversary that did not come with leastwise.

    It brings what a report says of it, so that a file can be read where that adversary is not installed.
    ``own`` is what the adversary itself returned; it is not part of the document.
    """

    title: str
    scenario: str
    finding: str
    picture: Mapping[str, Any] | None = None
    table: Mapping[str, Any] | None = None
    own: AttackResult | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls, result: AttackResult, name: str, title: str, scenario: str, plain: AttackResult | None
    ) -> GuestResult:
        """Wrap what an adversary returned."""
        finding, picture, table, _ = result.told()
        own = {field.name: getattr(result, field.name) for field in fields(AttackResult)}
        return cls(
            **{**own, "adversary": name},
            title=title,
            scenario=scenario,
            finding=finding,
            picture=picture,
            table=table,
            own=result,
        )

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell what the adversary itself told."""
        picture, table = (None if facts is None else dict(facts) for facts in (self.picture, self.table))
        return Told(self.finding, picture, table)


@dataclass(frozen=True, kw_only=True)
class AttributeResult:
    """How well one personal attribute was told.

    ``tolerance`` and ``mean_absolute_error`` are those of a continuous attribute: a guess is right within the
    tolerance, and the mean distance is that of the best guess for distances. ``without_breach`` is the error of
    somebody with the same side information and no stolen record, where that was asked for (A3 to A5);
    ``without_label`` that of somebody who steals the records without their labels, as in the deployment phase
    (A1 and A2, where labels are stored).
    """

    attribute: str
    adversary_error: float
    interval: Interval
    baseline: float
    predictor: str
    tolerance: float | None = None
    mean_absolute_error: float | None = None
    without_breach: float | None = None
    without_label: float | None = None


@dataclass(frozen=True, kw_only=True)
class ReconstructionResult(AttackResult):
    """Error per personal attribute (A1, A3, A4, A6)."""

    attributes: tuple[AttributeResult, ...]

    @property
    def without_breach(self) -> float | None:
        """The mean error of somebody with the same side information and no stolen record, if asked for."""
        return _mean([result.without_breach for result in self.attributes])

    @property
    def without_label(self) -> float | None:
        """The mean error of somebody who steals no labels (the deployment phase), where labels are stored."""
        return _mean([result.without_label for result in self.attributes])

    @property
    def minimum(self) -> float:
        """The error of the attribute that is told best."""
        return min(result.adversary_error for result in self.attributes)

    def __getitem__(self, attribute: str) -> AttributeResult:
        return next(result for result in self.attributes if result.attribute == attribute)

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the errors attribute by attribute, beside those of A1."""
        return reconstructed(self, plain)


def _mean(errors: Sequence[float | None]) -> float | None:
    known = [error for error in errors if error is not None]
    return sum(known) / len(known) if known else None


def reconstructed(attack: ReconstructionResult, plain: AttackResult | None, order: Sequence[str] = ()) -> Told:
    """Tell what A1, A3, A4 or A5 told, attribute by attribute; ``plain`` is A1 beside the others."""
    reference = plain if isinstance(plain, ReconstructionResult) and plain is not attack else None
    names = {"value": f"attacker ({attack.adversary})", "baseline": "naive guess"}
    names |= (
        {"reference": f"attacker without that knowledge (A1{_of_whom(attack, reference)})"} if reference else {}
    )
    names |= {"without": "same knowledge, nothing stolen"} if attack.without_breach is not None else {}
    rows = [_row(result, reference) for result in attack.attributes]
    return Told(
        _finding(attack, reference, order),
        {"kind": "intervals", "axis": WRONG, "names": names, "rows": rows},
        _table(
            rows,
            names | ({} if attack.without_label is None else {"deployed": "without the label"}),
            attack.attributes,
        ),
    )


def _of_whom(attack: AttackResult, reference: AttackResult) -> str:
    """Say of whom the figures of A1 are, where they are of more people than those of the other attack."""
    more = round(reference.people) > round(attack.people)
    return f", on all {reference.people:,.0f} people" if more else ""


def _row(result: AttributeResult, reference: ReconstructionResult | None) -> Facts:
    return {
        **bar(result.attribute, result.adversary_error, result.interval, result.baseline),
        "reference": None if reference is None else reference[result.attribute].adversary_error,
        "without": result.without_breach,
        "deployed": result.without_label,
    }


def _table(rows: Sequence[Facts], names: Facts, results: Sequence[AttributeResult]) -> Facts:
    extra = [key for key in ("reference", "without", "deployed") if key in names]
    columns = [
        "attribute",
        "wrong",
        "95 % interval",
        "naive guess",
        *(names[key] for key in extra),
        "predicted by",
    ]
    return {
        "columns": columns,
        "rows": [
            [
                row["label"] + _within(result),
                percent(row["value"], 1),
                percent_range((row["low"], row["high"])),
                percent(row["baseline"], 1),
                *("" if row[key] is None else percent(row[key], 1) for key in extra),
                result.predictor,
            ]
            for row, result in zip(rows, results, strict=True)
        ],
    }


def _within(result: AttributeResult) -> str:
    return "" if result.tolerance is None else f" (told within ±{result.tolerance:g})"


def weakest(attack: ReconstructionResult) -> AttributeResult:
    """Return the attribute about which the stolen records tell most beyond guessing."""
    return min(attack.attributes, key=lambda result: result.adversary_error - result.baseline)


def _finding(attack: ReconstructionResult, reference: ReconstructionResult | None, order: Sequence[str]) -> str:
    who = "On average over" if len(attack.attributes) > 1 else "About the"
    many = counted(len(attack.attributes), "personal attribute") if len(attack.attributes) > 1 else "one attribute"
    sentences = [
        f"{who} {many} this attacker is wrong {percent(attack.adversary_error, 1)} of the time"
        f"{in_interval(attack.interval)}; guessing without any record is wrong "
        f"{percent(attack.baseline, 1)} of the time."
    ]
    if reference is not None:
        whom = _of_whom(attack, reference)
        error = percent(reference.adversary_error, 1)
        sentences.append(f"Without that knowledge it would be wrong {error}{whom}.")
        if whom:
            sentences.append(f"All else is of the {attack.people:,.0f} of them in the sample.")
    if attack.without_breach is not None:
        sentences.append(f"With the same knowledge and nothing stolen: {percent(attack.without_breach, 1)}.")
    if attack.without_label is not None:
        sentences.append(
            "It stole the labels too, as the training phase stores them; in deployment, where none are stored, it "
            f"is wrong {percent(attack.without_label, 1)}."
        )
    if len(order) > 1:
        sentences.append(f"The order in which it goes on: {some(order)}.")
    return " ".join([*sentences, _most_gained(weakest(attack))])


def _most_gained(most: AttributeResult) -> str:
    if most.baseline - most.adversary_error < NOTICEABLE:
        return "About no attribute is it noticeably better than guessing."
    return (
        f"It gains most on {most.attribute}: wrong {percent(most.adversary_error, 1)} of the time, "
        f"guessing {percent(most.baseline, 1)}."
    )
