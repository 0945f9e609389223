"""Who is told how far long work has come: one protocol, whoever works and whoever shows it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Is told how far a piece of work has come."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Begin a stage of so many steps, some of which may be done already; None where nobody knows how many."""
        ...

    def advance(self, steps: int = 1) -> None:
        """Note that so many more steps are done."""
        ...


class Silent:
    """Is told, and says nothing."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Say nothing."""

    def advance(self, steps: int = 1) -> None:
        """Say nothing."""
