"""What a run promises is what its records promise, but for the label rate that a run does not keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from leastwise.checks import Promise
from leastwise.checks.promise import promise_of_run
from leastwise.errors import ArtefactError
from leastwise.report import write_report
from leastwise.runs import Run
from leastwise.runs import run as whole_job
from tests.runs.small import OPTIONS, records


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    table = records()
    found = whole_job(table, tmp_path_factory.mktemp("runs") / "run", OPTIONS, name="small.csv")
    write_report(found, table=table.split(OPTIONS.seed).test)
    return found


def test_the_same_as_from_the_records(finished: Run) -> None:
    chosen = finished.choice.candidate
    assert chosen is not None
    test = records().split(OPTIONS.seed).test
    expected = Promise.of(finished.generalization(chosen), test, finished.evaluation(chosen))
    found = promise_of_run(finished)
    assert found == replace(expected, label=None)
    found.check_fits(finished.generalization(chosen))


def test_nothing_chosen(finished: Run) -> None:
    nothing = replace(finished, choice=replace(finished.choice, candidate=None))
    with pytest.raises(ArtefactError, match="no candidate was chosen"):
        promise_of_run(nothing)


def test_a_run_without_shares(finished: Run) -> None:
    shares = finished.folder / "shares.json"
    text = shares.read_text(encoding="utf-8")
    shares.unlink()
    try:
        with pytest.raises(ArtefactError, match="leastwise check --write-promise"):
            promise_of_run(finished)
    finally:
        shares.write_text(text, encoding="utf-8")
    assert Path(finished.folder / "report.html").exists()
