"""Stopped by any signal, nothing of the records stays behind: no temporary file, no worker, no shared memory."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leastwise import Attribute, Generalization, Intervals
from tests.collector.faults import fault

# Whoever was started with a signal ignored (nohup) hands that on: such a signal stops nobody here.
SIGNALS = [
    number
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
    if signal.getsignal(number) is not signal.SIG_IGN
]
G = Generalization((Intervals(Attribute("age", "continuous", lower=0, integer=True), (19, 63)),))
pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks into /proc")


def until(true: Callable[[], bool], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def opened(process: subprocess.Popen[bytes]) -> int:
    """Return the size of the deleted files that a process has open."""
    found = 0
    for link in Path(f"/proc/{process.pid}/fd").iterdir():
        name = os.readlink(link)
        found += link.stat().st_size if name.endswith("(deleted)") else 0
    return found


def apply_from_standard_input(folder: Path) -> list[str]:
    G.save(folder / "g.json")
    return [sys.executable, "-m", "leastwise", "apply", str(folder / "g.json"), "-", "-o", str(folder / "out.csv")]


def test_standard_input_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    command = apply_from_standard_input(tmp_path)
    running = {
        number: subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(folder)})
        for number in SIGNALS
    }
    with fault("apply of standard input, stopped") as row:
        row.tried = len(SIGNALS)
        for number, process in running.items():
            assert process.stdin is not None
            process.stdin.write(b"age\n" + b"37\n" * 200_000)
            process.stdin.flush()
            until(lambda process=process: opened(process) > 500_000)
            process.send_signal(number)
            process.wait(20)
            process.stdin.close()
            assert [*folder.iterdir()] == [], number.name
        assert not (tmp_path / "out.csv").exists()


def test_what_is_written_is_its_owners(tmp_path: Path) -> None:
    subprocess.run(apply_from_standard_input(tmp_path), input=b"age\n37\n5\n", check=True, capture_output=True)
    assert (tmp_path / "out.csv").read_text() == "age\n20 to 63\n0 to 19\n"
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o600


WORK = """
import sys, time
import numpy as np
from leastwise.runs.workers import Workers

def task(records, folder):
    import os
    from pathlib import Path
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)
    return records.sum()

workers = Workers(2)
with workers.ready():
    list(workers.map(task, [(np.full(2_000_000, 61733617), sys.argv[1])] * 2))
"""


@pytest.mark.slow
def test_workers_die_with_their_parent(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    (tmp_path / "pids").mkdir()
    environment = {**os.environ, "JOBLIB_TEMP_FOLDER": str(shared)}
    process = subprocess.Popen([sys.executable, "-c", WORK, str(tmp_path / "pids")], env=environment)
    until(lambda: len([*(tmp_path / "pids").iterdir()]) == 2)
    assert [path for path in shared.rglob("*") if path.is_file()] == [], "no record lies in a file"
    with fault("run with workers, killed") as row:
        process.kill()
        process.wait(20)
        row.recovers(
            lambda: not any(Path(f"/proc/{path.name}").exists() for path in (tmp_path / "pids").iterdir()), 5
        )
