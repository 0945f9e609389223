"""All adversaries by name: those of the paper, and those that other packages announce."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leastwise.adversaries.base import Adversary
from leastwise.adversaries.linkability import Linkability
from leastwise.adversaries.multi_breach import MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.plugins import ADVERSARIES as GROUP
from leastwise.plugins import plugins

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
