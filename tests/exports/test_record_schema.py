"""The JSON Schema accepts what transform gives, and nothing else."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, UnknownValueError, Untouched
from leastwise.exports import code_book, record_schema
from leastwise.partition import suppress
from tests.strategies import generalizations, values

jsonschema = pytest.importorskip("jsonschema")

age = Attribute("age", "continuous", lower=0, upper=120, integer=True, missing=True, question="How old?")
G = Generalization(
    (
        Intervals(age, (19, 63)),
        Groups(Attribute("job", values=("nurse", "cook", "clerk")), (0, 0, 1)),
        Untouched(Attribute("children", "continuous", lower=0, upper=20, integer=True, missing=True)),
        Untouched(Attribute("pay", "continuous", lower=0)),
        suppress(Attribute("sex", values=("f", "m"))),
    ),
    Attribute("rich", values=("0", "1", "true")),
)
GOOD = {"age": "20 to 63", "job": "nurse or cook", "children": "2", "pay": "1234.5"}
CODES = {"age": 1, "job": 0, "children": 2, "pay": 1234.5}


def validator(g: Generalization, **rest: Any) -> Any:
    schema = record_schema(g, **rest)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(json.loads(json.dumps(schema)))


@st.composite
def records(draw: st.DrawFn) -> tuple[Generalization, dict[str, Any]]:
    g = draw(generalizations())
    declared = [a for a in g.schema.attributes if a.values or a.continuous or a.missing]
    return g, {a.name: draw(values(a)) for a in declared}


@settings(deadline=None, max_examples=200)
@given(records(), st.sampled_from(["labels", "codes"]))
def test_it_accepts_what_transform_gives(drawn: Any, output: Any) -> None:
    g, record = drawn
    if not set(g.collected) <= set(record):
        return  # a domain of "other" alone has no value to draw
    try:
        done = g.transform(record, output)
    except UnknownValueError:
        return
    # JSON has no infinity: as a label it is a text, as a number it cannot be sent at all.
    if not any(isinstance(value, float) and math.isinf(value) for value in done.values()):
        validator(g, output=output).validate(json.loads(json.dumps(done)))


def test_what_is_accepted() -> None:
    check = validator(G)
    for more in ({}, {"rich": "1"}, {"rich": 0}, {"rich": True}, {"rich": None}, {"children": "missing"}):
        assert check.is_valid({**GOOD, **more}), more
    assert validator(G, output="codes").is_valid(CODES)
    assert validator(G, output="codes").is_valid({**CODES, "children": None})


@pytest.mark.parametrize(
    "more",
    [
        {"age": 37},
        {"age": "37"},
        {"age": "missing "},
        {"age": None},
        {"age": 1},
        {"job": "nurse"},
        {"children": 2},
        {"children": "21"},
        {"children": "2.0"},
        {"pay": 1234.5},
        {"pay": "much"},
        {"pay": "missing"},
        {"pay": "1234.5\n"},
        {"sex": "f"},
        {"sex": "any"},
        {"name": "Ada"},
        {"rich": "2"},
        {"rich": "0.0"},
    ],
    ids=str,
)
def test_what_is_refused(more: dict[str, Any]) -> None:
    assert not validator(G).is_valid({**GOOD, **more})


def test_every_asked_attribute_must_be_there() -> None:
    for name in GOOD:
        assert not validator(G).is_valid({key: value for key, value in GOOD.items() if key != name})


@pytest.mark.parametrize("more", [{"age": 4}, {"age": -1}, {"age": "0 to 19"}, {"children": 21}, {"pay": -1}])
def test_codes_out_of_range_are_refused(more: dict[str, Any]) -> None:
    assert not validator(G, output="codes").is_valid({**CODES, **more})


def test_without_the_label() -> None:
    assert not validator(G, label=False).is_valid({**GOOD, "rich": "1"})


def test_questions_are_titles() -> None:
    assert record_schema(G)["properties"]["age"]["title"] == "How old?"


def rows(text: str) -> list[dict[str, str]]:
    return [*csv.DictReader(io.StringIO(text, newline=""))]


@settings(deadline=None, max_examples=60)
@given(generalizations(), st.data())
def test_codes_and_the_book_give_the_labels(generalization: Generalization, data: st.DataObject) -> None:
    book = rows(code_book(generalization))
    for partition in generalization.partitions:
        own = [row for row in book if row["attribute"] == partition.attribute.name]
        if partition.suppressed:
            assert own == []
        elif isinstance(partition, Untouched):
            assert [row["code"] for row in own] == [""]
        else:
            assert [int(row["code"]) for row in own] == [*range(partition.size)]
            assert [row["label"] for row in own] == [*partition.labels]


def test_a_frame_of_codes_joined_with_the_book_is_the_frame_of_labels() -> None:
    from leastwise.datasets import load_adult
    from leastwise.minimizers import UniformMinimizer
    from leastwise.records.table import Table

    adult = load_adult()
    few = adult.frame.head(200)
    generalization = UniformMinimizer(3, random_state=0).minimize(Table.from_frame(few, adult.schema))
    codes, labels = (pl.DataFrame(generalization.transform(few, output=way)) for way in ("codes", "labels"))
    book = {(row["attribute"], row["code"]): row for row in rows(code_book(generalization))}
    for name in generalization.collected:
        read = [book[name, str(code)]["label"] for code in codes[name].to_list()]
        assert read == labels[name].to_list()
    values = {
        v for row in book.values() if row["attribute"] == "occupation" for v in row["values"].split(" | ") if v
    }
    assert values == {*adult.schema["occupation"].values}, "no value is left out of the book"
