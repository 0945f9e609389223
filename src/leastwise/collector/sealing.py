"""Answers sealed to a public key: the server can write them and not read them.

Each process makes a fresh data key every day, keeps it in memory, and stores it sealed to the public key (a sealed
box of libsodium). A record is encrypted by it (XChaCha20-Poly1305) and bound to its place, so that none can be
exchanged for another. Whoever steals the disk has ciphertext; whoever takes over the running machine has the data
key of the day, too.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from leastwise.collector.records import Row
from leastwise.documents.reading import read_text
from leastwise.documents.writing import write_whole
from leastwise.errors import DataError, MissingExtraError, ParameterError

PUBLIC, PRIVATE = "leastwise-public-key", "leastwise-private-key"
NO_LABEL = -1
_HEAD = struct.Struct("<I")
_LABEL = struct.Struct("<h")


def _library() -> Any:
    try:
        import nacl.public
        import nacl.secret
        import nacl.utils
    except ImportError:
        raise MissingExtraError("PyNaCl", "sealed") from None
    return nacl


def make_keys(private: Path, public: Path) -> None:
    """Write a new pair of keys; the private one is for its owner only and stays off the server."""
    key = _library().public.PrivateKey.generate()
    write_whole(private, f"{PRIVATE} {bytes(key).hex()}\n", private=True)
    write_whole(public, f"{PUBLIC} {bytes(key.public_key).hex()}\n")


def read_key(path: Path, kind: str) -> bytes:
    """Return the 32 bytes of a key file."""
    named, _, digits = read_text(path).strip().partition(" ")
    try:
        key = bytes.fromhex(digits)
    except ValueError:
        key = b""
    if named != kind or len(key) != 32:
        raise ParameterError(f"{path}: must be a {kind.replace('-', ' ')} file; make one with leastwise keys")
    return key


class Seal:
    """Encrypts records by a data key that only the holder of the private key can get back."""

    def __init__(self, public: bytes) -> None:
        nacl = _library()
        key = nacl.utils.random(nacl.secret.Aead.KEY_SIZE)
        self.sealed: bytes = nacl.public.SealedBox(nacl.public.PublicKey(public)).encrypt(key)
        self._encrypt = nacl.secret.Aead(key).encrypt

    def answers(self, number: int, row: Row, place: bytes) -> bytes:
        """Return what is kept of a record: the number of the seal, and the record encrypted for its place."""
        label = NO_LABEL if row.label is None else row.label
        return _HEAD.pack(number) + bytes(self._encrypt(_LABEL.pack(label) + row.answers, place))


class Opener:
    """Decrypts records by the private key."""

    def __init__(self, private: bytes, seals: dict[int, bytes]) -> None:
        nacl = _library()
        self._error: type[Exception] = nacl.exceptions.CryptoError
        box = nacl.public.SealedBox(nacl.public.PrivateKey(private))
        try:
            self._keys = {number: nacl.secret.Aead(box.decrypt(sealed)) for number, sealed in seals.items()}
        except self._error:
            raise DataError("the records are sealed to another key; bring the private key that fits") from None

    def row(self, answers: bytes, place: bytes) -> Row:
        """Return a record as it was before it was sealed."""
        [number] = _HEAD.unpack_from(answers)
        try:
            plain = self._keys[number].decrypt(answers[_HEAD.size :], place)
        except (self._error, KeyError):
            raise DataError("a sealed record was changed, or lies at the place of another") from None
        [label] = _LABEL.unpack_from(plain)
        return Row(plain[_LABEL.size :], None if label == NO_LABEL else label)
