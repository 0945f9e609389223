"""Databases that are reached by a connection of Python: PostgreSQL and SQLite."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

import polars as pl

from leastwise.errors import DataError, LeastwiseError, MissingExtraError, ParameterError, shorten
from leastwise.exports.sql_dialects import DIALECTS, Dialect
from leastwise.records.sources.engine import no_table, not_numbered
from leastwise.records.sources.plan import Family
from leastwise.records.sources.sql import RECORD, SqlEngine

# So many steps of its machine SQLite takes before Python looks around: a few milliseconds.
_STEPS = 1_000_000
# The numbers by which PostgreSQL names its types.
_POSTGRESQL: dict[int, Family] = {
    **dict.fromkeys((20, 21, 23), "int"),
    **dict.fromkeys((700, 701, 1700), "float"),
    **dict.fromkeys((25, 1042, 1043, 18), "text"),
    16: "bool",
    **dict.fromkeys((114, 3802, 1007, 1009, 1016, 1022), "nested"),
}


class Database(SqlEngine):
    """A table behind a DB-API connection."""

    def __init__(self, connection: Any, table: str | None, key: str | None, owned: bool = False) -> None:
        self.connection, self.key, self._owned = connection, key, owned
        if not table:
            raise no_table(f"the {self.name} database", None, self._tables())
        self.table = table

    @abstractmethod
    def _tables(self) -> list[str]:
        """Return what tables and views are called."""

    @abstractmethod
    def _has_table(self) -> bool:
        """Return whether there is such a table, by the database's own rules."""

    def check_table(self) -> None:
        """Refuse a table that is not there."""
        if not self._has_table():
            raise no_table(f"the {self.name} database", self.table, self._tables())

    @property
    def origin(self) -> str:
        """The table."""
        return ".".join(map(self.dialect.name, self.table.split(".")))

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""
        with self._reading() as cursor:
            cursor.execute(query)
            names = [each[0] for each in cursor.description]
            return pl.DataFrame(cursor.fetchall(), schema=names, orient="row", infer_schema_length=None)

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Give a cursor, and end the transaction that begins with it; somebody's own is left as it is.

        A long transaction would keep the database from cleaning up.
        """
        before = self.in_transaction
        cursor = self.connection.cursor()
        try:
            yield cursor
        finally:
            cursor.close()
            if not before:
                self.connection.rollback()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction of the connection is under way."""
        return bool(self.connection.in_transaction)

    def close(self) -> None:
        """Close the connection where it was opened here."""
        if self._owned:
            self.connection.close()


D = TypeVar("D", bound=Database)


