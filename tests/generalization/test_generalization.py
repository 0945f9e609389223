"""The artefact: round trip, comparison, description."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import ArtefactError, Attribute, Generalization, Groups, Intervals, Schema, SchemaError
from leastwise.documents import Problems, read_json
from leastwise.generalization.artefact import json_schema
from tests import strategies as own

AGE = Attribute("age", "continuous", lower=0, integer=True, unit="years")
SEX = Attribute("sex", values=("Female", "Male"), personal=True)
SCHEMA = Schema((AGE, SEX), Attribute("income", values=("low", "high")))


@given(own.generalizations())
def test_json_round_trip_is_the_identity(g: Generalization) -> None:
    text = g.to_json()
    again = Generalization.from_json(text)
    assert again == g
    assert again.to_json() == text


@given(own.generalizations())
def test_every_artefact_satisfies_the_published_json_schema(g: Generalization) -> None:
    problems = Problems()
    schema = read_json(json_schema(), problems)
    jsonschema.Draft202012Validator(schema).validate(read_json(g.to_json(), problems))
    assert not problems.texts


@given(st.data())
def test_refinement_holds_what_both_tell(data: st.DataObject) -> None:
    schema = data.draw(own.schemas())
    a, b = (data.draw(own.generalizations(schema)) for _ in range(2))
    both = a.refine(b)
    assert a.is_coarser_than(both)
    assert b.is_coarser_than(both)
    assert a.compare(a).overall == "same"
    assert Generalization.suppressed(schema).is_coarser_than(a)
    assert a.is_coarser_than(Generalization.untouched(schema))


def test_a_person_can_read_it() -> None:
    g = Generalization.of([Intervals(AGE, (19, 63))], SCHEMA.attributes, label=SCHEMA.label)
    assert g.describe().splitlines() == [
        "Ask 1 of 2 attributes, 3 answers in all.",
        "",
        "age (years)",
        "    0 to 19",
        "    20 to 63",
        "    64 or more",
        "",
        "sex (personal)",
        "    not asked",
    ]
    assert "| age (years) | 3 | 0 to 19 · 20 to 63 · 64 or more |" in g.describe(markdown=True)


def test_markdown_escapes_what_would_break_the_table() -> None:
    wild = Attribute("a|b", values=("<script>", "line\nbreak"))
    text = Generalization.untouched(Schema((wild,))).describe(markdown=True)
    assert "a\\|b" in text
    assert "<script>" not in text
    assert "line break" in text


def test_limit_points() -> None:
    assert Generalization.suppressed(SCHEMA).collected == ()
    untouched = Generalization.untouched(SCHEMA)
    assert untouched.not_collected == ()
    assert untouched.describe().splitlines()[0] == "Ask 2 of 2 attributes, 2 of them in full, 2 answers in all."


def test_compare_says_what_got_finer_or_coarser() -> None:
    fine = Generalization.of([Intervals(AGE, (19, 63))], SCHEMA.attributes)
    coarse = Generalization.of([Intervals(AGE, (63,))], SCHEMA.attributes)
    other = Generalization.of([Intervals(AGE, (40,)), Groups.of(SEX, [["Female"], ["Male"]])], SCHEMA.attributes)
    assert fine.compare(coarse).overall == "coarser"
    assert coarse.compare(fine).overall == "finer"
    assert fine.compare(other).changes == ("different", "finer")
    assert "Neither is coarser" in str(fine.compare(other))
    with pytest.raises(SchemaError, match="'sex' differ"):
        fine.compare(Generalization.suppressed(Schema((AGE,))))


def test_files(tmp_path: Path) -> None:
    g = Generalization.untouched(SCHEMA)
    g.save(tmp_path / "g.json")
    assert Generalization.load(tmp_path / "g.json") == g
    with pytest.raises(ArtefactError, match="No such file"):
        Generalization.load(tmp_path / "absent.json")
    with pytest.raises(ArtefactError, match="directory"):
        Generalization.load(tmp_path)
    (tmp_path / "latin.json").write_bytes(b'"\xe9"')
    with pytest.raises(ArtefactError, match="UTF-8"):
        Generalization.load(tmp_path / "latin.json")
