"""Survey weights are honoured or named: no command leaves them out in silence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from leastwise.policy import Policy
from leastwise.runs import Run as Finished
from tests.cli.running import Run, run_once

COUNTS_ONCE = "the run was judged by survey weights (PWGTP); here each record counts once"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(100)
    age, sex = random.integers(18, 90, 600), random.choice(["f", "m"], 600)
    paid = np.where(random.random(600) < np.where(age > 45, 0.9, 0.1), "yes", "no")
    columns = {
        "age": age,
        "sex": sex,
        "paid": paid,
        "home": np.arange(600) // 2,
        "PWGTP": random.integers(1, 9, 600),
    }
    place = tmp_path_factory.mktemp("weighted")
    pl.DataFrame(columns).write_csv(place / "people.csv")
    words = ["--label", "paid", "-p", "sex", "--person", "home", "--survey-weights", "PWGTP", "--quick", "-j", 1]
    assert run_once("run", place / "people.csv", *words, "-o", place / "run") == 0
    return place


def test_a_policy_of_a_run_names_whose_records_and_which_weights(
    folder: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(folder)
    assert run("init", "--run", "run", "--force").code == 0
    task = Policy.load().task
    assert (task.person, task.survey_weights) == ("home", "PWGTP")


def test_whoever_judges_or_learns_without_the_weights_is_told(folder: Path, run: Run) -> None:
    people, recommended = folder / "people.csv", folder / "run" / "recommended.json"
    said = run("evaluate", folder / "run", people, "--adversaries", "A8", "--quick")
    assert COUNTS_ONCE in said.err
    said = run("train", recommended, people, "--full", "-o", folder / "model.skops", "--force")
    assert COUNTS_ONCE in said.err
    said = run("evaluate", recommended, people, "--survey-weights", "PWGTP", "--adversaries", "A8", "--quick")
    assert COUNTS_ONCE not in said.err


def test_a_check_says_what_it_counts_and_what_not(folder: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(folder)
    assert run("init", "--run", "run", "--force").code == 0
    said = run("check", "--data", "people.csv")
    assert "Shares and errors are weighted as the survey says" in " ".join(said.out.split())
    assert "taken for a person" not in said.err, "whose record each one is counts here, too"


def test_a_run_without_weights_says_nothing_of_them(folder: Path) -> None:
    assert '"person": "home"' in (folder / "run" / "task.json").read_text()
    assert Finished.load(folder / "run").task.survey_weights == "PWGTP"


@pytest.mark.parametrize(
    "command",
    [
        "inspect",
        "minimize",
        "minimum-sample",
        "run",
        "studio",
        "evaluate",
        "necessity",
        "report",
        "check",
        "monitor",
        "train",
    ],
)
def test_every_command_that_reads_records_spells_it_alike(command: str, run: Run) -> None:
    assert "--survey-weights" in run(command, "--help").out


def test_it_is_no_setting(folder: Path, run: Run) -> None:
    said = run("run", folder / "people.csv", "--label", "paid", "--set", "survey_weights=PWGTP")
    assert said.code == 2
    assert "no setting 'survey_weights'" in said.err
