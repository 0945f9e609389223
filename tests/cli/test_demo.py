"""The demo runs without arguments: the whole job on the bundled data, and the answer in five lines."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import Generalization
from leastwise.datasets import load_adult
from leastwise.runs import Run as StoredRun
from leastwise.runs import grid
from tests.cli.running import Run

pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")


def check(run: Run, folder: Path) -> StoredRun:
    answer = run("demo", "-o", folder, "--jobs", 1)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert len(lines) == 5
    assert "of 12 questions" in lines[0]
    assert lines[-1] == f"Report: {folder / 'report.html'}"
    found = StoredRun.load(folder)
    assert found.task.label == "income"
    assert Generalization.load(folder / "recommended.json").origin["chosen_on"] == "validation"
    assert (folder / "report.html").stat().st_size > 1000
    return found


def test_the_demo_answers_and_writes_what_it_found(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adult = load_adult()
    fewer = replace(adult, frame=adult.frame.head(4000))  # of fewer, none may keep the limit, which is said
    monkeypatch.setattr("leastwise.datasets.load_adult", lambda: fewer)
    entry = grid.Entry(minimizer="pat", parameters={"alpha": [0.8], "max_leaves": [4, 10]})
    monkeypatch.setattr(
        sys.modules["leastwise.runs.run"], "default_grid", lambda quick: grid.Grid(entries=(entry,))
    )
    monkeypatch.setattr("leastwise.cli.run.MOST", 3)
    points = check(run, tmp_path / "demo").frontier.points
    proposed = [point.minimizer for point in points]
    assert 2 <= len(proposed) <= 8
    # Beside the trees the least form of all questions, or what that becomes where something is left to spend.
    assert {*proposed} == {"pat", "everything"}


@pytest.mark.slow
def test_the_demo_as_it_is(run: Run, tmp_path: Path) -> None:
    found = check(run, tmp_path / "demo")
    assert 5 <= len(found.frontier.points) <= 13  # those that spend what may be lost, everything and nothing, too
    assert found.frontier.screened > 60
    assert not found.choice.missed
