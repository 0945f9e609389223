"""A run that is killed at any moment goes on to the same bytes as one that was left alone."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leastwise.documents import write_whole
from leastwise.runs import run
from leastwise.runs.journal import Journal
from tests.runs.small import OPTIONS, content, records

COMMAND = """
import sys
from pathlib import Path
from leastwise.runs import run
from tests.runs.small import OPTIONS, records
run(records(), sys.argv[1], OPTIONS)
"""
ROOT = Path(__file__).parents[2]


def start(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", COMMAND, str(folder)], env=environment, cwd=ROOT)


def kill_after(folder: Path, seconds: float) -> bool:
    """Kill a run so many seconds after it began to write; return whether it was still going on."""
    process = start(folder)
    while process.poll() is None and not (folder / "task.json").exists():
        time.sleep(0.01)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    return process.wait() == -signal.SIGKILL


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, bytes], float]:
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    run(records(), folder.with_name("first"), OPTIONS)  # compiled and loaded
    begin = time.perf_counter()
    run(records(), folder, OPTIONS)
    return content(folder), time.perf_counter() - begin


def check_kills(unbroken: tuple[dict[str, bytes], float], tmp_path: Path, kills: int, seed: int) -> None:
    expected, seconds = unbroken
    moments, killed = random.Random(seed), 0
    for number in range(kills):
        folder = tmp_path / f"run{number}"
        killed += kill_after(folder, moments.uniform(0, seconds))
        run(records(), folder, OPTIONS)
        assert content(folder) == expected
        assert all(json.loads(line)["step"] for line in (folder / "timing.jsonl").read_text().splitlines())
    assert killed > 0


def test_killed_and_resumed_gives_the_same_bytes(unbroken: tuple[dict[str, bytes], float], tmp_path: Path) -> None:
    check_kills(unbroken, tmp_path, 3, seed=1)


@pytest.mark.slow
def test_killed_at_ten_moments_and_resumed_gives_the_same_bytes(
    unbroken: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    check_kills(unbroken, tmp_path, 10, seed=2)


@pytest.mark.slow
def test_killed_again_and_again_gives_the_same_bytes(
    unbroken: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    expected, seconds = unbroken
    moments = random.Random(3)
    for _ in range(10):
        kill_after(tmp_path / "run", moments.uniform(0, seconds / 3))
    run(records(), tmp_path / "run", OPTIONS)
    assert content(tmp_path / "run") == expected


class Stopping:
    """Stops a run after so many finished tasks, as Ctrl-C does."""

    def __init__(self, after: int) -> None:
        self.left = after

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        pass

    def advance(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise KeyboardInterrupt


def test_stopped_after_every_task_and_resumed_gives_the_same_bytes(
    unbroken: tuple[dict[str, bytes], float], tmp_path: Path
) -> None:
    expected, _ = unbroken
    stops = 0
    while True:
        try:
            run(records(), tmp_path / "run", OPTIONS, progress=Stopping(2))
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 5
    assert content(tmp_path / "run") == expected


@pytest.mark.parametrize("name", ["candidates.jsonl", "work/proposals.jsonl", "work/labels-*.jsonl"])
@pytest.mark.parametrize("cut", [1, 40])
def test_a_torn_line_is_dropped(
    unbroken: tuple[dict[str, bytes], float], tmp_path: Path, name: str, cut: int
) -> None:
    expected, _ = unbroken
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(records(), folder, OPTIONS, progress=Stopping(5 + len(expected["candidates.jsonl"].splitlines()) + 5))
    path = next(folder.glob(name))
    path.write_bytes(path.read_bytes()[:-cut])
    run(records(), folder, OPTIONS)
    assert content(folder) == expected


def test_a_journal_keeps_whole_lines(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    assert journal.lines() == []
    journal.append('{"a": "\u2028 is no line end"}\n')
    journal.append("{}\n")
    with journal.path.open("ab") as file:
        file.write(b'{"torn": "\xc3')
    assert journal.lines() == ['{"a": "\u2028 is no line end"}\n', "{}\n"]
    journal.append("3\n")
    assert journal.lines()[-1] == "3\n"


def test_a_file_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    write_whole(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "old"
    assert [*tmp_path.iterdir()] == [path]
