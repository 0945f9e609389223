"""The three files of a report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from leastwise import Table
from leastwise.report import summarize, write_report
from leastwise.runs import Run
from tests.report.hand_made import AGE, SCHEMA, write_run
from tests.samples import coded


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return write_run(tmp_path / "run")


def people() -> Table:
    random = np.random.default_rng(0)
    columns = [random.integers(0, size, 300) for size in (100, 2, 7)]
    return coded(SCHEMA, *columns, labels=random.integers(0, 2, 300), part="test")


def test_the_same_run_gives_the_same_bytes(run: Run, tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        assert write_report(run, folder, table=people()) == folder / "report.html"
    for name in ("report.html", "report.md", "report.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()


def test_the_json_is_the_facts(run: Run, tmp_path: Path) -> None:
    write_report(run, tmp_path, table=people())
    kept = Run.load(run.folder)
    stored = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert stored == summarize(run, table=people()) == summarize(kept)
    (age,) = (a for a in stored["attributes"] if a["name"] == AGE.name)
    assert sum(bucket["share"] for bucket in age["buckets"]) == 1.0


def test_without_a_folder_it_lies_in_the_run(run: Run) -> None:
    assert write_report(run) == run.folder / "report.html"
