"""Reading documents that people edit: every problem is collected with its key, none is silently repaired."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path as File
from typing import Any

from leastwise.documents.wording import listed
from leastwise.errors import MOST_LISTED, ArtefactError, LeastwiseError, shorten
from leastwise.validation import did_you_mean

Path = tuple[str | int, ...]
LARGEST_DOCUMENT = 32_000_000  # characters; a domain of 100,000 categories needs about 3 million


def read_text(path: str | PathLike[str], complaint: type[LeastwiseError] = ArtefactError) -> str:
    """Read a document, with or without a byte order mark; what cannot be read is one line."""
    try:
        return File(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise complaint(f"{path}: not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise complaint(f"{path}: {error.strerror}") from None


def path_text(path: Path) -> str:
    """Write the place of a key.

    >>> path_text(("attributes", 2, "edges"))
    'attributes[2].edges'
    """
    parts = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(parts).lstrip(".") or "the document"


class Problems:
    """Collects what is wrong; ``where`` may turn a path into a line of the file."""

    def __init__(self, where: Callable[[Path], str] = path_text) -> None:
        self.texts: list[str] = []
        self._where = where

    @property
    def many(self) -> bool:
        """Whether there are more than anybody is shown: no time need be spent on hints."""
        return len(self.texts) >= MOST_LISTED

    def add(self, path: Path, text: str) -> None:
        """Note one problem at its place."""
        self.texts.append(f"{self._where(path)}: {text}")


class Fields:
    """The keys of one mapping, taken one by one; what is left over at the end is a problem too."""

    def __init__(self, data: Any, path: Path, problems: Problems) -> None:
        self.path, self.problems = path, problems
        self._known: dict[str, None] = {}  # in the order of asking
        self.mapping = isinstance(data, dict)
        if not self.mapping:
            problems.add(path, f"must be a mapping of keys; got {_kind_of(data)}")
        self._data: Mapping[str, Any] = data if isinstance(data, dict) else {}

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def take(self, key: str, default: Any = None) -> Any:
        """Return the raw value of a key."""
        self._known[key] = None
        return self._data.get(key, default)

    def wrong(self, key: str, must: str, found: Any) -> None:
        """Note that a key does not hold what it must."""
        self.problems.add((*self.path, key), f"must be {must}; got {_kind_of(found)}")

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        value = self.take(key, default)
        if isinstance(value, str):
            return value
        self.wrong(key, "a text", value)
        return default

    def flag(self, key: str) -> bool:
        """Return true or false; false when it is left out."""
        value = self.take(key, False)
        if not isinstance(value, bool):
            self.wrong(key, "true or false", value)
        return value is True

    def number(self, key: str) -> float | None:
        """Return a finite number, None when it is left out or null."""
        value = self.take(key)
        if value is None or is_number(value):
            return value if value is None else float(value)
        self.wrong(key, "a finite number", value)
        return None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty when it is left out."""
        value = self.take(key, [])
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        self.wrong(key, "a list of texts", value)
        return ()

    def items(self, key: str) -> list[Any]:
        """Return a list of anything; empty when it is left out."""
        value = self.take(key, [])
        if isinstance(value, list):
            return value
        self.wrong(key, "a list", value)
        return []

    def done(self) -> None:
        """Complain about every key that nobody asked for."""
        for key in self._data:
            if key not in self._known:
                hint = "" if self.problems.many else f"; {did_you_mean(str(key), self._known)}"
                self.problems.add((*self.path, str(key)), f"unknown key{hint}")


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number (true and false are not).

    >>> is_number(1), is_number(float("nan")), is_number(True), is_number(10**400)
    (True, False, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _kind_of(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    return "a list" if isinstance(value, list) else shorten(value)


def read_json(text: str, problems: Problems) -> Any:
    """Parse JSON that may be hostile: size, nesting, repeated keys and NaN are problems, not crashes."""
    if len(text) > LARGEST_DOCUMENT:
        problems.add((), f"too large: {len(text):,} characters, at most {LARGEST_DOCUMENT:,}")
        return None

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(items)
        if len(result) < len(items):
            counts = Counter(name for name, _ in items)
            repeated = sorted({shorten(name) for name, count in counts.items() if count > 1})
            problems.add((), f"a key is repeated: {', '.join(repeated[:10])}")
        return result

    try:
        return json.loads(text, object_pairs_hook=pairs)
    except RecursionError:
        problems.add((), "nested too deeply")
    except ValueError as error:
        problems.add((), f"not JSON: {error}")
    return None


def check_format(fields: Fields, name: str, *versions: int) -> bool:
    """Return whether a document says that it is of this format, and of one of these versions."""
    given, version = fields.take("format"), fields.take("version")
    if given != name and fields.mapping:  # else that was said
        fields.problems.add(("format",), f"must be {name!r}; got {shorten(given)}")
    known = version in versions and not isinstance(version, bool)
    if given == name and not known:
        told = f"version{'s' * (len(versions) > 1)} {listed([*map(str, versions)])}"
        fields.problems.add(("version",), f"this release reads {told}; got {shorten(version)}")
    return bool(given == name and known)
