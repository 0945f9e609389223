"""The attacks: who attacks, what was found, a picture and the table behind it."""

from __future__ import annotations

from typing import Any

from leastwise.adversaries import PAPER
from leastwise.adversaries.result import AttackResult, GuestResult
from leastwise.evaluation.evaluation import Evaluation

Facts = dict[str, Any]


def attack_facts(evaluation: Evaluation, predicates: bool = False) -> list[Facts]:
    """Return the facts of every adversary of the paper, in order, and of all others that attacked.

    One of the paper that did not attack says why.

    Parameters
    ----------
    predicates
        Whether sentences that describe single real people (A8) are told.
    """
    found = {attack.adversary: attack for attack in evaluation.attacks}
    return [_facts(name, found, predicates) for name in dict.fromkeys([*PAPER, *found])]


def _facts(name: str, found: dict[str, AttackResult], predicates: bool) -> Facts:
    attack = found.get(name)
    who = attack if isinstance(attack, GuestResult) else PAPER[name]
    facts: Facts = {"adversary": name, "title": who.title, "scenario": who.scenario}
    if attack is None:
        return {**facts, "finding": PAPER[name].not_run, "picture": None, "table": None}
    return {
        **facts,
        "error": attack.adversary_error,
        "interval": None if attack.interval is None else list(attack.interval),
        "baseline": attack.baseline,
        **attack.told(found.get("A1"), predicates=predicates).facts(),
    }
