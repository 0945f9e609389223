"""``leastwise describe`` and ``leastwise compare`` from the outside."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals
from tests.cli.running import Run

AGE = Attribute("age", "continuous", lower=0, integer=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    path = tmp_path / "fine.json"
    Generalization((Intervals(AGE, (19, 63)), Groups(SEX, (0, 1)))).save(path)
    return path


@pytest.fixture
def coarse(tmp_path: Path) -> Path:
    path = tmp_path / "coarse.json"
    Generalization((Intervals(AGE, (63,)), Groups(SEX, (0, 0)))).save(path)
    return path


def test_describe(run: Run, fine: Path) -> None:
    assert run("describe", fine).out.startswith("Ask 2 of 2 attributes, 1 of them in full, 5 answers in all.")
    assert "| age | 3 | 0 to 19 · 20 to 63 · 64 or more |" in run("describe", fine, "--markdown").out


def test_describe_for_machines(run: Run, coarse: Path) -> None:
    document = json.loads(run("describe", coarse, "--json").out)
    age, sex = document["attributes"]
    assert document["collected"] == ["age"]
    assert document["total_buckets"] == 3
    assert age["buckets"] == ["0 to 63", "64 or more"]
    assert sex == {"name": "sex", "personal": True, "suppressed": True, "untouched": False, "buckets": []}


def test_compare(run: Run, fine: Path, coarse: Path) -> None:
    assert "The second is coarser" in run("compare", fine, coarse).out
    assert "The second is finer" in run("compare", coarse, fine).out
    assert run("compare", fine, fine).out == "Both ask the same.\n"
    document = json.loads(run("compare", fine, coarse, "--json").out)
    assert document["overall"] == "coarser"
    assert [row["change"] for row in document["attributes"]] == ["coarser", "coarser"]


def test_roles_and_questions_do_not_matter_for_a_comparison(run: Run, fine: Path, tmp_path: Path) -> None:
    path = tmp_path / "asked.json"
    asked = replace(SEX, personal=False, question="Your sex?")
    Generalization((Intervals(AGE, (19, 63)), Groups(asked, (0, 1)))).save(path)
    assert run("compare", fine, path).out == "Both ask the same.\n"
    Generalization((Intervals(AGE, (19, 63)),)).save(path)
    assert "same attributes and domains" in run("compare", fine, path).complaint


def test_files_that_are_no_generalizations(run: Run, fine: Path, tmp_path: Path) -> None:
    assert "none.json: No such file" in run("describe", tmp_path / "none.json").complaint
    assert "is no run: there is no task.json" in run("describe", tmp_path).complaint
    bad = tmp_path / "bad.json"
    bad.write_text("{}", encoding="utf-8")
    answer = run("compare", fine, bad)
    assert answer.code == 2
    assert answer.err.startswith(f"leastwise: {bad}: not a generalization that can be trusted")


def test_control_signs_do_not_reach_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "evil.json"
    Generalization((Groups(Attribute("a\x1b[2J", values=("x\x07", "y")), (0, 1)),)).save(path)
    assert "\x1b" not in run("describe", path).out
    assert "\x07" not in run("describe", path).out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("age,sex\n1,f\n", "not JSON"),
        ("[1]", "must be a mapping of keys; got a list"),
        ('{"a": 1}', "format: must be"),
    ],
)
def test_one_cause_is_one_problem(tmp_path: Path, run: Run, text: str, why: str) -> None:
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    complaint = run("describe", tmp_path / "people.csv").complaint
    assert why in complaint
    assert "problems" not in complaint
