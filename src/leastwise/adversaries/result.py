"""What an attack found: always an adversary error (HIGHER IS SAFER), beside its baseline and with its interval.

``adversary_error`` is the share of what the adversary wanted and did not get: 0 means that it got everything,
1 that it got nothing. ``baseline`` is the same figure for somebody who never saw the stolen records and only
guesses. A generalization protects where the two are close; an error far below the baseline is a leak.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from leastwise.adversaries import telling
from leastwise.adversaries.telling import Told
from leastwise.confidence import Interval


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
        return telling.failed_or_not(self)


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
        finding, picture, table, _ = result.told(plain)
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
        return Told(self.finding, _as_dict(self.picture), _as_dict(self.table))


def _as_dict(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if facts is None else dict(facts)


@dataclass(frozen=True, kw_only=True)
class AttributeResult:
    """How well one personal attribute was told.

    ``tolerance`` and ``mean_absolute_error`` are those of a continuous attribute: a guess is right within the
    tolerance, and the mean distance is that of the best guess for distances. ``without_breach`` is the error of
    somebody with the same side information and no stolen record, where that was asked for (A3 to A5).
    """

    attribute: str
    adversary_error: float
    interval: Interval
    baseline: float
    predictor: str
    tolerance: float | None = None
    mean_absolute_error: float | None = None
    without_breach: float | None = None


@dataclass(frozen=True, kw_only=True)
class ReconstructionResult(AttackResult):
    """Error per personal attribute (A1, A3, A4, A6)."""

    attributes: tuple[AttributeResult, ...]

    @property
    def without_breach(self) -> float | None:
        """The mean error of somebody with the same side information and no stolen record, if asked for."""
        errors = [result.without_breach for result in self.attributes if result.without_breach is not None]
        return sum(errors) / len(errors) if errors else None

    @property
    def minimum(self) -> float:
        """The error of the attribute that is told best."""
        return min(result.adversary_error for result in self.attributes)

    def __getitem__(self, attribute: str) -> AttributeResult:
        return next(result for result in self.attributes if result.attribute == attribute)

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the errors attribute by attribute, beside those of A1."""
        return telling.reconstructed(self, beside(self, plain))


def beside(attack: ReconstructionResult, plain: AttackResult | None) -> ReconstructionResult | None:
    """Return what A1 found, if that is something to compare with."""
    return plain if isinstance(plain, ReconstructionResult) and plain is not attack else None


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
        return telling.surest(self)


@dataclass(frozen=True, kw_only=True)
class PartialKnowledgeResult(ReconstructionResult):
    """Error when the personal attributes become known one after the other (A5), in this order."""

    order: tuple[str, ...]
    random_orders: int = 0

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the errors attribute by attribute, and the order in which it goes on."""
        return telling.reconstructed(self, beside(self, plain), self.order)


@dataclass(frozen=True, kw_only=True)
class MultiBreachResult(ReconstructionResult):
    """Error of somebody who holds several generalizations of the same people (A6).

    ``single_errors`` are the A1 errors of each generalization alone.
    """

    single_errors: tuple[float, ...]

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell what all breaches tell together, beside each of them alone."""
        return telling.together(self)


@dataclass(frozen=True, kw_only=True)
class LinkabilityResult(AttackResult):
    """Share linked (A7): by each record's own guess, by balance, and by the likeliest assignment."""

    known_a: tuple[str, ...]
    known_b: tuple[str, ...]
    records: int
    draws: int
    linked_by_guess: float
    linked_by_balance: float
    linked_by_assignment: float
    method: str

    @property
    def share_linked(self) -> float:
        """The share linked by the best of the three methods."""
        return 1 - self.adversary_error

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the share linked by each method, beside random linking."""
        return telling.linked(self)


@dataclass(frozen=True, kw_only=True)
class Predicate:
    """A sentence that is true of exactly so many people."""

    text: str
    people: int

    def __str__(self) -> str:
        return f"{self.text}: {self.people} {'person' if self.people == 1 else 'people'}"


@dataclass(frozen=True, kw_only=True)
class Crowd:
    """How many people share their generalized record with fewer than k others, themselves included in k."""

    k: int
    people_below: float
    share_below: float


@dataclass(frozen=True, kw_only=True)
class SinglingOutResult(AttackResult):
    """How small the smallest crowds are (A8).

    Attributes
    ----------
    rarest
        The multiplicity of the rarest generalized record: the breach is ``rarest``-anonymous.
    rarest_records
        How many generalized records have it.
    unique_people
        How many people are alone with theirs.
    distinct
        How many generalized records there are.
    multiplicities
        (multiplicity, how many generalized records have it), ascending.
    crowds
        A k-anonymity-style summary.
    predicates
        Sentences that are true of the rarest, not more than were asked for.
    """

    rarest: int
    rarest_records: int
    unique_people: int
    distinct: int
    multiplicities: tuple[tuple[int, int], ...]
    crowds: tuple[Crowd, ...]
    predicates: tuple[Predicate, ...]

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell how many people hide in how small a crowd."""
        return telling.singled_out(self, predicates)
