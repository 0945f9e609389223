"""The hand-made run and its facts, read once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leastwise.report import summarize
from leastwise.runs import Run
from tests.report.hand_made import write_run


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder: Path = tmp_path_factory.mktemp("runs") / "run"
    return write_run(folder)


@pytest.fixture
def facts(run: Run) -> dict[str, Any]:
    return summarize(run)
