"""The stages of a run, each resumed where it was broken off: propose, screen, judge, attack in full."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from leastwise.documents import write_whole
from leastwise.documents.versioned import from_text, to_text
from leastwise.errors import ArtefactError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as best_of
from leastwise.evaluation.protocol import ADVERSARIES, evaluate
from leastwise.evaluation.utility import UtilityLimits
from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints
from leastwise.records.table import Split
from leastwise.runs import folder as places
from leastwise.runs.budget import Budget
from leastwise.runs.candidates import SHORT, Candidate, Failure, read_line
from leastwise.runs.choice import best_screened
from leastwise.runs.figures import Figures
from leastwise.runs.folder import RunTask, artefact_path, evaluation_path
from leastwise.runs.frontier import thinned
from leastwise.runs.journal import Journal
from leastwise.runs.screening import Judged, judge
from leastwise.runs.sweeping import Distinct, Plan, Proposed, propose, screened
from leastwise.runs.workers import Workers

PROPOSALS, LIMITS, JUDGEMENTS = "proposals.jsonl", "limits.jsonl", "judgements-{}.jsonl"
# Cheap attacks; those with side information train a model for every attribute.
WITHOUT_SIDE_INFORMATION = ("A1", "A2", "A7", "A8")
T = TypeVar("T")


class Watcher(Protocol):
    """Is told how far a run has come."""

    def begin(self, words: str, total: int, done: int) -> None:
        """Begin a stage of so many tasks, some of which an earlier run did."""
        ...

    def advance(self) -> None:
        """Note that a task is done."""
        ...


class Silent:
    """Watches and says nothing."""

    def begin(self, words: str, total: int, done: int) -> None:
        """Say nothing."""

    def advance(self) -> None:
        """Say nothing."""


@dataclass(frozen=True)
class Stages:
    """The stages of one run; what an earlier run finished is read back, not done again."""

    folder: Path
    split: Split
    task: RunTask
    constraints: Constraints | None
    workers: Workers
    watcher: Watcher

    def proposed(self) -> list[Proposed]:
        """Ask every source of the grid."""
        path = self.folder / places.WORK / PROPOSALS
        work = partial(propose, train=self.split.train, constraints=self.constraints, workers=self.workers)
        return self._resumed("proposing", path, self.task.grid.sources(), work, *_lines(Proposed, "proposed"))

    def screened(self, plan: Plan) -> list[Candidate]:
        """Judge every distinct candidate on validation, by counting."""
        tasks: list[Failure | Distinct] = [*plan.failures, *plan.distinct]
        path = self.folder / places.CANDIDATES
        work = partial(_screened, split=self.split, candidates=len(plan.distinct), workers=self.workers)
        found = self._resumed(
            "screening", path, tasks, work, lambda line: line.to_json(), partial(read_line, where=str(path))
        )
        candidates = [line for line in found if isinstance(line, Candidate)]
        if [c.fingerprint for c in candidates] != [d.fingerprint for d in plan.distinct]:
            raise ArtefactError(f"{path}: it holds other candidates than this task has; begin anew with --fresh")
        return candidates

    def limit_points(self) -> LimitPoints:
        """Judge the limit points on validation and test, by the strongest."""
        schema = self.split.train.schema
        limits = [Generalization.untouched(schema), Generalization.suppressed(schema)]
        parts = [self.split.on_validation(), self.split]
        tasks = [(g, part, 1, self.task.seed, self.task.quick) for part in parts for g in limits]
        return LimitPoints(*self._judged("judging the limit points", LIMITS, tasks))

    def judged(self, front: Sequence[Candidate]) -> list[Judged]:
        """Judge the frontier on validation, by the strongest."""
        part = self.split.on_validation()
        tasks = [(c.artefact(), part, len(front), self.task.seed, self.task.quick) for c in front]
        # Another budget may bring another frontier: what was judged of one must not be taken for the other.
        name = hashlib.sha256("".join(c.id for c in front).encode()).hexdigest()[:SHORT]
        return self._judged("judging the frontier", JUDGEMENTS.format(name), tasks)

    def _judged(self, words: str, journal: str, tasks: Sequence[tuple[Any, ...]]) -> list[Judged]:
        path = self.folder / places.WORK / journal
        return self._resumed(words, path, tasks, partial(self.workers.map, judge), *_lines(Judged, "judged"))

    def attacked(self, front: Sequence[Candidate], limits: LimitPoints, chosen: str | None) -> list[Evaluation]:
        """Attack the frontier on test in full; in a quick run only what is recommended with side information."""
        for candidate in front:
            write_whole(artefact_path(self.folder, candidate.id), candidate.artefact().to_json())
        tasks = {candidate.id: self._attack(candidate, limits, len(front), chosen) for candidate in front}
        absent = [candidate for candidate in front if not self._is_attacked(candidate, tasks[candidate.id])]
        absent.sort(key=lambda candidate: candidate.id != chosen)  # what takes longest comes first
        self.watcher.begin("attacking the frontier", len(front), len(front) - len(absent))
        start = time.perf_counter()
        for candidate, judgement in zip(
            absent, self.workers.map(attack, [tasks[c.id] for c in absent]), strict=True
        ):
            write_whole(evaluation_path(self.folder, candidate.id), judgement.to_json())
            self._note("attacking", candidate=candidate.id, **judgement.seconds)
            self.watcher.advance()
        self._note("attacking the frontier", seconds=time.perf_counter() - start, tasks=len(absent))
        self._keep_only({f"{candidate.id}.json" for candidate in front})
        return [Evaluation.load(evaluation_path(self.folder, candidate.id)) for candidate in front]

    def _attack(
        self, candidate: Candidate, limits: LimitPoints, count: int, chosen: str | None
    ) -> tuple[Any, ...]:
        whole = not self.task.quick or candidate.id == chosen
        adversaries = None if whole else WITHOUT_SIDE_INFORMATION
        utility = UtilityLimits(limits.suppressed.utility, limits.untouched.utility)
        return candidate.artefact(), self.split, adversaries, self.task.seed, self.task.quick, count, utility

    def _is_attacked(self, candidate: Candidate, task: tuple[Any, ...]) -> bool:
        """Return whether an earlier run has done exactly this."""
        path = evaluation_path(self.folder, candidate.id)
        if not path.is_file():
            return False
        found, (adversaries, count) = Evaluation.load(path), (task[2], task[5])
        wanted = adversaries or [name for name in ADVERSARIES if name != "A6"]
        same = found.certificate is not None and found.certificate.candidates == count
        return (
            same
            and [a.adversary for a in found.attacks] == [*wanted]
            and found.fingerprint == candidate.fingerprint
        )

    def _keep_only(self, names: set[str]) -> None:
        """Remove what another frontier left behind before this one was found."""
        for sub in (places.GENERALIZATIONS, places.EVALUATIONS):
            for path in (self.folder / sub).iterdir():
                if path.name not in names:
                    path.unlink()

    def _resumed(
        self,
        words: str,
        path: Path,
        tasks: Sequence[Any],
        work: Callable[[Sequence[Any]], Iterator[T]],
        write: Callable[[T], str],
        read: Callable[[str], T],
    ) -> list[T]:
        """Do the tasks that the journal does not have yet; each result is on the disk before the next is taken."""
        journal, start = Journal(path), time.perf_counter()
        done = [read(line) for line in journal.lines()]
        if len(done) > len(tasks):
            raise ArtefactError(f"{path}: it holds more than this task has; begin anew with --fresh")
        self.watcher.begin(words, len(tasks), len(done))
        before = len(done)
        for result in work(tasks[before:]):
            line = write(result)
            journal.append(line)
            # Read back, so that a resumed run goes on with exactly what an unbroken one has.
            done.append(read(line))
            self._note_task(words, len(done), result)
            self.watcher.advance()
        self._note(words, seconds=time.perf_counter() - start, tasks=len(done) - before)
        return done

    def _note_task(self, words: str, number: int, result: object) -> None:
        seconds = getattr(result, "seconds", None)
        if seconds is not None:
            self._note(words, task=number, seconds=seconds)

    def _note(self, step: str, **figures: Any) -> None:
        """Write how long something took; the only file in which two equal runs differ."""
        Journal(self.folder / places.TIMING).append(json.dumps({"step": step, **figures}) + "\n")


@dataclass(frozen=True)
class LimitPoints:
    """Everything asked and nothing asked, on validation and on test."""

    untouched_validation: Judged
    suppressed_validation: Judged
    untouched: Judged
    suppressed: Judged


def _lines(kind: type[T], name: str) -> tuple[Callable[[T], str], Callable[[str], T]]:
    """Return how a result is written to a line of its journal and read back."""
    name = f"leastwise-{name}"
    return partial(to_text, name=name, line=True), lambda line: from_text(kind, line, name, "journal")


def _screened(
    tasks: Sequence[Failure | Distinct], split: Split, candidates: int, workers: Workers
) -> Iterator[Candidate | Failure]:
    yield from (task for task in tasks if isinstance(task, Failure))
    yield from screened([t for t in tasks if isinstance(t, Distinct)], split, candidates, workers)


def attack(
    generalization: Generalization,
    split: Split,
    adversaries: Sequence[str] | None,
    seed: int,
    quick: bool,
    candidates: int,
    limits: UtilityLimits,
) -> Evaluation:
    """Judge on test. No sentence describes a person: the folder is there to be passed on."""
    return evaluate(
        generalization, split, adversaries, seed, quick, candidates=candidates, predicates=0, limits=limits
    )


def front_of(
    candidates: Sequence[Candidate], most: int, budget: Budget, untouched: Figures
) -> tuple[list[Candidate], int]:
    """Return the frontier of the screened candidates, thinned to so many, and how many were left out.

    A budget may ask for what a frontier of two figures does not show (few answers, one attribute above all): the
    screened candidate that is best under it has a place in any case.
    """
    points = [candidate.validation.point for candidate in candidates]
    front = best_of(points)
    best = Point(min(p.utility_risk for p in points), 0.0)
    worst = Point(max(p.utility_risk for p in points), max(p.adversary_error for p in points))
    fitting = best_screened(candidates, budget, untouched)
    kept = thinned(points, front, most, Limits(best, worst))
    if fitting is not None and fitting not in kept:
        kept = [*thinned(points, kept, max(most - 1, 1), Limits(best, worst)), fitting]
    return [candidates[i] for i in kept], len(set(front) - set(kept))
