"""Receipts and keys: what is handed out, and the digests that are kept of it."""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets

DIGEST = 16  # bytes: no two of a billion records collide


def drawn(count: int) -> list[bytes]:
    """Return fresh random receipts."""
    bits = secrets.token_bytes(DIGEST * count)
    return [bits[i * DIGEST : (i + 1) * DIGEST] for i in range(count)]


def derived(key: str, secret: bytes, count: int) -> list[bytes]:
    """Return the receipts that belong to an idempotency key, the same each time; ``secret`` is the database's."""
    seed = hashlib.blake2b(key.encode(), key=secret, digest_size=32).digest()
    return [hashlib.blake2b(i.to_bytes(4, "big"), key=seed, digest_size=DIGEST).digest() for i in range(count)]


def digest(receipt: bytes) -> bytes:
    """Return what is kept of a receipt."""
    return hashlib.blake2b(receipt, digest_size=DIGEST, person=b"receipt").digest()


def key_digest(key: str | None) -> bytes:
    """Return what is kept of an idempotency key; it also orders keys."""
    return b"" if key is None else hashlib.blake2b(key.encode(), digest_size=DIGEST, person=b"key").digest()


def body_digest(key: str, body: bytes) -> bytes:
    """Return a digest that tells nothing about the body to whoever does not hold the key.

    There are few generalized records: a plain digest could be guessed, and would outlive an erased record.
    """
    lock = hashlib.blake2b(key.encode(), digest_size=32, person=b"body").digest()
    return hashlib.blake2b(body, key=lock, digest_size=DIGEST).digest()


def text(receipt: bytes) -> str:
    """Return a receipt as people get it.

    >>> text(bytes(16)), raw(text(bytes(16))) == bytes(16), raw("nonsense")
    ('AAAAAAAAAAAAAAAAAAAAAA', True, None)
    """
    return base64.urlsafe_b64encode(receipt).rstrip(b"=").decode()


def raw(receipt: str) -> bytes | None:
    """Return the bytes of a receipt, None if it is none."""
    try:
        found = base64.b64decode(receipt.encode("ascii") + b"==", altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        return None
    return found if len(found) == DIGEST and text(found) == receipt else None
