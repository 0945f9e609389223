"""Where generalized records are kept: SQLite in a file, or PostgreSQL.

A record is acknowledged when its transaction is on disk. Receipts are secrets of the people who sent the record;
the database holds only their digests. With an idempotency key the receipts follow from the key, so that a repeated
request gets the same ones although nobody kept them.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from leastwise.collector import receipts
from leastwise.collector.records import RecordFormat, Row
from leastwise.collector.tables import (
    FORMAT,
    StoredRow,
    generalizations,
    insert_records,
    metadata,
    open_engine,
    records,
    requests,
    settings,
)
from leastwise.errors import DataError
from leastwise.generalization import Generalization

KEYS_KEPT = 30  # days that a repeated request is recognized
CHUNK = 10_000


@dataclass(frozen=True)
class Submission:
    """The records of one request."""

    generalization: int
    rows: Sequence[Row]
    key: str | None = None
    body: bytes = b""


@dataclass(frozen=True)
class Stored:
    """The receipts of a request; ``repeated`` when it had been stored before."""

    receipts: list[str]
    repeated: bool = False


class KeyUsedError(Exception):
    """An idempotency key that came with another body before."""


Outcome = Stored | KeyUsedError


class Store:
    """A collector's database; safe to use from several threads and by several processes."""

    def __init__(self, engine: sa.Engine, secret: bytes) -> None:
        self._engine, self._secret = engine, secret
        self._writing = engine.execution_options(leastwise_writes=True)
        insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert
        self.writers = 3 if engine.dialect.name == "postgresql" else 1  # SQLite lets one write at a time
        self._insert_request = insert(requests).on_conflict_do_nothing().returning(requests.c.day)
        self._insert_generalization = insert(generalizations).on_conflict_do_nothing()

    @classmethod
    def open(cls, url: str) -> Store:
        """Open a database and make its tables where they are not there yet."""
        engine = open_engine(url)
        with _explained(engine), engine.execution_options(leastwise_writes=True).begin() as connection:
            if engine.dialect.name == "postgresql":  # two collectors may start at once
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305816124)"))
            metadata.create_all(connection)
            secret = _settled(connection, "secret", secrets.token_bytes(32))
            if _settled(connection, "format", FORMAT) != FORMAT:
                raise DataError("the database was made by another release of leastwise; use that one")
            connection.execute(sa.delete(requests).where(requests.c.day < today() - KEYS_KEPT))
        return cls(engine, secret)

    def close(self) -> None:
        """Let go of all connections."""
        self._engine.dispose()

    def register(self, generalization: Generalization) -> int:
        """Return the number of a generalization, kept with the records that point to it."""
        values = {"fingerprint": generalization.fingerprint, "artefact": generalization.to_json()}
        with _explained(self._engine), self._writing.begin() as connection:
            found = _number(connection, generalization.fingerprint)
            if found is None:
                connection.execute(self._insert_generalization.values(**values))
                found = _number(connection, generalization.fingerprint)
        assert found is not None
        return found

    def check(self) -> None:
        """Raise when the database does not answer."""
        with self._engine.connect() as connection:
            connection.execute(sa.select(1))

    def write(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store several requests in one transaction; return when it is on disk.

        Requests with a key come in the order of their digests, so that two processes never wait for each other.
        """
        order = sorted(range(len(submissions)), key=lambda i: receipts.key_digest(submissions[i].key))
        outcomes: dict[int, Outcome] = {}
        with self._writing.begin() as connection:
            rows: list[StoredRow] = []
            for place in order:
                outcomes[place] = self._place(connection, submissions[place], rows)
            if rows:
                insert_records(connection, rows)
        return [outcomes[place] for place in range(len(submissions))]

    def _place(self, connection: sa.Connection, asked: Submission, rows: list[StoredRow]) -> Outcome:
        made = receipts.receipts(self._bits(asked))
        texts = receipts.texts(made)
        if asked.key is not None:
            known = self._claim(connection, asked)
            if known is not None:
                return Stored(texts, repeated=True) if known else KeyUsedError()
        number, day, kept = asked.generalization, today(), receipts.kept
        rows += [(kept(r), number, day, row[1], row[0]) for r, row in zip(made, asked.rows, strict=True)]
        return Stored(texts)

    def _claim(self, connection: sa.Connection, asked: Submission) -> bool | None:
        """Return None if the key is new (it is now taken), otherwise whether it came with the same body."""
        assert asked.key is not None
        key, body = receipts.key_digest(asked.key), receipts.body_digest(asked.key, asked.body)
        values = {"key": key, "body": body, "records": len(asked.rows), "day": today()}
        if connection.execute(self._insert_request.values(**values)).first() is not None:
            return None
        known = connection.execute(sa.select(requests.c.body).where(requests.c.key == key)).scalar_one()
        return secrets.compare_digest(bytes(known), body)

    def _bits(self, asked: Submission) -> bytes:
        if asked.key is None:
            return receipts.drawn(len(asked.rows))
        return receipts.derived(asked.key, self._secret, len(asked.rows))

    def erase(self, receipt: str) -> bool:
        """Delete the record of a receipt, also from the write-ahead log; return whether there was one."""
        raw = receipts.read(receipt)
        if raw is None:
            return False
        with self._writing.begin() as connection:
            gone = connection.execute(sa.delete(records).where(records.c.receipt == receipts.kept(raw))).rowcount
        if gone and self._engine.dialect.name == "sqlite":
            with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        return bool(gone)

    def frames(self, generalization: Generalization) -> Iterator[pl.DataFrame]:
        """Yield the records of a generalization in parts, so that any number of them can be sent on."""
        columns = (records.c.answers, records.c.label)
        form = RecordFormat(generalization, generalization.label is not None)
        with self._engine.connect() as connection:
            number = _number(connection, generalization.fingerprint)
            query = sa.select(*columns).where(records.c.generalization == number)
            found = connection.execution_options(stream_results=True, yield_per=CHUNK).execute(query)
            for part in found.partitions():
                yield form.frame([bytes(row[0]) for row in part], [row[1] for row in part])

    def generalizations(self) -> list[Generalization]:
        """Return the generalizations that records were collected under, the newest last."""
        query = sa.select(generalizations.c.artefact).order_by(generalizations.c.id)
        with self._engine.connect() as connection:
            return [Generalization.from_json(text) for text in connection.execute(query).scalars()]


def _settled(connection: sa.Connection, name: str, value: bytes) -> bytes:
    """Return a setting of the database; the first who asks decides it."""
    query = sa.select(settings.c.value).where(settings.c.name == name)
    found = connection.execute(query).scalar()
    if found is None:
        connection.execute(sa.insert(settings).values(name=name, value=value))
    return value if found is None else bytes(found)


def _number(connection: sa.Connection, fingerprint: str) -> int | None:
    query = sa.select(generalizations.c.id).where(generalizations.c.fingerprint == fingerprint)
    return connection.execute(query).scalar()


def today() -> int:
    """Return the day as a number: finer times would tell, beside a proxy's log, who sent a record."""
    return int(time.time()) // 86_400


@contextmanager
def _explained(engine: sa.Engine) -> Iterator[None]:
    """Turn what a database says into one line, without values and without a password."""
    try:
        yield
    except sa.exc.DBAPIError as error:
        said = " ".join(str(error.orig).split())
        raise DataError(f"{engine.url.render_as_string()}: the database cannot be used ({said})") from None


def open_existing(url: str) -> Store:
    """Open a database for reading; one that does not exist is not made."""
    engine = open_engine(url, create=False)
    with _explained(engine):
        if not sa.inspect(engine).has_table(records.name):
            raise DataError(f"{engine.url.render_as_string()}: no records of a collector are in this database")
    return Store(engine, b"")


def read_records(url: str, fingerprint: str | None = None) -> pl.DataFrame:
    """Return the records of one generalization as ``transform`` writes them.

    Parameters
    ----------
    url
        ``sqlite:///records.db`` or ``postgresql://user@host/name``.
    fingerprint
        Of the generalization, in full or its beginning; by default that of the newest one.

    Returns
    -------
    polars.DataFrame
        A label of a bucket in each column, and the column of the label where the artefact has one (null where
        a record came without).
    """
    store = open_existing(url)
    try:
        with _explained(store._engine):
            generalization = chosen(store.generalizations(), fingerprint)
            form = RecordFormat(generalization, generalization.label is not None)
            return pl.concat([form.frame([], []), *store.frames(generalization)])
    finally:
        store.close()


def chosen(known: Sequence[Generalization], fingerprint: str | None) -> Generalization:
    """Return the generalization of a fingerprint, or the newest."""
    if not known:
        raise DataError("no generalization is in this database yet; start a collector with it first")
    if fingerprint is None:
        return known[-1]
    found = [g for g in known if fingerprint and g.fingerprint.startswith(fingerprint)]
    if len(found) != 1:
        there = ", ".join(g.fingerprint[:12] for g in known)
        raise DataError(f"one generalization must have the fingerprint {fingerprint[:64]!r}; there are: {there}")
    return found[0]
