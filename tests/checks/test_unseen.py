"""Values that nobody declared are counted by attribute, and their records left out."""

from __future__ import annotations

import polars as pl
import pytest

from leastwise import Attribute, Schema
from leastwise.checks import NewRecords, read_new
from leastwise.errors import DataError
from tests.checks.people import SCHEMA, frame


def counted(new: NewRecords) -> dict[str, int]:
    """Where there are some; all attributes and the label are asked about, whatever was found."""
    assert set(new.unseen) == {"age", "sex", "town", "works"}
    return {name: count for name, count in new.unseen.items() if count}


def test_all_as_declared() -> None:
    new = read_new(frame(30, 1), SCHEMA)
    assert (len(new.table), new.people, new.unseen) == (30, 30, {})


def test_each_attribute_and_the_label_are_counted() -> None:
    strange = frame(30, 1).with_columns(
        town=pl.Series(["z", "y", *frame(30, 1)["town"][2:]]),
        age=pl.Series([200, 30, -5, *frame(30, 1)["age"][3:]]),
        works=pl.Series([*frame(30, 1)["works"][:29], "perhaps"]),
    )
    new = read_new(strange, SCHEMA)
    assert counted(new) == {"age": 2, "town": 2, "works": 1}
    assert (len(new.table), new.people) == (26, 30)


def test_a_missing_answer_is_strange_unless_declared() -> None:
    gaps = frame(10, 1).with_columns(age=pl.Series([None, *frame(10, 1)["age"][1:]]))
    assert counted(read_new(gaps, SCHEMA)) == {"age": 1}
    attributes = [Attribute("age", "continuous", lower=0, integer=True, missing=True), *SCHEMA.attributes[1:]]
    assert read_new(gaps, Schema(tuple(attributes), SCHEMA.label)).unseen == {}


def test_texts_in_a_column_of_numbers() -> None:
    texts = frame(5, 1).with_columns(age=pl.Series(["about 30", "31", "32.5", "33", "34"]))
    assert counted(read_new(texts, SCHEMA)) == {"age": 2}


def test_another_file_altogether() -> None:
    with pytest.raises(DataError, match="no record fits the schema: 5 of 5 have a value of town"):
        read_new(frame(5, 1).with_columns(town=pl.lit("?")), SCHEMA)