class PostgreSQL(Database):
    """A table, or a view, of PostgreSQL; its rows have no lasting numbers, so that a key must be named."""

    name = "PostgreSQL"
    dialect: Dialect = DIALECTS["postgresql"]

    def __init__(self, connection: Any, table: str | None, key: str | None, owned: bool = False) -> None:
        super().__init__(connection, table, key, owned)
        if key is None:
            raise ParameterError(
                "PostgreSQL does not number its rows; name the column that tells them apart: --key"
            )

    def _tables(self) -> list[str]:
        query = (
            "SELECT CASE nspname WHEN 'public' THEN relname ELSE nspname || '.' || relname END "
            "FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN "
            "('r', 'v', 'm', 'f', 'p') AND nspname <> 'information_schema' AND nspname !~ '^pg_' ORDER BY 1"
        )
        with self.answering():
            return [str(name) for name in self.fetch(query).to_series()]

    def _has_table(self) -> bool:
        with self.answering():  # on the search path, or a temporary one of this connection
            answer = self.fetch(f"SELECT to_regclass({self.dialect.text(self.origin)}) IS NOT NULL AS there")
        return bool(answer["there"][0])

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        with self.answering(), self._reading() as cursor:
            cursor.execute(f"SELECT * FROM {self.origin} AS {RECORD} LIMIT 0")
            return {each[0]: _POSTGRESQL.get(each[1], "other") for each in cursor.description}

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction of the connection is under way."""
        from psycopg.pq import TransactionStatus

        return bool(self.connection.info.transaction_status != TransactionStatus.IDLE)

    def cancel(self) -> None:
        """Stop the query that runs."""
        self.connection.cancel()


class SQLite(Database):
    """A table of SQLite; its rows have numbers of their own. Each value has a type of its own."""

    name = "SQLite"
    dialect = DIALECTS["sqlite"]
    grouping_sets = False

    def __init__(self, connection: Any, table: str | None, key: str | None = None, owned: bool = False) -> None:
        super().__init__(connection, table, key, owned)
        if key is None:
            self.__dict__["number"] = f"{RECORD}.leastwise_row"

    def _tables(self) -> list[str]:
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY 1"
        with self.answering():
            return [str(row[0]) for row in self.connection.execute(query)]

    def _has_table(self) -> bool:
        try:
            self.connection.execute(f"SELECT * FROM {super().origin} LIMIT 0").close()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return False
            raise
        if self.key is None:
            self._check_numbered()
        return True

    def _check_numbered(self) -> None:
        """Refuse a view, and a table that was made without row numbers, where nothing else tells records apart."""
        try:
            row = self.connection.execute(f"SELECT rowid FROM {super().origin} LIMIT 1").fetchone()
        except sqlite3.OperationalError:
            row = (None,)
        if row == (None,):
            raise not_numbered(self.table)

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives; Python hears Ctrl-C only where SQLite lets it look around meanwhile."""
        self.connection.set_progress_handler(lambda: 0, _STEPS)
        try:
            return super().fetch(query)
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":  # by whoever stopped the program
                raise KeyboardInterrupt from None
            raise
        finally:
            self.connection.set_progress_handler(None, 0)

    @property
    def origin(self) -> str:
        """The table, with the numbers of its rows where no key is named."""
        table = super().origin
        return table if self.key is not None else f"(SELECT *, rowid - 1 AS leastwise_row FROM {table})"

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds, by the types of its values."""
        table = super().origin
        with self.answering():
            names = [each[0] for each in self.connection.execute(f"SELECT * FROM {table} LIMIT 0").description]
            return {name: self._family(table, name) for name in names}

    def _family(self, table: str, name: str) -> Family:
        query = f"SELECT DISTINCT typeof({self.dialect.name(name)}) FROM {table}"
        kinds = {row[0] for row in self.connection.execute(query)} - {"null"}
        if "blob" in kinds:
            return "nested"
        return "int" if kinds == {"integer"} else "float" if kinds and kinds <= {"integer", "real"} else "text"

    def raw_column(self, name: str) -> str:
        """Return a column as it is: what SQLite compares has the type of each value."""
        return f"{RECORD}.{self.dialect.name(name)}"

    @cached_property
    def number(self) -> str:
        """The whole number of a record."""
        if self.key is not None and self.raw_family(self.key) != "int":
            raise ParameterError("the key of an SQLite table must hold whole numbers, or be left out")
        return super().number


def connect_postgresql(address: str, table: str | None, key: str | None) -> PostgreSQL:
    """Connect to ``postgresql://...``; the transaction is one that can only read."""
    try:
        import psycopg
    except ImportError:
        raise MissingExtraError("psycopg", "postgresql") from None
    try:
        connection = psycopg.connect(address)
        connection.read_only = True
    except psycopg.Error as error:
        said = shorten(" ".join(str(error).split()))
        raise DataError(f"PostgreSQL cannot be reached ({said}); check the address and your rights") from None
    return _checked(PostgreSQL, connection, table, key)


def _checked(kind: type[D], connection: Any, table: str | None, key: str | None) -> D:
    """Return the engine of a connection that was opened here; close it where there is no such table."""
    try:
        engine = kind(connection, table, key, owned=True)
        engine.check_table()
    except LeastwiseError:
        connection.close()
        raise
    return engine


def connect_sqlite(path: str, table: str | None, key: str | None = None) -> SQLite:
    """Open an SQLite database for reading."""
    from pathlib import Path

    if not Path(path).is_file():
        raise DataError(f"{path}: there is no such database; check its name and folder")
    connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True)
    return _checked(SQLite, connection, table, key)
