"""What every benchmark shares: its arguments, its table, its last line of JSON, and memory seen from outside.

arguments = parser("What is measured.").parse_args()
...
report([{"what": "ours", "seconds": 1.2}], {"throughput_vs_polars": 0.9}, arguments.json)
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
