"""A run that is killed at any moment goes on to the same bytes as one that was left alone."""

from __future__ import annotations

import json
import multiprocessing
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from leastwise.progress import Progress
from leastwise.runs import run
from tests.runs.conftest import Whole
from tests.runs.small import OPTIONS, content, records

# Each run is a process of its own; all are forks of one that has imported what they need, and done nothing else.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])


def resume(folder: Path, progress: Progress | None = None) -> None:
    run(records(), folder, OPTIONS, name="small.csv", progress=progress)


def steps(folder: Path) -> int:
    """Return how many steps a run has timed."""
    path = folder / "timing.jsonl"
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def kill_after(folder: Path, done: int, seconds: float) -> bool:
    """Kill a run so many seconds after so many steps; return whether it was still going on."""
    process = PROCESSES.Process(target=resume, args=(folder,))
    process.start()
    while process.is_alive() and not ((folder / "task.json").exists() and steps(folder) >= done):
        time.sleep(0.01)
    time.sleep(seconds)
    process.kill()
    process.join()
    return process.exitcode == -signal.SIGKILL


def check_kills(whole: Whole, tmp_path: Path, kills: int, seed: int) -> None:
    moments, killed = random.Random(seed), 0
    for number in range(kills):
        folder = tmp_path / f"run{number}"
        killed += kill_after(folder, moments.randrange(steps(whole.run.folder)), moments.uniform(0, 0.5))
        resume(folder)
        assert content(folder) == whole.files
        assert all(json.loads(line)["step"] for line in (folder / "timing.jsonl").read_text().splitlines())
    assert killed > 0


def test_killed_and_resumed_gives_the_same_bytes(whole: Whole, tmp_path: Path) -> None:
    check_kills(whole, tmp_path, 3, seed=1)


@pytest.mark.slow
def test_killed_at_ten_moments_and_resumed_gives_the_same_bytes(whole: Whole, tmp_path: Path) -> None:
    check_kills(whole, tmp_path, 10, seed=2)


@pytest.mark.slow
def test_killed_again_and_again_gives_the_same_bytes(whole: Whole, tmp_path: Path) -> None:
    moments = random.Random(3)
    for _ in range(10):
        kill_after(tmp_path / "run", 0, moments.uniform(0, 1))
    resume(tmp_path / "run")
    assert content(tmp_path / "run") == whole.files


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


def test_stopped_after_every_task_and_resumed_gives_the_same_bytes(whole: Whole, tmp_path: Path) -> None:
    stops = 0
    while True:
        try:
            resume(tmp_path / "run", Stopping(2))
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 5
    assert content(tmp_path / "run") == whole.files


@pytest.fixture(scope="module")
def stopped(whole: Whole, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was stopped when all candidates were screened and some labels guessed."""
    folder = tmp_path_factory.mktemp("stopped") / "run"
    with pytest.raises(KeyboardInterrupt):
        resume(folder, Stopping(5 + len(whole.files["candidates.jsonl"].splitlines()) + 5))
    return folder


@pytest.mark.parametrize("name", ["candidates.jsonl", "work/proposals.jsonl", "work/labels-*.jsonl"])
@pytest.mark.parametrize("cut", [1, 40])
def test_a_torn_line_is_dropped(whole: Whole, stopped: Path, tmp_path: Path, name: str, cut: int) -> None:
    folder = Path(shutil.copytree(stopped, tmp_path / "run"))
    path = next(folder.glob(name))
    path.write_bytes(path.read_bytes()[:-cut])
    resume(folder)
    assert content(folder) == whole.files
