"""Fixtures of the command line's tests."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pytest

from leastwise import PrivacyLeakWarning
from tests.cli.running import Run, run_once, runner
from tests.runs.small import write_csv

GRID = """\
format: leastwise-grid
version: 1
minimizers:
  - name: pat
    alpha: [0.3, 0.8]
    leaves: [2, 4, 8]
    min-leaf: 20
  - name: uniform
    k: [2, 3]
"""
QUICK = ("--quick", "--jobs", 1, "--set", "most=2")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    return runner(monkeypatch, capsys)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Two hundred records whose label depends on age, and whose ids are unique."""
    rows = [
        f"{18 + 7 * i % 60},{'fmd'[i % 3]},p{i},{'?' if i % 10 == 0 else i % 4},{int(7 * i % 60 > 30)}"
        for i in range(200)
    ]
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,sex,id,job,rich", *rows]), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small.csv, grid.yaml and a finished run of them in ``out``; to be read, never written."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "grid.yaml").write_text(GRID, encoding="utf-8")
    words = (
        "--label",
        "rich",
        "--personal",
        "job,sex",
        "--grid",
        folder / "grid.yaml",
        *QUICK,
        "-o",
        folder / "out",
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyLeakWarning)
        code = run_once(
            "run", write_csv(folder / "small.csv"), *words, "--max-error-increase", 0.1, "-o", folder / "out"
        )
    assert code == 0
    return folder


@pytest.fixture
def finished(made: Path, tmp_path: Path) -> Path:
    """The folder of that run, one's own copy."""
    return Path(shutil.copytree(made / "out", tmp_path / "finished"))
