"""Where generalized records are kept: SQLite in a file, or PostgreSQL.

A record is acknowledged when its transaction is on disk. Receipts are secrets of the people who sent the record;
the database holds only their digests. With an idempotency key the receipts follow from the key, so that a repeated
request gets the same ones although nobody kept them.

A reader holds no transaction longer than one part takes, so that what is erased leaves SQLite's log at once.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import sqlalchemy as sa

from leastwise.collector import receipts
from leastwise.collector.audit import Entry, entries, note
from leastwise.collector.databases import Database, open_database
from leastwise.collector.receipts import find_secret
from leastwise.collector.records import RecordFormat, Row
from leastwise.collector.sealing import PRIVATE, Opener, Seal, read_key
from leastwise.collector.tables import (
    FORMAT,
    StoredRow,
    generalizations,
    insert_records,
    metadata,
    records,
    requests,
    seals,
    settings,
)
from leastwise.errors import DataError
from leastwise.generalization import Generalization

KEYS_KEPT = 30  # days that a repeated request is recognized
CHUNK = 10_000
KEY_VARIABLE = "LEASTWISE_KEY_FILE"


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

    def __init__(self, database: Database, secret: bytes, public: bytes = b"", private: bytes = b"") -> None:
        self._database, self._secret, self._public, self._private = database, secret, public, private
        self._sealing: tuple[int, int, Seal] | None = None  # of which day, its number
        self._lock = threading.Lock()
        self.writers = database.writers
        self._insert_request = database.insert(requests).on_conflict_do_nothing().returning(requests.c.day)
        self._insert_generalization = database.insert(generalizations).on_conflict_do_nothing()
        self._erased = self._cleared = 0  # how often something was erased, and how much of that left the log
        self.forgets, self.remains = database.forgets, database.remains

    @classmethod
    def open(cls, url: str, secret: bytes | None = None, public: bytes = b"") -> Store:
        """Open a database and make its tables where they are not there yet.

        Parameters
        ----------
        secret
            What digests of keys are made with; by default that of ``find_secret``.
        public
            The key that records are sealed to; a database has the same from its beginning, or none.
        """
        database = open_database(url)
        try:
            store = cls(database, find_secret(database) if secret is None else secret, public)
            with database.explained():
                store._prepare()
                store._erased += store.forgets and not store.forget()  # a killed collector may have left a log
        except BaseException:
            database.close()
            raise
        return store

    def _prepare(self) -> None:
        with self._database.writing() as connection:
            if connection.dialect.name == "postgresql":  # two collectors may start at once
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7305816124)"))
            metadata.create_all(connection)
            if _settled(connection, "format", FORMAT) != FORMAT:
                raise DataError("the database was made by another release of leastwise; use that one")
            proof = receipts.key_digest("the secret", self._secret)
            if not secrets.compare_digest(_settled(connection, "secret", proof), proof):
                name = self._database.name
                raise DataError(f"{name}: this database was begun with another secret; bring that one")
            if _settled(connection, "public", self._public) != self._public:
                raise DataError("this database was begun with another public key, or none; seal to the same")

    def close(self) -> None:
        """Let go of all connections; SQLite leaves one complete file and no log."""
        self._database.close()

    def register(self, generalization: Generalization) -> int:
        """Return the number of a generalization, kept with the records that point to it."""
        values = {"fingerprint": generalization.fingerprint, "artefact": generalization.to_json()}
        with self._database.explained(), self._database.writing() as connection:
            number = _number(connection, generalization.fingerprint)
            if number is None:
                connection.execute(self._insert_generalization.values(**values))
                note(connection, self._secret, "artefact", fingerprint=generalization.fingerprint)
                number = _number(connection, generalization.fingerprint)
        assert number is not None
        return number

    def check(self, generalization: int) -> None:
        """Raise unless a record can be stored: one is, at a place of its own, and taken out again."""
        kept = receipts.kept(receipts.receipts(receipts.drawn(1))[0])
        with self._database.writing() as connection:
            insert_records(connection, [(kept, generalization, today(), None, b"")])
            connection.execute(sa.delete(records).where(records.c.receipt == kept))

    def write(self, submissions: Sequence[Submission]) -> list[Outcome]:
        """Store several requests in one transaction; return when it is on disk.

        Requests with a key come in the order of their digests, so that two processes never wait for each other.
        """
        digests = [b"" if s.key is None else receipts.key_digest(s.key, self._secret) for s in submissions]
        outcomes: dict[int, Outcome] = {}
        seal = self._seal() if self._public else None
        with self._database.writing() as connection:
            rows: list[StoredRow] = []
            for place in sorted(range(len(submissions)), key=digests.__getitem__):
                outcomes[place] = self._place(connection, submissions[place], digests[place], rows, seal)
            if rows:
                insert_records(connection, rows)
        return [outcomes[place] for place in range(len(submissions))]

    def _place(
        self,
        connection: sa.Connection,
        asked: Submission,
        digest: bytes,
        rows: list[StoredRow],
        seal: tuple[int, Seal] | None,
    ) -> Outcome:
        day, fresh = today(), True
        if asked.key is not None:
            claimed = self._claim(connection, asked, digest, day)
            if claimed is None:
                return KeyUsedError()
            day, fresh = claimed
        made = receipts.receipts(self._bits(asked, day))
        texts = receipts.texts(made)
        if not fresh:
            return Stored(texts, repeated=True)
        number = asked.generalization
        placed = zip(map(receipts.kept, made), asked.rows, strict=True)
        if seal is None:
            rows += [(place, number, day, row[1], row[0]) for place, row in placed]
        else:
            rows += [(place, number, day, None, seal[1].answers(seal[0], row, place)) for place, row in placed]
        return Stored(texts)

    def _seal(self) -> tuple[int, Seal]:
        """Return the seal of the day and its number; it is on disk before a record needs it."""
        with self._lock:
            if self._sealing is None or self._sealing[0] != today():
                seal = Seal(self._public)
                with self._database.writing() as connection:
                    made = connection.execute(sa.insert(seals).values(sealed=seal.sealed)).inserted_primary_key
                assert made is not None
                self._sealing = today(), made[0], seal
            return self._sealing[1], self._sealing[2]

    def _claim(
        self, connection: sa.Connection, asked: Submission, digest: bytes, day: int
    ) -> tuple[int, bool] | None:
        """Return the day of a key's first request, and whether this is it; None if that had another body."""
        assert asked.key is not None
        body = receipts.body_digest(asked.key, asked.body, self._secret)
        values = {"key": digest, "body": body, "records": len(asked.rows), "day": day}
        if connection.execute(self._insert_request.values(**values)).first() is not None:
            return day, True
        query = sa.select(requests.c.body, requests.c.day).where(requests.c.key == digest)
        known = connection.execute(query).one()
        return (known.day, False) if secrets.compare_digest(bytes(known.body), body) else None

    def _bits(self, asked: Submission, day: int) -> bytes:
        """Return what the receipts are made of; a key that was forgotten and comes again makes others."""
        if asked.key is None:
            return receipts.drawn(len(asked.rows))
        return receipts.derived(f"{asked.key} {day}", self._secret, len(asked.rows))

    def holds(self, receipt: str) -> bool:
        """Return whether the record of a receipt is there."""
        raw = receipts.read(receipt)
        if raw is None:
            return False
        query = sa.select(records.c.day).where(records.c.receipt == receipts.kept(raw))
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def erase(self, receipt: str) -> bool:
        """Delete the record of a receipt; return whether there was one. ``forget`` clears the log of it."""
        raw = receipts.read(receipt)
        if raw is None:
            return False
        with self._database.writing() as connection:
            gone = connection.execute(sa.delete(records).where(records.c.receipt == receipts.kept(raw))).rowcount
            if gone:
                note(connection, self._secret, "erased", to_the_day=True, records=1)
            self._erased += bool(gone) and self.forgets
        return bool(gone)

    def expire(self, days: int | None) -> int:
        """Forget old keys, and erase records older than so many days, some at a time; return how many."""
        with self._database.writing() as connection:
            connection.execute(sa.delete(requests).where(requests.c.day < today() - KEYS_KEPT))
        if days is None:
            return 0
        old = sa.select(records.c.receipt).where(records.c.day < today() - days).limit(CHUNK)
        total = 0
        while True:
            with self._database.writing() as connection:
                gone = connection.execute(sa.delete(records).where(records.c.receipt.in_(old))).rowcount
                if gone:
                    note(connection, self._secret, "expired", to_the_day=True, records=gone, days=days)
                self._erased += bool(gone) and self.forgets
            total += gone
            if gone < CHUNK:
                return total

    def note(self, event: str, **details: Any) -> None:
        """Write an entry of the audit log."""
        with self._database.writing() as connection:
            note(connection, self._secret, event, **details)

    def audit(self) -> list[tuple[Entry, bool]]:
        """Return the audit log, and whether each entry is unchanged."""
        with self._database.reading() as connection:
            return list(entries(connection, self._secret))

    def forget(self) -> bool:
        """Clear the log of what was erased and of the order of arrival; return whether nothing is left."""
        erased = self._erased  # what is erased meanwhile is for the next time
        if not self._database.forget():
            return False
        self._cleared = max(self._cleared, erased)
        return not self.left

    @property
    def left(self) -> bool:
        """Whether the log may hold what was erased."""
        return self._cleared < self._erased

    def frames(self, generalization: Generalization) -> Iterator[pl.DataFrame]:
        """Yield the records of a generalization in parts, so that any number of them can be sent on.

        Each part is read at once: whoever takes his time with it keeps nobody's transaction open.
        """
        form = stored_format(generalization)
        with self._database.reading() as connection:
            number = _number(connection, generalization.fingerprint)
            opener = self._opener(connection)
        query = sa.select(records.c.receipt, records.c.answers, records.c.label).order_by(records.c.receipt)
        query, last = query.where(records.c.generalization == number).limit(CHUNK), b""
        while True:
            with self._database.reading() as connection:
                part = connection.execute(query.where(records.c.receipt > last)).all()
            if not part:
                return
            last = bytes(part[-1].receipt)
            rows = [Row(bytes(row.answers), row.label) for row in part]
            if opener is not None:
                rows = [opener.row(row.answers, bytes(p.receipt)) for row, p in zip(rows, part, strict=True)]
            yield form.frame([row.answers for row in rows], [row.label for row in rows])

    def counted(self, generalization: Generalization) -> tuple[pl.DataFrame, pl.Series]:
        """Return each distinct record of a generalization once, and how many people sent it.

        The database counts. Sealed records are equal only once they are opened: they are given one by one.
        """
        form = stored_format(generalization)
        with self._database.reading() as connection:
            number, opener = _number(connection, generalization.fingerprint), self._opener(connection)
            kept = (records.c.answers, records.c.label)
            query = sa.select(*kept, sa.func.count().label("people")).group_by(*kept).order_by(*kept)
            rows = connection.execute(query.where(records.c.generalization == number)).all() if not opener else []
        if opener is None:
            frame = form.frame([bytes(row.answers) for row in rows], [row.label for row in rows])
            return frame, pl.Series([row.people for row in rows], dtype=pl.Int64)
        frame = pl.concat([form.frame([], []), *self.frames(generalization)])
        return frame, pl.repeat(1, frame.height, dtype=pl.Int64, eager=True)

    @property
    def sealed(self) -> bool:
        """Whether nobody can read the records here."""
        return bool(self._public)

    def _opener(self, connection: sa.Connection) -> Opener | None:
        query = sa.select(settings.c.value).where(settings.c.name == "public")
        if not connection.execute(query).scalar():
            return None
        if not self._private:
            raise DataError(f"the records are sealed; name the file of the private key in {KEY_VARIABLE}")
        return Opener(self._private, {row.id: bytes(row.sealed) for row in connection.execute(sa.select(seals))})

    def generalizations(self) -> list[Generalization]:
        """Return the generalizations that records were collected under, the newest last."""
        query = sa.select(generalizations.c.artefact).order_by(generalizations.c.id)
        with self._database.reading() as connection:
            return [Generalization.from_json(text) for text in connection.execute(query).scalars()]


