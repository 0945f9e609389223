"""The audit log: starts, artefacts, exports, erasures; each entry is chained to the one before, none has a value.

The chain is made with the collector's secret: who has the database alone can neither change an entry nor leave one
out unnoticed, except the last ones. (Keep the digest of the last entry elsewhere, and that is noticed too.)
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import sqlalchemy as sa

from leastwise.collector.tables import audit

LOCK = 7305816125  # of PostgreSQL: entries are written one after the other


class Entry(NamedTuple):
    """What happened, and when: to the second, erasures to the day."""

    number: int
    time: str
    event: str
    details: str
    digest: bytes

    def expected(self, secret: bytes, before: bytes) -> bytes:
        """Return the digest that an unchanged entry has."""
        said = json.dumps([self.number, self.time, self.event, self.details]).encode()
        return hashlib.blake2b(before + said, key=secret, digest_size=32, person=b"audit").digest()


def note(
    connection: sa.Connection, secret: bytes, event: str, *, to_the_day: bool = False, **details: Any
) -> None:
    """Add an entry, in the transaction of what it tells of."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({LOCK})"))
    last = connection.execute(sa.select(audit).order_by(audit.c.number.desc()).limit(1)).first()
    number, before = (1, b"") if last is None else (last.number + 1, bytes(last.digest))
    now = time.strftime("%Y-%m-%d" if to_the_day else "%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = Entry(number, now, event, json.dumps(details, sort_keys=True), b"")
    values = {**entry._asdict(), "digest": entry.expected(secret, before)}
    connection.execute(sa.insert(audit).values(**values))


def entries(connection: sa.Connection, secret: bytes) -> Iterator[tuple[Entry, bool]]:
    """Yield all entries, and whether each is as it was written after the one before."""
    before = b""
    for number, row in enumerate(connection.execute(sa.select(audit).order_by(audit.c.number)), start=1):
        entry = Entry(row.number, row.time, row.event, row.details, bytes(row.digest))
        yield entry, entry.number == number and entry.digest == entry.expected(secret, before)
        before = entry.digest
