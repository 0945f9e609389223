"""A3, A4 and A5: what do the stolen records tell somebody who already knows a lot?

Who knows a lot tells a lot without any stolen record. With ``without_breach=True`` the same adversary also attacks
without them, and the difference is what the breach told.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from leastwise.adversaries.base import Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import (
    Finding,
    MakePredictor,
    all_but,
    find,
    find_alone,
    find_deployed,
    least,
    read_off,
)
from leastwise.adversaries.reconstruction import Guessing, R
from leastwise.adversaries.result import AttackResult, ReconstructionResult, Told, reconstructed
from leastwise.random import generator
from leastwise.validation import check_between


@dataclass(frozen=True)
class _WithSideInformation(Guessing[R]):
    without_breach: bool = False
    side_information: ClassVar[bool] = True

    @classmethod
    def configured(cls, setting: Setting) -> _WithSideInformation[R]:
        return cls(setting.predictor, setting.without_breach)

    def _find_less(self, breach: Breach) -> list[Finding]:
        alone = [*find_alone(breach, self.predictor), *find_deployed(breach, self.predictor)]
        return [*find_with_non_personal(breach, self.predictor), *alone]

    def _find_blindly(self, breach: Breach) -> list[Finding]:
        if not self.without_breach:
            return []
        nothing = breach.blind()
        return least(self._blind(breach, nothing), self._find_less(nothing))

    def _blind(self, breach: Breach, nothing: Breach) -> list[Finding]:
        """Return what it finds where nothing was collected, by itself."""
        return self._find(nothing)


@dataclass(frozen=True)
class NonPersonalKnowledge(_WithSideInformation[ReconstructionResult]):
    """A3: the thief knows everything about a person that is not personal, exactly.

    Beside what A1 holds it has the non-personal attributes of the stolen people in full, for instance from a
    company that collects just those, and wants their personal attributes.

    0: all are told; 1: none. An error well below that of A1 says that the missing granularity of the non-personal
    attributes protected the personal ones.
    """

    name: ClassVar[str] = "A3"
    words: ClassVar[str] = "knowing the non-personal attributes"
    title: ClassVar[str] = "Knowing everything that is not personal"
    scenario: ClassVar[str] = (
        "The attacker also knows every attribute of a person that is not personal, exactly, for instance from "
        "a company that collects just those."
    )

    def _find(self, breach: Breach) -> list[Finding]:
        return find_with_non_personal(breach, self.predictor)


@dataclass(frozen=True)
class LeaveOneOut(_WithSideInformation[ReconstructionResult]):
    """A4: the thief knows everything about a person but one personal attribute.

    The worst case. Beside the stolen record it has all other attributes of that person in full.

    0: the last attribute is always told; 1: never. What little is still hidden here is hidden by the buckets of
    the attribute itself, and by nothing else.
    """

    name: ClassVar[str] = "A4"
    words: ClassVar[str] = "knowing all but one attribute"
    title: ClassVar[str] = "Knowing everything but one attribute"
    scenario: ClassVar[str] = (
        "The worst case: the attacker knows everything about a person exactly, except the one attribute that "
        "it wants."
    )

    def _find(self, breach: Breach) -> list[Finding]:
        _ = breach.generalization  # A6 is for several
        several = (find(breach, (p,), all_but(p, breach.truth), self.predictor) for p in breach.targets)
        return [finding for found in several for finding in found]

    def _find_less(self, breach: Breach) -> list[Finding]:
        return [*super()._find_less(breach), *breach.memory.get(_in_order_key(breach), [])]


@dataclass(frozen=True, kw_only=True)
class PartialKnowledgeResult(ReconstructionResult):
    """Error when the personal attributes become known one after the other (A5), in this order."""

    order: tuple[str, ...]
    random_orders: int = 0

    def told(self, plain: AttackResult | None = None, *, predicates: bool = False) -> Told:
        """Tell the errors attribute by attribute, and the order in which it goes on."""
        return reconstructed(self, plain, self.order)


@dataclass(frozen=True)
class PartialKnowledge(_WithSideInformation[PartialKnowledgeResult]):
    """A5: the thief learns a person's attributes one after the other.

    It starts as A3 with the non-personal attributes in full, tells the first personal attribute, learns it in
    full, tells the second, and so on; the last it tells as A4 does. The order is the one in which an adversary
    would go on: easiest for A1 first. ``random_orders`` more orders can be averaged in.

    0: every next attribute is told from those before; 1: none is.
    """

    random_orders: int = 0
    name: ClassVar[str] = "A5"
    words: ClassVar[str] = "learning one attribute after the other"
    title: ClassVar[str] = "Learning one attribute after the other"
    scenario: ClassVar[str] = (
        "The attacker begins with everything that is not personal, tells the easiest personal attribute, then "
        "learns it exactly, tells the next, and so on."
    )
    result: ClassVar[type[AttackResult]] = PartialKnowledgeResult

    def _find(self, breach: Breach, orders: Sequence[Sequence[int]] = ()) -> list[Finding]:
        orders = orders or self._orders(breach)
        runs = [self._in_order(breach, order) for order in orders]
        found = [_averaged([run[p] for run in runs]) for p in orders[0]]
        breach.memory[_in_order_key(breach)] = found
        return found

    def _blind(self, breach: Breach, nothing: Breach) -> list[Finding]:
        return self._find(nothing, self._orders(breach))

    def _more(self, breach: Breach, found: Sequence[Finding]) -> dict[str, Any]:
        order = tuple(breach.truth.schema.names[p] for p in self._orders(breach)[0])
        return {"order": order, "random_orders": self.random_orders}

    def _orders(self, breach: Breach) -> list[list[int]]:
        """Return the easiest first, then the random ones; they are the same whenever they are asked for."""
        check_between("random_orders", self.random_orders, 0)
        # The thief cannot know the truth: what is easy was seen on the people it knows.
        doubts = {finding.target.position: finding.doubt for finding in super()._find(breach)}
        easiest = sorted(doubts, key=lambda p: (doubts[p], p))
        random = generator(breach.seed, "A5 orders")
        return [easiest, *(random.permutation(easiest).tolist() for _ in range(self.random_orders))]

    def _in_order(self, breach: Breach, order: Sequence[int]) -> dict[int, Finding]:
        first = non_personal(breach)
        found = {p: read_off(breach.targets[p]) for p in order if breach.joined.partitions[p].untouched}
        hidden = tuple(p for p in order if p not in found)
        for k, p in enumerate(hidden):
            found[p] = find(breach, (p,), (*first, *hidden[:k]), self.predictor)[0]
        return found


def find_with_non_personal(breach: Breach, predictor: MakePredictor) -> list[Finding]:
    """Return what A3 finds."""
    _ = breach.generalization  # A6 is for several
    return find(breach, tuple(breach.targets), non_personal(breach), predictor)


def non_personal(breach: Breach) -> tuple[int, ...]:
    """Return the positions of the attributes that are not personal."""
    return tuple(j for j in range(len(breach.truth.schema)) if j not in breach.targets)


def _in_order_key(breach: Breach) -> Hashable:
    """Return where what A5 found is remembered, for A4: who knows all need not do worse."""
    return "A5", breach.joined.partitions, breach.coarsening, breach.labelled


def _averaged(findings: Sequence[Finding]) -> Finding:
    """Return one finding for several orders: each person's share of wrong guesses."""
    if len(findings) == 1:
        return findings[0]
    names = list(dict.fromkeys(finding.predictor for finding in findings))
    distances = [f.mean_absolute_error for f in findings if f.mean_absolute_error is not None]
    return replace(
        findings[0],
        wrong=np.mean([finding.wrong for finding in findings], axis=0),
        confidence=np.mean([finding.confidence for finding in findings], axis=0),
        predictor=", ".join(names),
        mean_absolute_error=float(np.mean(distances)) if distances else None,
    )