def _settled(connection: sa.Connection, name: str, value: bytes) -> bytes:
    """Return a setting of the database; the first who asks decides it."""
    query = sa.select(settings.c.value).where(settings.c.name == name)
    stored = connection.execute(query).scalar()
    if stored is None:
        connection.execute(sa.insert(settings).values(name=name, value=value))
    return value if stored is None else bytes(stored)


def _number(connection: sa.Connection, fingerprint: str) -> int | None:
    query = sa.select(generalizations.c.id).where(generalizations.c.fingerprint == fingerprint)
    return connection.execute(query).scalar()


# Counts on while the machine sleeps, where there is such a clock.
_steady = partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic
_START = time.time() - _steady()


def today() -> int:
    """Return the day as a number: finer times would tell, beside a proxy's log, who sent a record.

    It is that of the start and the days that have passed since: a clock that jumps, and jumps back, would have
    records erased before their time.
    """
    return int(_START + _steady()) // 86_400


def open_existing(url: str) -> Store:
    """Open a database for reading; one that does not exist is not made.

    The private key of sealed records is read from the file that ``LEASTWISE_KEY_FILE`` names.
    """
    named = os.environ.get(KEY_VARIABLE)
    private = read_key(Path(named), PRIVATE) if named else b""
    database = open_database(url, create=False)
    with database.explained():
        if not sa.inspect(database.engine).has_table(records.name):
            raise DataError(f"{database.name}: no records of a collector are in this database")
    return Store(database, b"", private=private)


