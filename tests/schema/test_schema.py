"""Attributes and schemas validate themselves and name what is wrong."""

from __future__ import annotations

import math
from typing import Any

import pytest

from leastwise import Attribute, Schema, SchemaError

SEX = Attribute("sex", values=("f", "m"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": ""}, "non-empty text"),
        ({"name": "x", "kind": "continous", "values": ("a",)}, "did you mean 'continuous'"),
        ({"name": "x"}, "at least one value"),
        ({"name": "x", "values": ("a", "a")}, "'a' is listed twice"),
        ({"name": "x", "values": ("",)}, "non-empty texts"),
        ({"name": "x", "values": ("a",), "labels": ("A", "B")}, "labels must match values; got 2 for 1"),
        ({"name": "x", "values": ("a", "b"), "labels": ("A", "A")}, "'A' is used twice"),
        ({"name": "x", "values": ("a",), "lower": 1}, "not lower, upper or integer"),
        ({"name": "x", "kind": "continuous", "values": ("a",)}, "not values or labels"),
        ({"name": "x", "kind": "continuous", "lower": 2, "upper": 1}, "lower must be below upper"),
        ({"name": "x", "kind": "continuous", "lower": math.inf}, "finite number"),
        ({"name": "x", "kind": "continuous", "lower": 0.5, "integer": True}, "must be whole"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        Attribute(**arguments)


def test_all_problems_of_an_attribute_come_at_once() -> None:
    with pytest.raises(SchemaError) as caught:
        Attribute("x", values=("a", "a", ""), labels=("A",))
    assert len(caught.value.problems) == 3


def test_a_schema_names_its_attributes() -> None:
    schema = Schema((SEX, Attribute("age", "continuous")), Attribute("y", values=("no", "yes")))
    assert schema.names == ("sex", "age")
    assert schema.with_personal(["age"]).personal == ("age",)
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        schema.with_personal(["agee"])
    with pytest.raises(SchemaError, match="declared twice"):
        Schema((SEX, SEX))
    with pytest.raises(SchemaError, match="the label and an attribute"):
        Schema((SEX,), SEX)
    with pytest.raises(SchemaError, match="must be known of everybody"):
        Schema((SEX,), Attribute("y", "continuous", missing=True))


def test_replacing_one_attribute_leaves_the_others() -> None:
    schema = Schema((SEX, Attribute("age", "continuous")))
    changed = schema.with_attribute(Attribute("sex", values=("f", "m", "x")))
    assert changed["sex"].values == ("f", "m", "x")
    assert changed["age"] == schema["age"]
