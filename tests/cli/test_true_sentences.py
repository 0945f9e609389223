"""What people are told by the commands must be true: whom a figure counts, what is chosen, what a command does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from leastwise.runs import Run as StoredRun
from tests.cli.conftest import GRID, QUICK
from tests.cli.running import Run
from tests.runs.small import write_csv

pytestmark = pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")


@pytest.fixture
def grid(tmp_path: Path) -> Path:
    path = tmp_path / "grid.yaml"
    path.write_text(GRID, encoding="utf-8")
    return path


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """Six hundred people, each with two equal records, and the key that tells whose they are."""
    names, *rows = write_csv(tmp_path / "small.csv").read_text("utf-8").splitlines()
    copies = [f"{row},p{i}" for i, row in enumerate(rows)]
    path = tmp_path / "twice.csv"
    path.write_text("\n".join([f"{names},who", *copies, *copies]) + "\n", encoding="utf-8")
    return path


def test_persons_are_counted_and_not_their_records(run: Run, twice: Path, grid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    task = ["--label", "rich", "--personal", "job,sex", "--person", "who", "--set", "groups=sex"]
    answer = run("run", twice, *task, "--grid", grid, *QUICK, "-o", folder)
    assert answer.code == 0, answer.err
    found = StoredRun.load(folder)
    assert sum(vars(found.task.records).values()) == 1200
    tested = found.task.tested
    assert tested == 180
    assert re.search(rf"alone with theirs, of {tested}\b", answer.out)
    for point in found.frontier.points:
        assert (point.validation.people, point.test.people) == (150, tested)
    judged = found.evaluation(found.choice.candidate or "")
    assert judged.people.test == judged["A1"].people == judged["A8"].people == tested
    assert found.necessity is not None
    assert found.necessity.people == tested
    assert found.groups is not None
    assert sum(each.people for each in found.groups.groups) == tested
    said = (folder / "report.md").read_text("utf-8")
    assert "1,200 records of 600 people; 270 to learn from, 150 to choose with, 180 to report on" in said
    assert not re.search(r"\b(360|300|540|1,200) people\b", said + answer.out)


def test_a_check_counts_persons_too(run: Run, twice: Path, grid: Path, tmp_path: Path) -> None:
    folder, policy = tmp_path / "out", tmp_path / "leastwise.yaml"
    task = ["--label", "rich", "--personal", "job,sex", "--person", "who"]
    assert run("run", twice, *task, "--grid", grid, *QUICK, "-o", folder).code == 0
    assert run("init", twice, "--run", folder, "-o", policy).code == 0
    checked = run("check", policy, "--write-promise", tmp_path / "promise.json")
    assert checked.code == 0, checked.err
    assert "taken for a person" not in checked.err
    promise = json.loads((tmp_path / "promise.json").read_text("utf-8"))
    assert promise["people"] == promise["utility"]["people"] == 180
    assert all(sum(each["counts"]) <= 180 + 10 * len(each["counts"]) for each in promise["use"])
    alone = twice.with_name("alone.csv")
    alone.write_text("\n".join(line.rsplit(",", 1)[0] for line in twice.read_text("utf-8").splitlines()), "utf-8")
    without = run("check", policy, "--data", alone)
    assert "the records have no column 'who': each of them is taken for a person" in without.err
