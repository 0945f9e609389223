"""What the steps of a run share: where it lies, its records and task, and how a killed step goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from leastwise.errors import ArtefactError
from leastwise.evaluation.label_guesses import LabelGuesses
from leastwise.progress import Progress
from leastwise.records.table import Split
from leastwise.runs import folder as places
from leastwise.runs.grid import Grid
from leastwise.runs.journal import Journal
from leastwise.runs.judging import Judged
from leastwise.runs.proposals import Proposals
from leastwise.runs.sampling import for_searching, sampled
from leastwise.runs.task import FRESH, Options, RunTask
from leastwise.runs.workers import Workers

T = TypeVar("T")


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
