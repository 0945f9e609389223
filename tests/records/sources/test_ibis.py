"""Ibis tables stay in the backend that they are of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import leastwise
from leastwise.errors import DataError, ParameterError
from leastwise.minimizers import UniformMinimizer
from leastwise.records.sources import Source
from leastwise.records.sources.opening import is_source, open_engine
from leastwise.runs import Grid
from tests.records.sources.engines import KEY, TABLE, in_postgresql
from tests.records.sources.test_source import SCHEMA, people
from tests.runs.small import records, write_csv

ibis: Any = pytest.importorskip("ibis", reason="Ibis is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning"),
    pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning"),  # by which Ibis asks DuckDB
]


@pytest.mark.parametrize("kind", ["duckdb", "postgresql"])
def test_minimize_takes_an_ibis_table(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    frame = pl.read_csv(write_csv(tmp_path / "small.csv", records(1200)))
    if kind == "duckdb":
        connection = duckdb.connect()
        connection.register("given", frame.with_row_index(KEY).to_arrow())
        table = ibis.duckdb.from_connection(connection).table("given")
    else:
        connection = in_postgresql(frame, request.getfixturevalue("postgres_url")).connection
        table = ibis.postgres.from_connection(connection).table(TABLE)
    found = leastwise.minimize(
        table.filter(table["age"] >= 30),
        "rich",
        ["job", "sex"],
        grid=Grid.of(UniformMinimizer(k=2, random_state=0)),
        key=KEY,
        quick=True,
        jobs=1,
        sample=500,
        folder=tmp_path / "run",
        progress=None,
    )
    assert found.task.source is not None
    assert found.task.source.records == frame.filter(pl.col("age") >= 30).height
    assert found.frontier.points[0].test.people == found.task.source.tested
    connection.close()


def test_a_transaction_of_somebody_else_goes_on(postgres_url: str) -> None:
    stored = in_postgresql(people(20), postgres_url)
    stored.connection.execute(f'DELETE FROM "{TABLE}" WHERE code = 1')  # not committed
    left = stored.connection.execute(f'SELECT count(*) FROM "{TABLE}"').fetchone()[0]
    engine = open_engine(ibis.postgres.from_connection(stored.connection).table(TABLE), key=KEY)
    assert len(Source(engine, SCHEMA)) == left < 20
    assert stored.connection.execute(f'SELECT count(*) FROM "{TABLE}"').fetchone()[0] == left
    stored.close()


def test_a_table_in_memory_is_known_to_its_backend() -> None:
    engine = open_engine(ibis.memtable(people(30).with_row_index("key").to_arrow()), key="key")
    assert len(Source(engine, SCHEMA)) == 30


def test_what_cannot_be_counted_is_told(tmp_path: Path) -> None:
    table = ibis.table({"a": "int64"}, name="nowhere")
    assert is_source(table)
    with pytest.raises(ParameterError, match=r"key=\.\.\."):
        open_engine(table)
    with pytest.raises(DataError, match="another thing of Ibis"):
        open_engine(ibis.duckdb.connect(), key="a")
    lite = ibis.sqlite.connect(str(tmp_path / "x.sqlite"))
    lite.raw_sql("CREATE TABLE t (a INTEGER)")
    with pytest.raises(ParameterError, match=r"DuckDB and PostgreSQL .* 'sqlite'"):
        open_engine(lite.table("t"), key="a")
