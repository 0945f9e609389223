"""Where the time of a run goes, stage by stage: processor seconds of all processes, seconds of the clock."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from leastwise.progress import Progress
from leastwise.runs.workers import Workers


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Attributes
    ----------
    words
        What was done.
    processor
        Processor seconds of this process and of its workers.
    clock
        Seconds that it took.
    """

    words: str
    processor: float
    clock: float

    def utilisation(self, workers: int) -> float:
        """Return the share of the time in which so many workers worked."""
        return self.processor / max(self.clock * workers, 1e-9)


class Stages:
    """Is told of each stage, measures it, and passes on what it is told.

    Parameters
    ----------
    progress
        Who else is told.
    workers
        Who works: what their processes use is counted when a task of theirs is done.
    """

    def __init__(self, progress: Progress, workers: Workers) -> None:
        self._progress, self._workers = progress, workers
        self._words, self._from = "beginning", self._now()
        self._spent: dict[str, tuple[float, float]] = {}

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Note what the stage before took, and begin the next."""
        self._close(words)
        self._progress.begin(words, total, done)

    def advance(self, steps: int = 1) -> None:
        """Pass it on."""
        self._progress.advance(steps)

    def ended(self) -> list[Stage]:
        """Return all stages, each once, in the order in which they began."""
        self._close("beginning")
        return [Stage(words, *spent) for words, spent in self._spent.items()]

    def _close(self, words: str) -> None:
        now, before = self._now(), self._spent.get(self._words, (0.0, 0.0))
        self._spent[self._words] = before[0] + now[0] - self._from[0], before[1] + now[1] - self._from[1]
        self._words, self._from = words, now

    def _now(self) -> tuple[float, float]:
        return time.process_time() + self._workers.processor_seconds, time.perf_counter()


def stage_table(stages: Sequence[Stage], workers: int) -> list[dict[str, str]]:
    """Return a row for each stage, and one for all of them, as people read it.

    >>> stage_table([Stage("screening", 3.0, 2.0), Stage("judging", 1.0, 2.0)], 2)[0]
    {'stage': 'screening', 'CPU s': '3.0', 'share': '75 %', 'seconds': '2.0', 'utilisation': '75 %'}
    """
    total = Stage("all", sum(each.processor for each in stages), sum(each.clock for each in stages))
    return [
        {
            "stage": each.words,
            "CPU s": f"{each.processor:.1f}",
            "share": f"{each.processor / max(total.processor, 1e-9):.0%}".replace("%", " %"),
            "seconds": f"{each.clock:.1f}",
            "utilisation": f"{each.utilisation(workers):.0%}".replace("%", " %"),
        }
        for each in (*stages, total)
    ]
