"""A derived question has the same answer on every road: record, frames, queries, SQL and JavaScript."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Untouched
from leastwise.exports import to_sql
from leastwise.partition import keep
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.schema.derive import derived
from tests.exports import engines
from tests.exports.node import Node, node  # noqa: F401
from tests.postgres import PostgresServer

TEXTS = [
    "1987-05-11", "2000-02-29", "1999-12-31 23:59:59", "2024-01-01T00:00", "0999-06-01", "2001-02-31",
    "1900-13-01",
    "11.05.1987", "31.12.1999", "1.234,50", "1234,5", "12,5", "-3,25", "+7", "1.23", "1.2345", "0,5", "001.234,5",
    "1.234.567,8", "12 345,6", "1.234,50 €", "€ 12", "-€ 7,5", "5€50", "5 $", "94110", "00501", "K50.1", "ä€b", "",
    "=1.234,50", "= -7",
    "52.5163", "-0.05", "-0.0", "0", "13.38", "-179.999999", "180", "361", "1e-5", "4.9999999999999995", "0.3",
    "not YYYY-MM-DD", "x", " 12,5 ", "12,", ",5", "12:30", "99:99", "1,2,3", "1..234", "12.345", "1234.567",
]  # fmt: skip
QUESTIONS: dict[str, Attribute] = {
    rule: Attribute("z", "continuous", missing=True, other=True, derive=rule, source="raw")
    for rule in (
        "year of YYYY-MM-DD", "decade of YYYY-MM-DD", "month of DD.MM.YYYY", "quarter of YYYY-MM-DD",
        "age on 2024-06-01 of YYYY-MM-DD", "hour of hh:mm", "minutes of hh:mm", "number of 1.234,5",
        "number of 1.234,5 €", "number of = 1.234,5", "number of € 1.234,5", "number of 1 234,5",
        "number of 1234.5", "grid 0.1", "grid 5", "grid 0.01",
    )
}  # fmt: skip
DISCRETE = {
    "prefix 3": ("941", "005", "K50", "ä€b", "198"),
    "weekday of YYYY-MM-DD": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"),
}
RULES = [*QUESTIONS, *DISCRETE]


def question(rule: str) -> Generalization:
    if rule in DISCRETE:
        values = DISCRETE[rule]
        attribute = Attribute("z", values=values, missing=True, other=True, derive=rule, source="raw")
        return Generalization((Groups(attribute, (*range(len(values)), len(values), len(values) + 1)),))
    return Generalization((Intervals(QUESTIONS[rule], (1.0, 5.0, 12.0, 40.0, 1000.0, 1990.0)),))


@pytest.fixture(scope="module")
def connection(postgres: PostgresServer) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(postgres.url(driver="postgresql")) as made:
        yield made


@pytest.mark.parametrize("rule", RULES)
def test_every_frame_answers_as_its_records_do(rule: str) -> None:
    g, frame = question(rule), pl.DataFrame({"raw": [*TEXTS, None]})
    truth = [g.transform({"raw": text})["z"] for text in frame["raw"]]
    assert len({*truth}) > 2
    assert g.transform(frame)["z"].to_list() == truth
    assert g.transform(frame.lazy()).collect()["z"].to_list() == truth
    assert g.transform(pd.DataFrame({"raw": frame["raw"].to_list()}))["z"].to_list() == truth
    assert g.transform(frame.to_arrow())["z"].to_pylist() == truth
    rows = frame.with_row_index("n")  # noqa: F841
    connection = duckdb.connect()  # held: before DuckDB 2 no relation does
    query = g.transform(connection.sql("SELECT * FROM rows"), keep=["n"])
    assert [
        z for _, z in sorted((r[query.columns.index("n")], r[query.columns.index("z")]) for r in query.fetchall())
    ] == truth
    table = Table.from_frame(frame, Schema((g.partitions[0].attribute,)))
    assert [g["z"].labels[b] for b in table.generalize(g)[:, 0]] == truth


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgresql"])
def test_every_database_answers_as_the_records_do(rule: str, dialect: str, request: Any) -> None:
    g, frame = question(rule), pl.DataFrame({"raw": [*TEXTS, None]})
    truth = [g.transform({"raw": text})["z"] for text in frame["raw"]]
    run: Any = {"duckdb": engines.duckdb_rows, "sqlite": engines.sqlite_rows}.get(dialect)
    if run is None:
        open_connection = request.getfixturevalue("connection")
        run = lambda query, rows: engines.postgres_rows(open_connection, query, rows)  # noqa: E731
    found = run(to_sql(g, dialect), frame)
    assert [row["z"] for row in found] == truth


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.lists(st.text("0123456789.,- €+T:", max_size=12), min_size=1, max_size=8), st.sampled_from(RULES))
def test_random_texts_are_answered_alike(texts: list[str], rule: str) -> None:
    g, frame = question(rule), pl.DataFrame({"raw": texts})
    truth = [g.transform({"raw": text})["z"] for text in texts]
    assert g.transform(frame)["z"].to_list() == truth
    assert [row["z"] for row in engines.duckdb_rows(to_sql(g, "duckdb"), frame)] == truth
    assert [row["z"] for row in engines.sqlite_rows(to_sql(g, "sqlite"), frame)] == truth


@pytest.mark.parametrize("rule", RULES)
def test_javascript_answers_as_the_records_do(node: Node, rule: str) -> None:  # noqa: F811
    g = question(rule)
    records = [{"raw": text} for text in [*TEXTS, None]]
    assert [row["record"] for row in node.generalize(g, records)] == [g.transform(record) for record in records]


def test_dates_and_numbers_have_the_texts_of_what_they_are() -> None:
    import datetime as dt

    days = [dt.date(1987, 5, 11), dt.date(2001, 1, 1)]
    g = question("year of YYYY-MM-DD")
    assert g.transform(pl.DataFrame({"raw": days}))["z"].to_list() == [
        g.transform({"raw": day})["z"] for day in days
    ]
    stamps = [dt.datetime(1987, 5, 11, 12), dt.datetime(2001, 1, 1)]
    assert g.transform(pl.DataFrame({"raw": stamps}))["z"].to_list() == [
        g.transform({"raw": s})["z"] for s in stamps
    ]
    zips, area = [94110, 501, 941], question("prefix 3")
    for column in (pl.Series("raw", zips), pl.Series("raw", zips, dtype=pl.Float64)):
        assert area.transform(pl.DataFrame([column]))["z"].to_list() == ["941", "other", "941"]
    assert [row["z"] for row in engines.sqlite_rows(to_sql(area, "sqlite"), pl.DataFrame({"raw": zips}))] == [
        "941",
        "other",
        "941",
    ]


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.lists(
        st.one_of(st.floats(-180, 180), st.integers(-1800, 1800).map(lambda n: n / 10)), min_size=1, max_size=8
    ),
    st.sampled_from(["grid 0.1", "grid 0.01", "grid 0.125", "grid 3"]),
)
def test_coordinates_in_columns_of_numbers_are_in_one_cell_on_every_road(numbers: list[float], rule: str) -> None:
    place = Attribute("z", "continuous", missing=True, other=True, derive=rule, source="raw")
    edges = sorted({float(derived(rule, number)) for number in numbers})  # each cell a bucket of its own
    g, frame = Generalization((Intervals(place, tuple(edges)),)), pl.DataFrame({"raw": numbers})
    truth = [g.transform({"raw": number})["z"] for number in numbers]
    assert g.transform(frame)["z"].to_list() == truth
    assert [row["z"] for row in engines.duckdb_rows(to_sql(g, "duckdb"), frame)] == truth
    assert [row["z"] for row in engines.sqlite_rows(to_sql(g, "sqlite"), frame)] == truth
    size = float(rule.removeprefix("grid "))
    for number in numbers:
        edge = float(derived(rule, number))
        assert edge - 1e-9 <= number < edge + size + 1e-9


@pytest.mark.parametrize("rule", ["grid 0.1", "prefix 2"])
def test_a_number_that_is_none_is_no_answer_on_any_road(rule: str) -> None:
    kind: Any = {"kind": "continuous"} if rule.startswith("grid") else {"values": ("51", "52")}
    place = Attribute("z", missing=True, other=True, derive=rule, source="raw", **kind)
    partition = Intervals(place, (50.0,)) if place.continuous else keep(place)
    g, frame = Generalization((partition,)), pl.DataFrame({"raw": [51.25, math.nan, None]})
    truth = g.transform(frame)["z"].to_list()
    assert truth[1] == truth[2] != truth[0]
    assert [row["z"] for row in engines.duckdb_rows(to_sql(g, "duckdb"), frame)] == truth


def test_the_source_never_leaves() -> None:
    g = question("year of YYYY-MM-DD")
    assert list(g.transform({"raw": "1987-05-11", "more": 1})) == ["z"]
    with pytest.raises(ParameterError, match="raw"):
        g.transform(pl.DataFrame({"raw": ["1987-05-11"]}), keep=["raw"])
    with pytest.raises(ParameterError, match="raw"):
        to_sql(g, keep=["raw"])


def test_an_untouched_derived_number_is_itself() -> None:
    year = Attribute("year", "continuous", integer=True, derive="year of YYYY-MM-DD", source="born")
    g = Generalization((Untouched(year),))
    frame = pl.DataFrame({"born": ["1987-05-11", "2001-01-01"]})
    assert g.transform(frame)["year"].to_list() == ["1987", "2001"]
    assert Generalization.from_json(g.to_json()) == g


def test_a_label_above_a_threshold_leaves_as_its_class(node: Node) -> None:  # noqa: F811
    label = Attribute("pay", values=("up to 50000", "above 50000"), derive="above 50000")
    g = Generalization((Intervals(Attribute("age", "continuous"), (40.0,)),), label)
    frame = pl.DataFrame({"age": [1, 50, 60, 70], "pay": [50_000.0, 50_000.5, 1e6, None]})
    truth = [g.transform(record)["pay"] for record in frame.to_dicts()]
    assert truth == ["up to 50000", "above 50000", "above 50000", None]
    assert g.transform(frame)["pay"].to_list() == truth
    assert g.transform(frame.lazy()).collect()["pay"].to_list() == truth
    for run, dialect in ((engines.duckdb_rows, "duckdb"), (engines.sqlite_rows, "sqlite")):
        assert [row["pay"] for row in run(to_sql(g, dialect, label=True), frame)] == truth
    assert [row["record"]["pay"] for row in node.generalize(g, frame.to_dicts())] == truth
    assert Table.from_frame(frame.head(3), Schema((g.partitions[0].attribute,), label)).y.tolist() == [0, 1, 1]


@pytest.mark.parametrize("dialect", ["bigquery", "spark"])
def test_every_other_dialect_can_be_read(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    for rule in RULES:
        query = to_sql(question(rule), dialect)
        assert sqlglot.parse_one(query, read=dialect).find(sqlglot.exp.Select)
        assert "leastwise_derived_1" in query
