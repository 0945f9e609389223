"""``leastwise minimum-sample`` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Run


def test_the_table_and_the_answer(run: Run, people: Path) -> None:
    answer = run("minimum-sample", people, "--label", "rich", "--repetitions", 2, "--sizes", "20,60")
    assert answer.code == 0, answer.err
    assert "frontier lost" in answer.out
    assert "full records" in answer.out or "training records are needed" in answer.out
    assert "drawing 2 of 2: 60 records" in answer.err


def test_json_holds_every_size(run: Run, people: Path) -> None:
    options = ["--label", "rich", "--repetitions", 2, "--sizes", "20", "--sizes", "60", "--json"]
    answer = run("minimum-sample", people, *options, "-m", "uniform", "--set", "k=2")
    found = json.loads(answer.out)
    assert [size["size"] for size in found["sizes"]] == [20, 60]
    assert len(found["sizes"][0]["losses"]) == 2
    assert found["interval"][0] <= found["size"] <= found["interval"][1]
    assert found["sentence"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sizes", "ten"], "--sizes must be whole numbers"),
        (["--sizes", "1000"], "below the 120 training records"),
        (["--set", "k=2"], "minimum-sample without --minimizer has no setting 'k'; can be set: drop, keep"),
        (["--minimizer", "unifrom"], "did you mean 'uniform'"),
        (
            ["-m", "uniform", "--set", "kk=2"],
            "uniform has no setting 'kk'; did you mean 'k'? can be set: k, drop, keep",
        ),
    ],
)
def test_a_mistake_is_one_line(run: Run, people: Path, options: list[str], message: str) -> None:
    assert message in run("minimum-sample", people, "--label", "rich", *options).complaint


def test_without_a_label(run: Run, people: Path) -> None:
    assert "label" in run("minimum-sample", people).complaint
