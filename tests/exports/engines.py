"""Runs an exported query for real: on DuckDB, SQLite, PostgreSQL and Spark."""

from __future__ import annotations

import functools
import math
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

import duckdb
import polars as pl

from leastwise import DataError, Generalization, Untouched
from leastwise.exports import to_sql
from leastwise.exports.sql_dialects import DIALECTS
from leastwise.schema.values import as_number
from tests.apply.cases import comparable

Rows = list[dict[str, Any]]
Run = Callable[[str, pl.DataFrame], Rows]


@functools.cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1})


def duckdb_rows(query: str, frame: pl.DataFrame) -> Rows | str:
    connection = _duckdb()
    connection.register("records", frame)
    try:
        return connection.sql(query).pl().to_dicts()
    except duckdb.InvalidInputException as error:
        return refusal(error)
    finally:
        connection.unregister("records")


def sqlite_rows(query: str, frame: pl.DataFrame) -> Rows | str:
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join(map(DIALECTS["sqlite"].name, frame.columns))
        connection.execute(f"CREATE TABLE records ({names})")
        marks = ", ".join("?" * frame.width)
        connection.executemany(f"INSERT INTO records VALUES ({marks})", frame.rows())
        cursor = connection.execute(query)
        columns = [column[0] for column in cursor.description]
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    except sqlite3.OperationalError as error:
        return refusal(error)
    finally:
        connection.close()


def sqlite_reads(frame: pl.DataFrame) -> bool:
    """Return whether SQLite reads the numbers of the texts to the last bit, which it misses far from 1."""
    texts = [value.strip() for row in frame.rows() for value in row if isinstance(value, str)]
    texts = [text for text in texts if math.isfinite(as_number(text) or math.inf)]
    connection = sqlite3.connect(":memory:")
    read = [connection.execute("SELECT CAST(? AS REAL)", [text]).fetchone()[0] for text in texts]
    connection.close()
    return read == list(map(as_number, texts))


PG_TYPES = {pl.Float64: "double precision", pl.Int64: "bigint", pl.Int8: "smallint", pl.Boolean: "boolean"}


def postgres_rows(connection: Any, query: str, frame: pl.DataFrame) -> Rows | str:
    import psycopg

    name = DIALECTS["postgresql"].name
    columns = ", ".join(f"{name(c)} {PG_TYPES.get(type(t), 'text')}" for c, t in frame.schema.items())
    # A record without columns is no record, but PostgreSQL would take it.
    connection.execute(f"CREATE TEMP TABLE records ({columns})")
    try:
        with connection.cursor() as cursor, cursor.copy("COPY records FROM STDIN") as copy:
            for row in frame.rows():
                copy.write_row(row)
        cursor = connection.execute(query)
        return [dict(zip([c.name for c in cursor.description], row, strict=True)) for row in cursor.fetchall()]
    except psycopg.errors.InvalidTextRepresentation as error:
        return refusal(error)
    finally:
        connection.rollback()


def spark_rows(spark: Any, query: str, frame: pl.DataFrame) -> Rows | str:
    from pyspark.errors import PySparkException

    types = {pl.Float64: "double", pl.Int64: "bigint", pl.Int8: "tinyint", pl.Boolean: "boolean"}
    quoted = DIALECTS["spark"].name
    columns = ", ".join(f"{quoted(c)} {types.get(type(t), 'string')}" for c, t in frame.schema.items())
    spark.createDataFrame(frame.rows(), columns).createOrReplaceTempView("records")
    try:
        return [row.asDict() for row in spark.sql(query).collect()]
    except PySparkException as error:
        if "USER_RAISED_EXCEPTION" not in str(error):  # others quote the query, and so our message
            raise
        return refusal(error)


def refusal(error: Exception) -> str:
    """Return "strange" for our own complaint; any other error is one."""
    if "a value is not in the declared domain" not in str(error):
        raise error
    return "strange"


def holds(generalization: Generalization, frame: pl.DataFrame) -> dict[str, Any]:
    """Say what the columns hold where it is not what the attribute's kind suggests."""
    found = {}
    for attribute in generalization.schema.attributes:
        if attribute.name in frame.columns:
            is_text = frame.schema[attribute.name] == pl.String
            found[attribute.name] = "text" if is_text else "number"
            if not attribute.continuous and not frame.schema[attribute.name].is_float():
                found[attribute.name] = "text"
    return found


def query_for(generalization: Generalization, dialect: str, frame: pl.DataFrame, **rest: Any) -> str:
    return to_sql(generalization, dialect, holds=holds(generalization, frame), label=True, **rest)


def expected(generalization: Generalization, frame: pl.DataFrame, output: Any, unknown: Any) -> Rows | str:
    """Return what the records become one by one, an untouched number as itself."""
    exact = [p.attribute.name for p in generalization.partitions if isinstance(p, Untouched)]
    rows = []
    for record in frame.to_dicts():
        try:
            row = generalization.transform(record, output, unknown=unknown)
            codes = generalization.transform(record, "codes", unknown=unknown)
        except DataError:
            return "strange"
        rows.append({**row, **{name: codes[name] for name in exact}})
    return by_text(rows)


def same(found: Rows | str) -> Rows | str:
    return found if isinstance(found, str) else by_text(found)


def by_text(rows: Rows) -> Rows:
    """Make rows comparable across languages, most of which have one kind of number."""
    return comparable([{k: float(v) if type(v) is int else v for k, v in row.items()} for row in rows])


def has_nul(generalization: Generalization) -> bool:
    attributes: Sequence[Any] = generalization.schema.attributes
    return any("\0" in text for a in attributes for text in (a.name, *a.values, *a.labels))
