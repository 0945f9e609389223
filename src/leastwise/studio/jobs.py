"""Work that takes longer than a look: in a process of its own, with progress, and cancelled at once."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from leastwise.errors import LeastwiseError, ParameterError

Work = Callable[..., Any]
RUNNING, DONE, FAILED, CANCELLED = "running", "done", "failed", "cancelled"


class _Sender:
    """Tells the studio how far the work has come."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._words, self._done, self._total = pipe, "", 0, 0

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        self._words, self._done, self._total = words, done, total or 0
        self._send()

    def advance(self, steps: int = 1) -> None:
        self._done += steps
        self._send()

    def _send(self) -> None:
        self._pipe.send(("progress", (self._words, self._done, self._total)))


def _worked(pipe: Connection, work: Work, arguments: tuple[Any, ...]) -> None:
    """Do the work in the other process; what goes wrong is told by its kind, never with a value of the records."""
    try:
        pipe.send(("done", work(*arguments, progress=_Sender(pipe))))
    except LeastwiseError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:
        pipe.send(("failed", f"it ended with {type(error).__name__}"))


@dataclass(eq=False)
class Job:
    """One piece of work: what it is, how far it is, what came out."""

    id: int
    kind: str
    about: str
    state: str = RUNNING
    words: str = "starting"
    done: int = 0
    total: int = 0
    result: Any = None
    error: str = ""
    process: Any = field(default=None, repr=False)


@contextmanager
def _without_main() -> Iterator[None]:
    """Let a process begin without the script that began this one: without a guard it would open another studio."""
    own = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = own


class Jobs:
    """At most one piece of work at a time: there are people who wait for figures meanwhile."""

    def __init__(self) -> None:
        self.current: Job | None = None
        self._context = multiprocessing.get_context("spawn")
        self._count = 0

    def check_free(self) -> None:
        """Refuse more work while some goes on."""
        if self.current is not None and self.current.state == RUNNING:
            raise ParameterError(f"the studio is busy ({self.current.kind}); wait for it, or cancel it")

    def start(
        self, kind: str, about: str, work: Work, arguments: tuple[Any, ...], after: Callable[[Any], Any]
    ) -> Job:
        """Begin; ``after`` turns what came out into what the page is told."""
        self.check_free()
        self._count += 1
        job = Job(self._count, kind, about)
        ours, theirs = self._context.Pipe(duplex=False)
        job.process = self._context.Process(target=_worked, args=(theirs, work, arguments), daemon=True)
        self.current = job
        threading.Thread(target=_followed, args=(job, ours, theirs, after), daemon=True).start()
        return job

    def cancel(self) -> None:
        """End the work that goes on."""
        job = self.current
        if job is not None and job.state == RUNNING:
            job.state = CANCELLED
            if job.process.is_alive():
                job.process.terminate()

    def facts(self) -> dict[str, Any] | None:
        """Return what the page is told of the last work."""
        job = self.current
        if job is None:
            return None
        names = ("id", "kind", "about", "state", "words", "done", "total", "result", "error")
        return {name: getattr(job, name) for name in names}


def _followed(job: Job, ours: Connection, theirs: Connection, after: Callable[[Any], Any]) -> None:
    """Begin the work and take in what it says; the other takes a while to wake and to get the records."""
    with _without_main():
        job.process.start()
    theirs.close()
    if job.state == CANCELLED:
        job.process.terminate()
    _listen(job, ours, after)


def _listen(job: Job, pipe: Connection, after: Callable[[Any], Any]) -> None:
    try:
        while job.state == RUNNING:
            kind, content = pipe.recv()
            if kind == "progress":
                job.words, job.done, job.total = content
            elif kind == "failed":
                job.error, job.state = content, FAILED
            elif job.state == RUNNING:
                job.result = after(content)
                job.state = DONE
    except EOFError:
        if job.state == RUNNING:
            job.error, job.state = "the process ended before it was done", FAILED
    except Exception as error:
        job.error, job.state = str(error) if isinstance(error, LeastwiseError) else type(error).__name__, FAILED
    finally:
        pipe.close()
        job.process.join(5)
