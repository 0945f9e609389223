"""Edits: whatever is done, a strict partition of the same domain comes out, or it is said why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, Partition, Schema
from leastwise.errors import ParameterError
from leastwise.schema.hierarchy import Hierarchy
from leastwise.studio import as_python
from leastwise.studio.edits import Lock, People, Sheet, apply_edit
from tests.strategies import attributes, partitions

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
JOB = Attribute("job", values=("a", "b", "c", "d"), personal=True)
DEGREE = Attribute("degree", "ordinal", values=("low", "middle", "high"))
NUMBERS = People(np.arange(100.0), np.ones(101))


def people(name: str) -> People:
    return NUMBERS if name == "age" else People(np.array(JOB.values), np.array([5.0, 1, 1, 5, 1]))


def done(partition: Partition, **edit: Any) -> Partition:
    sheet = Sheet(Generalization((partition,)))
    name = partition.attribute.name
    return apply_edit(sheet, {"attribute": name, **edit}, people).generalization[name]


def test_what_can_be_done_to_a_number() -> None:
    ages = Intervals(AGE, (19, 63))
    assert done(ages, kind="merge", first=0, second=1).labels == ("0 to 63", "64 to 99", "missing")
    assert done(ages, kind="move_edge", edge=0, to=24.0).labels[0] == "0 to 24"
    assert done(ages, kind="split", bucket=1, at=40).labels[1:3] == ("20 to 40", "41 to 63")
    assert done(ages, kind="split", bucket=1).labels[1:3] == ("20 to 40", "41 to 63")  # the roundest in the middle
    assert done(ages, kind="move", pieces=[3], to=2).labels == ("0 to 19", "20 to 63", "64 to 99 or missing")
    assert done(ages, kind="drop").suppressed
    assert done(ages, kind="ask").untouched
    assert len(done(done(ages, kind="ask"), kind="divide").labels) == 5


def test_groups_of_values_begin_where_people_would_begin() -> None:
    job = Attribute("job", values=("a", "b", "c", "d", "e"))
    grade = replace(job, kind="ordinal")

    def begun(attribute: Attribute, *use: float) -> tuple[str, ...]:
        known = People(np.array(attribute.values), np.array(use))
        sheet = Sheet(Generalization.suppressed(Schema((attribute,))))
        edit = {"kind": "divide", "attribute": "job"}
        return apply_edit(sheet, edit, lambda name: known).generalization["job"].labels

    assert begun(job, 40, 5, 30, 5, 20) == ("a", "b or d", "c", "e")  # the rare ones together
    assert begun(job, 25, 18, 20, 19, 18) == ("a", "b or e", "c", "d")  # nothing is rare: the rarest two
    assert begun(grade, 20, 20, 20, 20, 20) == ("a", "b", "c or d", "e")  # runs of about as many people
    both = replace(job, values=("a", "b"))
    assert begun(both, 90, 10) == ("a", "b")
    tree = Hierarchy.from_tree({"x": ["a", "b"], "y": ["c", "d", "e"]})
    assert begun(replace(job, hierarchy=tree), 1, 1, 1, 1, 1) == ("x", "y")


def test_a_split_leaves_missing_where_it_was() -> None:
    together = Intervals(AGE, (19, 63), (1,))
    assert done(together, kind="split", bucket=0, at=9).labels == (
        "0 to 9",
        "10 to 19",
        "20 to 63 or missing",
        "64 to 99",
    )


def test_what_can_be_done_to_values() -> None:
    jobs = Groups.of(JOB, [["a", "b"], ["c", "d"]])
    assert done(jobs, kind="move", pieces=[1], to=1).labels == ("a", "b, c or d")
    assert done(jobs, kind="move", pieces=[0, 2], to=None).labels == ("a or c", "b", "d")
    assert done(jobs, kind="split", bucket=0).labels == ("a", "b", "c or d")
    assert done(jobs, kind="merge", first=0, second=1).suppressed


def test_values_are_grouped_as_declared() -> None:
    europe = {"North": ["Norway", "Sweden"], "South": ["Italy"]}
    tree = Hierarchy.from_tree({"Europe": europe, "Asia": ["Japan"]})
    born = Attribute("born", values=("Italy", "Japan", "Norway", "Sweden"), missing=True, hierarchy=tree)
    own = Groups(born, (0, 1, 2, 3, 4))
    assert [len(each) for each in done(own, kind="level", level=1).groups] == [1, 1, 2, 0]  # type: ignore[attr-defined]
    assert [len(each) for each in done(own, kind="level", level=2).groups] == [3, 1, 0]  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="no hierarchy"):
        done(Groups(JOB, (0, 0, 1, 1)), kind="level", level=1)
    made: dict[str, Generalization] = {}
    drawn = Generalization((done(own, kind="level", level=1),))
    exec(as_python(drawn).replace("generalization.save('draft.json')", ""), made)
    assert made["generalization"].to_json() == drawn.to_json()


@pytest.mark.parametrize(
    ("partition", "edit", "says"),
    [
        (Intervals(AGE, (19, 63)), {"kind": "move_edge", "edge": 0, "to": 70}, "ascend"),
        (Intervals(AGE, (19, 63)), {"kind": "move_edge", "edge": 5, "to": 70}, "cannot be done"),
        (Intervals(AGE, (19, 63)), {"kind": "merge", "first": 0, "second": 2}, "neighbouring"),
        (Intervals(AGE, (19, 63)), {"kind": "split", "bucket": 0, "at": 19}, "already"),
        (Intervals(AGE, (19, 63)), {"kind": "move", "pieces": [0], "to": 1}, "move the edge"),
        (Groups(JOB, (0, 1, 1, 1)), {"kind": "split", "bucket": 0}, "one value"),
        (Groups(DEGREE, (0, 1, 2)), {"kind": "move", "pieces": [0], "to": 2}, "in order"),
        (Groups(JOB, (0, 1, 1, 1)), {"kind": "move", "pieces": [], "to": 1}, "cannot be done"),
        (Groups(JOB, (0, 1, 1, 1)), {"kind": "explode"}, "must be one of"),
        (Groups(JOB, (0, 1, 1, 1)), {"kind": "merge", "first": "x", "second": None}, "cannot be done"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(partition: Partition, edit: dict[str, Any], says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        done(partition, **edit)


@st.composite
def edits(draw: st.DrawFn) -> dict[str, Any]:
    number = st.integers(-1, 4)
    return {
        "kind": draw(st.sampled_from(["merge", "move_edge", "split", "move", "drop", "ask", "divide"])),
        "first": draw(number), "second": draw(number), "bucket": draw(number), "edge": draw(number),
        "to": draw(number | st.none() | st.floats(-50, 50)), "at": draw(st.floats(-50, 50) | st.none()),
        "pieces": draw(st.lists(number, max_size=3)),
    }  # fmt: skip


@given(st.data(), attributes("x"), edits())
def test_a_strict_partition_or_a_reason(data: st.DataObject, attribute: Attribute, edit: dict[str, Any]) -> None:
    before = data.draw(partitions(attribute))
    levels = np.array([-3.0, 0.0, 1.0, 7.0]) if attribute.continuous else np.array(attribute.values)
    known = People(levels, np.ones(len(levels) + attribute.extra_values))
    try:
        sheet = apply_edit(Sheet(Generalization((before,))), {"attribute": "x", **edit}, lambda name: known)
    except ParameterError:
        return
    after = sheet.generalization["x"]
    assert after.attribute == attribute
    found = Generalization.from_json(sheet.generalization.to_json())
    assert found == sheet.generalization
    if edit["kind"] == "merge" and not before.untouched:
        assert after.is_coarser_than(before)
    if edit["kind"] == "split":
        assert before.is_coarser_than(after)


def test_what_is_locked_stays() -> None:
    sheet = Sheet(Generalization((Intervals(AGE, (19, 63)), Groups(JOB, (0, 0, 1, 1)))))

    def edited(sheet: Sheet, **edit: Any) -> Sheet:
        return apply_edit(sheet, edit, people)

    whole = edited(sheet, kind="lock", attribute="job", what="attribute")
    with pytest.raises(ParameterError, match="the question is locked"):
        edited(whole, kind="drop", attribute="job")
    edge = edited(sheet, kind="lock", attribute="age", what="edge", value="63")
    assert (
        edited(edge, kind="move_edge", attribute="age", edge=0, to=29).generalization["age"].labels[0] == "0 to 29"
    )
    for edit in (
        {"kind": "move_edge", "edge": 1, "to": 60},
        {"kind": "merge", "first": 1, "second": 2},
        {"kind": "drop"},
    ):
        with pytest.raises(ParameterError, match="the edge 63 is locked"):
            edited(edge, attribute="age", **edit)
    bucket = edited(sheet, kind="lock", attribute="job", what="bucket", value="a or b")
    with pytest.raises(ParameterError, match="“a or b” is locked"):
        edited(bucket, kind="move", attribute="job", pieces=[2], to=0)
    assert edited(bucket, kind="unlock", attribute="job", what="bucket", value="a or b") == sheet
    with pytest.raises(ParameterError, match="no edge"):
        edited(sheet, kind="lock", attribute="age", what="edge", value="64")
    assert replace(sheet, locks=frozenset({Lock("age", "edge", "63")})) == edge


def test_a_name_is_that_of_one_very_group() -> None:
    sheet = Sheet(Generalization((Groups(JOB, (0, 0, 1, 1)),)))
    named = apply_edit(
        sheet, {"kind": "rename", "attribute": "job", "label": "a or b", "name": " office "}, people
    )
    assert named.generalization["job"].labels == ("office", "c or d")
    moved = apply_edit(named, {"kind": "move", "attribute": "job", "pieces": [1], "to": 1}, people)
    assert moved.generalization["job"].labels == ("a", "b, c or d")
    back = apply_edit(moved, {"kind": "move", "attribute": "job", "pieces": [1], "to": 0}, people)
    assert back.generalization["job"].labels == ("office", "c or d")  # the very same group
    unnamed = apply_edit(back, {"kind": "rename", "attribute": "job", "label": "a or b", "name": ""}, people)
    assert unnamed.generalization["job"].labels == ("a or b", "c or d")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("c or d", "another group is called"),
        ("C or D", "another group is called"),
        ("c", "'c' is a value that it does not hold"),
        ("x" * 81, "at most 80 characters; this one has 81"),
        ("a\nb", "one line of visible text"),
        ("\u202eecirp", "one line of visible text"),
        (3, "must be a text"),
    ],
)
def test_a_name_must_tell_its_group(name: Any, words: str) -> None:
    sheet = Sheet(Generalization((Groups(JOB, (0, 0, 1, 1)),)))
    with pytest.raises(ParameterError, match=words):
        apply_edit(sheet, {"kind": "rename", "attribute": "job", "label": "a or b", "name": name}, people)


def test_a_lock_holds_whatever_its_bucket_is_called() -> None:
    sheet = Sheet(Generalization((Groups(JOB, (0, 0, 1, 1)),)))
    for edit in (
        {"kind": "lock", "attribute": "job", "what": "bucket", "value": "a or b"},
        {"kind": "rename", "attribute": "job", "label": "a or b", "name": "office"},
    ):
        sheet = apply_edit(sheet, edit, people)
    with pytest.raises(ParameterError, match="locked"):
        apply_edit(sheet, {"kind": "merge", "attribute": "job", "first": 0, "second": 1}, people)
