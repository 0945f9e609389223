"""The journal: nothing that was answered is lost, nobody writes beside another, and it holds nobody's record."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from leastwise.errors import ArtefactError, ParameterError
from leastwise.runs import Budget
from leastwise.studio import Room
from leastwise.studio.workbook import JOURNAL, ConflictError
from tests.studio.conftest import ground

MERGE = {"do": "edit", "edit": {"kind": "drop", "attribute": "job"}}
DIVIDE = {"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}


def edited(room: Room) -> list[dict[str, Any]]:
    """Do a bit of everything."""
    events: list[dict[str, Any]] = [
        DIVIDE,
        MERGE,
        {"do": "undo"},
        {"do": "keep", "name": "mine", "comment": "before lunch"},
        {"do": "redo"},
        {"do": "edit", "edit": {"kind": "lock", "attribute": "job", "what": "attribute"}},
        {"do": "limits", "limits": {"max_error_increase": 0.02, "min_adversary_error": {"sex": 0.4}}},
        {"do": "write", "what": "rationale", "attribute": "job", "text": "nobody needs it"},
        {"do": "write", "what": "author", "text": "Ada"},
    ]
    for event in events:
        room.do(event, room.state.version)
    return events


def test_a_server_that_starts_again_knows_everything(tmp_path: Path) -> None:
    first = Room(ground(tmp_path / "run"))
    events = edited(first)
    before = first.state
    first.close()
    again = Room(ground(tmp_path / "run"))
    assert again.state == before
    assert again.state.version == len(events)
    assert again.state.words.author == "Ada"
    assert [each.name for each in again.state.shelf] == ["mine"]
    again.do({"do": "undo"}, again.state.version)  # the lock
    again.do({"do": "undo"}, again.state.version)
    assert not again.state.sheet.generalization["job"].suppressed
    again.close()


def test_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    room = Room(ground(tmp_path / "run"))
    room.do(DIVIDE, 0)
    kept = room.state
    path = room.book.folder / JOURNAL
    room.close()
    with path.open("ab") as file:
        file.write(b'{"do": "edit", "edit": {"kind": "dr')
    again = Room(ground(tmp_path / "run"))
    assert again.state == kept
    again.close()


def test_a_journal_that_was_changed_is_refused(tmp_path: Path) -> None:
    room = Room(ground(tmp_path / "run"))
    room.do(DIVIDE, 0)
    path = room.book.folder / JOURNAL
    room.close()
    path.write_text(path.read_text().replace('"divide"', '"explode"'))
    with pytest.raises(ArtefactError, match="line 2"):
        Room(ground(tmp_path / "run"))
    path.write_text(path.read_text().replace("leastwise-studio", "something"))
    with pytest.raises(ArtefactError, match="not the journal"):
        Room(ground(tmp_path / "run"))


def test_one_writer(room: Room) -> None:
    with pytest.raises(ParameterError, match="another process"):
        Room(room.ground)


def test_two_tabs(room: Room) -> None:
    room.do(DIVIDE, 0)
    with pytest.raises(ConflictError, match="another window"):
        room.do(MERGE, 0)
    assert room.state.version == 1


def test_the_journal_holds_buckets_and_words_only(room: Room) -> None:
    edited(room)
    path = room.book.folder / JOURNAL
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    known = {"do", "edit", "peeked", "name", "comment", "limits", "what", "attribute", "text"}
    assert all({*line} <= known for line in lines[1:])
    assert len(path.read_bytes()) < 5_000


def test_what_was_looked_at_last_is_not_forgotten(tmp_path: Path) -> None:
    first = Room(ground(tmp_path / "run"))
    first.preview({"kind": "drop", "attribute": "job"})
    first.close()
    again = Room(ground(tmp_path / "run"))
    assert again.looks == 2
    again.close()


def test_what_was_only_looked_at_counts_too(room: Room) -> None:
    assert room.now()["looks"] == 1
    room.preview({"kind": "drop", "attribute": "job"})
    room.preview({"kind": "drop", "attribute": "age"})
    assert room.now()["looks"] == 3
    room.do(DIVIDE, 0)
    assert room.now()["looks"] == 4
    assert room.now()["figures"]["paid"] > 0


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"do": "explode"},
        {"do": "edit"},
        {"do": "edit", "edit": {"kind": "drop", "attribute": "shoe"}},
        {"do": "undo"},
        {"do": "redo"},
        {"do": "load", "generalization": {"format": "leastwise-generalization"}},
        {"do": "take", "id": 9},
        {"do": "keep", "name": 5},
        {"do": "limits", "limits": {"max_error_increase": "much"}},
        {"do": "limits", "limits": {"secret": 1}},
        {"do": "write", "what": "rationale", "attribute": "shoe", "text": "x"},
        {"do": "write", "what": "history", "text": "x"},
        {"do": "write", "what": "author", "text": "x" * 6000},
    ],
)  # fmt: skip
def test_what_cannot_be_done_changes_nothing(room: Room, event: dict[str, Any]) -> None:
    before = room.state
    with pytest.raises((ParameterError, ArtefactError)):
        room.do(event, 0)
    assert room.state == before
    assert len((room.book.folder / JOURNAL).read_text().splitlines()) == 1


def test_what_is_loaded_keeps_what_is_locked(room: Room) -> None:
    candidate = next(p for p in room.ground.run.frontier.points if p.generalization != room.draft)  # type: ignore[union-attr]
    room.do({"do": "edit", "edit": {"kind": "lock", "attribute": "age", "what": "attribute"}}, 0)
    if candidate.generalization["age"] != room.draft["age"]:
        with pytest.raises(ParameterError, match="locked"):
            room.do(room.candidate(candidate.id), 1)
    room.do({"do": "edit", "edit": {"kind": "unlock", "attribute": "age", "what": "attribute"}}, 1)
    room.do(room.candidate(candidate.id), 2)
    assert room.draft == candidate.generalization


def test_the_limits_of_a_policy_win(tmp_path: Path) -> None:
    first = Room(ground(tmp_path / "run"))
    first.do({"do": "limits", "limits": {"max_error_increase": 0.02}}, 0)
    first.close()
    known = ground(tmp_path / "run")
    known.limits = Budget(max_error_increase=0.005, max_asked=3)
    again = Room(known)
    assert again.state.limits == known.limits
    again.close()
