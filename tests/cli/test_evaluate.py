"""``leastwise evaluate``: the table for people, JSON for machines, one line for a mistake."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from leastwise import Attribute, Generalization, Groups, Intervals, Schema, Table
from leastwise.cli.main import app
from leastwise.errors import LeastwiseError, PrivacyLeakWarning
from leastwise.evaluation import Evaluation, evaluate
from leastwise.partition import suppress
from leastwise.schema.file import load_schema, save_schema
from tests.cli.running import Run

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
TOWN = Attribute("town", values=("a", "b", "c"), personal=True)
LABEL = Attribute("works", values=("no", "yes"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    people = 400
    age, town = rng.integers(18, 90, people), rng.choice(list("abc"), people)
    works = np.where((age < 65) ^ (rng.random(people) < 0.1), "yes", "no")
    frame = pd.DataFrame({"age": age, "sex": rng.choice(["f", "m"], people), "town": town, "works": works})
    frame.to_csv(tmp_path / "people.csv", index=False)
    asked = (Intervals(AGE, (30, 65)), Groups(SEX, (0, 0)), Groups(TOWN, (0, 1, 1)))
    Generalization(asked, LABEL).save(tmp_path / "g.json")
    Generalization(asked).save(tmp_path / "unlabelled.json")
    Generalization((Intervals(AGE), Groups(SEX, (0, 1)), Groups(TOWN, (0, 0, 1))), LABEL).save(tmp_path / "h.json")
    return tmp_path


def run(files: Path, *options: str, g: str = "g.json") -> Any:
    arguments = ["evaluate", str(files / g), str(files / "people.csv"), "--quick", *options]
    return CliRunner().invoke(app, arguments)


def test_the_table(files: Path) -> None:
    result = run(files)
    assert result.exit_code == 0, result.output
    for text in ("nothing asked", "A1", "A8", "guessing", "A1 by attribute", "With 95 % confidence nobody"):
        assert text in result.stdout
    assert "A6" not in result.stdout
    assert "judging: A1 reconstruction" in result.stderr


def test_json_is_an_evaluation_and_nothing_else(files: Path) -> None:
    result = run(files, "--json", "--adversaries", "a1,A8", "--seed", "3")
    found = Evaluation.from_json(result.stdout)
    assert [attack.adversary for attack in found.attacks] == ["A1", "A8"]
    assert found.seed == 3


def test_writes_the_people_on_request_and_warns(files: Path) -> None:
    options = [
        "-a",
        "A8",
        "-o",
        str(files / "e.json"),
        "--personal",
        "town",
        "--missing",
        "?",
        "--predicates",
        "3",
    ]
    with pytest.warns(PrivacyLeakWarning, match="without --predicates"):
        run(files, *options, g="unique.json")
    assert Evaluation.load(files / "e.json")["A8"].predicates
    assert stat.S_IMODE((files / "e.json").stat().st_mode) == 0o600


@pytest.fixture(autouse=True)
def unique(files: Path) -> None:
    Generalization.untouched(Generalization.load(files / "unlabelled.json").schema).save(files / "unique.json")


def test_nobody_is_described_unasked(files: Path) -> None:
    result = run(files, "-a", "A8", "-o", str(files / "e.json"), g="unique.json")
    assert result.exit_code == 0, result.output
    assert ": 1 person" not in result.stdout
    assert json.loads((files / "e.json").read_text())["attacks"][0]["predicates"] == []


def test_what_the_breach_added_is_a_column(files: Path) -> None:
    assert "without breach" in run(files, "-a", "A4", "--set", "without_breach=true", g="unlabelled.json").stdout
    assert "without breach" not in run(files, "-a", "A8", g="unlabelled.json").stdout


def test_several_breaches(files: Path) -> None:
    result = run(files, "-a", "A6", "--other", str(files / "h.json"), "--json")
    assert Evaluation.from_json(result.stdout)["A6"]["sex"].adversary_error == 0


def test_other_personal_attributes(files: Path) -> None:
    result = run(files, "-a", "A1", "--personal", "age,sex", "--tolerance", "age=1", "--json")
    found = Evaluation.from_json(result.stdout)
    assert found.personal == ("age", "sex")
    assert found["A1"]["age"].tolerance == 1


def test_the_label_may_come_from_the_data(files: Path) -> None:
    assert Evaluation.from_json(run(files, "-a", "A8", "--json", g="unlabelled.json").stdout).utility is None
    labelled = run(files, "-a", "A8", "--json", "--label", "works", g="unlabelled.json")
    assert Evaluation.from_json(labelled.stdout).utility is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "sex"], "they must agree"),
        (["--adversaries", "A9"], "adversaries must be one of"),
        (["--adversaries", "A6"], "A6 needs another generalization"),
        (["--personal", "agee"], "did you mean 'age'"),
        (["--tolerance", "age"], "name=number"),
        (["-o", "/no/such/folder/e.json"], "no folder"),
    ],
)
def test_a_mistake_is_one_line(files: Path, options: list[str], message: str) -> None:
    result = run(files, *options)
    assert isinstance(result.exception, LeastwiseError)
    assert message in str(result.exception)


def test_a_label_that_the_data_do_not_have(files: Path) -> None:
    result = run(files, "--label", "work", g="unlabelled.json")
    assert "did you mean 'works'" in str(result.exception)


def test_a_file_that_is_there_is_not_lost(run: Run, tmp_path: Path) -> None:
    target = tmp_path / "evaluation.json"
    target.write_text("precious")
    assert "--force" in run("evaluate", "g.json", "people.csv", "-o", target).complaint
    assert target.read_text() == "precious"
    assert "is a folder" in run("evaluate", "g.json", "people.csv", "-o", tmp_path).complaint


@pytest.fixture
def in_a_run(files: Path) -> Path:
    """The folder of a run whose towns are declared in an order of their own; in many of them one person lives."""
    people = pd.read_csv(files / "people.csv")
    hamlets = [f"hamlet {i}" for i in range(250)]
    people.loc[: len(hamlets) - 1, "town"] = hamlets
    people.to_csv(files / "people.csv", index=False)
    town = Attribute("town", values=("c", *hamlets, "a", "nobody's", "b"), personal=True)
    folder = files / "run"
    (folder / "studio").mkdir(parents=True)
    save_schema(Schema((AGE, SEX, town), LABEL), folder / "schema.yaml")
    (folder / "task.json").write_text("{}")
    asked = Generalization((Intervals(AGE, (30, 65)), suppress(SEX), suppress(town)), LABEL)
    for path in ("decided.json", "studio/draft.json", "../alone.json"):
        asked.save(folder / path)
    return folder


def test_in_its_run_an_artefact_is_judged_as_the_run_judges_it(in_a_run: Path, run: Run) -> None:
    """The domains of what is not asked are those of the run: names of values, their order, and who is "other"."""
    records, schema = in_a_run.parent / "people.csv", load_schema(in_a_run / "schema.yaml")
    own = Generalization.load(in_a_run / "decided.json")
    wanted = evaluate(own, Table.from_frame(pd.read_csv(records), schema), ["A1", "A3"], quick=True, predicates=0)
    words = (records, "--quick", "--json", "-a", "A1,A3")
    for place in ("decided.json", "studio/draft.json"):
        assert Evaluation.from_json(run("evaluate", in_a_run / place, *words).out).attacks == wanted.attacks
    named = run("evaluate", in_a_run.parent / "alone.json", *words, "--schema", in_a_run / "schema.yaml")
    assert Evaluation.from_json(named.out).attacks == wanted.attacks


def test_what_newer_records_have_beyond_the_run_is_other_and_said(in_a_run: Path, run: Run) -> None:
    people = pd.read_csv(in_a_run.parent / "people.csv")
    people.loc[1:4, "town"] = "newtown"
    people.to_csv(in_a_run.parent / "newer.csv", index=False)
    found = run("evaluate", in_a_run / "decided.json", in_a_run.parent / "newer.csv", "--quick", "-a", "A1")
    assert found.code == 0
    assert "town: values outside the declared domain count as one more value" in found.err


def test_a_schema_has_no_use_where_records_stay(in_a_run: Path, run: Run) -> None:
    schema = in_a_run / "schema.yaml"
    files = (in_a_run / "decided.json", in_a_run.parent / "people.csv")
    assert "their engine says" in run("evaluate", *files, "--schema", schema, "--sample", 300).complaint
