"""The same people give the same counts, generalized before or after; values nobody declared are counted too."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.checks import NewRecords, read_new
from leastwise.checks.use import alone, bucket_use, class_use, collected_use, label_use
from leastwise.errors import DataError
from tests.checks.people import LABEL, SCHEMA, G, frame


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 20), st.integers(1, 80))
def test_full_and_generalized_records_count_alike(seed: int, people: int) -> None:
    full = frame(people, seed)
    expected = bucket_use(G, Table.from_frame(full, SCHEMA))
    assert [use.attribute for use in expected] == ["age", "town"]
    assert all(sum(use.counts) == people for use in expected)
    assert collected_use(G, G.transform(full)) == expected
    assert collected_use(G, G.transform(full, "codes"), codes=True) == expected


def test_labels_are_counted_and_missing_ones_left_out() -> None:
    full = frame(50, 1)
    counts = label_use(Table.from_frame(full, SCHEMA))
    assert counts == class_use(LABEL, full)
    some = full["works"].to_list()
    assert sum(class_use(LABEL, pl.DataFrame({"works": [None, *some[1:]]})) or ()) == 49


def test_records_without_labels() -> None:
    assert label_use(Table.from_frame(frame(9, 1), Schema(SCHEMA.attributes))) is None


def test_texts_that_look_like_numbers() -> None:
    rooms = Attribute("rooms", values=("1", "2"))
    g = Generalization.untouched(Schema((rooms,)))
    assert collected_use(g, pl.DataFrame({"rooms": [1, 1, 2]}))[0].counts == (2, 1)


def test_what_is_no_answer_is_counted_and_not_shown() -> None:
    coarse = G.transform(frame(20, 1)).with_columns(age=pl.lit("37 and a half"))
    with pytest.raises(DataError, match="age: 20 records hold something") as error:
        collected_use(G, coarse)
    assert "half" not in str(error.value)


def test_full_records_are_refused() -> None:
    with pytest.raises(DataError, match="'sex', which this generalization does not collect"):
        collected_use(G, frame(20, 1))
    with pytest.raises(DataError, match="no column 'age'"):
        collected_use(G, frame(20, 1).drop("age"))


def test_people_who_are_alone() -> None:
    coarse = pl.DataFrame({"age": ["x", "x", "y"], "town": ["p", "p", "p"], "works": ["no", "yes", "no"]})
    assert alone(G, coarse) == 3, "with the label that is stored beside"
    assert alone(G, coarse.drop("works")) == 1
    nothing = Generalization.suppressed(SCHEMA)
    assert (alone(nothing, coarse), alone(nothing, coarse[:1])) == (0, 1)


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
