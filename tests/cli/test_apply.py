"""``leastwise apply`` from outside: files in, files out, one line for a mistake."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pytest

from leastwise import Attribute, Generalization, Intervals
from leastwise.cli.main import main
from leastwise.partition import keep, suppress

G = Generalization(
    (
        Intervals(Attribute("age", "continuous", lower=0, integer=True), (19, 63)),
        keep(Attribute("job", values=("nurse", "cook"), missing=True)),
        suppress(Attribute("sex", values=("f", "m"))),
    ),
    Attribute("y", values=("0", "1")),
)


class Run(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    def command(*arguments: object) -> Run:
        monkeypatch.setattr(sys, "argv", ["leastwise", "apply", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        return Run(int(ended.value.code or 0), *capsys.readouterr())

    return command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    G.save(tmp_path / "g.json")
    (tmp_path / "in.csv").write_text("age,job,sex,y\n5,nurse,f,1\n30,?,m,0\n")
    return tmp_path


def test_a_file_is_generalized_and_summarized(folder: Path, run: Callable[..., Run]) -> None:
    done = run(folder / "g.json", folder / "in.csv", "-o", folder / "out.parquet", "--missing", "?", "--json")
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    assert summary["records"] == 2
    assert (summary["collected"], summary["not_collected"]) == (["age", "job"], ["sex"])
    assert pl.read_parquet(folder / "out.parquet").rows() == [
        ("0 to 19", "nurse", "1"),
        ("20 to 63", "missing", "0"),
    ]


def test_other_columns_leave_only_by_name(folder: Path, run: Callable[..., Run]) -> None:
    (folder / "more.csv").write_text("id,age,job,y\n7,5,nurse,1\n")
    files = (folder / "g.json", folder / "more.csv", "-o")
    assert run(*files, folder / "a.csv").code == run(*files, folder / "b.csv", "--keep", "id").code == 0
    assert (folder / "a.csv").read_text() == "age,job,y\n0 to 19,nurse,1\n"
    assert (folder / "b.csv").read_text() == "id,age,job,y\n7,0 to 19,nurse,1\n"


def test_standard_input_and_output(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "leastwise", "apply"]
    options = [str(folder / "g.json"), "-", "--to", "tsv", "--answers", "codes"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, input="age,job\n70,cook\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "age\tjob\n2\t1\n", "")


def test_mistakes_are_one_line_and_exit_2(folder: Path, run: Callable[..., Run]) -> None:
    (folder / "bad.csv").write_text("age,job\n5,pilot\n")
    (folder / "there.csv").write_text("precious\n")
    cases = {
        "'pilot' in line 2 of bad.csv": ("bad.csv", "out.csv"),
        "--force": ("in.csv", "there.csv"),
        "no such file": ("absent.csv", "out.csv"),
        "a missing value": ("in.csv", "out.csv", "--missing", "5"),
        "declares no 'other'": ("bad.csv", "out.csv"),
        "did you mean 'codes'": ("in.csv", "out.csv", "--answers", "code"),
        "--from must be one of": ("in.csv", "out.csv", "--from", "xml"),
    }
    for expected, (source, target, *options) in cases.items():
        done = run(folder / "g.json", folder / source, "-o", folder / target, *options)
        assert done.code == 2, done
        assert expected in done.err
        assert len(done.err.splitlines()) == 1
        assert not (folder / "out.csv").exists()
    assert (folder / "there.csv").read_text() == "precious\n"


def test_force_overwrites(folder: Path, run: Callable[..., Run]) -> None:
    (folder / "out.csv").write_text("old\n")
    files = (folder / "g.json", folder / "in.csv", "-o", folder / "out.csv")
    done = run(*files, "--force", "--missing", "?", "--keep-suppressed")
    assert done.code == 0
    assert "wrote 2 records with 2 of 3 attributes" in done.err
    assert (folder / "out.csv").read_text().splitlines()[1] == "0 to 19,nurse,any,1"


def test_the_help_names_the_choices_and_no_python_type(run: Run) -> None:
    text = run("apply", "--help").out
    assert "other|error" in text
    assert "labels|codes" in text
    assert "list[str]" not in text
