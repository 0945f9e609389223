"""How the command line shows what one command alone works on; ``leastwise.progress`` shows the stages of a run."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from leastwise.progress import Bars, Progress

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


class Stoppable:
    """Passes on what it is told, and ends the work at its next step when Ctrl-C was swallowed.

    A compiler calls back into Python, and what is raised there is printed and forgotten, or comes out as another
    error: on a new machine, where the kernels are being compiled, Ctrl-C could go unheard.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress, self.stopped = progress, False

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Pass it on, unless the work is to stop."""
        self._check()
        self._progress.begin(words, total, done)

    def advance(self, steps: int = 1) -> None:
        """Pass it on, unless the work is to stop."""
        self._check()
        self._progress.advance(steps)

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Stop at once, or at the next step if nobody hears of it."""
        self.stopped = True
        signal.default_int_handler(number, frame)

    def _check(self) -> None:
        if self.stopped:
            raise KeyboardInterrupt


@contextmanager
def stoppable(progress: Progress) -> Iterator[Progress]:
    """Hear Ctrl-C wherever the work is; where the program ignores it, or handles it otherwise, leave it so."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield progress
        return
    heard, hook = Stoppable(progress), sys.unraisablehook
    signal.signal(signal.SIGINT, heard.stop)

    def tell(swallowed: Any) -> None:
        if not issubclass(swallowed.exc_type, KeyboardInterrupt):
            hook(swallowed)

    sys.unraisablehook = tell
    try:
        yield heard
    except Exception as error:
        if heard.stopped:  # whatever broke, broke by that
            raise KeyboardInterrupt from error
        raise
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
