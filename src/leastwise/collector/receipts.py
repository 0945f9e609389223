"""Receipts and keys: what is handed out, and the digests that are kept of it.

A receipt is 18 random bytes. The first six are the same for all records of one request, so that a batch lies in
one place of the database and not in a thousand; the other twelve are the secret of each. Kept are the six and a
digest of the whole.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets

PREFIX, SECRET, KEPT = 6, 12, 16  # bytes
LENGTH = 24  # characters: 18 bytes in base64, without padding


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
