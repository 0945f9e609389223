"""``leastwise init``: a policy to edit, never written over another one unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise.policy import Policy
from tests.cli.running import Run
from tests.report.hand_made import write_run


def test_writes_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(
        "init", "people.csv", "--label", "income", "--personal", "sex,race", "--missing", "?", "-g", "g.json"
    )
    assert (found.code, found.out) == (0, "")
    policy = Policy.load()
    assert policy.task.personal == ("sex", "race")
    assert policy.task.missing == ("?",)
    assert policy.generalization == Path("g.json")
    assert "leastwise.yaml: it exists already" in run("init").complaint
    assert run("init", "--force").code == 0
    assert "must end in .yaml" in run("init", "-o", "policy.json").complaint


def test_files_are_named_as_the_policy_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("policies").mkdir()
    words = ("-g", "run/g.json", "--promise", "policies/promise.json", "-o", "policies/adult.yaml")
    assert run("init", "adult.csv", *words).code == 0
    policy = Policy.load("policies/adult.yaml")
    assert policy.generalization == Path("policies/../run/g.json")
    assert policy.promise == Path("policies/promise.json")


@pytest.mark.parametrize("lies", ["here", "beside the run", "nowhere"])
def test_the_sample_of_a_run_is_named_where_it_lies(
    lies: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("policies", "work"):
        Path(folder).mkdir()
    write_run(Path("work/run"))
    place = {"here": Path("people.csv"), "beside the run": Path("work/people.csv")}.get(lies)
    if place is not None:
        place.write_text("age\n1\n", encoding="utf-8")
    found = run("init", "--run", "work/run", "-o", "policies/leastwise.yaml")
    assert found.code == 0
    data = Policy.load("policies/leastwise.yaml").task.data
    assert data is not None
    assert data.is_file() == (place is not None)
    assert ("correct 'data' in the policy" in found.err) == (place is None)


def test_no_run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    assert "none" in run("init", "--run", "none").complaint
    assert not Path("leastwise.yaml").exists()


def test_a_promise_needs_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    assert "give --run" in run("init", "--write-promise", "promise.json").complaint
