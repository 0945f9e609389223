"""Progress of long work, on the standard error stream: a bar for a terminal, a line now and then for a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

EVERY = 10.0  # seconds between two lines where there is no terminal
PATIENCE = 2.0  # seconds before a bar of counted records appears


def say(what: str) -> Callable[[str], None]:
    """Return what tells each step of a work in a line."""
    return lambda words: typer.echo(f"{what}: {words}", err=True)


def _bar(*columns: Any, console: Console | None = None) -> Progress:
    """Return a bar that vanishes when the work is done; it shows nothing where there is no terminal."""
    from rich.console import Console
    from rich.progress import Progress

    shown = console or Console(stderr=True)
    return Progress(*columns, console=shown, transient=True, disable=not shown.is_terminal)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on a terminal what takes its time."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def training(console: Console | None = None) -> Iterator[None]:
    """Show on a terminal that work goes on, and how far a training has come.

    Parameters
    ----------
    console
        Where; None: the standard error stream.
    """
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from leastwise.minimizers import watched

    columns = (TextColumn("minimizing"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    with _bar(*columns, console=console) as shown:
        bar = shown.add_task("", total=None, told="")

        def advance(done: int, total: int) -> None:
            shown.update(bar, completed=done, total=total, told=f"epoch {done} of {total}")

        with watched(advance):
            yield


@contextmanager
def counting() -> Iterator[Callable[[int], None]]:
    """Give a callback that counts records on the terminal, once that takes longer than a moment."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    shown = _bar(TextColumn("{task.completed:,} records"), BarColumn(), TimeElapsedColumn())
    bar = shown.add_task("", total=None)
    start = time.perf_counter()

    def advance(rows: int) -> None:
        if not shown.live.is_started and time.perf_counter() - start > PATIENCE:
            shown.start()
        shown.update(bar, completed=rows)

    try:
        yield advance
    finally:
        shown.stop()


@contextmanager
def downloading(name: str) -> Iterator[Callable[[int, int | None], None]]:
    """Give a callback that shows how many bytes have come."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    with _bar(TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn()) as shown:
        bar = shown.add_task(name, total=None)
        yield lambda done, total: shown.update(bar, completed=done, total=total)


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
