"""The secret of a collector: what digests of idempotency keys are made with, and kept apart from the records.

Whoever has the database alone cannot try out keys that can be guessed (an address, the number of an order).
"""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from leastwise.collector.databases import Database, SQLite
from leastwise.documents.writing import write_whole
from leastwise.errors import DataError, ParameterError

VARIABLE = "LEASTWISE_SECRET"
SHORTEST = 32  # characters: 16 bytes as hexadecimal digits


def find_secret(database: Database) -> bytes:
    """Return the secret: from the environment, or from the file ``records.db.secret``, made at the first start."""
    given = os.environ.get(VARIABLE)
    if given:
        return _checked(given, VARIABLE)
    if not isinstance(database, SQLite):
        raise ParameterError(
            f"a collector on PostgreSQL needs {VARIABLE} in its environment, the same in all that share the "
            "database: openssl rand -hex 32"
        )
    path = Path(f"{database.path}.secret")
    if not path.exists():
        _make(path, database.path)
    try:
        return _checked(path.read_text(encoding="ascii").strip(), str(path))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: the collector's secret cannot be read ({type(error).__name__})") from None


def _make(path: Path, database: Path) -> None:
    """Write a fresh secret, unless another collector that starts at the same time was first."""
    if database.stat().st_size:
        raise DataError(f"{path}: the secret that this database was begun with is missing; bring it back")
    own = path.with_name(f"{path.name}.{os.getpid()}")
    write_whole(own, f"{secrets.token_hex(32)}\n", private=True)
    try:
        os.link(own, path)
    except FileExistsError:  # that one counts for both
        pass
    finally:
        own.unlink()


def _checked(text: str, name: str) -> bytes:
    if len(text) < SHORTEST or not text.isascii():
        raise ParameterError(f"{name} must hold at least {SHORTEST} ASCII characters: openssl rand -hex 32")
    return hashlib.blake2b(text.encode()).digest()
