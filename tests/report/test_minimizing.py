"""One call: from a frame or a file to a finished run with its report."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import polars as pl
import pytest

import leastwise
from leastwise import ParameterError, SchemaError, UniformMinimizer
from leastwise.progress import Lines
from leastwise.report import minimizing
from leastwise.runs import Budget, Grid, Run
from leastwise.schema.file import save_schema
from tests.runs.small import SCHEMA, write_csv

GRID = ["pat", UniformMinimizer(2, random_state=0)]
WISHES: dict[str, Any] = {"grid": GRID, "quick": True, "jobs": 1, "progress": None}


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """The small records as a frame, with a column that is no attribute."""
    path = write_csv(tmp_path_factory.mktemp("records") / "people.csv")
    return pl.read_csv(path).with_row_index("number").with_columns(pl.format("id-{}", "number").alias("id"))


@pytest.fixture(scope="module")
def run(frame: pl.DataFrame) -> Run:
    return leastwise.minimize(frame.drop("number"), "rich", ["job", "sex"], max_error_increase=0.2, **WISHES)


def test_it_returns_a_finished_run_with_its_report(run: Run) -> None:
    assert (run.folder / "report.html").is_file()
    assert run.task.label == "rich"
    assert run.task.personal == ("job", "sex")
    assert run.choice.budget == Budget(max_error_increase=0.2)
    assert run.choice.stated
    assert [entry.minimizer for entry in run.task.grid.entries] == ["pat", "uniform"]
    assert run.recommended is not None
    assert Run.load(run.folder) == run


def test_what_was_left_out_is_noted_and_printed(run: Run) -> None:
    assert len(run.notes) == 1
    assert run.notes[0].startswith("Left out: id (identifier")
    assert run.notes[0] in str(run)


def test_the_folder_is_private_and_goes_with_the_program(run: Run, tmp_path: Path) -> None:
    assert stat.S_IMODE(run.folder.stat().st_mode) == 0o700
    code = "from leastwise.report.minimizing import _private_folder as made; print(made())"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert Path(said).parent.name.startswith("leastwise-run-")
    assert not Path(said).parent.exists()


def test_frames_and_files_of_any_kind_give_the_same_run(frame: pl.DataFrame, tmp_path: Path) -> None:
    own = frame.drop("number", "id")
    own.write_parquet(tmp_path / "people.parquet")
    save_schema(SCHEMA, tmp_path / "schema.yaml")
    given: list[tuple[Any, Any, str]] = [
        (own, SCHEMA, "frame"),
        (pandas.DataFrame(own.to_dict(as_series=False)), tmp_path / "schema.yaml", "frame"),
        (own.to_arrow(), SCHEMA, "frame"),
        (tmp_path / "people.parquet", SCHEMA, "file"),
    ]
    prints = set()
    for records, schema, name in given:  # a folder takes the same records again and refuses all others
        found = leastwise.minimize(records, schema=schema, folder=tmp_path / name, **WISHES)
        assert found.folder == tmp_path / name
        assert found.notes == ()
        prints.add((found.task.fingerprint, found.frontier.to_json()))
    assert len(prints) == 1
    assert found.task.data == "people.parquet"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"label": None}, "needs a label"),
        ({"personal": "sex"}, r"must be a list of names; write \['sex'\]"),
        ({"label": "rihc"}, "did you mean 'rich'"),
        ({"schema": SCHEMA, "label": "sex"}, "label says 'sex', the schema says 'rich'"),
        ({"max_error_increase": 0.1, "budget": Budget(max_asked=2)}, "is a limit of the budget"),
        ({"progress": "always"}, "must be 'auto'"),
    ],
)
def test_mistakes_are_answered(frame: pl.DataFrame, wrong: dict[str, Any], words: str) -> None:
    with pytest.raises((ParameterError, SchemaError), match=words):
        leastwise.minimize(frame, **{"label": "rich", **WISHES, **wrong})


class StopError(Exception):
    pass


def test_progress(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    told = []

    def watched(*_: Any, progress: Any, **__: Any) -> Run:
        told.append(progress)
        (progress or Lines()).begin("proposing", 3)
        raise StopError

    monkeypatch.setattr(minimizing, "run", watched)
    for progress in ("auto", lines := Lines()):
        with pytest.raises(StopError):
            leastwise.minimize(frame, "rich", **{**WISHES, "progress": progress})
        # Nobody looks on here, so that "auto" shows nothing.
        assert capfd.readouterr().err == ("" if progress == "auto" else "proposing: 3\n")
    assert told[1] is lines


def test_a_grid_is_a_grid_or_minimizers(frame: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    grids = []

    def watched(_table: Any, _folder: Any, options: Any, **__: Any) -> Run:
        grids.append(options.grid)
        raise StopError

    monkeypatch.setattr(minimizing, "run", watched)
    for grid in (None, Grid.of("pat"), "pat", ["pat"], UniformMinimizer(3)):
        with pytest.raises(StopError):
            leastwise.minimize(frame, "rich", **{**WISHES, "grid": grid})
    assert grids[0] is None
    assert grids[1] == grids[2] == grids[3] == Grid.of("pat")
    assert [entry.minimizer for entry in grids[4].entries] == ["uniform"]
    assert grids[4].entries[0].brought.k == 3
