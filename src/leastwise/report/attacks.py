"""The attacks A1 to A8: who attacks, what was found, a picture and the table behind it.

A picture is a plain description (kind, rows, names) that the page draws and that a table can tell as well.
"""

from __future__ import annotations

from typing import Any

from leastwise.adversaries.result import (
    AttackResult,
    HighCertaintyResult,
    LinkabilityResult,
    MultiBreachResult,
    ReconstructionResult,
    SinglingOutResult,
)
from leastwise.evaluation.evaluation import Evaluation
from leastwise.report.attack_words import NOT_RUN, SCENARIOS, TITLES
from leastwise.report.linking import linked, singled_out
from leastwise.report.reconstruction import reconstructed, surest, together

Facts = dict[str, Any]


def attack_facts(evaluation: Evaluation, predicates: bool = False) -> list[Facts]:
    """Return the facts of every adversary, in order; one that did not attack says why.

    Parameters
    ----------
    predicates
        Whether sentences that describe single real people (A8) are told.
    """
    found = {attack.adversary: attack for attack in evaluation.attacks}
    return [_facts(name, found, predicates) for name in SCENARIOS]


def _facts(name: str, found: dict[str, AttackResult], predicates: bool) -> Facts:
    facts: Facts = {"adversary": name, "title": TITLES[name], "scenario": SCENARIOS[name]}
    attack = found.get(name)
    if attack is None:
        return {**facts, "finding": NOT_RUN.get(name, "It was not run."), "picture": None, "table": None}
    return {
        **facts,
        "error": attack.adversary_error,
        "interval": None if attack.interval is None else list(attack.interval),
        "baseline": attack.baseline,
        **_found(attack, found.get("A1"), predicates),
    }


def _found(attack: AttackResult, plain: AttackResult | None, predicates: bool) -> Facts:
    """Return finding, picture and table: each kind of attack tells its own."""
    if isinstance(attack, HighCertaintyResult):
        return surest(attack)
    if isinstance(attack, MultiBreachResult):
        return together(attack)
    if isinstance(attack, LinkabilityResult):
        return linked(attack)
    if isinstance(attack, SinglingOutResult):
        return singled_out(attack, predicates)
    assert isinstance(attack, ReconstructionResult)
    reference = plain if isinstance(plain, ReconstructionResult) and plain is not attack else None
    return reconstructed(attack, reference)
