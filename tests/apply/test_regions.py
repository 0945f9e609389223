"""A latitude and a longitude asked as one named region of a table, with the same answer on every road."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Generalization, Groups, ParameterError, Schema, SchemaError, Table
from leastwise.exports import to_sql
from leastwise.exports.questionnaire import questions
from leastwise.records.encoding import derived_column
from leastwise.records.sources import Source
from leastwise.records.sources.duckdb import of_files
from leastwise.schema.derive import Box, Region, derived, regions_from, rule_of
from leastwise.schema.file import from_yaml, to_yaml
from leastwise.schema.inference import infer_schema
from tests.exports.engines import duckdb_rows, postgres_rows, sqlite_rows
from tests.exports.node import Node, node  # noqa: F401

EAST = "far East 0 170 20 180; far East 0 -180 20 -170"
RULE = f"region with lon: the North 50 -10 60.5 10; South 40 -10 50 10; {EAST}"
NAMES = ("the North", "South", "far East")
PLACE = Attribute("lat", values=NAMES, missing=True, other=True, derive=RULE, personal=True)
G = Generalization((Groups(PLACE, (0, 0, 1, 2, 3)),))
COORDINATES = [
    "52.5",
    "50",
    "60.5",
    "60.51",
    "-0",
    "45.25",
    "10",
    "-10",
    "175",
    "-175",
    "x",
    "",
    " 41 ",
    "1e1",
    None,
]


@pytest.mark.parametrize(
    ("lat", "lon", "told"),
    [
        ("52.5", "3", "the North"),
        ("50", "10", "the North"),
        ("60.51", "0", "in no region"),
        ("45", "-10.0", "South"),
        ("10", "175", "far East"),
        ("10", "-175", "far East"),
        ("10", "east", "in no region"),
    ],
)
def test_by_hand(lat: str, lon: str, told: str) -> None:
    made = rule_of(RULE)
    assert isinstance(made, Region)
    assert made.of(lat, lon) == told


def by_record(frame: pl.DataFrame) -> list[Any]:
    return [G.transform(row)["lat"] for row in frame.iter_rows(named=True)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=20)
@given(st.lists(st.tuples(st.sampled_from(COORDINATES), st.sampled_from(COORDINATES)), min_size=1, max_size=20))
def test_every_road_answers_alike(node: Node, pairs: list[tuple[Any, Any]]) -> None:  # noqa: F811
    frame = pl.DataFrame(pairs, schema={"lat": pl.String, "lon": pl.String}, orient="row")
    expected = by_record(frame)
    for records in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        found: Any = G.transform(records)
        found = found.collect() if isinstance(found, pl.LazyFrame) else found
        assert pl.DataFrame(found).columns == ["lat"], "the longitude does not leave"
        assert pl.DataFrame(found)["lat"].to_list() == expected
    relation = duckdb.connect().from_arrow(frame.to_arrow())
    assert sorted(map(str, G.transform(relation).pl()["lat"])) == sorted(map(str, expected))
    assert duckdb.sql(to_sql(G, "duckdb", table="frame")).pl()["lat"].to_list() == expected
    assert [row["record"]["lat"] for row in node.generalize(G, frame.to_dicts())] == expected


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(COORDINATES), st.sampled_from(COORDINATES) | st.floats(-200, 200).map(str)),
        min_size=1,
    ),
    st.booleans(),
)
def test_columns_are_what_pairs_are_one_by_one(pairs: list[tuple[Any, Any]], as_numbers: bool) -> None:
    frame = pl.DataFrame(pairs, schema={"lat": pl.String, "lon": pl.String}, orient="row")
    odd = [None, math.nan, math.inf, 1e-7, -1e-4, 0.0, -0.0, 1e17, 4e15]
    if as_numbers:
        numbers = pl.concat([frame["lon"].cast(pl.Float64, strict=False), pl.Series("lon", odd, pl.Float64)])
        lat = pl.concat([frame["lat"], pl.Series("lat", ["45", "10", "175"] * 3)])
        frame = pl.DataFrame({"lat": lat, "lon": numbers})
    lat, lon = (nw.from_native(frame[name], series_only=True) for name in ("lat", "lon"))
    one_by_one = [derived(RULE, *pair) for pair in frame.iter_rows()]
    assert derived_column(lat, RULE, lon).to_list() == one_by_one


def test_a_column_of_lists_has_no_region() -> None:
    lists = nw.from_native(pl.Series("lat", [["50"], ["51"]]), series_only=True)
    with pytest.raises(DataError, match=r"lat: .*the column holds lists"):
        derived_column(lists, RULE, lists)


@pytest.mark.parametrize("beside", ["position: lon", '"lon"', 'a: "b"', "lon:", "lon"])
def test_a_column_may_have_any_name(beside: str) -> None:
    rule = regions_from([("North: all", "50", "-10", "60", "10")], beside)
    assert rule_of(rule) == Region(beside, (Box("North: all", "50", "-10", "60", "10"),))


def test_numbers_are_read_as_texts_are() -> None:
    random = np.random.default_rng(100)
    frame = pl.DataFrame({"lat": random.uniform(35, 65, 300), "lon": random.uniform(-20, 20, 300)})
    expected = by_record(frame)
    assert len({*expected}) == 2
    assert G.transform(frame)["lat"].to_list() == expected
    assert G.transform(frame.to_pandas())["lat"].to_list() == expected
    assert duckdb.sql(to_sql(G, "duckdb", table="frame")).pl()["lat"].to_list() == expected


def test_codes_in_memory_and_in_an_engine(tmp_path: Path) -> None:
    random = np.random.default_rng(101)
    lat, lon = random.uniform(35, 65, 400), random.uniform(-20, 20, 400)
    frame = pl.DataFrame({"lat": lat, "lon": lon, "y": random.choice(["a", "b"], 400)})
    frame.write_parquet(tmp_path / "p.parquet")
    schema = Schema((PLACE,), Attribute("y", values=("a", "b")))
    engine = of_files([tmp_path / "p.parquet"])
    source = Source(engine, schema, 0)
    assert len(source.sample(10**6)) == 400
    counted = source.counted(Generalization(G.partitions, schema.label), None)
    use = np.bincount(counted.truth.codes[:, 0].astype(int), weights=counted.truth.counts, minlength=5)
    alone = Table.from_frame(frame, schema).use(0)
    assert use[0] == alone[0] + alone[1] > 0, "one of two in a bucket stands for both"
    assert use.sum() == 400
    engine.close()


def test_a_form_lets_choose_the_region() -> None:
    (asked,) = questions(G)
    assert asked.typed != "text"


def test_it_is_declared_in_a_schema_and_found_again() -> None:
    schema = Schema((PLACE,), Attribute("y", values=("a", "b")))
    assert from_yaml(to_yaml(schema)) == schema
    assert Generalization.from_json(G.to_json()).partitions == G.partitions


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ("region with lon: North 50 60", "southern, western, northern and eastern end"),
        ("region with lon: North 60 0 50 9", "from south to north"),
        ("region with lon: East 0 170 9 -170", "in two parts of one name"),
        ("region North 50 0 60 9", "derive must be"),
    ],
)
def test_what_is_no_table_of_regions_is_one_clear_line(rule: str, says: str) -> None:
    with pytest.raises(SchemaError, match=r"^[^\n]+$") as error:
        rule_of(rule)
    assert says in str(error.value)


def test_a_column_that_is_not_there_and_one_that_would_leave() -> None:
    with pytest.raises(DataError, match="no column 'lon', of which lat is made"):
        G.transform(pl.DataFrame({"lat": [52.0]}))
    with pytest.raises(ParameterError, match="'lon' is asked as lat"):
        G.transform(pl.DataFrame({"lat": [52.0], "lon": [3.0]}), keep=["lon"])


def test_only_a_row_without_any_number_is_a_header() -> None:
    rows = [("North", "47N", "5", "48", "7"), ("South", "40", "5", "47", "7")]
    with pytest.raises(SchemaError, match="southern, western, northern and eastern end"):
        regions_from(rows, "lon")


@pytest.mark.parametrize(("beside", "words"), [("y", "the label"), ("lat", "itself")])
def test_neither_the_label_nor_the_latitude_is_a_longitude(beside: str, words: str) -> None:
    frame = pl.DataFrame({"lat": [51.0, 45.0] * 4, "y": ["1", "2"] * 4})
    with pytest.raises(SchemaError, match=words):
        infer_schema(frame, "y", derive={"lat": RULE.replace("lon", beside)})


def test_a_number_that_is_none_is_no_answer_of_any_frame() -> None:
    frame = pl.DataFrame({"lat": [51.0, float("nan"), None], "lon": [1.0] * 3})
    asked = Generalization((Groups(PLACE, (0, 1, 2, 3, 4)),))
    missing, other = (asked.transform({"lat": each, "lon": 1})["lat"] for each in (None, 89))
    assert missing != other
    assert asked.transform(frame)["lat"].to_list()[1:] == [missing, missing]
    assert asked.transform(frame.lazy()).collect()["lat"].to_list()[1:] == [missing, missing]
    assert asked.transform(frame.to_arrow())["lat"].to_pylist()[1:] == [missing, missing]


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgresql"])
@pytest.mark.parametrize("nobody", [float("nan"), None])
def test_a_number_that_is_none_is_no_answer_in_sql(dialect: str, nobody: float | None, request: Any) -> None:
    frame = pl.DataFrame({"lat": [51.0, nobody, 51.0, 89.0], "lon": [1.0, 1.0, nobody, 1.0]})
    asked = Generalization((Groups(PLACE, (0, 1, 2, 3, 4)),))
    expected = asked.transform(frame)["lat"].to_list()
    assert expected[1] == expected[2] not in (expected[0], expected[3])
    query = to_sql(asked, dialect, table="records")
    assert told(dialect, query, frame, request) == expected


@pytest.mark.parametrize("dialect", ["duckdb", "postgresql"])
def test_the_text_of_nan_is_a_strange_answer(dialect: str, request: Any) -> None:
    frame = pl.DataFrame({"lat": ["51", "NaN", "nan", None], "lon": ["1"] * 4})
    asked = Generalization((Groups(PLACE, (0, 1, 2, 3, 4)),))
    expected = asked.transform(frame)["lat"].to_list()
    assert expected[1] == expected[2] != expected[3]
    assert told(dialect, to_sql(asked, dialect, table="records"), frame, request) == expected


def told(dialect: str, query: str, frame: pl.DataFrame, request: Any) -> list[Any]:
    if dialect == "postgresql":
        with psycopg.connect(request.getfixturevalue("postgres").url(driver="postgresql")) as connection:
            rows = postgres_rows(connection, query, frame)
    else:
        rows = (duckdb_rows if dialect == "duckdb" else sqlite_rows)(query, frame)
    assert not isinstance(rows, str), rows
    return [row["lat"] for row in rows]


def test_a_rule_is_made_of_rows() -> None:
    assert regions_from([("a b", "1", "2", "3", "4")], "lon") == "region with lon: a b 1 2 3 4"
    frame = pl.DataFrame({"lat": [51.0, 45.0] * 4, "lon": [1.0, 2.0] * 4, "y": ["a", "b"] * 4})
    found = infer_schema(frame, "y", derive={"lat": RULE})
    assert found.schema.names == ("lat",)
    assert found.schema["lat"].values == NAMES
