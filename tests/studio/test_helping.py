"""Help from the machine keeps what is locked, and offers only what is better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leastwise import Generalization, Groups, Intervals, Split
from leastwise.documents import to_plain
from leastwise.errors import ParameterError
from leastwise.evaluation.live import Live
from leastwise.minimizers import Constraints
from leastwise.minimizers.constraints import broken
from leastwise.partition import keep, suppress
from leastwise.policy import Policy
from leastwise.progress import Silent
from leastwise.runs import Budget
from leastwise.schema.values import number_text
from leastwise.studio import Room
from leastwise.studio.edits import Lock, People, Sheet
from leastwise.studio.helping import ALIKE, fewer_answers, fill_buckets, improve, why, without_each
from leastwise.studio.locks import constraints_of, held_to
from leastwise.studio.tasks import policy_text
from tests.runs.small import SCHEMA, records
from tests.studio.conftest import ground

AGE, JOB, SEX, TOWN = SCHEMA.attributes


@pytest.fixture(scope="module")
def split() -> Split:
    return records(1500, seed=100).split(100, (0.45, 0.25, 0.3))


def sheet(*locks: Lock) -> Sheet:
    """Ask the age finely, the job in three groups and the town in full, which tells nothing."""
    parts = (Intervals(AGE, (29, 40, 60)), Groups(JOB, (0, 0, 1, 2, 2)), suppress(SEX), keep(TOWN))
    return Sheet(Generalization(parts, SCHEMA.label), locks=frozenset(locks))


def test_what_is_locked_is_a_constraint() -> None:
    held = constraints_of(sheet(Lock("age", "edge", "40"), Lock("job", "attribute"), Lock("town", "bucket", "n")))
    assert held.edges == {"age": [40.0]}
    assert held.apart["job"] == [["a", "c", "d"]]
    assert list(held.untouched) == ["town"]
    assert constraints_of(sheet(Lock("age", "bucket", "41 to 60"))).edges == {"age": [40.0, 60.0]}
    assert constraints_of(sheet(Lock("age", "attribute"))).edges == {"age": [29.0, 40.0, 60.0]}


def test_the_rest_is_improved_and_the_locks_are_kept(split: Split) -> None:
    own = sheet(Lock("age", "attribute"))
    live, now = Live(split), Live(split).estimate(own.generalization)
    known = [Generalization.untouched(SCHEMA), Generalization.suppressed(SCHEMA)]
    help_ = improve(own, split, known, Silent())
    found = help_.proposals
    assert {each.generalization.fingerprint for each in found} < {*help_.looked}  # all that it chose from is told
    assert 1 <= len(found) <= 3
    for each in found:
        assert each.generalization["age"] == own.generalization["age"]
        assert not broken(constraints_of(own), each.generalization, split.train)
        assert each.estimate == live.estimate(each.generalization)
        better = (
            each.estimate.mean.error > now.mean.error + ALIKE,
            each.estimate.model.error < now.model.error - ALIKE,
            each.estimate.answers < now.answers,
        )
        assert any(better)


def test_what_tells_nothing_is_merged(split: Split) -> None:
    (found,) = fewer_answers(sheet(), split, Silent()).proposals
    assert found.generalization["town"].suppressed
    assert found.estimate.answers < 10


def test_no_bucket_is_small(split: Split) -> None:
    small = Sheet(Generalization((Intervals(AGE, (19, 40)), keep(JOB), keep(SEX), keep(TOWN)), SCHEMA.label))
    (found,) = fill_buckets(small, split, 50, Silent()).proposals
    assert found.generalization["age"].labels == ("0 to 40", "41 to 99")
    locked = Sheet(small.generalization, locks=frozenset({Lock("age", "edge", "19")}))
    assert fill_buckets(locked, split, 50, Silent()).proposals == ()


def test_why_a_bucket(split: Split) -> None:
    live, own = Live(split), sheet(Lock("age", "attribute"))
    pool = live.pool
    found = why(own, "age", 1, lambda name: People(pool.levels[0], pool.use(0)))
    assert [*found] == ["merged with “0 to 29”", "merged with “41 to 60”", "split in two"]
    assert found["split in two"]["age"].size == 5
    merged = live.estimate(found["merged with “41 to 60”"])
    assert merged.model.error > live.estimate(own.generalization).model.error + 0.05


def test_whatever_figures_were_told_counts_as_a_look(room: Room) -> None:
    """Of ways to change a bucket, and of the draft without each question: all are counted on the same people."""
    room.do({"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}, 0)
    before = room.looks
    ways = room.why("age", 0)
    assert [each["words"] for each in ways][-1] == "split in two"
    assert room.looks == before + len(ways)
    weighed = room.worth()
    assert len(weighed["worth"]) == len(room.draft.collected)
    without_age = room.draft.replacing(suppress(AGE)).fingerprint
    assert without_age in {*without_each(room.draft)}
    assert (
        weighed["looks"] == room.looks == before + len(ways) + len({*without_each(room.draft)} - room.state.looked)
    )
    assert weighed["figures"]["looks"] == room.looks
    again = room.looks
    room.why("age", 0)
    room.worth()
    assert room.looks == again  # nobody learns more from the same drafts


def test_the_proposed_words_tell_what_was_weighed(room: Room) -> None:
    room.do({"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}, 0)
    before = room.now()["proposed"]["age"]
    assert "Without it" not in before
    assert "Without it the model" in room.worth()["proposed"]["age"]


def test_limits_and_locks_are_a_policy(room: Room) -> None:
    room.do({"do": "limits", "limits": {"max_error_increase": 0.02, "min_adversary_error": {"sex": 0.4}}}, 0)
    room.do({"do": "edit", "edit": {"kind": "divide", "attribute": "age"}}, 1)
    room.do({"do": "edit", "edit": {"kind": "lock", "attribute": "age", "what": "attribute"}}, 2)
    read = Policy.from_yaml(policy_text(room.ground, room.state))
    assert read.budget.max_error_increase == 0.02
    assert read.budget.min_adversary_error == {"sex": 0.4}
    assert [*read.constraints.edges["age"]] == list(room.draft["age"].edges)  # type: ignore[attr-defined]
    assert read.task.label == "rich"


def held(tmp_path: Path, **constraints: Any) -> Room:
    """Open a studio under a policy."""
    known = ground(tmp_path / "run")
    known.rules = Constraints(**constraints)
    return Room(known)


def test_what_a_policy_fixes_is_drawn_and_locked(tmp_path: Path) -> None:
    wanted = {"edges": {"age": [17.0, 64.0]}, "suppressed": ["town"], "together": {"job": [["a", "c"]]}}
    room = held(tmp_path, **wanted, max_buckets={"job": 2})
    draft, locks = room.draft, room.state.sheet.locks
    assert {17.0, 64.0} <= {*draft["age"].edges}  # type: ignore[attr-defined]
    assert draft["town"].suppressed
    assert {Lock("age", "edge", "17"), Lock("age", "edge", "64"), Lock("town", "attribute")} <= locks
    with pytest.raises(ParameterError, match="locked"):
        room.do({"do": "edit", "edit": {"kind": "drop", "attribute": "age"}}, room.state.version)
    assert room.breaches() == []
    room.do({"do": "edit", "edit": {"kind": "ask", "attribute": "job"}}, room.state.version)
    (first, second) = room.now()["breaches"]
    assert first.startswith("job: ")
    assert second.startswith("job: ")
    version = room.state.version
    room.close()
    again = held(tmp_path, **wanted, max_buckets={"job": 2})
    assert again.state.version == version  # the same policy is not applied twice
    again.close()


def test_locks_go_through_the_policy_file_and_come_back(tmp_path: Path) -> None:
    room = held(tmp_path, max_buckets_in_all=60)
    edits = [
        {"kind": "divide", "attribute": "age"},
        {"kind": "ask", "attribute": "job"},
        {"kind": "merge", "attribute": "job", "first": 0, "second": 2},
        {"kind": "lock", "attribute": "job", "what": "attribute"},
        {"kind": "drop", "attribute": "sex"},
        {"kind": "lock", "attribute": "sex", "what": "attribute"},
        {"kind": "ask", "attribute": "town"},
        {"kind": "lock", "attribute": "town", "what": "attribute"},
    ]
    for edit in edits:
        room.do({"do": "edit", "edit": edit}, room.state.version)
    edge = room.now()["cards"][0]["edges"][1]["text"]
    lock = {"kind": "lock", "attribute": "age", "what": "edge", "value": edge}
    room.do({"do": "edit", "edit": lock}, room.state.version)
    read = Policy.from_yaml(policy_text(room.ground, room.state)).constraints
    again = held_to(Sheet(room.draft), read)
    assert again.locks == room.state.sheet.locks
    assert again.generalization == room.draft
    assert read.max_buckets_in_all == 60
    start = held_to(
        Sheet(Generalization.suppressed(SCHEMA)), replace(read, untouched=(), suppressed=("sex", "town"))
    )
    assert edge in [number_text(each) for each in start.generalization["age"].edges]  # type: ignore[attr-defined]
    room.close()


def test_names_go_through_the_policy_file_and_come_back(tmp_path: Path) -> None:
    room = held(tmp_path)
    for edit in (
        {"kind": "ask", "attribute": "job"},
        {"kind": "merge", "attribute": "job", "first": 0, "second": 2},
        {"kind": "rename", "attribute": "job", "label": "a or c", "name": "yes: <b>"},
        {"kind": "divide", "attribute": "age"},
    ):
        room.do({"do": "edit", "edit": edit}, room.state.version)
    young = room.draft["age"].labels[0]
    renamed = {"kind": "rename", "attribute": "age", "label": young, "name": "young"}
    room.do({"do": "edit", "edit": renamed}, room.state.version)
    text, drawn = policy_text(room.ground, room.state), room.draft
    room.close()
    known = ground(tmp_path / "other")
    known.names = Policy.from_yaml(text).names
    other = Room(known)
    assert other.state.past[-1][0] == "names of the policy"
    other.do({"do": "load", "generalization": drawn.to_document()}, other.state.version)
    assert other.draft.to_json() == drawn.to_json()
    # A proposal of the machine knows no names; what was called so here still is.
    plain = Generalization(tuple(p.unnamed for p in drawn.partitions), drawn.label)
    other.do({"do": "load", "generalization": plain.to_document()}, other.state.version)
    assert other.draft["job"].labels[0] == "yes: <b>"
    version = other.state.version
    other.close()
    again = ground(tmp_path / "other")
    again.names = Policy.from_yaml(text).names
    last = Room(again)
    assert last.state.version == version  # the same policy is not applied twice
    assert last.draft.to_json() == drawn.to_json()
    last.close()


def test_a_locked_group_is_the_same_group_again() -> None:
    own = sheet(Lock("job", "bucket", "a or b"))
    said = constraints_of(own)
    assert said.together == {"job": [["a", "b"]]}
    assert said.apart == {"job": [["a", "c"], ["a", "d"]]}
    assert held_to(replace(own, locks=frozenset()), said).locks == own.locks


def test_a_limit_of_nobody_is_in_the_policy_and_what_the_page_does_not_show_stays(room: Room) -> None:
    agreed = Budget(max_error_increase=0.02, max_unique=0, max_asked=3, max_group_gap=0.05, confidence=0.8)
    room.do({"do": "limits", "limits": to_plain(agreed)}, 0)
    assert Policy.from_yaml(policy_text(room.ground, room.state)).budget == agreed
    shown = {"max_error_increase": 0.02, "min_adversary_error": {}, "max_buckets": 9}
    room.do({"do": "limits", "limits": shown}, 1)
    assert room.state.limits == replace(agreed, max_unique=None, max_buckets=9)
