"""From an address, or a frame, to the engine that answers for it."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import polars as pl

from leastwise.errors import DataError, MissingExtraError, ParameterError, shorten
from leastwise.records.files import file_format
from leastwise.records.sources.engine import Engine, Where, no_table

SCHEMES = ("duckdb:", "sqlite:", "postgresql://", "postgres://", "spark:")
# How much larger records are in memory than in their file.
_UNPACKED = {"csv": 2, "ndjson": 2, "parquet": 12}


def open_engine(address: Any, table: str | None = None, key: str | None = None) -> Engine:
    """Return the engine of an address or of a frame.

    Parameters
    ----------
    address
        ``big/*.parquet``, a folder or a file; ``duckdb:people.db``, ``sqlite:people.db``, ``postgresql://...``,
        ``spark:TABLE`` or ``spark:FILE``; or a DuckDB relation, a PySpark frame, an Ibis table (of DuckDB or
        PostgreSQL) or a Polars lazy frame.
    table
        Of a database.
    key
        The column that tells records apart. Files, DuckDB and SQLite tables and Polars frames can do without.
    """
    if not isinstance(address, str | Path):
        return _of_frame(address, key)
    engine = _of_address(str(address), table, key)
    engine.where = Where(without_secrets(str(address)), table)
    return engine


def _of_address(text: str, table: str | None, key: str | None) -> Engine:
    from leastwise.records.sources import databases, duckdb
    from leastwise.records.sources.spark import Spark

    if text.startswith("duckdb:"):
        return duckdb.of_database(text.removeprefix("duckdb:"), table, key)
    if text.startswith("sqlite:"):
        return databases.connect_sqlite(text.removeprefix("sqlite:").removeprefix("///"), table, key)
    if text.startswith(("postgresql://", "postgres://")):
        return databases.connect_postgresql(text, table, key)
    if text.startswith("spark:"):
        return Spark(_spark_frame(text.removeprefix("spark:"), table), key)
    if table is not None:
        raise ParameterError(f"--table is for databases; {shorten(text)} names files")
    return duckdb.of_files(files_of(text), key)


def without_secrets(address: str) -> str:
    """Return an address without what must not be written down: its reader has a password of their own.

    >>> without_secrets("postgresql://ann:secret@host/db?sslmode=require&password=secret")
    'postgresql://ann@host/db?sslmode=require'
    >>> without_secrets("duckdb:people.db")
    'duckdb:people.db'
    """
    if not address.startswith(("postgresql://", "postgres://")):
        return address
    scheme, place, path, query, _ = urlsplit(address)
    user, at, host = place.rpartition("@")
    kept = [each for each in query.split("&") if "pass" not in each.partition("=")[0].lower()]
    return urlunsplit((scheme, f"{user.partition(':')[0]}{at}{host}", path, "&".join(kept), ""))


def moved(address: str, move: Callable[[str], str]) -> str:
    """Return an address whose file is named otherwise; one of a server stays as it is.

    >>> moved("duckdb:people.db", "data/{}".format), moved("postgresql://host/db", "data/{}".format)
    ('duckdb:data/people.db', 'postgresql://host/db')
    """
    if address.startswith(("duckdb:", "sqlite:")):
        scheme, _, path = address.partition(":")
        return f"{scheme}:{move(path.removeprefix('///') if scheme == 'sqlite' else path)}"
    return address if address.startswith(SCHEMES) else move(address)


def is_source(address: Any) -> bool:
    """Return whether records are to be left where they are: in an engine, in several files, or in a large one.

    >>> is_source("duckdb:people.db"), is_source("people.csv")
    (True, False)
    """
    if not isinstance(address, str | Path):
        return is_lazy(address)
    text = str(address)
    if text.startswith(SCHEMES):
        return True
    path = Path(text)
    if path.is_dir():
        return True
    if not path.is_file():
        return any(wildcard in text for wildcard in "*?[")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return path.stat().st_size * _UNPACKED[file_format(path)] > memory / 2


def is_lazy(frame: Any) -> bool:
    """Return whether a frame is a query, not yet answered."""
    module = type(frame).__module__.partition(".")[0]
    return isinstance(frame, pl.LazyFrame) or module in ("duckdb", "_duckdb", "pyspark", "ibis")


def _of_frame(frame: Any, key: str | None) -> Engine:
    from leastwise.records.sources import duckdb
    from leastwise.records.sources.ibis import of_ibis
    from leastwise.records.sources.polars import Polars
    from leastwise.records.sources.spark import Spark

    if isinstance(frame, pl.LazyFrame):
        return Polars(frame, key)
    module = type(frame).__module__.partition(".")[0]
    if module in ("duckdb", "_duckdb"):
        return duckdb.of_relation(frame, key)
    if module == "pyspark":
        return Spark(frame, key)
    if module == "ibis":
        return of_ibis(frame, key)
    raise DataError(
        "a source must be an address, a DuckDB relation, a PySpark frame, an Ibis table or a Polars lazy frame; "
        f"got {type(frame).__name__}"
    )


def files_of(address: str) -> list[Path]:
    """Return the files of a name, a pattern or a folder, in the order of their names."""
    path = Path(address)
    if path.is_file():
        return [path]
    paths = path.rglob("*") if path.is_dir() else map(Path, glob.glob(address, recursive=True))
    files = sorted(each for each in paths if each.is_file() and not each.name.startswith(("_", ".")))
    if not files:
        what = "are no records in it" if path.is_dir() else "is no such file"
        raise DataError(f"{address}: there {what}; check its name and folder")
    return files


def _spark_frame(name: str, table: str | None) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError("pyspark", "spark") from None
    master, is_master = (name, name.startswith("//"))
    builder: Any = SparkSession.builder
    session = builder.master(f"spark:{master}").getOrCreate() if is_master else builder.getOrCreate()
    wanted = table or (None if is_master else name)
    if not wanted:
        raise no_table("Spark", None, [each.name for each in session.catalog.listTables()])
    if wanted.endswith((".parquet", "/")):
        return session.read.parquet(wanted)
    if not session.catalog.tableExists(wanted):
        raise no_table("Spark", wanted, [each.name for each in session.catalog.listTables()])
    return session.table(wanted)


def columns_of(engine: Engine, left_out: Sequence[str | None]) -> list[str]:
    """Return the columns of the records but the key and others that are no attributes."""
    hidden = {engine.key, *left_out}
    return [name for name in engine.families if name not in hidden]
