"""Progress of long work, on the standard error stream: a bar for a terminal, a line now and then for a file."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

EVERY = 10.0  # seconds between two lines where there is no terminal


def watching() -> AbstractContextManager[Lines | Bars]:
    """Return what tells a person how far a run has come."""
    return Bars() if sys.stderr.isatty() else nullcontext(Lines())


class Lines:
    """A line at the beginning of each stage, and every few seconds."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Say what begins."""
        self._words, self._total, self._done, self._before = words, total, done, done
        self._start = self._said = time.monotonic()
        many = "" if total is None else f": {total:,}"
        resumed = f", {done:,} of them done before" if done else ""
        typer.echo(f"{words}{many}{resumed}", err=True)

    def advance(self, steps: int = 1) -> None:
        """Say how far it has come, how fast it goes and how long it will take, if it is time."""
        self._done += steps
        now = time.monotonic()
        if now - self._said < EVERY or (self._total is not None and self._done >= self._total):
            return
        self._said = now
        rate = (self._done - self._before) / (now - self._start)
        left = "" if self._total is None else f", about {_span((self._total - self._done) / rate)} left"
        of = "" if self._total is None else f" of {self._total:,}"
        typer.echo(f"{self._words}: {self._done:,}{of}, {rate:.2f} a second{left}", err=True)


def _span(seconds: float) -> str:
    """Write a number of seconds for people.

    >>> _span(42), _span(200), _span(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Bars:
    """A bar for each stage: how many are done, how fast it goes, how long it will take."""

    def __enter__(self) -> Bars:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        self._shown: Progress = Progress(*columns, console=Console(stderr=True))
        self._shown.start()
        self._bar: TaskID | None = None
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Begin a new bar."""
        self._start, self._made = time.monotonic(), 0
        self._bar = self._shown.add_task(words, total=total, completed=done, rate="")

    def advance(self, steps: int = 1) -> None:
        """Move the bar."""
        assert self._bar is not None
        self._made += steps
        rate = self._made / max(time.monotonic() - self._start, 1e-9)
        self._shown.update(self._bar, advance=steps, rate=f"{rate:.2f}/s")
