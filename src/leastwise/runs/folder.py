"""The run folder: what was asked, every candidate, the frontier with its judgements, and the choice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from leastwise.documents import read_text
from leastwise.documents.versioned import from_text, to_text
from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.evaluation.evaluation import Evaluation, fingerprint_of
from leastwise.generalization import Generalization
from leastwise.runs.budget import Budget, Size
from leastwise.runs.candidates import SHORT, Candidate, Failure, read_line
from leastwise.runs.choice import Choice
from leastwise.runs.frontier import Frontier
from leastwise.runs.grid import Grid
from leastwise.schema import Schema
from leastwise.schema.file import load_schema

FORMAT = "leastwise-run"
TASK, SCHEMA, CANDIDATES, TIMING = "task.json", "schema.yaml", "candidates.jsonl", "timing.jsonl"
FRONTIER, CHOICE, RECOMMENDED = "frontier.json", "choice.json", "recommended.json"
GENERALIZATIONS, EVALUATIONS, WORK = "generalizations", "evaluations", "work"
REPORTS = ("report.html", "report.md", "report.json", "shares.json")


@dataclass(frozen=True, kw_only=True)
class Parts:
    """How many records each part of the protocol has."""

    train: int
    validation: int
    test: int


@dataclass(frozen=True, kw_only=True)
class RunTask:
    """What was asked.

    Attributes
    ----------
    data, fingerprint
        The name of the file, without its folder, and the SHA-256 of the encoded records.
    records
        How many records each part has.
    label, personal
        What is predicted, and what must not be found out.
    seed, quick
        Of the split and of everything that is drawn; whether training was shortened.
    most
        How many candidates of the frontier are attacked in full.
    grid, budget, constraints
        What proposed, what the choice was made under (None: the default), what every candidate had to hold to.
    versions
        Of leastwise and of the libraries that compute.
    """

    data: str
    fingerprint: str
    records: Parts
    label: str
    personal: tuple[str, ...]
    seed: int
    quick: bool
    most: int
    grid: Grid
    budget: Budget | None
    constraints: Mapping[str, Any] | None
    versions: Mapping[str, str]

    def to_json(self) -> str:
        """Return the document."""
        return to_text(self, FORMAT)

    @classmethod
    def from_json(cls, text: str, where: str = "task") -> RunTask:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        return from_text(cls, text, FORMAT, where)


@dataclass(frozen=True, kw_only=True)
class Run:
    """A finished run, as it lies in its folder."""

    folder: Path
    task: RunTask
    schema: Schema
    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    frontier: Frontier
    choice: Choice

    @classmethod
    def load(cls, folder: str | Path) -> Run:
        """Read a run; everything in it is checked, nothing is trusted."""
        path = Path(folder)
        if not (path / TASK).is_file():
            raise ParameterError(f"{path} is no run: there is no {TASK}; make one with leastwise run")
        task = RunTask.from_json(read_text(path / TASK), str(path / TASK))
        for name in (FRONTIER, CHOICE):
            if not (path / name).is_file():
                raise ParameterError(
                    f"the run in {path} is not finished; the same leastwise run command resumes it"
                )
        lines = read_candidates(path / CANDIDATES)
        found = cls(
            folder=path,
            task=task,
            schema=load_schema(path / SCHEMA),
            candidates=tuple(line for line in lines if isinstance(line, Candidate)),
            failures=tuple(line for line in lines if isinstance(line, Failure)),
            frontier=Frontier.from_json(read_text(path / FRONTIER), str(path / FRONTIER)),
            choice=Choice.from_json(read_text(path / CHOICE), str(path / CHOICE)),
        )
        found._check()
        return found

    def _check(self) -> None:
        known = set(self._by_id)
        named = {point.candidate for point in self.frontier.points}
        chosen = {self.choice.candidate, self.choice.nearest} - {None}
        if not self.frontier.points or not named <= known or not {*self.frontier.knees, *chosen} <= named:
            raise ArtefactError(f"{self.folder}: its files name candidates that are not in {CANDIDATES}")
        front, personal = self.frontier, set(self.task.personal)
        ends = (front.untouched, front.suppressed, front.untouched_validation, front.suppressed_validation)
        judged = [*ends, *(part for point in front.points for part in (point.validation, point.test))]
        if any(set(figures.by_attribute) != personal for figures in judged):
            raise ArtefactError(f"{self.folder / FRONTIER}: its figures are not of the personal attributes")
        for name in sorted(named):
            self._check_size(name)

    def _check_size(self, name: str) -> None:
        """Hold what a candidate is said to ask against its artefact: choices are made by it."""
        told = self.sizes[name]
        sizes = [p.size for p in self.candidate(name).artefact().partitions if not p.suppressed]
        # A number that is asked exactly has as many answers as were given, and says 0: at least one.
        least = sum(size or 1 for size in sizes)
        if told.asked != len(sizes) or told.answers < least or (all(sizes) and told.answers != least):
            raise ArtefactError(f"{self.folder / CANDIDATES}: what candidate {name} asks is not what it says")

    @cached_property
    def _by_id(self) -> dict[str, Candidate]:
        return {candidate.id: candidate for candidate in self.candidates}

    def candidate(self, name: str) -> Candidate:
        """Return a candidate by its id."""
        if name not in self._by_id:
            raise ParameterError(f"there is no candidate {shorten(name)} in {self.folder}")
        return self._by_id[name]

    def generalization(self, name: str) -> Generalization:
        """Return the artefact of a candidate."""
        self.candidate(name)
        path = artefact_path(self.folder, name)
        if not path.is_file():
            return self.candidate(name).artefact()
        found = Generalization.load(path)
        if fingerprint_of(found) != self.candidate(name).fingerprint:
            raise ArtefactError(f"{path}: it was changed after it was judged")
        return found

    def evaluation(self, name: str) -> Evaluation:
        """Return the full judgement of a candidate of the frontier."""
        found = Evaluation.load(evaluation_path(self.folder, self.candidate(name).id))
        if found.fingerprint != self.candidate(name).fingerprint:
            raise ArtefactError(f"{evaluation_path(self.folder, name)}: it judges another generalization")
        return found

    @cached_property
    def sizes(self) -> dict[str, Size]:
        """By id, how much each candidate asks."""
        return {candidate.id: Size(candidate.asked, candidate.answers) for candidate in self.candidates}


def artefact_path(folder: Path, name: str) -> Path:
    """Return where the artefact of a candidate of the frontier lies."""
    return folder / GENERALIZATIONS / f"{name[:SHORT]}.json"


def evaluation_path(folder: Path, name: str) -> Path:
    """Return where the full judgement of a candidate of the frontier lies."""
    return folder / EVALUATIONS / f"{name[:SHORT]}.json"


def read_candidates(path: Path) -> list[Candidate | Failure]:
    """Read the journal of candidates."""
    lines = read_text(path).split("\n")
    if lines.pop():
        raise ArtefactError(f"{path}: the last line is torn; the same leastwise run command mends it")
    return [read_line(line, f"{path}, line {i + 1}") for i, line in enumerate(lines)]
