"""What every benchmark shares: its arguments, its table, its last line of JSON, and memory seen from outside.

arguments = parser("What is measured.").parse_args()
...
report([{"what": "ours", "seconds": 1.2}], {"throughput_vs_polars": 0.9}, arguments.json)
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.table import Table

Result = TypeVar("Result")


def parser(description: str) -> argparse.ArgumentParser:
    """Return a parser that knows --json."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--json", action="store_true", help="print the figures as one JSON object on the last line")
    return made


def report(rows: Sequence[Mapping[str, Any]], figures: Mapping[str, float], as_json: bool) -> None:
    """Print a table for people, the figures, and with ``as_json`` the figures as the last line."""
    console = Console(width=None if sys.stdout.isatty() else 120)
    if rows:
        console.print(_table(rows))
    for name, figure in figures.items():
        console.print(f"{name}: [bold]{_text(figure)}[/bold]", highlight=False)
    if as_json:
        print(json.dumps(dict(figures)), flush=True)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    table = Table()
    for name, value in rows[0].items():
        table.add_column(str(name), justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(*map(_text, row.values()))
    return table


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:,.3g}" if isinstance(value, float) and abs(value) < 1000 else f"{value:,.0f}"


def best_of(times: int, function: Callable[[], Result]) -> tuple[float, Result]:
    """Return the shortest of several times in seconds, and the last result."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = function()
        seconds.append(time.perf_counter() - start)
    return min(seconds), result


# A process started from a large one is charged with its parent's memory until it runs its own program: a small
# one in between starts it and looks.
_WATCHER = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[1:])
_, status, usage = os.wait4(child.pid, 0)
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6, file=sys.stderr)
sys.exit(abs(os.waitstatus_to_exitcode(status)))
"""


def run_measured(command: Sequence[str]) -> tuple[float, float]:
    """Run a command as a child process; return (seconds, peak resident memory in MB)."""
    start = time.perf_counter()
    watched = subprocess.run([sys.executable, "-c", _WATCHER, *command], stderr=subprocess.PIPE, text=True)
    if watched.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{watched.stderr}")
    return time.perf_counter() - start, float(watched.stderr.splitlines()[-1])


class PeakMemory:
    """Looks several times a second at how much memory this process and its descendants have, while it is entered.

    What several of them share (a page of a mapped file, the records) counts once. Linux only: elsewhere there is
    nobody to ask, and ``gigabytes`` is None.
    """

    EVERY = 0.5  # seconds

    def __enter__(self) -> PeakMemory:
        self._most, self._done = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    @property
    def gigabytes(self) -> float | None:
        """The most that was seen."""
        return self._most or None

    def _watch(self) -> None:
        while not self._done.wait(self.EVERY):
            self._most = max(self._most, sum(map(_memory_of, _descendants(os.getpid()))))


def _descendants(process: int) -> Iterator[int]:
    yield process
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # a thread that has just ended
            for child in listed.read_text().split():
                yield from _descendants(int(child))


def _memory_of(process: int) -> float:
    """Return the gigabytes of a process, each shared page by how many share it; 0 of one that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return float(line.split()[1]) / 1e6
    return 0.0
