"""``leastwise init``: a policy to edit, never written over another one unasked."""

from __future__ import annotations

from pathlib import Path

import pytest

from leastwise.policy import Policy
from tests.cli.running import Run


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


def test_no_run_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    assert "none" in run("init", "--run", "none").complaint
    assert not Path("leastwise.yaml").exists()


def test_a_promise_needs_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.chdir(tmp_path)
    assert "give --run" in run("init", "--write-promise", "promise.json").complaint
