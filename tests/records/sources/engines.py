"""The same people in every engine."""

from __future__ import annotations

import shutil
import sqlite3
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

from leastwise.records.sources.databases import PostgreSQL, SQLite
from leastwise.records.sources.duckdb import connect, of_database, of_files, of_relation
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.ibis import of_ibis
from leastwise.records.sources.polars import Polars
from leastwise.records.sources.spark import Spark

KEY = "id \"'`key"
TABLE = "all the people"
IN_PROCESS = ("polars", "polars key", "parquet", "many parquet", "csv", "ndjson", "duckdb", "relation", "sqlite")
Make = Callable[[pl.DataFrame, Path], Any]


def _keyed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_row_index(KEY).with_columns(pl.col(KEY).cast(pl.Int64))


@contextmanager
def engine_of(kind: str, frame: pl.DataFrame, folder: Path) -> Iterator[Engine]:
    """Give the frame in an engine of this process."""
    engine = _MAKERS[kind](frame, folder)
    try:
        yield engine
    finally:
        engine.close()


def _many(frame: pl.DataFrame, folder: Path) -> Engine:
    cuts = [0, 0, frame.height // 3, frame.height // 3, frame.height // 2, frame.height]
    paths = []
    for i, (start, end) in enumerate(pairwise(cuts)):
        paths.append(folder / f"part-{i}.parquet")
        frame[start:end].write_parquet(paths[-1])
    return of_files(paths)


def _file(write: str, suffix: str) -> Make:
    def made(frame: pl.DataFrame, folder: Path) -> Engine:
        path = folder / f"people.{suffix}"
        getattr(frame, write)(path)
        return of_files([path])

    return made


def _duckdb(frame: pl.DataFrame, folder: Path) -> Engine:
    path = folder / "people.db"
    with duckdb.connect(str(path)) as connection:
        connection.register("given", frame.to_arrow())
        connection.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')
    return of_database(str(path), TABLE)


def _relation(frame: pl.DataFrame, folder: Path) -> Engine:
    connection, remove = connect()
    remove()
    made = of_relation(connection.from_arrow(_keyed(frame).to_arrow()), KEY)
    weakref.finalize(made, connection.close)  # before DuckDB 2 no relation holds its connection open
    return made


def _sqlite(frame: pl.DataFrame, folder: Path) -> Engine:
    connection = sqlite3.connect(folder / "people.sqlite")
    names = ", ".join(SQLite.dialect.name(name) for name in frame.columns)
    connection.execute(f'CREATE TABLE "{TABLE}" ({names})')
    marks = ", ".join("?" * frame.width)
    truths = frame.with_columns(pl.col(pl.Boolean).cast(pl.String))  # which SQLite has not
    connection.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', truths.rows())
    connection.commit()
    return SQLite(connection, TABLE, owned=True)


_MAKERS: dict[str, Make] = {
    "polars": lambda frame, folder: Polars(frame.lazy()),
    "polars key": lambda frame, folder: Polars(_keyed(frame).lazy(), KEY),
    "parquet": _file("write_parquet", "parquet"),
    "many parquet": _many,
    "csv": _file("write_csv", "csv"),
    "ndjson": _file("write_ndjson", "ndjson"),
    "duckdb": _duckdb,
    "relation": _relation,
    "sqlite": _sqlite,
}


def in_postgresql(frame: pl.DataFrame, url: str) -> PostgreSQL:
    """Return the people in a table of PostgreSQL."""
    import psycopg

    kinds = {pl.Int64: "bigint", pl.Float64: "double precision", pl.Boolean: "boolean"}
    name, keyed = PostgreSQL.dialect.name, _keyed(frame)
    columns = ", ".join(f"{name(c)} {kinds.get(type(t), 'text')}" for c, t in keyed.schema.items())
    connection = psycopg.connect(url.replace("+psycopg", ""))
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE TABLE "{TABLE}" ({columns})')
        marks = ", ".join(["%s"] * keyed.width)
        cursor.executemany(f'INSERT INTO "{TABLE}" VALUES ({marks})', keyed.rows())
    connection.commit()
    return PostgreSQL(connection, TABLE, KEY, owned=True)


def keyed_by_uuid(stored: PostgreSQL) -> PostgreSQL:
    """Return the same people with keys of a type that is no number and no text."""
    key = stored.dialect.name(KEY)
    with stored.connection.cursor() as cursor:
        cursor.execute(
            f"ALTER TABLE \"{TABLE}\" ALTER COLUMN {key} TYPE uuid USING lpad(to_hex({key}), 32, '0')::uuid"
        )
    stored.connection.commit()
    return PostgreSQL(stored.connection, TABLE, KEY, owned=True)


def in_ibis_on_duckdb(frame: pl.DataFrame) -> Engine:
    """Return the people in an Ibis table of DuckDB."""
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    connection = duckdb.connect()
    connection.register("given", _keyed(frame).to_arrow())
    connection.execute(f'CREATE TABLE "{TABLE}" AS SELECT * FROM given')
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)  # by which Ibis asks DuckDB
        return of_ibis(ibis.duckdb.from_connection(connection).table(TABLE), KEY)


def in_ibis_on_postgresql(stored: PostgreSQL) -> Engine:
    """Return the people of a table of PostgreSQL in an Ibis table."""
    ibis = pytest.importorskip("ibis", reason="Ibis is not installed")
    return of_ibis(ibis.postgres.from_connection(stored.connection).table(TABLE), KEY)


def in_spark(frame: pl.DataFrame, session: Any) -> Spark:
    """Return the people in a frame of Spark."""
    return Spark(session.createDataFrame(_keyed(frame).to_arrow()), KEY)


@contextmanager
def spark_session() -> Iterator[Any]:
    """Give a small session with no tables; the machine below it is started once for all of a process."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield _first_session().newSession()


@cache
def _first_session() -> Any:
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.codegen.wholeStage", "false")  # few rows: to compile takes longer than to count
        .getOrCreate()
    )


def any_engine(
    kind: str, frame: pl.DataFrame, folder: Path, request: pytest.FixtureRequest, stack: ExitStack
) -> Engine:
    """Return the frame in an engine of this process or another, for as long as the stack."""
    if kind in IN_PROCESS:
        return stack.enter_context(engine_of(kind, frame, folder))
    if kind == "spark":
        engine: Engine = in_spark(frame, stack.enter_context(spark_session()))
    elif kind == "ibis duckdb":
        engine = in_ibis_on_duckdb(frame)
    else:
        engine = stored = in_postgresql(frame, request.getfixturevalue("postgres_url"))
        stack.callback(stored.close)
        if kind == "ibis postgresql":
            engine = in_ibis_on_postgresql(stored)
    stack.callback(engine.close)
    return engine
