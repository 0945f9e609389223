"""The tables of a collector's database.

The database is complete in itself: it holds the artefacts, and each record points to the one it was collected
under. What would tell more than the record itself is not in it: no address, no time but the day, no order of
arrival (records lie in the order of random bytes; those of one request side by side), no receipt (only a digest).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import sqlalchemy as sa

FORMAT = b"leastwise-records 2"
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
    sa.Column("key", sa.LargeBinary(16), primary_key=True),  # a digest of the idempotency key, with a secret
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


seals = sa.Table(
    "leastwise_seals",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),  # the key of some records, for the private key to open
)

audit = sa.Table(
    "leastwise_audit",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(20), nullable=False),
    sa.Column("event", sa.String(40), nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("digest", sa.LargeBinary(32), nullable=False),
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
