"""The hand-made run and its facts, read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leastwise.report import summarize
from leastwise.runs import Budget, Run
from tests.report.hand_made import write_run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("runs") / "run"
    return write_run(folder)


@pytest.fixture(scope="session")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same run, where nothing keeps what was stated."""
    folder: Path = tmp_path_factory.mktemp("runs") / "run"
    nearest = write_run(folder / "first").frontier.points[1].id
    unchosen: dict[str, Any] = {
        "candidate": None, "nearest": nearest, "fits": False, "verdicts": (), "sentence": "None of the 3 fits.",
        "binding": ("the model errs too often",), "budget": Budget(max_error_increase=0.001),
    }  # fmt: skip
    return write_run(folder / "run", choice=unchosen)


@pytest.fixture
def facts(run: Run) -> dict[str, Any]:
    return summarize(run)
