"""``leastwise report``: the report of a run, as a page, as Markdown or as facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from leastwise.runs import Run as StoredRun
from tests.cli.running import Run
from tests.report.hand_made import DESCRIPTION, write_run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run").folder


def test_by_default_a_page_in_the_folder_of_the_run(run: Run, folder: Path) -> None:
    answer = run("report", folder)
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == f"telling 4 candidates\nwrote {folder / 'report.html'}\n"
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("name", "start"), [("a.md", "# What to ask"), ("a.json", "{\n"), ("a.htm", "<!doctype html>")]
)
def test_the_name_of_the_output_says_which_format(
    run: Run, folder: Path, tmp_path: Path, name: str, start: str
) -> None:
    assert run("report", folder, "-o", tmp_path / name).code == 0
    assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_the_format_can_be_named(run: Run, folder: Path) -> None:
    assert run("report", folder, "--to", "json").code == 0
    assert json.loads((folder / "report.json").read_text(encoding="utf-8"))["format"] == "leastwise-report"


def test_a_file_of_the_user_is_not_overwritten_silently(run: Run, folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.md"
    mine.write_text("mine", encoding="utf-8")
    assert "it exists already" in run("report", folder, "-o", mine).complaint
    assert mine.read_text(encoding="utf-8") == "mine"
    assert run("report", folder, "-o", mine, "--force").code == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--to", "pdf"], "--to must be one of html, markdown, json; got 'pdf'"),
        (["--format", "md"], "No such option: --format. It is called --to. See: leastwise report --help"),
        (["--data", "x.csv"], "No such option: --data. It is an argument: leastwise report RUN DATA. See:"),
        (["-o", "report.pdf"], "the name of the output must end in one of html, md, json; got 'pdf'"),
        (["-o", "nowhere/report.html"], "is no folder; make it first"),
    ],
)
def test_mistakes_are_one_line(run: Run, folder: Path, options: list[str], complaint: str) -> None:
    assert complaint in run("report", folder, *options).complaint


def test_what_is_no_run_is_said(run: Run, tmp_path: Path) -> None:
    assert "is no run" in run("report", tmp_path).complaint


def test_sentences_about_people_are_told_on_request_and_with_a_warning(run: Run, folder: Path) -> None:
    run("report", folder, "--to", "markdown")
    assert DESCRIPTION not in (folder / "report.md").read_text(encoding="utf-8")
    answer = run("report", folder, "--to", "markdown", "--predicates")
    assert "privacy: the report describes people" in answer.err
    assert DESCRIPTION in (folder / "report.md").read_text(encoding="utf-8")


def test_what_a_check_found_becomes_a_section(run: Run, folder: Path, tmp_path: Path) -> None:
    check = tmp_path / "check.json"
    check.write_text(
        json.dumps({"title": "Check", "verdict": "broken", "reasons": ["too many"]}), encoding="utf-8"
    )
    assert run("report", folder, "--to", "markdown", "--check", check).code == 0
    assert "Verdict: broken\n\n- too many" in (folder / "report.md").read_text(encoding="utf-8")
    check.write_text("{}", encoding="utf-8")
    assert "not the facts of a check" in run("report", folder, "--check", check).complaint


def test_other_records_than_those_of_the_run_are_refused(run: Run, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    rows = [f"{i % 90},{'Female' if i % 2 else 'Male'},cook,{'low' if i % 3 else 'high'}" for i in range(300)]
    data.write_text("\n".join(["age,sex,job,pay", *rows]), encoding="utf-8")
    assert "its fingerprint differs" in run("report", folder, data).complaint


def test_the_records_of_the_run_tell_the_shares(run: Run, folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    rows = [f"{i % 90},{'Female' if i % 2 else 'Male'},cook,{'low' if i % 3 else 'high'}" for i in range(300)]
    data.write_text("\n".join(["age,sex,job,pay", *rows]), encoding="utf-8")
    _say_fingerprint(folder, data)
    answer = run("report", folder, data, "--to", "json")
    assert answer.code == 0, answer.err
    facts: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (age,) = (attribute for attribute in facts["attributes"] if attribute["name"] == "age")
    assert sum(bucket["share"] for bucket in age["buckets"]) == pytest.approx(1)


def _say_fingerprint(folder: Path, data: Path) -> None:
    from leastwise import Table
    from leastwise.records.files import read_frame
    from leastwise.runs.task import fingerprint

    found = fingerprint(Table.from_frame(read_frame(str(data)), StoredRun.load(folder).schema))
    task = folder / "task.json"
    task.write_text(task.read_text(encoding="utf-8").replace("0" * 64, found), encoding="utf-8")
