"""What the steps of a run share: where it lies, its records and task, and how a killed step goes on.

The answer so far: a run that goes on leaves, in a folder of its own, a complete run of what is found already.
First comes the best of a few trees, attacked by who holds the stolen records alone; then what the run itself
recommends, with all that is attacked by then. Whoever stops early has that, and it says what is still to be done.
A run that is finished has no such folder.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from leastwise.adversaries import PAPER
from leastwise.documents import write_whole
from leastwise.documents.journal import Journal
from leastwise.documents.wording import counted
from leastwise.errors import ArtefactError
from leastwise.evaluation.label_guesses import LabelGuesses
from leastwise.progress import Progress, Silent
from leastwise.records.splitting import FEWEST_OF_A_RUN
from leastwise.records.table import Split
from leastwise.runs import folder as places
from leastwise.runs.candidates import Candidate
from leastwise.runs.choice import choose
from leastwise.runs.frontier import Frontier
from leastwise.runs.grid import Entry, Grid
from leastwise.runs.proposals import Judged, Pool, Proposals, for_searching, sampled
from leastwise.runs.task import FRESH, Options, RunTask, facts_of
from leastwise.runs.workers import Workers
from leastwise.schema.file import to_yaml

T = TypeVar("T")
FIRST = Grid(entries=(Entry(minimizer="pat", parameters={"alpha": 0.3}),))
"""Who proposes the first answer: trees are grown in a second."""
MOST_CELLS = 1_000_000
"""Answers of training records (records times questions) that the trees of a first answer learn from."""
MOST_PEOPLE = 50_000
"""People of each part that a first answer is learned from, judged and attacked on: more would tell it later."""


@dataclass(frozen=True)
class Job:
    """What the steps of a run share.

    Attributes
    ----------
    labels
        Of several labels, those that a search is about: the ones that can be told. None is named where all are.
    """

    folder: Path
    split: Split
    task: RunTask
    grid: Grid
    options: Options
    workers: Workers
    progress: Progress
    labels: tuple[int, ...] = ()

    @cached_property
    def searching(self) -> Split:
        """The split with as many validation records as a search is judged on; what it finds is judged on all."""
        return for_searching(self.split.about_labels(self.labels) if self.labels else self.split)

    @cached_property
    def fitting(self) -> Split:
        """The same with as many training records as proposals learn from."""
        return sampled(self.searching, self.options.sample, self.options.seed)

    def resumed(
        self,
        words: str,
        journal: Journal,
        tasks: Sequence[Any],
        work: Callable[[Sequence[Any]], Iterator[T]],
        write: Callable[[T], str],
        read: Callable[[str], T],
        *,
        more_follows: bool = False,
    ) -> list[T]:
        """Do the tasks that the journal does not have yet; each result is on the disk before the next is taken.

        ``more_follows`` says that a later step may have written more behind them.
        """
        start, done = time.perf_counter(), [read(line) for line in journal.lines()]
        if more_follows:
            done = done[: len(tasks)]
        if len(done) > len(tasks):
            raise ArtefactError(f"{journal.path}: it holds more than this task has; begin anew: {FRESH}")
        self.progress.begin(words, len(tasks), len(done))
        before = len(done)
        for result in work(tasks[before:]):
            journal.append(write(result))
            done.append(result)
            if isinstance(result, Proposals | Judged | LabelGuesses):  # the others take no time to speak of
                self.note(words, task=len(done), seconds=result.seconds)
            self.progress.advance()
        self.note(words, seconds=time.perf_counter() - start, tasks=len(done) - before)
        return done

    def note(self, step: str, **figures: Any) -> None:
        """Write how long something took; the only file in which two equal runs differ."""
        Journal(self.folder / places.TIMING).append(json.dumps({"step": step, **figures}) + "\n")

    def journal(self, name: str) -> Journal:
        """Return a journal that goes when the run is finished."""
        return Journal(self.folder / places.WORK / name)


# The answer so far -----------------------------------------------------------------------------------------------


def with_side_information() -> tuple[str, ...]:
    """Return the adversaries that know more than the stolen records: they take longest."""
    return tuple(each.name for each in PAPER.values() if each.side_information)


def first_job(job: Job) -> Job:
    """Return the small job of a first answer, in the folder of what is found so far."""
    folder = job.folder / places.SO_FAR
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    few = max(MOST_CELLS // len(job.split.train.schema), FEWEST_OF_A_RUN)
    sample = min(job.options.sample, few)
    options = replace(job.options, grid=FIRST, quick=True, most=1, adversaries=(), sample=sample)
    # The same people that the searches of the run itself begin with.
    split = sampled(job.searching, MOST_PEOPLE, job.options.seed)
    split = split._replace(test=split.test.at_most(MOST_PEOPLE, "first answer"))
    task = replace(job.task, grid=FIRST, quick=True, most=1, brought=options.brought(), **facts_of(split))
    places.prepare(folder, task, fresh=False)
    write_whole(folder / places.SCHEMA, to_yaml(job.split.train.schema), private=True)
    return Job(folder, split, task, FIRST, options, job.workers, Silent())


def say_unfinished(folder: Path, words: Sequence[str]) -> None:
    """Write down what is still to be done."""
    write_whole(folder / places.UNFINISHED, json.dumps([*words]) + "\n")


def first_words(job: Job, small: Job) -> list[str]:
    """Say what a first answer lacks."""
    named = ", ".join(with_side_information())
    others = counted(len(job.grid.sources()), "other search", "other searches")
    lacks = f"This is a first answer, by trees alone: {others} and the attacks {named} have not yet been run."
    judged, everybody = len(small.split.test), len(job.split.test)
    some = f"It is judged on {judged:,} of {counted(everybody, 'test record')}, drawn at random."
    return [lacks, some] if judged < everybody else [lacks]


def keep_attacked(job: Job, frontier: Frontier, tested: Mapping[str, Candidate], pool: Pool) -> None:
    """Replace what was found so far by the candidates that are attacked by now, the recommended one among them."""
    points = [tested[point.id] for point in frontier.points if point.id in tested]
    folder, part = job.folder / places.SO_FAR, job.folder / f"{places.SO_FAR}.part"
    shutil.rmtree(part, ignore_errors=True)
    for sub in (part, part / places.GENERALIZATIONS, part / places.EVALUATIONS):
        sub.mkdir()
    for path_of in (places.artefact_path, places.evaluation_path):
        for point in points:
            shutil.copy(path_of(job.folder, point.id), path_of(part, point.id))
    write_whole(part / places.TASK, job.task.to_json())
    write_whole(part / places.SCHEMA, to_yaml(job.split.train.schema), private=True)
    shutil.copy(job.folder / places.CANDIDATES, part / places.CANDIDATES)  # all of the pool
    so_far = Frontier.of(points, frontier.limit_points, frontier.counts)
    places.write_frontier(part, so_far)
    places.write_choice(part, choose(so_far, job.task.budget, pool.candidates))
    waiting = counted(len(frontier.points) - len(points), "candidate")
    named = ", ".join(["A1", *with_side_information()])
    say_unfinished(part, [f"Stopped early: {named} and the other attacks not yet run on {waiting}."])
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)
