"""Adversaries: what could somebody find out who stole the generalized records? Higher errors are safer."""

from leastwise.adversaries.base import Adversary, Setting
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import scored
from leastwise.adversaries.linkability import Linkability
from leastwise.adversaries.multi_breach import MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.registry import PAPER, known_adversaries
from leastwise.adversaries.result import (
    AttackResult,
    AttributeResult,
    GuestResult,
    HighCertaintyResult,
    LinkabilityResult,
    MultiBreachResult,
    PartialKnowledgeResult,
    ReconstructionResult,
    SinglingOutResult,
)
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from leastwise.adversaries.singling_out import SinglingOut

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
