"""The same people give the same counts, generalized before or after."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
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
    assert counts == class_use(LABEL.values, full["works"])
    some = full["works"].to_list()
    assert sum(class_use(LABEL.values, pl.Series("works", [None, *some[1:]]))) == 49


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
    assert alone(G, coarse) == 1
    nothing = Generalization.suppressed(SCHEMA)
    assert (alone(nothing, coarse), alone(nothing, coarse[:1])) == (0, 1)
