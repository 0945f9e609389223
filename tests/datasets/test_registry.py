from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from leastwise import LeastwiseError, ParameterError, Table
from leastwise.cli.main import app
from leastwise.datasets import declaration, describe, names
from leastwise.schema.file import load_schema

ROOT = Path(__file__).parents[2]
run = CliRunner().invoke


@pytest.mark.parametrize("name", names())
def test_each_has_a_datasheet_and_a_source(name: str) -> None:
    sheet = describe(name)
    assert sheet.startswith("# ")
    for part in ("**What it is.**", "**Domains.**", "**Personal attributes.**", "**Terms.**"):
        assert part in sheet or (part == "**Personal attributes.**" and "personal |" in sheet)
    assert declaration(name).source
    assert f"`{name}`" in (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")


def test_the_near_miss_is_suggested() -> None:
    with pytest.raises(ParameterError, match="did you mean 'acs-income'"):
        describe("acs-incom")


def test_list_and_show() -> None:
    listed = run(app, ["datasets"])
    assert listed.exit_code == 0
    assert all(name in listed.output for name in names())
    shown = run(app, ["datasets", "show", "crime"])
    assert shown.output == describe("crime")


def test_export_serves_the_other_commands(tmp_path: Path) -> None:
    records, schema = tmp_path / "adult.parquet", tmp_path / "adult.yaml"
    done = run(app, ["datasets", "export", "adult", "-o", str(records), "--schema", str(schema)])
    assert done.exit_code == 0, done.output
    assert "48,842 records" in done.output
    declared = load_schema(schema)
    assert declared == declaration("adult").load().schema
    assert len(Table.from_frame(pl.read_parquet(records), declared)) == 48_842
    assert sorted(path.name for path in tmp_path.iterdir()) == ["adult.parquet", "adult.yaml"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "adlt"],
        ["get", "loan"],
        ["get", "acs-income", "--year", "2018"],
        ["export", "crime", "-o", "a.csv"],
        ["export", "adult", "-o", "a.txt"],
        ["export", "adult", "-o", "nowhere/a.csv"],
    ],
)
def test_user_errors_are_one_line(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run(app, ["datasets", *arguments])
    assert isinstance(answer.exception, LeastwiseError)
    assert "\n" not in str(answer.exception)


def test_benchmarks_without_data_say_so_and_end_in_peace() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LEASTWISE_DATA"}
    command = [sys.executable, str(ROOT / "benchmarks" / "data.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("skipped: set LEASTWISE_DATA")


MEASURED = {
    "adult": (48_842, 12, 8), "acs_income_co_2018": (31_306, 10, 7), "acs_income_ny_2024": (107_810, 8, 5),
    "acs_employment_ny_2024": (174_054, 13, 11), "acs_coverage_ny_2024": (61_083, 17, 14),
    "acs_income_51states_2018_coarse": (1_434_805, 11, 7), "health": (171_067, 101, 8),
    "health_pruned": (171_067, 12, 6), "communities": (1_994, 100, 5), "communities_majority": (1_994, 97, 2),
    "lending_club_2018": (10_000, 44, 12), "nist_acs_national_2018": (22_774, 18, 13),
    "nist_acs_national_2019": (23_006, 18, 13),
}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED)
def test_measuring_files(name: str, data_folder: Path) -> None:
    from benchmarks import data

    measured = data.load(name)
    assert (measured.frame.height, len(measured.schema), len(measured.schema.personal)) == MEASURED[name]
    table = Table.from_frame(measured.frame, measured.schema)
    train, validation, test = table.split(0)
    assert len(train) + len(validation) + len(test) == len(table)


def test_the_two_years_have_one_schema(data_folder: Path) -> None:
    from benchmarks import data

    assert data.load("nist_acs_national_2018").schema == data.load("nist_acs_national_2019").schema
