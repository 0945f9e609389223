"""``leastwise studio`` from the command line: what it says, and how it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import Run
from tests.runs.small import records, write_csv


def studio(*arguments: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "leastwise", "studio", *arguments]
    return subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    ("arguments", "says"), [((), "name the folder of a run"), (("nothing",), "nothing"), ((".",), "is no run")]
)
def test_what_is_wrong_is_one_line(
    arguments: tuple[str, ...], says: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run("studio", *arguments, "--no-browser")
    assert answer.code == 2
    assert "Traceback" not in answer.err
    assert says in answer.err.splitlines()[-1]


@pytest.mark.slow
def test_a_file_of_records_is_usable_at_once(tmp_path: Path) -> None:
    write_csv(tmp_path / "small.csv", records(1000, seed=100))
    told = ("small.csv", "--label", "rich", "--personal", "job,sex", "--no-browser", "-o", "out")
    process = studio(*told, folder=tmp_path)
    assert process.stderr is not None
    assert process.stdout is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "the studio is at" in line:
            break
    assert re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+ \(stop with Ctrl-C\)", lines[-1])
    assert (tmp_path / "out" / "task.json").is_file()
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    assert process.wait(60) == 0
    assert said.strip() == "your work is kept in out/studio; the same command goes on with it"
    assert (tmp_path / "out" / "studio" / "journal.jsonl").is_file()
    process.stdout.close()
    process.stderr.close()
