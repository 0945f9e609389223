"""The life of a decision: what reopens it, who signed it, and what each one asked more or less."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from leastwise.decisions import Decision, History, decide, keep_decision, reopened, sign, signer
from leastwise.errors import ParameterError
from leastwise.partition import Intervals
from leastwise.policy import Policy
from leastwise.runs import Budget, Run
from tests.decisions.conftest import ALTHOUGH

DAY = date(2026, 12, 1)


def test_it_stands_until_its_day(run: Run, decision: Decision) -> None:
    assert reopened(run.folder, today=DAY, in_use=decision.generalization, data=run.task.fingerprint) == []
    assert reopened(run.folder, today=date(2027, 11, 16)) == []
    (reason,) = reopened(run.folder, today=date(2027, 11, 17))
    assert reason == "it was decided on 2026-11-17 and was to be looked at again by 2027-11-17"


def test_what_changed_is_told(run: Run, decision: Decision) -> None:
    other = run.generalization(next(p.id for p in run.frontier.points if p.id != decision.candidate))
    found = reopened(run.folder, today=DAY, in_use=other, data="1" * 64, broken=2)
    assert [reason.split(":")[0] for reason in found] == [
        f"{other.fingerprint[:12]} is in use, and {decision.id} was decided for",
        "the sample is not the one that was decided on",
        "the check on newer records found 2 figures that noise cannot explain",
    ]


def test_a_changed_policy_is_told_key_by_key(run: Run) -> None:
    before = Policy(budget=Budget(max_error_increase=0.01))
    found = decide(run, by="Ann", because="so", broken=ALTHOUGH, policy=before.said())
    keep_decision(found, run.evaluation(found.candidate or ""), run.folder)
    assert reopened(run.folder, policy=before.said(), today=DAY) == []
    # Where the files lie is no part of what was agreed.
    moved = replace(before, generalization=Path("x.json"), decision=Path("y.json"))
    assert reopened(run.folder, policy=moved.said(), today=DAY) == []
    now = Policy(budget=Budget(max_error_increase=0.02, max_asked=3))
    assert reopened(run.folder, policy=now.said(), today=DAY) == [
        "the policy's budget.max_error_increase was '0.01' and is '0.02'",
        "the policy's budget.max_asked was not said and is '3'",
    ]


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two keys, of which only Ann's may sign."""
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ann", "eve"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(folder / name)]
        subprocess.run(command, check=True)
    (folder / "signers").write_text(f"ann@example.org {(folder / 'ann.pub').read_text()}")
    return folder


def test_a_signature_is_of_who_may_sign(run: Run, decision: Decision, keys: Path) -> None:
    path = run.folder / "decision.json"
    assert "it is not signed" in reopened(path, signers=keys / "signers", today=DAY)[0]
    sign(path, keys / "ann")
    assert signer(path, keys / "signers") == "ann@example.org"
    assert signer(path).startswith("SHA256:")
    assert reopened(path, signers=keys / "signers", today=DAY) == []
    sign(path, keys / "eve")
    assert reopened(path, today=DAY) == []
    assert "nobody of the allowed signers" in reopened(path, signers=keys / "signers", today=DAY)[0]


def test_a_changed_byte_breaks_the_signature(run: Run, decision: Decision, keys: Path) -> None:
    path = run.folder / "decision.json"
    sign(path, keys / "ann")
    path.write_text(path.read_text().replace("two questions less", "one question less"))
    assert reopened(path, today=DAY) == ["decision.json: its signature is not of what it says now"]
    with pytest.raises(ParameterError, match="no such key"):
        sign(path, keys / "nobody")


def test_the_history_tells_what_each_asked_more_or_less(run: Run) -> None:
    ids = [point.id for point in run.frontier.points]
    for day, name in zip(("2026-01-01", "2026-06-01", "2026-12-01"), (ids[0], ids[2], ids[0]), strict=True):
        found = decide(run, name, by="Ann", because=f"for {day}", broken=ALTHOUGH, today=day)
        keep_decision(found, run.evaluation(name), run.folder)
    history = History.of(run.folder.parent)
    assert [entry.decision.day for entry in history.entries] == ["2026-01-01", "2026-06-01", "2026-12-01"]
    first, second, third = (" ".join(entry.changes) for entry in history.entries)
    assert first.startswith("The first decision")
    assert second == "It no longer asks: sex and job."
    assert re.fullmatch(r"It asks anew: sex \(.+\) and job \(.+\)\.", third)
    assert len(history.artefacts()) == 2
    assert len(history.artefacts([run.generalization(ids[0])])) == 1
    assert len(history.listing().rows) == 3


def test_the_history_tells_finer_and_coarser_questions(run: Run) -> None:
    name = run.frontier.points[0].id
    whole, judged, age = run.generalization(name), run.evaluation(name), run.schema["age"]
    for day, edges in enumerate([(30.0,), (30.0, 50.0), (40.0,), (40.0,)], 1):
        asked = whole.replacing(Intervals(age, edges))
        evaluation = replace(judged, fingerprint=asked.fingerprint)
        draft = (asked, evaluation)
        found = decide(run, by="Ann", because="so", draft=draft, broken=ALTHOUGH, today=f"2026-01-0{day}")
        keep_decision(found, evaluation, run.folder)
    assert [" ".join(entry.changes) for entry in History.of(run.folder).entries[1:]] == [
        "It asks more finely: age in 3 ranges instead of in 2 ranges.",
        "It asks otherwise, neither more nor less: age.",
        "It asks the same as before.",
    ]


def test_there_may_be_no_history(tmp_path: Path) -> None:
    assert History.of(tmp_path).entries == ()
    with pytest.raises(ParameterError, match="is no folder"):
        History.of(tmp_path / "nowhere")
