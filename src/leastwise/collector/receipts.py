"""Receipts and keys: what is handed out, and the digests that are kept of it.

A receipt is 18 random bytes. The first six are the same for all records of one request, so that a batch lies in
one place of the database and not in a thousand; the other twelve are the secret of each. Kept are the six and a
digest of the whole.

The collector's own secret, which digests of idempotency keys are made with, is kept apart from the records:
whoever has the database alone cannot try out keys that can be guessed (an address, the number of an order).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
from pathlib import Path

from leastwise.collector.databases import Database, SQLite
from leastwise.documents.writing import write_whole
from leastwise.errors import DataError, ParameterError

PREFIX, SECRET, KEPT = 6, 12, 16  # bytes
LENGTH = 24  # characters: 18 bytes in base64, without padding
VARIABLE = "LEASTWISE_SECRET"
SHORTEST = 32  # characters: 16 bytes as hexadecimal digits


def drawn(count: int) -> bytes:
    """Return the secrets of fresh receipts, after their common beginning."""
    return secrets.token_bytes(PREFIX + SECRET * count)


def derived(key: str, secret: bytes, count: int) -> bytes:
    """Return the same for an idempotency key, equal each time; ``secret`` is the collector's."""
    seed = hashlib.blake2b(key.encode(), key=secret, digest_size=32).digest()
    return hashlib.shake_256(seed).digest(PREFIX + SECRET * count)


def receipts(bits: bytes) -> list[bytes]:
    """Return the receipts that random bytes make."""
    prefix = bits[:PREFIX]
    return [prefix + bits[i : i + SECRET] for i in range(PREFIX, len(bits), SECRET)]


def texts(made: list[bytes]) -> list[str]:
    """Return receipts as people get them."""
    joined = base64.urlsafe_b64encode(b"".join(made)).decode()
    return [joined[i : i + LENGTH] for i in range(0, len(joined), LENGTH)]


def kept(receipt: bytes) -> bytes:
    """Return what the database holds of a receipt."""
    return receipt[:PREFIX] + hashlib.blake2b(receipt, digest_size=KEPT - PREFIX).digest()


def read(text: str) -> bytes | None:
    """Return the bytes of a receipt, None if it is none.

    >>> texts([bytes(18)]), read("A" * 24) == bytes(18), read("nonsense")
    (['AAAAAAAAAAAAAAAAAAAAAAAA'], True, None)
    """
    try:
        return (
            base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True) if len(text) == LENGTH else None
        )
    except (ValueError, binascii.Error):
        return None


def key_digest(key: str, secret: bytes) -> bytes:
    """Return what is kept of an idempotency key: nobody without the secret can try out keys."""
    return hashlib.blake2b(key.encode(), key=secret, digest_size=KEPT, person=b"key").digest()


def body_digest(key: str, body: bytes, secret: bytes) -> bytes:
    """Return a digest that tells nothing about the body to whoever does not hold the key and the secret.

    There are few generalized records: a plain digest could be guessed, and would outlive an erased record.
    """
    lock = hashlib.blake2b(key.encode(), key=secret, digest_size=32, person=b"body").digest()
    return hashlib.blake2b(body, key=lock, digest_size=KEPT).digest()


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
