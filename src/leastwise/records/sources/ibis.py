"""Ibis tables: the query behind a table becomes part of ours, and is asked in the connection of its backend.

That needs a backend of which leastwise speaks the dialect; Ibis itself would make a view for each query that it
does not know, which takes more rights than to read.
"""

from __future__ import annotations

from typing import Any

from leastwise.errors import DataError, ParameterError, shorten
from leastwise.records.sources import duckdb
from leastwise.records.sources.databases import PostgreSQL
from leastwise.records.sources.sql import SqlEngine


def of_ibis(table: Any, key: str | None) -> SqlEngine:
    """Take an Ibis table; only a key tells its records apart."""
    if key is None:
        raise ParameterError("an Ibis table has no row numbers; name the column that tells records apart: key=...")
    if not hasattr(table, "get_backend") or not hasattr(table, "limit"):
        raise DataError(f"a source must be a table; got {type(table).__name__}, which is another thing of Ibis")
    backend = table.get_backend()
    if backend.name == "duckdb":
        return _DuckDB(table, key)
    if backend.name == "postgres":
        return _PostgreSQL(table, key)
    raise ParameterError(
        f"of Ibis, tables of DuckDB and PostgreSQL are counted where they lie; got {shorten(backend.name)}: give "
        "the frame or the address itself where there is one, or export the columns of the schema to Parquet"
    )


def _query_of(table: Any) -> str:
    """Return the query behind a table, and let the backend know what of it lies in the memory of this process."""
    from ibis.expr.operations import InMemoryTable

    if table.op().find(InMemoryTable):
        table.limit(0).to_polars()
    return str(table.get_backend().compile(table))


class _DuckDB(duckdb.Relation):
    """A table of Ibis on DuckDB."""

    def __init__(self, table: Any, key: str) -> None:
        self._given = table  # while it lives, the backend knows what of it lies in the memory of this process
        super().__init__(table.get_backend().con.sql(_query_of(table)), key)


class _PostgreSQL(PostgreSQL):
    """A table of Ibis on PostgreSQL."""

    def __init__(self, table: Any, key: str) -> None:
        super().__init__(table.get_backend().con, "an Ibis table", key)
        self._given, self._query = table, _query_of(table)

    @property
    def origin(self) -> str:
        """The query behind the table."""
        return f"({self._query})"