def read_audit(url: str) -> list[tuple[Entry, bool]]:
    """Return the audit log of a database, and whether each entry is unchanged; it needs the collector's secret."""
    store = open_existing(url)
    try:
        with store._database.explained():
            store._secret = find_secret(store._database)
            return store.audit()
    finally:
        store.close()


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
        with store._database.explained():
            generalization = chosen(store.generalizations(), fingerprint)
            form = stored_format(generalization)
            return pl.concat([form.frame([], []), *store.frames(generalization)])
    finally:
        store.close()


def count_records(url: str, fingerprint: str | None = None) -> tuple[pl.DataFrame, pl.Series]:
    """Return each distinct record of one generalization, and how many people sent it; see ``read_records``."""
    store = open_existing(url)
    try:
        with store._database.explained():
            return store.counted(chosen(store.generalizations(), fingerprint))
    finally:
        store.close()


def stored_format(generalization: Generalization) -> RecordFormat:
    """Return how records are stored: with the label, unless that is a number."""
    label = generalization.label
    return RecordFormat(generalization, label is not None and not label.continuous)


def chosen(known: Sequence[Generalization], fingerprint: str | None) -> Generalization:
    """Return the generalization of a fingerprint, or the newest."""
    if not known:
        raise DataError("no generalization is in this database yet; start a collector with it first")
    if fingerprint is None:
        return known[-1]
    matching = [g for g in known if fingerprint and g.fingerprint.startswith(fingerprint)]
    if len(matching) != 1:
        there = ", ".join(g.fingerprint[:12] for g in known)
        raise DataError(f"one generalization must have the fingerprint {fingerprint[:64]!r}; there are: {there}")
    return matching[0]
