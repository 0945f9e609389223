"""A process that asks an engine more than it can answer: ``python -m tests.records.sources.stopped KIND PLACE``.

It says ``asking``, waits to be stopped, and says as JSON what is left in the engine.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import warnings
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from leastwise.records.sources.databases import SQLite, connect_postgresql
from leastwise.records.sources.duckdb import of_database, of_files, of_relation
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.plan import Places, Plan
from leastwise.records.sources.polars import Polars
from leastwise.records.sources.spark import Spark

FEW = pl.DataFrame({"key": range(2000), "a": [i % 7 for i in range(2000)]})
# Each record with each other, and again: more than anybody counts in an hour.
MANY = "SELECT p.key * 4000000 + q.key * 2000 + r.key AS key, p.a + q.a AS a FROM few p, few q, few r"
TOO_MUCH = Plan("more than can be counted", exact=("a",), places=Places.of(0.5, 1))


def slow(kind: str, place: str) -> Engine:
    """Return an engine that has more to count than there is time."""
    if kind in ("duckdb", "files"):
        return _duckdb(kind, Path(place))
    if kind == "relation":
        return _relation(Path(place))
    if kind == "sqlite":
        connection = sqlite3.connect(":memory:")
        connection.execute("CREATE TABLE few (key, a)")
        connection.executemany("INSERT INTO few VALUES (?, ?)", FEW.rows())
        connection.execute(f"CREATE VIEW many AS {MANY}")
        engine: Engine = SQLite(connection, "many", "key", owned=True)
        engine.__dict__["families"] = {"key": "int", "a": "int"}  # to look at them would take as long
        return engine
    if kind == "postgresql":
        return connect_postgresql(place, "many", "key")
    if kind == "spark":
        return Spark(_spark_frame(), "key")
    assert kind == "polars"
    few = FEW.lazy()
    crossed = few.join(few, how="cross", suffix="_q").join(few, how="cross", suffix="_r")
    return Polars(crossed.with_columns(key=pl.col("key") * 4_000_000 + pl.col("key_q") * 2000), "key")


def _duckdb(kind: str, folder: Path) -> Engine:
    if kind == "files":  # keys that are texts, which take long to place
        text = pl.int_range(2_000_000, eager=True).cast(pl.String)
        path = folder / "many.parquet"
        pl.DataFrame({"key": text, "a": text}).write_parquet(path)
        return of_files([path] * 100, "key")
    with duckdb.connect(str(folder / "people.db")) as connection:
        connection.register("given", FEW.to_arrow())
        connection.execute(f"CREATE TABLE few AS SELECT * FROM given; CREATE VIEW many AS {MANY}")
    return of_database(str(folder / "people.db"), "many", "key")


def _relation(folder: Path) -> Engine:
    """Return a relation of somebody's own connection, which hears Ctrl-C by itself from time to time."""
    connection = duckdb.connect()
    connection.execute("SET enable_progress_bar = false")
    _duckdb("files", folder).close()
    files = ", ".join([f"'{folder / 'many.parquet'}'"] * 100)
    return of_relation(connection.sql(f"SELECT * FROM read_parquet([{files}])"), "key")


def _spark_frame() -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
    many = session.range(10**12, numPartitions=50)
    return many.selectExpr("id AS key", "id % 7 AS a")


def left_in(engine: Engine) -> int:
    """Return how many objects or jobs of ours are left."""
    if isinstance(engine, Spark):
        return len(engine.frame.sparkSession.sparkContext.statusTracker().getActiveJobsIds())
    if engine.name == "DuckDB":
        asked: Any = engine
        return asked.fetch("SELECT * FROM duckdb_tables() WHERE table_name LIKE 'leastwise%'").height
    return 0


def main(kind: str, place: str) -> None:
    """Ask, be stopped, and tell what is left."""
    engine = slow(kind, place)
    print("asking", flush=True)
    try:
        engine.count(TOO_MUCH, 0)
    except KeyboardInterrupt:
        print(json.dumps({"left": left_in(engine)}), flush=True)
        engine.close()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
