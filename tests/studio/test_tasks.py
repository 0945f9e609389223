"""Judgements that come in, the sealed test part, and the approval: on figures made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from leastwise import Generalization
from leastwise.decisions import load_decision, verify
from leastwise.errors import ParameterError
from leastwise.studio import Room
from leastwise.studio.jobs import Job
from leastwise.studio.tasks import Tasks
from leastwise.studio.workbook import ConflictError
from tests.report.hand_made import evaluation

WORDS = {"author": "Ada", "because": "It is the least.", "open_points": "the form's wording"}


def judged(room: Room, part: str, risk: float = 0.13) -> None:
    room.keep_judgement(evaluation(room.draft, risk, 0.4).to_json(), part)


def written(room: Room, **words: str) -> None:
    for what, text in words.items():
        room.do({"do": "write", "what": what, "text": text}, room.state.version)


def test_a_judgement_is_shown_beside_the_estimate(room: Room) -> None:
    assert room.now()["judged"] is None
    judged(room, "validation")
    state = room.now()
    assert state["judged"]["judged"]
    assert state["judged"]["model"]["error"] == pytest.approx(0.13)
    assert not state["figures"]["judged"]
    assert state["final"] is None  # the test part is still sealed
    room.do({"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}, 0)
    assert room.now()["judged"] is None  # it was about another draft
    room.do({"do": "undo"}, 1)
    assert room.now()["judged"] is not None


def test_nobody_approves_what_was_not_judged_on_the_test_part(room: Room) -> None:
    judged(room, "validation")
    with pytest.raises(ParameterError, match="open the test part"):
        Tasks(room).approve(0)


def test_an_approval_is_a_decision(room: Room) -> None:
    judged(room, "test")
    room.do({"do": "edit", "edit": {"kind": "rename", "attribute": "age", **named(room)}}, 0)
    written(room, **WORDS)
    room.do({"do": "write", "what": "rationale", "attribute": "age", "text": "The age decides."}, 4)
    found = Tasks(room).approve(room.state.version)
    assert found["approved"]
    decision = load_decision(room.ground.folder)
    assert decision.generalization == room.draft
    assert decision.rationale["age"] == "The age decides."
    assert decision.rationale["job"].startswith("job is")  # what was proposed, where nobody wrote
    assert decision.roles.author == "Ada"
    assert decision.comments[0].text == "the form's wording"
    assert decision.generalization["age"].labels[0] == "young"
    assert decision.drawn[0] == "age: “0 to 33” called “young”"
    assert decision.drawn[-1] == "the test part opened for 0 drafts"  # it was judged by hand here
    assert Generalization.load(room.ground.folder / "decided.json")["age"].labels[0] == "young"
    assert verify(room.ground.folder) == []
    room.do({"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}, room.state.version)
    assert not room.now()["approved"]  # that is another draft


def test_another_name_needs_another_approval_and_no_other_judgement(room: Room) -> None:
    judged(room, "test")
    written(room, **WORDS)
    Tasks(room).approve(room.state.version)
    room.do({"do": "edit", "edit": {"kind": "rename", "attribute": "age", **named(room)}}, room.state.version)
    assert not room.now()["approved"]
    assert room.now()["final"] is not None  # the figures are about the same buckets
    assert Tasks(room).approve(room.state.version)["approved"]
    assert load_decision(room.ground.folder).generalization["age"].labels[0] == "young"


def test_nobody_approves_a_draft_that_was_changed_meanwhile(room: Room) -> None:
    judged(room, "test")
    seen = room.state.version
    written(room, **WORDS)  # in another window
    with pytest.raises(ConflictError):
        Tasks(room).approve(seen)
    assert not (room.ground.folder / "decision.json").exists()


def named(room: Room) -> dict[str, Any]:
    return {"label": room.draft["age"].labels[0], "name": "young"}


def test_a_broken_limit_needs_a_reason(room: Room) -> None:
    judged(room, "test", risk=0.14)
    room.do({"do": "limits", "limits": {"max_error_increase": 0.01}}, 0)  # stricter than what the run was asked
    written(room, **WORDS)
    tasks = Tasks(room)
    with pytest.raises(ParameterError, match="written reason"):
        tasks.approve(room.state.version)
    written(room, although="The form is only for a week.")
    tasks.approve(room.state.version)
    (broken, *_) = load_decision(room.ground.folder).broken
    assert broken.because == "The form is only for a week."


def test_a_limit_of_groups_is_not_passed_over(room: Room) -> None:
    judged(room, "test")
    room.do({"do": "limits", "limits": {"max_group_gap": 0.01}}, 0)
    written(room, **WORDS)
    with pytest.raises(ParameterError, match="declared groups was not judged"):
        Tasks(room).approve(room.state.version)


def test_the_test_part_stays_sealed_while_the_studio_is_busy(room: Room) -> None:
    room.jobs.current = Job(1, "judge", "draft")
    with pytest.raises(ParameterError, match="busy"):
        Tasks(room).start("final", {"version": 0})
    assert room.state.opened == ()
    room.jobs.current = None


def test_work_is_for_the_draft_that_was_seen(room: Room) -> None:
    room.do({"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}, 0)  # in another window
    with pytest.raises(ConflictError):
        Tasks(room).start("judge", {"version": 0})


def test_opening_the_test_part_tells_the_page_its_new_version(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise whatever is written while the judgement goes on would look like another window's."""
    monkeypatch.setattr(room.jobs, "start", lambda *given: None)
    found = Tasks(room).start("final", {"version": 0})
    assert found["version"] == room.state.version == 1
    assert found["opened"] == [room.draft.fingerprint[:12]]


def test_whoever_looked_before_is_counted(room: Room) -> None:
    tasks, run = Tasks(room), room.ground.run
    assert run is not None
    before = tasks.candidates()
    assert before == len(run.frontier.points) + 1  # the run has tested its own frontier
    room.do({"do": "opened"}, 0)
    assert tasks.candidates() == before
    room.do({"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}, 1)
    assert tasks.candidates() == before + 1
    judged(room, "test")
    with pytest.raises(ParameterError, match="already"):
        tasks.start("final", {"version": 2})


def test_a_run_that_nobody_goes_on_with_is_not_said_to_go_on(room: Room) -> None:
    assert room.ground.words() == ""
    room.ground.run = None
    assert "not finished" in room.ground.words()
    assert "background" not in room.ground.words()
