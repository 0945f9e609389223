"""Candidates: distinct generalizations with who found them and how they were screened; and what failed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leastwise.documents.versioned import format_of, from_text, to_text
from leastwise.errors import ArtefactError
from leastwise.evaluation.evaluation import fingerprint_of
from leastwise.generalization import Generalization
from leastwise.runs.figures import Figures

FORMAT = "leastwise-candidate"
FAILED = "leastwise-failure"
SHORT = 12


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One distinct generalization that was screened on validation.

    Attributes
    ----------
    id, fingerprint
        The first twelve signs of the fingerprint of its buckets, and the whole.
    minimizer, parameters, seed
        Who found it first.
    also_found_by
        Who else did, in words.
    asked, answers
        How many attributes are asked, and how many different answers they allow in all.
    generalization
        The artefact as a plain document; ``artefact`` reads it.
    validation
        How it was screened: by counting, on the validation part.
    """

    id: str
    fingerprint: str
    minimizer: str
    parameters: Mapping[str, Any]
    also_found_by: tuple[str, ...]
    seed: int
    asked: int
    answers: int
    generalization: Mapping[str, Any]
    validation: Figures

    @property
    def words(self) -> str:
        """Who found it, in words."""
        return words_of(self.minimizer, self.parameters)

    def artefact(self) -> Generalization:
        """Return the generalization, read with full validation and held against the fingerprint."""
        found = Generalization.from_json(json.dumps(dict(self.generalization)))
        if fingerprint_of(found) != self.fingerprint:
            raise ArtefactError(f"candidate {self.id}: its generalization was changed after it was judged")
        return found

    def to_json(self) -> str:
        """Return the line of the journal."""
        return to_text(self, FORMAT, line=True)

    @classmethod
    def from_json(cls, text: str, where: str = "candidate") -> Candidate:
        """Read a line of the journal."""
        found = from_text(cls, text, FORMAT, where)
        if found.id != found.fingerprint[:SHORT] or not set(found.id) <= set("0123456789abcdef"):
            raise ArtefactError(f"{where}: the id must be the first {SHORT} hex digits of the fingerprint")
        return found


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A minimizer that could not propose anything, and why."""

    minimizer: str
    parameters: Mapping[str, Any]
    seed: int
    reason: str

    @property
    def words(self) -> str:
        """Who failed, in words."""
        return words_of(self.minimizer, self.parameters)

    def to_json(self) -> str:
        """Return the line of the journal."""
        return to_text(self, FAILED, line=True)

    @classmethod
    def from_json(cls, text: str, where: str = "failure") -> Failure:
        """Read a line of the journal."""
        return from_text(cls, text, FAILED, where)


def read_line(text: str, where: str) -> Candidate | Failure:
    """Read a line of the journal, whatever it holds."""
    return Failure.from_json(text, where) if format_of(text) == FAILED else Candidate.from_json(text, where)


def words_of(minimizer: str, parameters: Mapping[str, Any]) -> str:
    """Name a minimizer with its parameters.

    >>> words_of("pat", {"alpha": 0.7, "max_leaves": 20})
    'pat (alpha 0.7, max_leaves 20)'
    """
    settings = ", ".join(f"{name} {_short(value)}" for name, value in parameters.items())
    return f"{minimizer} ({settings})" if settings else minimizer


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return ", ".join(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else str(value)
