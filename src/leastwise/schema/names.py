"""Names that people give to buckets: "married" for two of seven values, "retired" for 65 or more.

A name is not a bucket. It changes what is read and written for one, never who falls into it; so whatever compares
attributes, partitions or generalizations does not look at names. It is text that somebody typed: it is short, can
be read, and tells its bucket from every other one.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from leastwise.documents import Fields, Problems
from leastwise.errors import shorten
from leastwise.validation import did_you_mean

LONGEST = 80
# A line break or a sign that turns the direction of writing could make a page say what nobody wrote.
_HIDDEN = ("Cc", "Cs", "Cn", "Zl", "Zp")
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True)
class Content:
    """What a bucket holds: named values, or the numbers above one and up to another; and "missing" and "other"."""

    values: frozenset[str] = frozenset()
    above: float | None = None
    up_to: float | None = None
    missing: bool = False
    other: bool = False

    @property
    def own(self) -> Content:
        """The same without "missing" and "other"."""
        return replace(self, missing=False, other=False)


@dataclass(frozen=True)
class Named:
    """A bucket that has a name."""

    name: str
    content: Content


def name_problem(name: Any) -> str:
    """Say what is wrong with a name; empty where nothing is.

    >>> name_problem("married"), name_problem(" "), name_problem("a\\nb")
    ('', 'a name must not be empty', 'a name must be one line of visible text')
    """
    if not isinstance(name, str) or not name.strip():
        return "a name must not be empty"
    if name != name.strip():
        return "a name must not begin or end with a space"
    if len(name) > LONGEST:
        return f"a name has at most {LONGEST} characters; this one has {len(name)}"
    if any(unicodedata.category(sign) in _HIDDEN or sign in _TURNING for sign in name):
        return "a name must be one line of visible text"
    return ""


def same_name(name: str) -> str:
    """Return a name as people hear it: two that differ only in their letters' case are one.

    >>> same_name("Not married") == same_name("not Married")
    True
    """
    return unicodedata.normalize("NFKC", name).casefold()


def name_problems(attribute: Any) -> Iterator[str]:
    """Yield all that is wrong with the names of an attribute, in words."""
    taken: dict[str, str] = {}
    seen: dict[Content, str] = {}
    for each in attribute.names:
        problem = name_problem(each.name)
        if problem:
            yield f"name {shorten(each.name)}: {problem}"
            continue
        key = same_name(each.name)
        if key in taken:
            yield f"name {shorten(each.name)}: a name must be given once; it names two buckets"
        if each.content in seen:
            yield f"names {shorten(seen[each.content])} and {shorten(each.name)} are of the same bucket"
        taken[key], seen[each.content] = each.name, each.name
        yield from (f"name {shorten(each.name)}: {text}" for text in _content_problems(attribute, each))


def _content_problems(attribute: Any, named: Named) -> Iterator[str]:
    content = named.content
    if content == Content():
        yield "it names nothing; say which values or numbers"
    for extra in ("missing", "other"):
        if getattr(content, extra) and not getattr(attribute, extra):
            yield f'the domain has no "{extra}"'
    if attribute.continuous:
        yield from _range_problems(attribute, content)
        return
    if content.above is not None or content.up_to is not None:
        yield "above and up_to are for numbers; list its values"
    for value in sorted(content.values - {*attribute.values}):
        yield f"{shorten(value)} is not a declared value; {did_you_mean(value, attribute.values)}"
    said = same_name(named.name)
    for value in attribute.values:
        if value not in content.values and said in (same_name(value), same_name(attribute.label_of(value))):
            yield f"{shorten(value)} is a value that it does not hold"


def _range_problems(attribute: Any, content: Content) -> Iterator[str]:
    ends = [end for end in (content.above, content.up_to) if end is not None]
    if content.values:
        yield "numbers are named by above and up_to, not by values"
    if not all(map(math.isfinite, ends)):
        yield "above and up_to must be finite numbers"
    elif len(ends) == 2 and not ends[0] < ends[1]:
        yield f"above must be below up_to; got {ends[0]:g} and {ends[1]:g}"
    elif attribute.integer and any(end != math.floor(end) for end in ends):
        yield "above and up_to of whole numbers must be whole"


def names_to_document(names: Sequence[Named], values: Sequence[str]) -> dict[str, Any]:
    """Return names as a mapping to what they hold: a list of values, or a range."""
    return {each.name: _content_to_document(each.content, values) for each in names}


def _content_to_document(content: Content, values: Sequence[str]) -> Any:
    listed = [value for value in values if value in content.values]
    rest: dict[str, Any] = {
        key: int(end) if end == int(end) else end
        for key in ("above", "up_to")
        if (end := getattr(content, key)) is not None
    }
    rest |= {key: True for key in ("missing", "other") if getattr(content, key)}
    return {**({"values": listed} if listed else {}), **rest} if rest else listed


def names_from_document(data: Any, path: tuple[str | int, ...], problems: Problems) -> tuple[Named, ...]:
    """Read such a mapping; note its problems. What it says of the domain is held against it later."""
    if not isinstance(data, dict):
        problems.add(path, "must be a mapping of names to values, or to above and up_to")
        return ()
    return tuple(Named(name, _content_from(item, (*path, name), problems)) for name, item in data.items())


def _content_from(data: Any, path: tuple[str | int, ...], problems: Problems) -> Content:
    if isinstance(data, list):
        data = {"values": data}
    fields = Fields(data, path, problems)
    content = Content(
        frozenset(fields.texts("values")),
        fields.number("above"),
        fields.number("up_to"),
        fields.flag("missing"),
        fields.flag("other"),
    )
    fields.done()
    return content


def with_name(names: Iterable[Named], content: Content, name: str) -> tuple[Named, ...]:
    """Return the names with another one for a bucket; an empty one takes its name away."""
    rest = tuple(each for each in names if each.content != content)
    return (*rest, Named(name, content)) if name else rest


def joined_names(first: Iterable[Named], more: Iterable[Named]) -> tuple[Named, ...]:
    """Return the names of both; where both name a bucket, or give one name to two, the second counts."""
    more = tuple(more)
    contents, taken = {each.content for each in more}, {same_name(each.name) for each in more}
    kept = (each for each in first if each.content not in contents and same_name(each.name) not in taken)
    return (*kept, *more)


Names = Mapping[str, tuple[Named, ...]]
