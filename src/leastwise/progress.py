"""Who is told how far long work has come, and who shows it: a bar in a terminal or a notebook, lines in a file."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

EVERY = 10.0  # seconds between two lines where there is no terminal
AT_MOST = 0.2  # seconds between two pictures of the same bar


class Progress(Protocol):
    """Is told how far a piece of work has come."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Begin a stage of so many steps, some of which may be done already; None where nobody knows how many."""
        ...

    def advance(self, steps: int = 1) -> None:
        """Note that so many more steps are done."""
        ...


def watching(otherwise: Progress) -> AbstractContextManager[Progress]:
    """Return bars where a person looks on, in a terminal or a notebook; elsewhere what was given."""
    if in_notebook():
        return nullcontext(NotebookBars())
    return Bars() if sys.stderr.isatty() else nullcontext(otherwise)


def in_notebook() -> bool:
    """Return whether this is the kernel of a notebook; a program that never loaded IPython is none."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return hasattr(shell, "kernel")


class Silent:
    """Is told, and says nothing."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Say nothing."""

    def advance(self, steps: int = 1) -> None:
        """Say nothing."""


class Lines:
    """A line, behind a prefix, at the beginning of each stage and every few seconds; on standard error."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Say what begins."""
        self._words = f"{self._prefix}{words}"
        self._total, self._done, self._said = total, done, time.monotonic()
        self._first: tuple[int, float] | None = None  # how many were done after the first step, and when
        many = "" if total is None else f": {total:,}"
        resumed = f", {done:,} of them done before" if done else ""
        self._say(f"{self._words}{many}{resumed}")

    def advance(self, steps: int = 1) -> None:
        """Say how far it has come, how fast it goes and how long it will take, if it is time.

        The first step is not timed: whatever has to be compiled or loaded, it is in there.
        """
        self._done += steps
        now = time.monotonic()
        self._first = self._first or (self._done, now)
        if now - self._said < EVERY or (self._total is not None and self._done >= self._total):
            return
        self._said = now
        of = "" if self._total is None else f" of {self._total:,}"
        self._say(f"{self._words}: {self._done:,}{of}{self._speed(*self._first, now)}")

    def _speed(self, first: int, since: float, now: float) -> str:
        if self._done == first or now <= since:
            return ""
        rate = (self._done - first) / (now - since)
        left = "" if self._total is None else f", about {_span((self._total - self._done) / rate)} left"
        return f", {rate:.2f} a second{left}"

    def _say(self, text: str) -> None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def _span(seconds: float) -> str:
    """Write a number of seconds for people.

    >>> _span(42), _span(200), _span(9000)
    ('42 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


class Bars:
    """Bars on the terminal; those of a run, one for each stage, stay: how many are done, how fast, how long.

    Parameters
    ----------
    columns
        Of a bar that is no run's: it is the same for all stages, vanishes at the end, and is not there where there
        is no terminal.
    patience
        How many seconds of work there must be before it shows.
    console
        Where; None: the standard error stream.
    """

    def __init__(self, *columns: Any, patience: float = 0.0, console: Console | None = None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        shown, self._patience = console or Console(stderr=True), patience
        self._passing = bool(columns)
        self._bar: TaskID | None = None
        stages = (
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
        )
        hidden = self._passing and not shown.is_terminal
        self._shown = Progress(*columns or stages, console=shown, transient=self._passing, disable=hidden)

    def __enter__(self) -> Bars:
        if not self._patience:
            self._shown.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._shown.stop()

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Begin a new bar, or the same again."""
        self._start, self._made = time.monotonic(), 0
        self._words, self._total, self._before = words, total, done
        if self._bar is None or not self._passing:
            self._bar = self._shown.add_task(words, total=total, completed=done, rate="", told="")
        else:
            self._shown.update(self._bar, total=total, completed=done)

    def advance(self, steps: int = 1) -> None:
        """Move the bar."""
        assert self._bar is not None
        self._made += steps
        took = time.monotonic() - self._start
        if self._patience and took > self._patience:
            self._shown.start()
        told = f"{self._words} {self._before + self._made} of {self._total}"
        self._shown.update(self._bar, advance=steps, rate=f"{self._made / max(took, 1e-9):.2f}/s", told=told)


class NotebookBars:
    """A bar for each stage in the output of a notebook's cell; plain HTML, so that no widgets are needed."""

    def __init__(self) -> None:
        self._stages: list[list[Any]] = []  # words, done, total
        self._handle: Any = None
        self._drawn = 0.0

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Begin a new bar; one before it that nobody knew the end of has come to it."""
        if self._stages and self._stages[-1][2] is None:
            self._stages[-1][2] = self._stages[-1][1]
        self._stages.append([words, done, total])
        self._draw()

    def advance(self, steps: int = 1) -> None:
        """Move the bar; not more often than can be seen, but always to its end."""
        stage = self._stages[-1]
        stage[1] += steps
        if time.monotonic() - self._drawn >= AT_MOST or stage[1] == stage[2]:
            self._draw()

    def _draw(self) -> None:
        from IPython.display import HTML, display

        page = HTML("".join(_bar(*stage) for stage in self._stages))
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)
        self._drawn = time.monotonic()


def _bar(words: str, done: int, total: int | None) -> str:
    """Return a bar as HTML.

    >>> _bar("a < b", 1, 2)
    '<div><progress value="1" max="2"></progress> a &lt; b: 1 of 2</div>'
    >>> _bar("compiling", 0, 0)
    '<div><progress value="1" max="1"></progress> compiling</div>'
    """
    if total == 0:  # it had no steps to count
        return f'<div><progress value="1" max="1"></progress> {escape(words)}</div>'
    value = "" if total is None else f' value="{done}" max="{total}"'
    of = "" if total is None else f" of {total:,}"
    return f"<div><progress{value}></progress> {escape(words)}: {done:,}{of}</div>"
