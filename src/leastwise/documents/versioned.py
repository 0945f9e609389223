"""The documents of a run: JSON that says its format, written to the same bytes and read back with suspicion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, TypeVar

from leastwise.documents.plain import from_plain, to_plain
from leastwise.documents.reading import Fields, Problems, check_format, read_json
from leastwise.errors import ArtefactError

VERSION = 1
T = TypeVar("T")


def to_text(value: Any, name: str, *, line: bool = False, leave_out: Sequence[str] = ()) -> str:
    """Return a frozen dataclass as JSON, in one line or for people to read, but for keys that are left out."""
    plain = {key: item for key, item in to_plain(value).items() if key not in leave_out}
    document = {"format": name, "version": VERSION, **plain}
    text = json.dumps(document, ensure_ascii=False, indent=None if line else 1, allow_nan=False)
    return text + "\n"


def from_text(kind: type[T], text: str, name: str, where: str) -> T:
    """Read a dataclass back; an ``ArtefactError`` lists everything that is wrong."""
    problems = Problems()
    document = read_json(text, problems)
    found = None
    if not problems.texts and check_format(Fields(document, (), problems), name, VERSION):
        rest = {key: value for key, value in document.items() if key not in ("format", "version")}
        found = from_plain(kind, rest, (), problems)
    if found is None or problems.texts:
        raise ArtefactError(f"{where}: not a {name} document that can be read", problems.texts)
    return found


def format_of(text: str) -> str:
    """Return the format that a line of JSON says it has; empty where it is none."""
    problems = Problems()
    document = read_json(text, problems)
    found = document.get("format") if isinstance(document, dict) else None
    return found if isinstance(found, str) else ""
