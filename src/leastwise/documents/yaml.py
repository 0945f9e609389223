"""YAML read strictly: built from the parser's events, so that each problem has its line and nothing is guessed.

What a plain ``yes``, ``01`` or ``null`` means depends on its key here, not on YAML's rules: a text stays as it is
written, and only the keys that hold numbers or true and false are turned into those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from leastwise.documents.reading import Path, path_text
from leastwise.errors import shorten

DEEPEST = 8  # the format needs four levels
MOST_PROBLEMS = 50
NUMBERS = frozenset({"lower", "upper", "above", "up_to", "version", "weight"})
FLAGS = frozenset({"integer", "missing", "other", "personal"})
_TRUE, _FALSE = frozenset({"true", "yes", "on"}), frozenset({"false", "no", "off"})
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
# The C parser where PyYAML was built with it: ten times faster, the same events.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _RefusedError(Exception):
    """Reading cannot go on."""


@dataclass
class _Open:
    """A list or mapping that is being read; ``key`` is the key whose value comes next."""

    value: Any
    path: Path
    key: str | None = None

    def place(self) -> Path:
        """Return the path of the value that comes next."""
        step = len(self.value) if isinstance(self.value, list) else self.key
        return self.path if step is None else (*self.path, step)


@dataclass
class LocatedDocument:
    """A document with the line of each key, and what is wrong with it; ``whole`` if it was read to the end."""

    content: Any = None
    lines: dict[Path, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    whole: bool = False
    _stack: list[_Open] = field(default_factory=list)
    _documents: int = 0

    @classmethod
    def read(cls, text: str) -> LocatedDocument:
        """Parse the text."""
        document = cls()
        try:
            for event in yaml.parse(text, Loader=_Loader):
                document._take(event)
            document.whole = True
        except _RefusedError:
            pass  # the problem that made it so is noted
        except yaml.YAMLError as error:
            document.problems.append(_syntax_text(error))
        except UnicodeEncodeError:
            document.problems.append("not valid Unicode text")
        return document

    def where(self, path: Path) -> str:
        """Say the line and the key of a place; of what is not there, the line of what it should be in."""
        known = path
        while known and known not in self.lines:
            known = known[:-1]
        line = self.lines.get(known, 1)
        return f"line {line}, {path_text(path)}" if path else f"line {line}"

    def _problem(self, event: Any, text: str, fatal: bool = False) -> None:
        self.problems.append(f"line {event.start_mark.line + 1}: {text}")
        if fatal or len(self.problems) >= MOST_PROBLEMS:
            raise _RefusedError

    def _take(self, event: Any) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                self._problem(event, "a second document begins; one file holds one schema", fatal=True)
        elif isinstance(event, yaml.AliasEvent):
            self._problem(event, "references (*name) are not allowed; write the value again", fatal=True)
        elif isinstance(event, yaml.CollectionEndEvent):
            self._stack.pop()
        elif isinstance(event, yaml.NodeEvent):
            self._take_node(event)

    def _take_node(self, event: Any) -> None:
        if event.anchor is not None:
            self._problem(event, "anchors (&name) are not allowed; write the value again")
        if event.tag is not None:
            self._problem(event, f"tags are not allowed; remove {shorten(event.tag)}")
        parent = self._stack[-1] if self._stack else None
        if parent is not None and isinstance(parent.value, dict) and parent.key is None:
            self._take_key(parent, event)
            return
        path = parent.place() if parent else ()
        self.lines.setdefault(path, event.start_mark.line + 1)
        self._attach(parent, self._value(event, path))

    def _take_key(self, parent: _Open, event: Any) -> None:
        if not isinstance(event, yaml.ScalarEvent):
            self._problem(event, "a key must be a word, not a list or mapping", fatal=True)
        parent.key = event.value
        place = parent.place()
        if event.value in parent.value:
            self._problem(event, f"key {shorten(event.value)} is repeated (first in line {self.lines[place]})")
        self.lines.setdefault(place, event.start_mark.line + 1)

    def _value(self, event: Any, path: Path) -> Any:
        if isinstance(event, yaml.ScalarEvent):
            key = next((step for step in reversed(path) if isinstance(step, str)), "")
            return _scalar(event.value, key) if event.implicit[0] else event.value
        if len(self._stack) >= DEEPEST:
            self._problem(event, "nested too deeply", fatal=True)
        return {} if isinstance(event, yaml.MappingStartEvent) else []

    def _attach(self, parent: _Open | None, value: Any) -> None:
        path = parent.place() if parent else ()
        if parent is None:
            self.content = value
        elif isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is not None:
            parent.value[parent.key] = value
            parent.key = None
        if isinstance(value, (dict, list)):
            self._stack.append(_Open(value, path))


def _scalar(text: str, key: str) -> Any:
    """Return what an unquoted text means for its key."""
    if key in FLAGS and text.lower() in _TRUE | _FALSE:
        return text.lower() in _TRUE
    if key not in NUMBERS:
        return text
    if text in _NOTHING:
        return None
    try:
        return int(text) if _WHOLE.fullmatch(text) and len(text) < 400 else float(text)
    except ValueError:
        return text


def _syntax_text(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    advice = "; quote texts that have : # - or quotes in them" if mark else ""
    return f"{place}not YAML: {problem}{advice}"
