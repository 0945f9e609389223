"""The code book turns codes into what people read, for every generalization."""

from __future__ import annotations

import csv
import io

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Generalization, Untouched
from leastwise.exports import code_book
from tests.strategies import generalizations


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
