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
    assert "leastwise.yaml exists; --force" in run("init").complaint
    assert run("init", "--force").code == 0
    assert "must end in .yaml" in run("init", "-o", "policy.json").complaint
