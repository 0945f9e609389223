"""What counts as drift: how sure it must be, and how large."""

from __future__ import annotations

from dataclasses import dataclass

from leastwise.validation import check_between


@dataclass(frozen=True, kw_only=True)
class DriftLimits:
    """How sure and how large a difference must be to be called drift.

    Parameters
    ----------
    level
        How often a whole check may alarm although nothing changed: 0.01 is once in a hundred checks.
    share
        The change of a bucket's (or a class's) share of the people that matters.
    error
        The increase of the classifier's error that matters.
    adversary_error
        The decrease of an adversary's error that matters.
    max_unseen
        The share of records that may have a value outside the domain of an attribute.
    """

    level: float = 0.01
    share: float = 0.02
    error: float = 0.01
    adversary_error: float = 0.02
    max_unseen: float = 0.001

    def __post_init__(self) -> None:
        for name in ("level", "share", "error", "adversary_error", "max_unseen"):
            check_between(name, getattr(self, name), 0.0, 1.0)
