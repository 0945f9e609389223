"""Encoding, splitting, distinct records."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import (
    Attribute,
    DataError,
    Generalization,
    ParameterError,
    Schema,
    SchemaError,
    Table,
    UnknownValueError,
)
from leastwise.records.grouping import Beside, Cells, joint_buckets
from tests import strategies as own
from tests.samples import one_column

AGE = Attribute("age", "continuous", lower=0, integer=True, missing=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
SCHEMA = Schema((AGE, SEX), Attribute("y", values=("no", "yes")))
FRAME = pl.DataFrame({"y": ["no", "yes", "no"], "sex": ["m", "f", "m"], "age": [30, None, 7], "note": [1, 2, 3]})


def test_codes_follow_the_domain_not_the_order_of_appearance() -> None:
    table = Table.from_frame(FRAME, SCHEMA)
    assert table.codes.tolist() == [[1, 1], [2, 0], [0, 1]]
    assert table.levels[0].tolist() == [7, 30]
    assert table.sizes == (3, 2)
    assert table.y.tolist() == [0, 1, 0]
    assert table.codes.dtype == np.uint8
    assert table.use(1).tolist() == [1, 2]


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy])
def test_every_kind_of_frame_gives_the_same_codes(convert: object) -> None:
    assert callable(convert)
    assert (Table.from_frame(convert(FRAME), SCHEMA).codes == Table.from_frame(FRAME, SCHEMA).codes).all()


def test_codes_agree_with_the_generalization_of_raw_records() -> None:
    g = Generalization.untouched(SCHEMA)
    table = Table.from_frame(FRAME, SCHEMA)
    assert [g["sex"].bucket(value) for value in FRAME["sex"]] == table.generalize(g)[:, 1].tolist()


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("age", [30, -1, 7], r"age: -1 in record 2 .* whole numbers from 0"),
        ("age", [30, 1.5, 7], r"age: 1.5 in record 2"),
        ("age", ["30", "x", "7"], r"age: 'x' in record 2"),
        ("sex", ["m", "f", "mm"], r"sex: 'mm' in record 3 .* did you mean 'm'"),
        ("sex", ["m", None, "f"], r"sex: a missing value in record 2 .*'missing: true' for sex"),
        ("y", ["no", "maybe", "yes"], r"y: 'maybe' in record 2"),
    ],
)
def test_a_strange_value_is_named_with_its_record(column: str, values: list[object], words: str) -> None:
    frame = FRAME.with_columns(pl.Series(column, values, strict=False))
    with pytest.raises(UnknownValueError, match=words):
        Table.from_frame(frame, SCHEMA)


def test_missing_labels_and_columns_are_named() -> None:
    with pytest.raises(DataError, match="missing in 1 record;"):
        Table.from_frame(FRAME.with_columns(y=pl.Series(["no", None, "yes"])), SCHEMA)
    with pytest.raises(DataError, match="no column 'age'; did you mean 'agee'"):
        Table.from_frame(FRAME.rename({"age": "agee"}), SCHEMA)


def test_other_takes_what_the_domain_does_not_have() -> None:
    schema = Schema(
        (Attribute("age", "continuous", lower=0, other=True), Attribute("sex", values=("m",), other=True))
    )
    table = Table.from_frame(pl.DataFrame({"age": [5.0, -2.0], "sex": ["f", "m"]}), schema)
    assert table.codes.tolist() == [[0, 1], [1, 0]]


def test_extreme_numbers_are_numbers() -> None:
    frame = pl.DataFrame({"x": [1e308, -1e308, math.inf, -math.inf, math.nan, 0.0]})
    table = Table.from_frame(frame, Schema((Attribute("x", "continuous", missing=True),)))
    assert table.codes[:, 0].tolist() == [3, 1, 4, 0, 5, 2]


def test_pandas_integers_beside_missing_ones_keep_their_text() -> None:
    schema = Schema((Attribute("code", values=("1", "2"), missing=True),))
    frame = pd.DataFrame({"code": [1, None, 2]})
    assert Table.from_frame(frame, schema).codes[:, 0].tolist() == [0, 2, 1]


def test_many_values_need_two_bytes_and_no_more_than_half_again() -> None:
    values = [str(i) for i in range(522)]
    frame = pl.DataFrame({"occupation": values * 100, "sex": ["f", "m"] * 26_100, "y": ["a", "b"] * 26_100})
    schema = Schema((Attribute("occupation", values=tuple(values)), SEX), Attribute("y", values=("a", "b")))
    table = Table.from_frame(frame, schema)
    assert table.codes.dtype == np.uint16
    assert table.codes.nbytes + table.y.nbytes <= 1.5 * table.codes.nbytes


@given(own.tables(max_rows=60), st.integers(0, 3))
def test_no_record_of_a_split_is_lost(table: Table, seed: int) -> None:
    split = table.split(seed)
    assert sum(map(len, split)) == len(table)
    assert [part.part for part in split] == ["train", "validation", "test"]
    rows = np.concatenate([np.column_stack([part.codes, part.y]) for part in split])
    whole = np.column_stack([table.codes, table.y])
    assert sorted(map(tuple, rows)) == sorted(map(tuple, whole))


def test_people_with_rare_values_are_as_common_in_every_part_as_in_the_file() -> None:
    """Nobody is moved for a value that training would otherwise lack: the test part is a random sample."""
    rng = np.random.default_rng(0)
    rare = rng.random(3000) < 0.3
    job = np.where(rare, 1 + rng.integers(0, 5000, 3000), 0).astype(np.uint16)
    declared = Attribute("job", values=tuple(map(str, range(5001))))
    table = Table(Schema((declared,)), np.asfortranarray(job[:, None]), (np.array(declared.values),))
    shares = [[(part.codes[:, 0] > 0).mean() for part in table.split(seed)] for seed in range(20)]
    assert np.mean(shares, axis=0) == pytest.approx([rare.mean()] * 3, abs=0.01)


def test_the_split_is_random_seeded_and_has_its_sizes() -> None:
    table = one_column(AGE, list(range(1000)))
    split = table.split(1)
    assert [len(part) for part in split] == [600, 100, 300]
    assert split.train.codes.tolist() == table.split(1).train.codes.tolist()
    assert split.train.codes.tolist() != table.split(2).train.codes.tolist()
    assert split.train.codes.max() > 900, "the training part is not the first 60 % of the file"
    with pytest.raises(ParameterError, match="sum to 1"):
        table.split(1, (0.5, 0.1, 0.1))


@given(own.tables(), st.integers(1, 30))
def test_those_drawn_for_one_purpose_are_the_same_each_time(table: Table, most: int) -> None:
    rows = table.drawn(most, "a purpose")
    assert np.array_equal(rows, table.drawn(most, "a purpose"))
    assert np.array_equal(rows, np.unique(rows))
    assert len(rows) == min(most, len(table)) or table.weights is not None
    assert np.array_equal(table.at_most(most, "a purpose").codes, table.codes[rows])
    assert table.at_most(len(table), "a purpose") is table
    counted = table.distinct()
    assert counted.at_most(1, "a purpose") is counted  # each of its rows stands for others


@given(own.tables(weights=True))
def test_distinct_records_keep_all_people(table: Table) -> None:
    distinct = table.distinct()
    assert distinct.people == table.people
    rows = np.column_stack([distinct.codes, distinct.y])
    assert len(np.unique(rows, axis=0)) == len(rows)
    for j in range(len(table.schema)):
        assert distinct.use(j).tolist() == table.use(j).tolist()


@given(st.lists(st.lists(st.integers(0, 250), min_size=12, max_size=12), min_size=1, max_size=20))
@settings(max_examples=30)
def test_joint_buckets_of_many_wide_columns(rows: list[list[int]]) -> None:
    codes = np.array(rows * 2)
    first, bucket = joint_buckets(codes, [251] * 12)
    assert (codes[first][bucket] == codes).all()
    assert len(first) == len({tuple(row) for row in rows})


@given(st.integers(1, 60), st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(0, 99))
@settings(max_examples=60)
def test_joint_buckets_lie_in_the_order_of_their_rows(rows: int, sizes: list[int], seed: int) -> None:
    """However many rows are possible, and whether they are counted or sorted."""
    codes = np.random.default_rng(seed).integers(0, sizes, (rows, len(sizes)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leastwise.records.grouping._BLOCK", 7)
        first, bucket = joint_buckets(codes, sizes)
    _, own, inverse = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    assert (first.tolist(), bucket.tolist()) == (own.tolist(), inverse.ravel().tolist())


@pytest.mark.parametrize("cache", [2**18, 0])
@given(st.integers(0, 40), st.integers(1, 9), st.integers(1, 90), st.booleans(), st.integers(0, 99))
@settings(max_examples=60)
def test_values_are_counted_beside_records(
    cache: int, rows: int, records: int, size: int, several: bool, seed: int
) -> None:
    """By one table of all pairs where they are few; else run by run, by a table or by sorting."""
    rng = np.random.default_rng(seed)
    record_of, values = rng.integers(0, records, rows), rng.integers(0, size, rows)
    people = rng.integers(1, 4, rows) if several else np.ones(rows, dtype=np.int64)
    counted = Counter[tuple[int, int]]()
    for record, value, n in zip(record_of.tolist(), values.tolist(), people.tolist(), strict=True):
        counted[record, value] += n
    expected = [(*pair, float(n)) for pair, n in sorted(counted.items())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("leastwise.records.grouping._SMALL_TABLE", cache)
        patch.setattr("leastwise.records.grouping._BLOCK", 7)
        beside = Beside(record_of, records, people if several else None).cells(values, size)
    for cells in (beside, Cells.of(record_of, values, people)):
        assert [*zip(*(column.tolist() for column in cells), strict=True)] == expected
    in_order = Cells.of(*beside)
    assert all(np.array_equal(a, b) for a, b in zip(in_order, beside, strict=True))


def test_a_generalization_of_another_schema_is_refused() -> None:
    with pytest.raises(SchemaError, match="same attributes"):
        Table.from_frame(FRAME, SCHEMA).generalize(Generalization.untouched(Schema((AGE,))))


@given(own.tables())
def test_a_generalization_from_maps_gives_the_maps_back(table: Table) -> None:
    maps = [np.minimum(np.arange(size), 1) for size in table.sizes]
    g = table.generalization(maps)
    assert all((a == b).all() for a, b in zip(table.bucket_maps(g), maps, strict=True))
    assert (table.generalize(g) == np.minimum(table.codes, 1)).all()
