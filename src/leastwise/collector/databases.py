"""SQLite and PostgreSQL as a collector uses them: how connections are opened, what is checked, what is forgotten.

No step waits for ever: a locked file fails after ``LOCKED`` seconds, a server that does not answer after
``STEP`` seconds, and nobody waits for the store longer than ``ANSWER`` seconds.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from leastwise.errors import DataError, MissingExtraError, ParameterError

LOCKED = 5  # seconds to wait for somebody else's lock
STEP = 8  # seconds to wait for a server's answer to one statement
ANSWER = 12  # seconds until a request is answered, whatever the store does
READERS = 0.02  # seconds that emptying the log may wait for readers; writers wait meanwhile


class StoreError(Exception):
    """The store cannot do what is asked; its text holds no value."""


class LostError(StoreError):
    """The database file is no longer where it was opened: what is written to it would be found by nobody."""


class SilentError(StoreError):
    """The store did not answer in time."""


class Database(ABC):
    """One database; safe to use from several threads."""

    engine: sa.Engine
    insert: Any  # the dialect's INSERT, which knows ON CONFLICT
    writers: int
    forgets: bool  # whether it can make sure that erased bytes are gone
    remains: str  # what an erasure leaves where it cannot, or not yet

    @contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection to read with; keep it short, an open reader keeps erased bytes in the log."""
        self.check_there()
        with self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a connection whose work is on disk, in the file of this name, when the block has ended."""
        self.check_there()
        with self._turn(), self.engine.execution_options(leastwise_writes=True).begin() as connection:
            yield connection
        self.check_there()

    @abstractmethod
    def _turn(self) -> Any:
        """Return a context in which this process may write."""

    @abstractmethod
    def check_there(self) -> None:
        """Raise ``LostError`` when the database is not where it was opened."""

    @abstractmethod
    def forget(self) -> bool:
        """Empty what keeps erased bytes and the order of arrival; return whether nothing is left of them."""

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what a database says into one line, without values and without a password."""
        try:
            yield
        except sa.exc.DBAPIError as error:
            said = " ".join(str(error.orig).split())
            raise DataError(f"{self.name}: the database cannot be used ({said})") from None

    @property
    def name(self) -> str:
        """Return the URL without its password."""
        return self.engine.url.render_as_string()

    def close(self) -> None:
        """Let go of all connections; the last one of SQLite writes the log back and removes it."""
        self.engine.dispose()


class SQLite(Database):
    """A file, and beside it a write-ahead log that is emptied again and again."""

    insert = staticmethod(sqlite.insert)
    writers = 1  # it lets one write at a time
    forgets = True
    remains = "erased; its bytes lie in the log of the database until another reader of the file has ended"

    def __init__(self, url: sa.URL, create: bool) -> None:
        if not url.database or url.database == ":memory:" or url.query:
            raise ParameterError("the database must be a file, such as sqlite:///records.db: memory does not last")
        self.path = Path(url.database)
        if create:
            _make_private(self.path)
        elif not self.path.is_file():
            raise DataError(f"{self.path}: there is no such database; check its name and folder")
        self._log = Path(f"{self.path}-wal")
        self._known: tuple[int | None, int | None] | None = None
        self._lock = threading.Lock()
        # By its own means, or a file that was moved away would be made anew, empty.
        place = f"file:{quote(str(self.path.absolute()))}?mode=rw"
        self.engine = sa.create_engine(
            url.set(drivername="sqlite+pysqlite"),
            creator=lambda: sqlite3.connect(place, uri=True, check_same_thread=False),
            hide_parameters=True,
        )
        sa.event.listen(self.engine, "connect", _prepare_sqlite)
        sa.event.listen(self.engine, "begin", _begin_sqlite)

    def _turn(self) -> threading.Lock:
        return self._lock

    def check_there(self) -> None:
        """Compare the files of these names with those that were opened first."""
        now = _inode(self.path), _inode(self._log)
        if self._known is None:
            if now[1] is not None:  # the log is there from the first transaction on
                self._known = now
        elif now != self._known:
            raise LostError(f"{self.path}: the file or its log was moved, replaced or deleted")

    def forget(self) -> bool:
        """Write the log back into the file and cut it to nothing; a reader of another process may prevent it."""
        self.check_there()
        with self._lock, self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"PRAGMA busy_timeout={int(READERS * 1000)}")
            try:
                busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
            finally:
                connection.exec_driver_sql(f"PRAGMA busy_timeout={LOCKED * 1000}")
        return not busy


class PostgreSQL(Database):
    """A server; its files and logs are its own affair."""

    insert = staticmethod(postgresql.insert)
    writers = 3
    forgets = False
    remains = "erased; its bytes lie in the files and logs of PostgreSQL until it has reused their place"

    def __init__(self, url: sa.URL) -> None:
        try:
            self.engine = sa.create_engine(
                url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, hide_parameters=True, pool_size=4,
                connect_args={"connect_timeout": LOCKED, "options": f"-c lock_timeout={LOCKED * 1000}"},
            )  # fmt: skip
        except ImportError:
            raise MissingExtraError("psycopg", "postgresql") from None
        sa.event.listen(self.engine, "do_connect", _connect_impatiently)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        yield

    def check_there(self) -> None:
        """Do nothing: a server that is gone says so."""

    def forget(self) -> bool:
        """Return False: deleted rows stay in the server's files until it reuses their place."""
        return False


def open_database(url: str, create: bool = True) -> Database:
    """Return the database of a URL; its errors never show a value or a password."""
    try:
        parsed = sa.make_url(url)
        kind = parsed.get_backend_name()
    except (sa.exc.ArgumentError, ValueError):
        kind = ""
    if kind == "sqlite":
        return SQLite(parsed, create)
    if kind == "postgresql":
        return PostgreSQL(parsed)
    # The text is not shown: it may hold a password.
    raise ParameterError(
        "the database must be sqlite:///records.db or postgresql://user@host/name; got something else"
    )


def _make_private(path: Path) -> None:
    """Make the file readable by its owner only; SQLite gives its log the same mode."""
    if not path.parent.is_dir():
        raise DataError(f"{path}: there is no folder {path.parent}; make it first")
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _inode(path: Path) -> int | None:
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return None


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin below, not when the driver guesses
    for pragma in (
        f"busy_timeout={LOCKED * 1000}",
        "journal_mode=WAL",
        "synchronous=FULL",  # with WAL: on disk before the answer, also when the power fails
        "secure_delete=ON",  # erased records are overwritten
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite(connection: sa.Connection) -> None:
    writes = connection.get_execution_options().get("leastwise_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _connect_impatiently(_: Any, __: Any, words: Any, options: dict[str, Any]) -> Any:
    """Return a connection of psycopg that gives up when the server is silent: stopped, or behind a dead line."""
    import psycopg

    class Impatient(psycopg.Connection[Any]):
        def wait(self, gen: Any, *rest: Any, **more: Any) -> Any:
            return super().wait(self._until(gen, time.monotonic() + STEP), *rest, **more)

        def _until(self, gen: Any, end: float) -> Any:
            """Pass on what the socket says to a step of the protocol; it is asked ten times a second."""
            try:
                state = next(gen)
                while True:
                    ready = yield state
                    if not ready and time.monotonic() > end:
                        self.pgconn.finish()
                        raise psycopg.OperationalError(f"the server was silent for {STEP} seconds")
                    state = gen.send(ready)
            except StopIteration as stop:
                return stop.value

    return Impatient.connect(*words, **options)
