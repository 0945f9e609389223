"""A run made by hand with a decision beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise.decisions import Decision, decide, keep_decision
from leastwise.report import write_report
from leastwise.runs import Run
from tests.report.hand_made import write_run

ALTHOUGH = "the pilot needs no more"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = write_run(tmp_path / "run")
    write_report(made)
    return made


@pytest.fixture
def decision(run: Run) -> Decision:
    found = decide(run, by="Ann", because="two questions less", broken=ALTHOUGH, today="2026-11-17")
    assert found.candidate
    keep_decision(found, run.evaluation(found.candidate), run.folder)
    write_report(run)
    return found
