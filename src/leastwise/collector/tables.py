"""The tables of a collector's database, and how its connections are opened.

The database is complete in itself: it holds the artefacts, and each record points to the one it was collected
under. What would tell more than the record itself is not in it: no address, no time but the day, no order of
arrival (records lie in the order of random bytes; those of one request side by side), no receipt (only a digest).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from leastwise.errors import DataError, MissingExtraError, ParameterError

FORMAT = b"leastwise-records 1"
metadata = sa.MetaData()

generalizations = sa.Table(
    "leastwise_generalizations",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("fingerprint", sa.String(64), nullable=False, unique=True),
    sa.Column("artefact", sa.Text, nullable=False),
)

records = sa.Table(
    "leastwise_records",
    metadata,
    sa.Column("receipt", sa.LargeBinary(16), primary_key=True),  # its beginning, and a digest
    sa.Column("generalization", sa.SmallInteger, sa.ForeignKey(generalizations.c.id), nullable=False),
    sa.Column("day", sa.Integer, nullable=False),  # since 1970-01-01
    sa.Column("label", sa.SmallInteger, nullable=True),
    sa.Column("answers", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,  # a row number would tell the order of arrival
)

requests = sa.Table(
    "leastwise_requests",
    metadata,
    sa.Column("key", sa.LargeBinary(16), primary_key=True),  # a digest of the idempotency key
    sa.Column("body", sa.LargeBinary(16), nullable=False),  # a digest that only the key's holder can repeat
    sa.Column("records", sa.Integer, nullable=False),
    sa.Column("day", sa.Integer, nullable=False),
    sqlite_with_rowid=False,
)

settings = sa.Table(
    "leastwise_settings",
    metadata,
    sa.Column("name", sa.String(40), primary_key=True),
    sa.Column("value", sa.LargeBinary, nullable=False),
)


StoredRow = tuple[bytes, int, int, int | None, bytes]
_COLUMNS = "(receipt, generalization, day, label, answers)"
# SQLite's driver lets other threads run at each statement, and then waits for its turn: few large ones are faster
# than many small ones. Few sizes, so that they stay prepared.
_SQLITE_INSERTS = {
    count: f"INSERT INTO {records.name} {_COLUMNS} VALUES {', '.join(['(?, ?, ?, ?, ?)'] * count)}"  # noqa: S608
    for count in (512, 64, 8, 1)
}
_POSTGRES_INSERT = (
    f"INSERT INTO {records.name} {_COLUMNS} "  # noqa: S608 - names of ours
    "SELECT * FROM unnest(%b::bytea[], %b::smallint[], %b::int[], %b::smallint[], %b::bytea[])"
)


def insert_records(connection: sa.Connection, rows: Sequence[StoredRow]) -> None:
    """Insert rows by the driver's own means: a thousand at once must not cost a thousand times one."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(_POSTGRES_INSERT, tuple(map(list, zip(*rows, strict=True))))
        return
    start = 0
    for count, statement in _SQLITE_INSERTS.items():
        while len(rows) - start >= count:
            connection.exec_driver_sql(statement, tuple(chain.from_iterable(rows[start : start + count])))
            start += count


def open_engine(url: str, create: bool = True) -> sa.Engine:
    """Return an engine for SQLite or PostgreSQL whose errors never show a value or a password."""
    parsed = _parsed(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed, create)
    try:
        return sa.create_engine(
            parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True, hide_parameters=True, pool_size=4
        )
    except ImportError:
        raise MissingExtraError("psycopg", "postgresql") from None


def _parsed(url: str) -> sa.URL:
    try:
        parsed = sa.make_url(url)
        known = parsed.get_backend_name() in ("sqlite", "postgresql")
    except (sa.exc.ArgumentError, ValueError):
        known = False
    if not known:  # the text is not shown: it may hold a password
        raise ParameterError(
            "the database must be sqlite:///records.db or postgresql://user@host/name; got something else"
        )
    return parsed


def _sqlite(url: sa.URL, create: bool) -> sa.Engine:
    if not url.database or url.database == ":memory:" or url.query:
        raise ParameterError("the database must be a file, such as sqlite:///records.db: memory does not last")
    path = Path(url.database)
    if create:
        _make_private(path)
    elif not path.is_file():
        raise DataError(f"{path}: there is no such database; check its name and folder")
    engine = sa.create_engine(url.set(drivername="sqlite+pysqlite"), hide_parameters=True)
    sa.event.listen(engine, "connect", _prepare_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _make_private(path: Path) -> None:
    """Make the file readable by its owner only; SQLite gives its log the same mode."""
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {path.parent}; make it first")
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin below, not when the driver guesses
    for pragma in (
        "busy_timeout=20000",
        "journal_mode=WAL",
        "synchronous=FULL",  # with WAL: on disk before the answer, also when the power fails
        "secure_delete=ON",  # erased records are overwritten
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("leastwise_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
