"""Results as plain documents and back: frozen dataclasses of numbers, texts, tuples, mappings and one another.

A document of a run is JSON that says its format; the same result gives the same bytes.

Reading is strict: a key that is missing or unknown, or a value of another kind, is a problem that is named, and
nothing is built from a document that has any.
"""

from __future__ import annotations

import json
import pathlib
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from leastwise.documents.reading import Fields, Path, Problems, check_format, is_number, read_json, read_text
from leastwise.documents.writing import write_whole
from leastwise.errors import ArtefactError, shorten
from leastwise.validation import did_you_mean

T = TypeVar("T")
VERSION = 1


def to_plain(value: Any) -> Any:
    """Return a result as numbers, texts, lists and mappings; fields that are not compared are left out.

    >>> from leastwise.adversaries.singling_out import Predicate
    >>> to_plain((Predicate(text="age 31", people=1), None))
    [{'text': 'age 31', 'people': 1}, None]
    """
    if hasattr(value, "to_document"):
        return value.to_document()
    if is_dataclass(value) and not isinstance(value, type):
        pairs = [(field, getattr(value, field.name)) for field in _stored(type(value))]
        return {field.name: to_plain(own) for field, own in pairs if not _says_nothing(field, own)}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if value is None or isinstance(value, str | bool):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


LEFT_OUT = {"left out": True}
"""The metadata of a field that a document has only where it says something: one that most documents lack."""


def _says_nothing(field: Field[Any], value: Any) -> bool:
    return "left out" in field.metadata and value == field.default


def _stored(kind: type[Any]) -> list[Field[Any]]:
    return [field for field in fields(kind) if field.compare and field.init]


def from_plain(kind: type[T], data: Any, path: Path, problems: Problems) -> T | None:
    """Build a dataclass from its document; note every problem and return None if there is any.

    A class that has its own form in documents says so: ``to_document`` writes it, ``from_document`` reads it.
    """
    if hasattr(kind, "from_document"):
        return cast("T | None", cast(Any, kind).from_document(data, path, problems))
    before = len(problems.texts)
    if not isinstance(data, dict):
        problems.add(path, f"must be a mapping of keys; got {_shown(data)}")
        return None
    hints = get_type_hints(kind)
    stored = {field.name: field for field in _stored(kind)}
    for key in data:
        if key not in stored:
            problems.add((*path, str(key)), f"unknown key; {did_you_mean(str(key), stored)}")
    arguments = {}
    for name, field in stored.items():
        if name in data:
            arguments[name] = _read(hints[name], data[name], (*path, name), problems)
        elif field.default is MISSING and field.default_factory is MISSING:
            problems.add((*path, name), "is missing")
    return kind(**arguments) if len(problems.texts) == before else None


def _read(kind: Any, data: Any, path: Path, problems: Problems) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        if data is None and type(None) in get_args(kind):
            return None
        return _read(next(each for each in get_args(kind) if each is not type(None)), data, path, problems)
    if is_dataclass(kind) and isinstance(kind, type):
        return from_plain(kind, data, path, problems)
    if get_origin(kind) is Mapping:
        if isinstance(data, dict):
            kind = get_args(kind)[1]
            return {str(key): _read(kind, item, (*path, str(key)), problems) for key, item in data.items()}
        problems.add(path, f"must be a mapping of keys; got {_shown(data)}")
        return None
    if hasattr(kind, "_fields"):
        return _read_items(kind, list(get_type_hints(kind).values()), data, path, problems)
    if get_origin(kind) is tuple:
        kinds = list(get_args(kind))
        many = len(kinds) == 2 and kinds[1] is Ellipsis
        length = len(data) if many and isinstance(data, list) else len(kinds)
        return _read_items(lambda *items: items, [kinds[0]] * length if many else kinds, data, path, problems)
    if kind is Any:  # whatever a document can hold; whoever uses it looks at it
        return data
    must, holds = _SINGLE[kind]
    if not holds(data):
        problems.add(path, f"must be {must}; got {_shown(data)}")
        return None
    return kind(data)


def _read_items(build: Any, kinds: list[Any], data: Any, path: Path, problems: Problems) -> Any:
    if not isinstance(data, list) or len(data) != len(kinds):
        problems.add(path, f"must be a list of {len(kinds)}; got {_shown(data)}")
        return None
    return build(
        *(_read(k, item, (*path, i), problems) for i, (k, item) in enumerate(zip(kinds, data, strict=True)))
    )


_SINGLE = {
    float: ("a finite number", is_number),
    int: ("a whole number", lambda value: is_number(value) and value == int(value)),
    str: ("a text", lambda value: isinstance(value, str)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
}


def _shown(data: Any) -> str:
    if isinstance(data, dict | list):
        return f"a {'mapping' if isinstance(data, dict) else 'list'} of {len(data)}"
    return "nothing" if data is None else shorten(data)


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
    instance = None
    if not problems.texts and check_format(Fields(document, (), problems), name, VERSION):
        rest = {key: value for key, value in document.items() if key not in ("format", "version")}
        instance = from_plain(kind, rest, (), problems)
    if instance is None or problems.texts:
        raise ArtefactError(f"{where}: not a {name} document that can be read", problems.texts)
    return instance


def format_of(text: str) -> str:
    """Return the format that a line of JSON says it has; empty where it is none."""
    problems = Problems()
    document = read_json(text, problems)
    name = document.get("format") if isinstance(document, dict) else None
    return name if isinstance(name, str) else ""


class Document:
    """A frozen dataclass that is a file of its own, with the name of its format and what messages call it."""

    FORMAT: ClassVar[str]
    CALLED: ClassVar[str]

    def to_json(self) -> str:
        """Return the document; the same value gives the same bytes."""
        return to_text(self, self.FORMAT)

    @classmethod
    def from_json(cls, text: str, where: str | None = None) -> Self:
        """Read the document; an ``ArtefactError`` lists everything that is wrong with it."""
        return from_text(cls, text, cls.FORMAT, where or cls.CALLED)

    def save(self, path: str | pathlib.Path) -> None:
        """Write the document to a file."""
        write_whole(path, self.to_json())

    @classmethod
    def load(cls, path: str | pathlib.Path) -> Self:
        """Read the document from a file."""
        return cls.from_json(read_text(path), str(path))
