"""A decision says who, what and why, is read back as it was written, and notices a changed byte."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.decisions import Comment, Decision, Roles, decide, keep_decision, load_decision, verify
from leastwise.decisions.decision import months_after
from leastwise.errors import ArtefactError, ParameterError
from leastwise.report import write_report
from leastwise.runs import Run
from tests.decisions.conftest import ALTHOUGH

LIMIT = "the model errs 8.6 points more than with everything asked, allowed is 2.0"


def test_it_holds_the_figures_of_the_evaluation(run: Run, decision: Decision) -> None:
    judged = run.evaluation(decision.candidate or "")
    assert judged.utility is not None
    assert decision.figures.utility_risk == judged.utility.error
    assert decision.figures.adversary_error == judged["A1"].adversary_error
    assert decision.everything == run.frontier.untouched
    assert decision.fingerprints.data == run.task.fingerprint


def test_it_reads_back_as_it_was_written(run: Run, decision: Decision) -> None:
    said = replace(
        decision,
        roles=Roles(author="Ann", reviewer="Bob", approver="Cy"),
        rationale={"age": "the tariff hangs on it"},
        comments=(Comment(by="Bob", text="fine", about="sex"),),
    )
    assert Decision.from_json(said.to_json()).to_json() == said.to_json()
    assert load_decision(run.folder).to_json() == decision.to_json()


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"because": "two questions less"', '"because": " "', "because must be said"),
        ('"date": "2026-11-17"', '"date": "20261117"', "date must be like"),
        ('"author": "Ann"', '"author": "", "friend": "x"', "unknown key"),
        ('"months": 12', '"months": 0', "at least 1"),
    ],
)
def test_a_document_that_is_none_is_refused(decision: Decision, old: str, new: str, complaint: str) -> None:
    text = decision.to_json()
    assert old in text
    with pytest.raises(ArtefactError, match=complaint):
        Decision.from_json(text.replace(old, new))


def test_a_broken_limit_needs_a_reason(run: Run) -> None:
    with pytest.raises(ParameterError, match="needs a written reason"):
        decide(run, by="Ann", because="so")
    found = decide(run, by="Ann", because="so", broken={LIMIT: ALTHOUGH})
    assert [(each.limit, each.because) for each in found.broken] == [(LIMIT, ALTHOUGH)]


def test_a_draft_made_by_hand_can_be_decided_for(run: Run) -> None:
    nothing = Generalization.suppressed(run.schema)
    judged = replace(run.evaluation(run.frontier.points[0].id), fingerprint=nothing.fingerprint)
    found = decide(run, by="Ann", because="ask nothing", draft=(nothing, judged), broken=ALTHOUGH)
    assert found.candidate is None
    keep_decision(found, judged, run.folder)
    assert verify(run.folder) == []
    other = run.evaluation(run.frontier.points[1].id)
    with pytest.raises(ParameterError, match="must be of the generalization"):
        decide(run, by="Ann", because="ask nothing", draft=(nothing, other))


def test_a_question_that_is_not_there_has_no_rationale(run: Run) -> None:
    with pytest.raises(ParameterError, match="no question 'ago'"):
        decide(run, by="Ann", because="so", broken=ALTHOUGH, rationale={"ago": "x"})


def test_all_is_as_it_was(run: Run, decision: Decision) -> None:
    assert verify(run.folder) == []


@pytest.mark.parametrize(
    "name", ["decided.json", "decided-evaluation.json", "report.json", "report.md", "report.html"]
)
@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_a_changed_byte_is_noticed(run: Run, decision: Decision, name: str, place: float) -> None:
    path = run.folder / name
    content = bytearray(path.read_bytes())
    at = int(place * len(content))
    content[at] = ord("8") if content[at] != ord("8") else ord("9")
    path.write_bytes(bytes(content))
    assert [problem for problem in verify(run.folder) if name in problem]


@pytest.mark.parametrize("name", ["report.json", "report.md", "report.html"])
def test_a_byte_that_is_no_text_any_more_is_noticed_too(run: Run, decision: Decision, name: str) -> None:
    path = run.folder / name
    content = path.read_bytes()
    path.write_bytes(content[:99] + b"\xff" + content[100:])
    assert [problem for problem in verify(run.folder) if name in problem]


@pytest.fixture
def hasty(run: Run) -> tuple[Run, bytes]:
    """Return a run that was decided on before anybody had asked what each question is worth, and the answer."""
    path = run.folder / "necessity.json"
    known = path.read_bytes()
    path.unlink()
    (run.folder / "shares.json").unlink(missing_ok=True)
    write_report(run)
    found = decide(run, by="Ann", because="two questions less", broken=ALTHOUGH)
    keep_decision(found, run.evaluation(found.candidate or ""), run.folder)
    assert found.fingerprints.not_known[0] == "necessity"
    return run, known


def test_what_was_not_known_may_be_found_out_later(hasty: tuple[Run, bytes]) -> None:
    run, known = hasty
    (run.folder / "necessity.json").write_bytes(known)
    write_report(run)
    assert json.loads((run.folder / "report.json").read_text())["necessity"]["tables"]
    assert verify(run.folder) == []


@pytest.mark.parametrize("section", ["answer", "attacks", "frontier", "certificate", "limits", "task"])
def test_all_else_is_still_held_against_the_decision(hasty: tuple[Run, bytes], section: str) -> None:
    path = hasty[0].folder / "report.json"
    facts = json.loads(path.read_text())
    facts[section] = []
    path.write_text(json.dumps(facts))
    assert verify(path.parent) == ["report.json: it was changed after the decision"]


def test_what_was_known_is_held_against_the_decision(run: Run, decision: Decision) -> None:
    assert "necessity" not in decision.fingerprints.not_known
    (run.folder / "necessity.json").unlink()
    write_report(run)
    assert verify(run.folder) == ["report.json: it was changed after the decision"]


def test_a_changed_fingerprint_of_the_data_is_noticed(run: Run, decision: Decision) -> None:
    path = run.folder / "task.json"
    path.write_text(path.read_text().replace("0" * 64, "0" * 63 + "1"))
    assert verify(run.folder) == [
        "task.json: the run beside it is of other records than those that were decided on"
    ]


def test_an_edited_task_is_noticed(run: Run, decision: Decision) -> None:
    path = run.folder / "task.json"
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest()}
    (run.folder / "digests.json").write_text(json.dumps(digests))
    assert verify(run.folder) == []
    path.write_text(path.read_text().replace('"seed": 0', '"seed": 1'))
    (problem,) = verify(run.folder)
    assert "task.json: it was changed after it was judged" in problem


def test_a_changed_artefact_inside_the_decision_is_noticed(run: Run, decision: Decision) -> None:
    path = run.folder / "decision.json"
    path.write_text(path.read_text().replace('"up_to": 33', '"up_to": 34').replace('"above": 33', '"above": 34'))
    assert "decision.json: the generalization in it is not the one that was decided on" in verify(run.folder)


def test_what_was_decided_before_is_kept(run: Run, decision: Decision) -> None:
    again = replace(decision, date="2026-11-18")
    for _ in range(2):
        keep_decision(again, run.evaluation(decision.candidate or ""), run.folder)
    kept = sorted(path.name for path in Path(run.folder / "decisions").iterdir())
    assert kept == [f"2026-11-17-{decision.id}.json", f"2026-11-18-{decision.id}.json"]


@given(st.dates(date(1990, 1, 1), date(2200, 1, 1)), st.integers(1, 200))
def test_months_later_is_so_many_months_later(day: date, months: int) -> None:
    later = months_after(day, months)
    assert (later.year - day.year) * 12 + later.month - day.month == months
    assert later.day == day.day or (later.day < day.day and months_after(later, 0).day == later.day)
