"""From a run to a decision that is checked, told, and made an impact assessment of."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from leastwise import Generalization
from leastwise.cli.app import tell_missed
from leastwise.partition import Intervals, keep
from leastwise.runs import Run as StoredRun
from leastwise.schema.file import to_yaml
from tests.cli.running import Run
from tests.report.hand_made import write_run
from tests.runs.small import SCHEMA, write_csv

POLICY = """\
format: leastwise-policy
version: 1
decision: run/decision.json
generalization: run/decided.json
budget: {max_error_increase: 0.02}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_run(tmp_path / "run")
    (tmp_path / "leastwise.yaml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def decided(run: Run, *more: str) -> None:
    done = run("decide", "run", "--by", "Ann", "--because", "asks less", "--although", "a pilot", *more)
    assert done.code == 0, done.err


def test_a_decision_stands_and_falls(run: Run, project: Path) -> None:
    decided(run, "--reason", "age=the tariff", "--comment", "Bob: fine")
    assert run("check").code == 0
    (project / "leastwise.yaml").write_text(POLICY.replace("0.02", "0.03"))
    done = run("check")
    assert done.code == 1
    assert "budget.max_error_increase was '0.02' and is '0.03'" in done.out
    assert "Ann" in run("history").out
    assert "The decision" in (project / "run" / "report.md").read_text()


def test_a_report_made_again_says_the_same_in_all_its_forms(run: Run, project: Path) -> None:
    """A page that alone tells of drift would not be what the facts beside it say."""
    decided(run)
    drift = {"title": "Drift", "verdict": "it holds", "reasons": [], "sections": []}
    (project / "drift.json").write_text(json.dumps({"format": "leastwise-check", "version": 1, **drift}))
    done = run("report", "run", "--check", "drift.json")
    assert done.code == 0, done.err
    assert "it holds" in (project / "run" / "report.md").read_text()
    assert run("check").code == 0


def test_what_is_put_to_use_without_a_decision_for_it_is_said(run: Run, project: Path) -> None:
    decided(run)
    assert "decided for" not in run("export", "run", "--to", "sql", "-o", "first.sql").err
    stored = StoredRun.load("run")
    other = next(point.id for point in stored.frontier.points if point.id != stored.choice.candidate)
    said = f"run: {other} is chosen, which is not what was decided for ({stored.choice.candidate})"
    for command in (["choose", "run", "--candidate", other], ["export", "run", "--to", "sql", "-o", "second.sql"]):
        done = run(*command)
        assert done.code == 0, done.err
        assert said in done.err


@pytest.mark.parametrize("name", ["run", "run/recommended.json"])
def test_a_missed_limit_is_said_where_it_is_put_to_use(run: Run, project: Path, name: str) -> None:
    chosen = run("choose", "run", "--candidate", StoredRun.load("run").choice.candidate or "")
    done = run("export", name, "--to", "sql", "-o", "g.sql")
    assert done.code == 0, done.err
    for err in (chosen.err, done.err):
        (line,) = [line for line in err.split("\n") if "a limit is missed" in line]
        assert re.fullmatch(
            r"run: a limit is missed: .*the model errs 8\.6 points more than .*, allowed is 2\.0", line
        )
    assert "missed" not in run("describe", name).err


def test_who_has_read_the_answer_is_not_told_again(
    run: Run, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = StoredRun.load("run").choice
    (missed, *others) = choice.verdicts
    assert missed.missed
    tell_missed(choice, Path("run"), read=True)
    assert capsys.readouterr().err == ""
    verdicts = (replace(missed, standing="probably kept"), *others)
    tell_missed(replace(choice, fits=False, verdicts=verdicts), Path("run"), read=True)
    told = capsys.readouterr().err
    assert choice.sentence.rstrip(".") in told, "the answer does not say that validation missed it"
    assert "Probably kept" not in told


def test_that_no_candidate_kept_the_default_limit_is_said_where_noise_explains_the_test(
    run: Run, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = StoredRun.load("run").choice
    (missed, *others) = choice.verdicts
    verdicts = (replace(missed, standing="probably missed"), *others)
    none = replace(choice, fits=False, stated=False, sentence="No candidate keeps it.", verdicts=verdicts)
    tell_missed(none, Path("run"), read=True)
    assert capsys.readouterr().err == "run: No candidate keeps it.\n"
    tell_missed(none, Path("run"))
    noise = "On the test part it is beyond a limit, but noise can explain it: "
    assert capsys.readouterr().err.startswith(f"run: No candidate keeps it. {noise}")
    tell_missed(replace(none, fits=True), Path("run"), read=True)
    tell_missed(replace(none, stated=True), Path("run"), read=True)
    assert capsys.readouterr().err == ""


def test_where_every_limit_is_kept_nothing_is_said(run: Run, project: Path) -> None:
    done = run("choose", "run", "--max-error-increase", "0.2")
    assert done.code == 0, done.err
    assert "missed" not in done.err + run("export", "run", "--to", "sql", "-o", "g.sql").err


def test_a_signed_decision_is_told_in_the_report(run: Run, project: Path) -> None:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is not installed")
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(project / "key")]
    subprocess.run(command, check=True)
    decided(run, "--sign", "key")
    assert "It is signed" in (project / "run" / "report.md").read_text()
    (project / "signers").write_text(f"ann@example.org {(project / 'key.pub').read_text()}")
    (project / "leastwise.yaml").write_text(POLICY + "signers: signers\n")
    # Who may sign is no part of what was agreed.
    assert run("check").code == 0, run("check").out
    path = project / "run" / "decision.json"
    path.write_text(path.read_text().replace("asks less", "asks more"))
    done = run("check")
    assert done.code == 1
    assert "its signature is not of what it says now" in done.out


def test_nobody_decides_without_a_name(run: Run, project: Path) -> None:
    done = run("decide", "run", "--because", "asks less", "--although", "a pilot")
    assert done.code == 2
    assert "--by" in done.err
    assert not (project / "run" / "decision.json").exists()


def test_another_candidate_becomes_the_choice(run: Run, project: Path) -> None:
    other = StoredRun.load("run").frontier.points[2].id
    decided(run, "--candidate", other)
    assert StoredRun.load("run").choice.candidate == other


def test_a_broken_limit_needs_a_reason(run: Run, project: Path) -> None:
    done = run("decide", "run", "--by", "Ann", "--because", "so")
    assert done.code == 2
    assert "needs a written reason (--although)" in done.err
    assert not (project / "run" / "decision.json").exists()


def test_a_damaged_decision_is_not_passed_over(run: Run, project: Path) -> None:
    decided(run)
    (project / "run" / "decision.json").write_text("{}", encoding="utf-8")
    done = run("history")
    assert done.code == 2
    assert "decision.json" in done.complaint


def test_a_refused_decision_changes_nothing(run: Run, project: Path) -> None:
    from leastwise.runs import Run as StoredRun

    before = StoredRun.load("run")
    other = next(point.id for point in before.frontier.points if point.id != before.choice.candidate)
    assert run("decide", "run", "--by", "Ann", "--because", "so", "--candidate", other).code == 2
    assert StoredRun.load("run").choice == before.choice


def test_all_gaps_at_once_and_nothing_written(run: Run, project: Path) -> None:
    done = run("dpia", "run", "--to", "html")
    assert done.code == 2
    assert all(key in done.err for key in ("notice.purpose", "processing.rights", "a decision"))
    assert not (project / "run" / "dpia.html").exists()
    assert run("dpia", "run", "--to", "html", "--draft").code == 0
    assert "This is not complete" in (project / "run" / "dpia.html").read_text()
    assert run("dpia", "run", "--to", "pdf").code == 2


def test_a_new_policy_names_the_decision(run: Run, project: Path) -> None:
    from leastwise.policy import Policy

    decided(run)
    assert run("init", "--run", "run", "-o", "new.yaml").code == 0
    assert Policy.load("new.yaml").decision == Path("run/decision.json")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_a_run_that_stays_nested_asks_nothing_new(run: Run, tmp_path: Path) -> None:
    people = write_csv(tmp_path / "people.csv")
    (tmp_path / "schema.yaml").write_text(to_yaml(SCHEMA), encoding="utf-8")
    age, job, sex, town = SCHEMA.attributes
    kept = [Intervals(age, (40.0,)), keep(job), keep(sex)]  # the town was never asked
    old = Generalization.of(kept, SCHEMA.attributes, label=SCHEMA.label)
    old.save(tmp_path / "old.json")
    words = ["run", people, "--schema", tmp_path / "schema.yaml", "--quick", "--jobs", 1, "--set", "most=3"]
    done = run(*words, "--set", f"nested_in={tmp_path / 'old.json'}", "-o", tmp_path / "new")
    assert done.code == 0, done.err
    found = StoredRun.load(tmp_path / "new")
    everyone = [each.generalization for each in found.frontier.points]
    assert all(each.is_coarser_than(old.within(SCHEMA)) for each in everyone)
    assert any(each.collected for each in everyone)
    assert found.recommended is not None
    assert town.name not in found.recommended.collected


@pytest.mark.parametrize(
    "command", [["dpia", "run", "--draft"], ["decide", "run", "--by", "Ann", "--because", "so"]]
)
def test_a_policy_of_another_task_that_happens_to_lie_here_is_not_taken(
    run: Run, project: Path, command: list[str]
) -> None:
    policy = project / "leastwise.yaml"
    policy.write_text("format: leastwise-policy\nversion: 1\nlabel: other\n", encoding="utf-8")
    answer = run(*command)
    assert answer.code == 2
    assert "leastwise.yaml here is of another task: it predicts 'other'" in answer.err
    assert not (project / "run" / "decision.json").exists()
