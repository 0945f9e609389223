"""An exported query does to a table what transform does to its records."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Intervals, ParameterError, Untouched
from leastwise.exports import to_sql
from leastwise.exports.sql_dialects import DIALECTS
from leastwise.partition import suppress
from tests.apply.cases import generalized_columns
from tests.exports import engines
from tests.exports.engines import expected, query_for, same
from tests.postgres import PostgresServer

CASES = json.loads((Path(__file__).parent.parent / "conformance" / "apply.json").read_text(encoding="utf-8"))[
    "cases"
]
OUTPUTS = st.sampled_from(["labels", "codes"])
UNKNOWN = st.sampled_from(["error", "other"])
SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

age = Attribute("age", "continuous", lower=0, upper=120, integer=True, missing=True, other=True)
job = Attribute("job", values=("nurse", "cook", "1", "true"), missing=True)
G = Generalization(
    (Intervals(age, (19, 63)), Groups(job, (0, 1, 0, 1, 2)), suppress(Attribute("sex", values=("f", "m")))),
    Attribute("rich", values=("0", "1")),
)


@pytest.fixture
def connection(postgres: PostgresServer) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(postgres.url(driver="postgresql")) as made:
        yield made


def check(drawn: Any, dialect: str, output: str, unknown: str, run: Callable[[str, pl.DataFrame], Any]) -> None:
    g, frame = drawn
    try:
        query = query_for(g, dialect, frame, output=output, unknown=unknown)
    except ParameterError:
        assert engines.has_nul(g)
        return
    assert same(run(query, frame)) == expected(g, frame, output, unknown), query


@settings(SHARED, max_examples=100)
@given(generalized_columns(), OUTPUTS, UNKNOWN)
def test_duckdb(drawn: Any, output: str, unknown: str) -> None:
    check(drawn, "duckdb", output, unknown, engines.duckdb_rows)


@settings(SHARED, max_examples=100)
@given(generalized_columns(strange=True), OUTPUTS, UNKNOWN)
def test_duckdb_with_strange_values(drawn: Any, output: str, unknown: str) -> None:
    check(drawn, "duckdb", output, unknown, engines.duckdb_rows)


@settings(SHARED, max_examples=100)
@given(generalized_columns(), OUTPUTS, UNKNOWN)
def test_sqlite(drawn: Any, output: str, unknown: str) -> None:
    assume(engines.sqlite_reads(drawn[1]))
    check(drawn, "sqlite", output, unknown, engines.sqlite_rows)


@settings(SHARED, max_examples=100)
@given(generalized_columns(strange=True), OUTPUTS, UNKNOWN)
def test_sqlite_with_strange_values(drawn: Any, output: str, unknown: str) -> None:
    assume(engines.sqlite_reads(drawn[1]))
    check(drawn, "sqlite", output, unknown, engines.sqlite_rows)


@settings(SHARED, max_examples=100)
@given(generalized_columns(strange=True) | generalized_columns(), OUTPUTS, UNKNOWN)
def test_postgresql(connection: Any, drawn: Any, output: str, unknown: str) -> None:
    assume(not any("\0" in str(value) for row in drawn[1].rows() for value in row))  # PostgreSQL has no NUL
    check(drawn, "postgresql", output, unknown, lambda q, f: engines.postgres_rows(connection, q, f))


@pytest.fixture(params=["duckdb", "sqlite", "postgresql"])
def engine(request: pytest.FixtureRequest) -> tuple[str, Callable[[str, pl.DataFrame], Any]]:
    if request.param == "postgresql":
        connection = request.getfixturevalue("connection")
        return request.param, lambda query, frame: engines.postgres_rows(connection, query, frame)
    return request.param, {"duckdb": engines.duckdb_rows, "sqlite": engines.sqlite_rows}[request.param]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_conformance(case: dict[str, Any], engine: Any) -> None:
    dialect, run = engine
    g = Generalization.from_json(json.dumps(case["generalization"]))
    for record in case["records"]:
        truths = any(isinstance(value, bool) for value in record.values())
        if set(g.collected) <= set(record) and not (truths and dialect == "sqlite"):  # SQLite has no truth values
            frame = pl.DataFrame([record])
            query = query_for(g, dialect, frame, unknown=case["unknown"])
            assert same(run(query, frame)) == expected(g, frame, "labels", case["unknown"]), record


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("code", [1.0, 2.5, math.nan, None, math.inf, -0.0]),
        pl.Series("code", [1, 10**15, None, 0], dtype=pl.Int64),
        pl.Series("code", ["1", "1.0", "1e0", "+1", "", "2.50", "Infinity", "-0", "NaN", "1e15", None]),
        pl.Series("code", ["1.", ".25e1", "1.e15", "10E-1", "-.0"]),
        *(
            pl.Series("code", [text])
            for text in ("01", "1 ", "1\n", ".", "e1", ".e1", "1e", "--1", "[1]", "+", "0x1")
        ),
        pl.Series("code", [3.0]),
    ],
    ids=lambda column: " ".join(map(repr, column)),
)
def test_codes_are_compared_by_their_numbers(column: pl.Series, engine: Any) -> None:
    dialect, run = engine
    code = Attribute("code", values=("1", "2.5", "inf", "0", "1000000000000000"), missing=True)
    g = Generalization((Groups(code, (0, 1, 2, 3, 0, 1)),))
    frame = column.to_frame()
    assert same(run(query_for(g, dialect, frame), frame)) == expected(g, frame, "labels", "error")


HOSTILE = [
    'a"b; drop table t',
    "it's",
    "back\\slash\\",
    "`tick`",
    "new\nline",
    "ünïcode 漢字 🙂",
    "--",
    "/*",
    "${x}",
    "%s",
]


@pytest.mark.parametrize(
    "text", ["7", " 7", "+7\t", "007", "7.", ".5", "-.5e1", "1e3", "7e", ".", "x", "", " ", "nan", "INF", "- 1"]
)
def test_numbers_written_as_texts(text: str, engine: Any) -> None:
    dialect, run = engine
    g = Generalization((Intervals(Attribute("x", "continuous", missing=True), (0.5, 7)),))
    frame = pl.DataFrame({"x": [text]})
    assert same(run(query_for(g, dialect, frame), frame)) == expected(g, frame, "labels", "error")


def hostile() -> Generalization:
    """Return names, values and labels that would break out of careless quotes."""
    values = tuple(HOSTILE)
    attributes = [Attribute(name, values=values, labels=tuple(v[::-1] for v in values)) for name in HOSTILE]
    return Generalization(tuple(Groups(a, tuple(i % 2 for i in range(len(values)))) for a in attributes))


def test_hostile_names_and_values_stay_what_they_are(engine: Any) -> None:
    dialect, run = engine
    g = hostile()
    frame = pl.DataFrame(dict.fromkeys(HOSTILE, HOSTILE))
    assert same(run(query_for(g, dialect, frame), frame)) == expected(g, frame, "labels", "error")
    strange = frame.with_columns(pl.lit("x'); drop table records; --").alias(HOSTILE[0]))
    assert run(query_for(g, dialect, strange), strange) == "strange"


def test_a_view_of_a_table_with_a_hostile_name() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE "p; drop ""x" (age, job, sex, rich)')
    connection.execute("INSERT INTO \"p; drop \"\"x\" VALUES (63, 'cook', 'f', 1)")
    connection.execute(to_sql(G, "sqlite", table='p; drop "x', view=("v.w",), label=True))
    rows = connection.execute('SELECT age, job, rich FROM "v.w"').fetchall()
    columns = [row[1] for row in connection.execute("PRAGMA table_info('v.w')")]
    connection.close()
    assert rows == [("20 to 63", "cook or true", "1")]
    assert columns == ["age", "job", "rich"]


@pytest.mark.parametrize("count", [7, 8, 9, 300])
@pytest.mark.parametrize("output", ["labels", "codes"])
def test_long_lists_of_values(count: int, output: Any, engine: Any) -> None:
    dialect, run = engine
    names = tuple(f"{i}" if i % 3 else f"it's {i}" for i in range(count))
    some, each = Attribute("some", values=names, missing=True), Attribute("each", values=names, other=True)
    groups = Groups(some, (*(i * 7 % 5 for i in range(count)), 3))
    g = Generalization((groups, Groups(each, tuple(range(count + 1)))), Attribute("y", values=names))
    frame = pl.DataFrame({"some": [*names, None, "1.0"], "each": [*names, "2e0", "x"], "y": [*names, None, "4.0"]})
    query = query_for(g, dialect, frame, output=output)
    found = same(run(query, frame))
    assert isinstance(found, list)
    assert [row.pop("y") for row in found] == [*names, None, "4"]
    assert found == expected(g, frame.drop("y"), output, "other")
    assert run(query_for(g, dialect, frame, output=output, unknown="error"), frame) == "strange"


def test_what_is_suppressed_is_not_mentioned() -> None:
    for dialect in DIALECTS:
        assert "sex" not in to_sql(G, dialect)


def test_columns_that_are_kept(engine: Any) -> None:
    dialect, run = engine
    frame = pl.DataFrame({"age": [5], "job": ["nurse"], "id": ["x"]})
    assert run(to_sql(G, dialect, keep=["id"]), frame) == [{"age": "0 to 19", "job": "nurse or 1", "id": "x"}]
    for name in ("sex", "age", "rich"):
        with pytest.raises(ParameterError, match="only other columns"):
            to_sql(G, dialect, keep=[name])


def test_a_refusal_names_the_attribute_and_not_the_value() -> None:
    with duckdb.connect() as connection:
        connection.register("records", pl.DataFrame({"age": ["7 secrets"], "job": ["cook"]}))
        with pytest.raises(duckdb.InvalidInputException) as stop:
            connection.sql(to_sql(G, unknown="error")).fetchall()
        assert "age: a value is not in the declared domain" in str(stop.value)
        assert "secret" not in str(stop.value)


@pytest.mark.parametrize("name", ["$.x", "$", "true", "NaN", "0", "%s"])
def test_no_name_lets_a_refusal_pass(name: str, engine: Any) -> None:
    """PostgreSQL and SQLite are stopped by a message that is no truth value, no number and no path."""
    dialect, run = engine
    for partition in (
        Groups(Attribute(name, values=("a", "b")), (0, 1)),
        Untouched(Attribute(name, "continuous")),
    ):
        g = Generalization((partition,))
        kind: Any = pl.String if isinstance(partition, Groups) else pl.Float64
        for value in (None, "c" if isinstance(partition, Groups) else math.nan):
            frame = pl.DataFrame({name: [value]}, schema={name: kind})
            assert run(to_sql(g, dialect), frame) == "strange"


def test_a_text_in_a_column_of_numbers_is_never_a_number_by_chance(engine: Any) -> None:
    """SQLite calls every text greater than every number, Spark makes it null, DuckDB rounds it."""
    dialect, run = engine
    frame = pl.DataFrame({"age": ["abc"], "job": ["cook"]})
    if dialect == "postgresql":
        with pytest.raises(Exception, match="invalid input syntax"):
            run(to_sql(G, dialect, unknown="error"), frame)
    else:
        assert run(to_sql(G, dialect, unknown="error"), frame) == "strange"
    if dialect == "duckdb":
        frame = frame.with_columns(age=pl.lit("19.4"))
        assert run(to_sql(G, dialect, unknown="error"), frame) == "strange"


def test_columns_that_compare_loosely_are_compared_strictly() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE records (age INTEGER, job TEXT COLLATE NOCASE)")
    connection.execute("INSERT INTO records VALUES (1, 'NURSE')")
    with pytest.raises(sqlite3.OperationalError, match="job: a value is not in the declared domain"):
        connection.execute(to_sql(G, "sqlite")).fetchall()
    connection.close()


def test_bigquery_can_be_parsed() -> None:
    sqlglot = pytest.importorskip("sqlglot")
    for g in (
        G,
        hostile(),
        Generalization((Untouched(age), Intervals(Attribute("p", "continuous"), (0.1, 1e300)))),
    ):
        for rest in ({}, {"unknown": "other", "output": "codes", "view": "project-x.set.v"}):
            kinds = {attribute.name: "text" for attribute in g.schema.attributes}
            for held in ({}, kinds):
                query = to_sql(g, "bigquery", holds=held, **rest)
                [tree] = sqlglot.parse(query, read="bigquery")
                select = tree if not rest else tree.expression
                assert [column.alias for column in select.selects] == list(g.collected)


def test_every_dialect_is_read_by_its_own_parser() -> None:
    sqlglot = pytest.importorskip("sqlglot")
    for dialect in DIALECTS:
        read = {"postgresql": "postgres"}.get(dialect, dialect)
        [tree] = sqlglot.parse(to_sql(G, dialect, view="v", label=True), read=read)
        assert tree.kind == "VIEW"


@pytest.mark.parametrize(
    ("rest", "complaint"),
    [
        ({"dialect": "oracle"}, "one of duckdb, postgresql, sqlite, bigquery, spark; got 'oracle'"),
        ({"output": "label"}, "did you mean 'labels'"),
        ({"unknown": "null"}, "unknown must be one of"),
        ({"table": ""}, "a table must have a name"),
        ({"table": "a..b"}, "a table must have a name"),
        ({"holds": {"aeg": "text"}}, "there is no attribute 'aeg'; did you mean 'age'"),
        ({"holds": {"age": "numbers"}}, "did you mean 'number'"),
    ],
)
def test_wrong_arguments(rest: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        to_sql(G, **rest)


def test_nothing_left() -> None:
    with pytest.raises(ParameterError, match="nothing would be left"):
        to_sql(Generalization((suppress(age),)))


@pytest.mark.parametrize(
    "number", [0.1, 1e-300, 5e-324, 1.7976931348623157e308, 0.30000000000000004, -2.5, 2.0**60]
)
def test_numbers_are_read_back_as_the_same_double(number: float, engine: Any) -> None:
    dialect, run = engine
    g = Generalization((Intervals(Attribute("x", "continuous"), (number,)),))
    frame = pl.DataFrame({"x": [number, math.nextafter(number, math.inf)]})
    assert run(to_sql(g, dialect, output="codes"), frame) == [{"x": 0}, {"x": 1}]
