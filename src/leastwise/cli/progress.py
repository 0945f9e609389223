"""Progress of long work of the command line alone; ``leastwise.progress`` shows that of runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

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
