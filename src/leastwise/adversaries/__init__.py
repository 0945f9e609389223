"""Adversaries: what could somebody find out who stole the generalized records? Higher errors are safer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import scored
from leastwise.adversaries.linkability import Linkability, LinkabilityResult
from leastwise.adversaries.multi_breach import MultiBreach, MultiBreachResult
from leastwise.adversaries.reconstruction import HighCertainty, HighCertaintyResult, Reconstruction
from leastwise.adversaries.result import AttackResult, AttributeResult, GuestResult, ReconstructionResult
from leastwise.adversaries.side_information import (
    LeaveOneOut,
    NonPersonalKnowledge,
    PartialKnowledge,
    PartialKnowledgeResult,
)
from leastwise.adversaries.singling_out import SinglingOut, SinglingOutResult
from leastwise.plugins import ADVERSARIES as GROUP
from leastwise.plugins import plugins

__all__ = [
    "PAPER",
    "Adversary",
    "AttackResult",
    "AttributeResult",
    "Breach",
    "GuestResult",
    "HighCertainty",
    "HighCertaintyResult",
    "LeaveOneOut",
    "Linkability",
    "LinkabilityResult",
    "MultiBreach",
    "MultiBreachResult",
    "NonPersonalKnowledge",
    "PartialKnowledge",
    "PartialKnowledgeResult",
    "Reconstruction",
    "ReconstructionResult",
    "Setting",
    "SinglingOut",
    "SinglingOutResult",
    "known_adversaries",
    "scored",
]

PAPER: Mapping[str, type[Adversary]] = {
    adversary.name: adversary
    for adversary in (
        Reconstruction,
        HighCertainty,
        NonPersonalKnowledge,
        LeaveOneOut,
        PartialKnowledge,
        MultiBreach,
        Linkability,
        SinglingOut,
    )
}
"""A1 to A8, in order."""


def known_adversaries() -> dict[str, Any]:
    """Return every adversary that has a name: A1 to A8, then what other packages announce."""
    return {**PAPER, **plugins(GROUP, "attack", tuple(PAPER))}
