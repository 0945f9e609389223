"""The facts of an impact assessment: parts of statements and tables, each with the place its figures come from."""

from __future__ import annotations

from dataclasses import dataclass

from leastwise.documents import to_text

FORMAT = "leastwise-dpia"
TO_WRITE = "To be written by a person."


@dataclass(frozen=True)
class Statement:
    """One sentence; ``source`` is where its figures come from, empty where it has none."""

    text: str
    source: str = ""


@dataclass(frozen=True)
class Grid:
    """A table and where its figures come from."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of an assessment.

    Attributes
    ----------
    place, title
        By which mappings name it, and what people read.
    statements, grid
        What is said.
    items
        A list, where the questions of others want one.
    for_a_person
        What nobody can measure, and a person has to write.
    """

    place: str
    title: str
    statements: tuple[Statement, ...] = ()
    grid: Grid | None = None
    items: tuple[Statement, ...] = ()
    for_a_person: str = ""

    def text(self) -> str:
        """Return all that it says as plain lines."""
        lines = [each.text for each in (*self.statements, *self.items)]
        if self.grid is not None:
            rest = self.grid.columns[1:]
            lines += [
                "; ".join([row[0], *(f"{name}: {cell}" for name, cell in zip(rest, row[1:], strict=True) if cell)])
                for row in self.grid.rows
            ]
        return "\n".join([*lines, self.for_a_person] if self.for_a_person else lines)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """Where a question of somebody's form is answered: its number there, what it asks, and our parts."""

    framework: str
    number: str
    asks: str
    places: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """An impact assessment.

    Attributes
    ----------
    title, date
        Of what, and when it was decided (empty: not yet).
    author, reviewer, approver
        Who decided.
    fingerprint
        Of the generalization that it is about.
    parts
        In the order of reading.
    answered
        Question by question, which part answers the forms that others use.
    gaps
        What is missing; empty where it is complete.
    """

    title: str
    date: str
    author: str
    reviewer: str
    approver: str
    fingerprint: str
    measured: str
    parts: tuple[Part, ...]
    answered: tuple[Answered, ...]
    gaps: tuple[str, ...] = ()

    def __getitem__(self, place: str) -> Part:
        return next(part for part in self.parts if part.place == place)

    def to_json(self) -> str:
        """Return the document."""
        return to_text(self, FORMAT)
