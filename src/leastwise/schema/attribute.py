"""An attribute: one thing that a record says about a person, with its declared domain, and as a document.

A domain is declared, never read off silently: whoever holds it knows every value that may occur, and nothing about
who answered what.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, Literal, cast, get_args

import numpy as np

from leastwise.documents import Fields, Problems
from leastwise.documents.wording import counted
from leastwise.errors import SchemaError, UnknownValueError, shorten
from leastwise.schema.derive import columns_of, rule_of
from leastwise.schema.hierarchy import Hierarchy, Tree, hierarchy_from_document
from leastwise.schema.names import (
    Content,
    Named,
    joined_names,
    name_problems,
    names_from_document,
    names_to_document,
    with_name,
)
from leastwise.schema.values import ONE_VALUE, Say, as_number, is_several, say_numbers, text_of
from leastwise.validation import did_you_mean

Kind = Literal["continuous", "ordinal", "discrete"]
KINDS: tuple[str, ...] = get_args(Kind)
Unknown = Literal["error", "other"]


class Extra(Enum):
    """What a domain may have beside its numbers or declared values."""

    MISSING = "missing"
    OTHER = "other"


@dataclass(frozen=True)
class Attribute:
    """One thing that a record says about a person.

    Parameters
    ----------
    name
        As in the data.
    kind
        ``continuous`` (numbers in their order), ``ordinal`` (named values in their order, such as education)
        or ``discrete`` (named values without an order).
    values, labels
        The declared domain of an ordinal or discrete attribute, as texts, and optionally what people see
        instead of each.
    lower, upper, integer
        The declared domain of a continuous attribute; None leaves an end open.
    missing
        Whether a record may leave it out. A missing value is a value and has a bucket like any other.
    other
        Whether values outside the domain are accepted, as one more value "other".
    personal
        Whether an adversary is after it (the paper's set P).
    unit, question
        For forms and reports.
    derive, source
        The rule that makes its values out of what a column holds (see :mod:`leastwise.schema.derive`), and the
        name of that column where it is another one.
    hierarchy
        A tree over the values of a discrete attribute, whose groups people recognise.
    names
        What people call some of its buckets. Names have no part in whether two attributes are the same.

    Examples
    --------
    >>> Attribute("age", "continuous", lower=0, integer=True, unit="years").domain_text()
    'whole numbers from 0'
    >>> Attribute("sex", values=("Female", "Male"), personal=True).domain_text()
    '2 values'
    """

    name: str
    kind: Kind = "discrete"
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    missing: bool = False
    other: bool = False
    personal: bool = False
    unit: str = ""
    question: str = ""
    derive: str = ""
    source: str = ""
    hierarchy: Hierarchy | None = None
    names: tuple[Named, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        object.__setattr__(self, "labels", tuple(self.labels))
        object.__setattr__(self, "names", tuple(self.names))
        problems = attribute_problems(self)
        if problems:
            raise SchemaError(f"attribute {shorten(self.name)}", problems)

    @property
    def continuous(self) -> bool:
        """Whether its domain is a range of numbers."""
        return self.kind == "continuous"

    @cached_property
    def code_of(self) -> Mapping[str, int]:
        """The position of each declared value, by the text of the domain and by the one that ``text_of`` gives."""
        places = {str(text_of(value)): code for code, value in enumerate(self.values)}
        return places | {value: code for code, value in enumerate(self.values)}

    @property
    def extra_values(self) -> int:
        """How many values the domain has beside the declared ones: "missing" and "other"."""
        return int(self.missing) + int(self.other)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the records that it is asked of."""
        return (self.column, *columns_of(self.derive))

    @property
    def column(self) -> str:
        """The column of the records that it is asked of."""
        return self.source or self.name

    @property
    def parts(self) -> tuple[Attribute, ...]:
        """The labels that it consists of: itself, unless several are predicted at once (``schema.labels``)."""
        return (self,)

    @property
    def plain(self) -> Attribute:
        """The same where its values are derived already."""
        return replace(self, derive="", source="") if self.derive or self.source else self

    @property
    def unnamed(self) -> Attribute:
        """The same without names of buckets."""
        return replace(self, names=()) if self.names else self

    @cached_property
    def name_of(self) -> Mapping[Content, str]:
        """The name of each bucket that has one."""
        return {each.content: each.name for each in self.names}

    def naming(self, content: Content, name: str) -> Attribute:
        """Return the attribute with a name for a bucket, in place of its own; an empty one takes it away."""
        return replace(self, names=with_name(self.names, content, name))

    def with_names(self, names: Iterable[Named]) -> Attribute:
        """Return the attribute with more names, which count before its own."""
        return replace(self, names=joined_names(self.names, names))

    def without_domain(self) -> Attribute:
        """Return the attribute with nothing said about its values: how one is published that is not asked."""
        return Attribute(self.name, self.kind, other=not self.continuous, personal=self.personal)

    @cached_property
    def tree(self) -> Tree | None:
        """The hierarchy over its codes, "missing" and "other" beside its largest groups."""
        return Tree.over(self.hierarchy, self.values, self.extra_values)

    def label_of(self, value: str) -> str:
        """Return what people see for a declared value."""
        return self.labels[self.code_of[value]] if self.labels else value

    def contains(self, number: Any) -> Any:
        """Return whether a number, or each of an array of them, lies in the declared range."""
        inside = number == number
        if self.lower is not None:
            inside &= number >= self.lower
        if self.upper is not None:
            inside &= number <= self.upper
        return inside & (np.floor(number) == number) if self.integer else inside

    def domain_text(self, say: Say = str) -> str:
        """Say the domain in a few words; ``say`` puts them into another language."""
        if not self.continuous:
            return counted(len(self.values), "value")
        ends = (("from {}", self.lower), ("to {}", self.upper))
        said = [say_numbers(say, words, end) for words, end in ends if end is not None]
        kind = say("whole numbers" if self.integer else "numbers")
        return " ".join([kind, *said]) if said else f"{kind}, {say('open at both ends')}"

    def unknown_hint(self, value: object = None) -> str:
        """Say what the domain is and what to do about a value outside it."""
        if text_of(value) is None:
            return f"declare 'missing: true' for {self.name} in the schema, or fill the value in"
        if self.continuous:
            hint = f"it must be one of the {self.domain_text()}"
        else:
            near = did_you_mean(str(value), self.values) if isinstance(value, str) else self.domain_text()
            hint = f"{near}; correct it, or add it to the domain"
        return hint if self.other else f"{hint} (which declares no 'other')"

    def read(self, value: Any, unknown: Unknown = "other") -> float | Extra:
        """Return what a raw value is: a number of the domain, or the position of a declared value.

        What is outside the domain is "other" where that is declared, and an error elsewhere; so is a missing value
        where the domain has none. ``unknown="error"`` is stricter: it refuses what is outside in either case.

        Raises
        ------
        UnknownValueError
            When it is outside the domain, and not accepted as "other".

        Examples
        --------
        >>> code = Attribute("code", values=("1", "2"), missing=True, other=True)
        >>> [code.read(value) for value in (1, 2.0, "1.0", None)]
        [0, 1, 0, <Extra.MISSING: 'missing'>]
        >>> code.read("01")
        <Extra.OTHER: 'other'>
        """
        if is_several(value):
            raise UnknownValueError(self.name, value, ONE_VALUE)
        number = self._number(value) if self.continuous else self._position(value)
        if number is not None:
            return number
        if unknown == "other" and self.other:
            return Extra.OTHER
        raise UnknownValueError(self.name, value, self.unknown_hint(value))

    def _number(self, value: Any) -> float | Extra | None:
        number = as_number(value)
        if number is None:
            return None
        if math.isnan(number):
            return Extra.MISSING if self.missing else None
        return number if self.contains(number) else None

    def _position(self, value: Any) -> int | Extra | None:
        text = text_of(value)
        if text is None:
            return Extra.MISSING if self.missing else None
        return self.code_of.get(text)


def attribute_problems(attribute: Attribute) -> list[str]:
    """Return all that is wrong with an attribute, in words."""
    problems = []
    if not isinstance(attribute.name, str) or not attribute.name:
        problems.append("name must be a non-empty text")
    texts = (attribute.name, attribute.unit, attribute.question, *attribute.values, *attribute.labels)
    if any(isinstance(text, str) and not text.isascii() and not _writable(text) for text in texts):
        problems.append("texts must be Unicode that can be written (no lone surrogates)")
    if attribute.kind not in KINDS:
        hint = did_you_mean(str(attribute.kind), KINDS)
        problems.append(f"kind must be one of {', '.join(KINDS)}; got {shorten(attribute.kind)}: {hint}")
    elif attribute.kind == "continuous":
        problems += _range_problems(attribute)
    else:
        problems += _value_problems(attribute)
    if not problems:  # else nobody knows what a name could be of
        problems += name_problems(attribute)
    return problems + _derive_problems(attribute) + _hierarchy_problems(attribute)


def _derive_problems(attribute: Attribute) -> list[str]:
    if not attribute.derive:
        return ["source has no use without derive"] if attribute.source else []
    try:
        rule_of(attribute.derive)
    except SchemaError as error:
        return [str(error)]
    return []


def _hierarchy_problems(attribute: Attribute) -> list[str]:
    if attribute.hierarchy is None:
        return []
    if attribute.kind != "discrete":
        return [f"a hierarchy is for discrete values; this attribute is {attribute.kind}"]
    return attribute.hierarchy.misfits(attribute.values)


def _writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _range_problems(attribute: Attribute) -> list[str]:
    problems = []
    if attribute.values or attribute.labels:
        problems.append("a continuous attribute has lower and upper, not values or labels")
    for name in ("lower", "upper"):
        bound = getattr(attribute, name)
        if bound is not None and not math.isfinite(bound):
            problems.append(f"{name} must be a finite number, or left out for an open end; got {bound}")
        elif bound is not None and attribute.integer and bound != math.floor(bound):
            problems.append(f"{name} of an integer attribute must be whole; got {bound}")
    if attribute.lower is not None and attribute.upper is not None and attribute.lower >= attribute.upper:
        problems.append(f"lower must be below upper; got {attribute.lower} and {attribute.upper}")
    return problems


def _value_problems(attribute: Attribute) -> list[str]:
    problems = []
    if attribute.lower is not None or attribute.upper is not None or attribute.integer:
        problems.append(f"a {attribute.kind} attribute has values, not lower, upper or integer")
    if not attribute.values and not attribute.extra_values:
        problems.append("values must name at least one value")
    if not all(isinstance(value, str) and value for value in attribute.values):
        problems.append("values must be non-empty texts (a missing value is declared by missing: true)")
    if not all(isinstance(label, str) and label for label in attribute.labels):
        problems.append("labels must be non-empty texts")
    problems += _same_values(attribute.values)
    problems += [f"label {shorten(label)} is used twice" for label in repeated(attribute.labels)]
    if attribute.labels and len(attribute.labels) != len(attribute.values):
        problems.append(f"labels must match values; got {len(attribute.labels)} for {len(attribute.values)}")
    return problems


def _same_values(values: Iterable[str]) -> Iterator[str]:
    """Yield which declared values no record can tell apart, or from "no answer"."""
    first: dict[str, str] = {}
    for value in values:
        text = text_of(value)
        if text is None and value:
            yield f"value {shorten(value)} stands for no answer; declare it by missing: true"
        elif text in first:
            same = "is listed twice" if first[text] == value else f"is the same as {shorten(first[text])}"
            yield f"value {shorten(value)} {same}"
        elif text is not None:
            first[text] = value


def repeated(texts: Iterable[str]) -> list[str]:
    """Return the texts that are there a second time."""
    seen: set[str] = set()
    return [text for text in texts if text in seen or seen.add(text)]  # type: ignore[func-returns-value]


def attribute_to_document(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as a mapping, without what is left at its default."""
    numbers = {"lower": attribute.lower, "upper": attribute.upper}
    flags = ("integer", "missing", "other", "personal")
    texts = {key: getattr(attribute, key) for key in ("unit", "question", "derive", "source")}
    tree = attribute.hierarchy
    return {
        "name": attribute.name,
        "kind": attribute.kind,
        **({"values": list(attribute.values)} if attribute.values else {}),
        **({"labels": list(attribute.labels)} if attribute.labels else {}),
        **{key: plain_number(number) for key, number in numbers.items() if number is not None},
        **{flag: True for flag in flags if getattr(attribute, flag)},
        **{key: text for key, text in texts.items() if text},
        **({"hierarchy": tree.to_document()} if tree else {}),
        **({"names": names_to_document(attribute.names, attribute.values)} if attribute.names else {}),
    }


def plain_number(number: float | None) -> float | None:
    """Write 63 rather than 63.0, so that equal generalizations give equal texts.

    >>> plain_number(63.0), plain_number(0.5), plain_number(None)
    (63, 0.5, None)
    """
    return int(number) if number is not None and number == int(number) and abs(number) < 1e16 else number


def attribute_from_document(
    data: Any, path: tuple[str | int, ...], problems: Problems, named: bool = False
) -> Attribute | None:
    """Read one attribute; note its problems and return None if there are any."""
    fields = Fields(data, path, problems)
    attribute = take_attribute(fields, named)
    fields.done()
    return attribute


def take_attribute(fields: Fields, named: bool = False) -> Attribute | None:
    """Take the keys of an attribute out of a mapping that may have more; ``named``: names of buckets, too."""
    before = len(fields.problems.texts)
    arguments: dict[str, Any] = {
        "name": fields.text("name"),
        "kind": cast(Kind, fields.text("kind", "discrete")),
        "values": fields.texts("values"),
        "labels": fields.texts("labels"),
        "lower": fields.number("lower"),
        "upper": fields.number("upper"),
        "unit": fields.text("unit"),
        "question": fields.text("question"),
        "derive": fields.text("derive"),
        "source": fields.text("source"),
        **{flag: fields.flag(flag) for flag in ("integer", "missing", "other", "personal")},
    }
    if "hierarchy" in fields:
        document = fields.take("hierarchy")
        arguments["hierarchy"] = hierarchy_from_document(document, (*fields.path, "hierarchy"), fields.problems)
    if named and "names" in fields:
        arguments["names"] = names_from_document(fields.take("names"), (*fields.path, "names"), fields.problems)
    if len(fields.problems.texts) > before:
        return None
    try:
        return Attribute(**arguments)
    except SchemaError as error:
        for problem in error.problems:
            fields.problems.add(fields.path, problem)
        return None
