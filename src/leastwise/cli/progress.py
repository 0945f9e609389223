"""How the command line shows what one command alone works on; ``leastwise.progress`` shows the stages of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leastwise.progress import Bars

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 2.0  # seconds before a bar of counted records appears


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
    """Show on a terminal that work goes on, and how far a training has come."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    from leastwise.minimizers import watched

    columns = (TextColumn("minimizing"), BarColumn(), TextColumn("{task.fields[told]}"), TimeElapsedColumn())
    with Bars(*columns, console=console) as bars:
        bars.begin("")
        with watched(bars):
            yield


def counting() -> Bars:
    """Count records on the terminal, once that takes longer than a moment."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

    return Bars(TextColumn("{task.completed:,} records"), BarColumn(), TimeElapsedColumn(), patience=PATIENCE)


def downloading(name: str) -> Bars:
    """Show how many bytes have come."""
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn

    return Bars(TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn())
