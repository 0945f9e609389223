"""What a generalized record looks like: its JSON Schema (2020-12), and the code book of its numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from leastwise.apply.record import MISSING_LABEL
from leastwise.generalization import Generalization
from leastwise.partition import Groups, Partition, Untouched
from leastwise.schema import Attribute
from leastwise.schema.attribute import plain_number
from leastwise.schema.values import number_of, number_text

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MOST_LISTED = 1000  # whole numbers; more than this are described by a pattern
CODE_BOOK = ("attribute", "code", "label", "values")
# A number as ``number_text`` writes it.
_WHOLE_TEXT = r"-?(?:0|[1-9][0-9]*|[1-9](?:\.[0-9]+)?e\+[0-9]+|inf)"
_REAL_TEXT = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:e[+-][0-9]+)?|inf)"


def record_schema(
    generalization: Generalization, output: Literal["labels", "codes"] = "labels", *, label: bool = True
) -> dict[str, Any]:
    """Return the JSON Schema of a generalized record.

    It accepts exactly what ``transform`` can give: the buckets of the attributes that are collected, each of
    them, and nothing else. An exact value, an unknown key or a suppressed attribute is refused.

    Parameters
    ----------
    generalization
        What is asked.
    output
        ``labels`` (what people read) or ``codes`` (the numbers of the buckets).
    label
        Whether a record may carry the label that is predicted.

    Notes
    -----
    An untouched number written as text ("63") is held to its form; to its range only where the domain has at
    most 1,000 whole numbers. With ``codes`` it is a number and held to its range.

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0, integer=True)
    >>> record_schema(Generalization((Intervals(age, (19, 63)),)))["properties"]
    {'age': {'enum': ['0 to 19', '20 to 63', '64 or more']}}
    """
    asked = [partition for partition in generalization.partitions if not partition.suppressed]
    properties = {partition.attribute.name: _property(partition, output) for partition in asked}
    if label:
        properties |= {each.name: _label_property(each) for each in generalization.schema.labels}
    return {
        "$schema": DIALECT,
        "title": "A generalized record",
        "type": "object",
        "properties": properties,
        "required": [partition.attribute.name for partition in asked],
        "additionalProperties": False,
    }


def _property(partition: Partition, output: str) -> dict[str, Any]:
    title = {"title": partition.attribute.question} if partition.attribute.question else {}
    if isinstance(partition, Untouched):
        return {**title, **(_number_text if output == "labels" else _number)(partition.attribute)}
    if output == "labels":
        return {**title, "enum": list(partition.labels)}
    return {**title, "type": "integer", "minimum": 0, "maximum": partition.size - 1}


def _number_text(attribute: Attribute) -> dict[str, Any]:
    missing = [MISSING_LABEL] if attribute.missing else []
    numbers = _listed_numbers(attribute)
    if numbers:
        return {"enum": [*map(number_text, numbers), *missing]}
    form = _WHOLE_TEXT if attribute.integer else _REAL_TEXT
    # In some languages $ overlooks a line break at the end.
    return {"type": "string", "pattern": f"^(?:{'|'.join([form, *missing])})$(?!\\n)"}


def _listed_numbers(attribute: Attribute) -> range | None:
    if not attribute.integer or attribute.lower is None or attribute.upper is None:
        return None
    whole = range(int(attribute.lower), int(attribute.upper) + 1)
    return whole if len(whole) <= MOST_LISTED else None


def _number(attribute: Attribute) -> dict[str, Any]:
    kind = "integer" if attribute.integer else "number"
    bounds = {"minimum": attribute.lower, "maximum": attribute.upper}
    return {
        "type": [kind, "null"] if attribute.missing else kind,
        **{name: plain_number(bound) for name, bound in bounds.items() if bound is not None},
    }


def _label_property(label: Attribute) -> dict[str, Any]:
    """Accept a declared label as its text, or as the number or truth value that it writes; null for unknown."""
    if label.continuous:
        return _number(replace(label, missing=True))
    forms: list[Any] = []
    for value in label.values:
        forms.append(value)
        number = number_of(value)
        if number is not None and abs(number) < float("inf"):
            forms.append(int(number) if number == int(number) else number)
        if value in ("true", "false"):
            forms.append(value == "true")
    return {"enum": [*forms, None]}


def code_book(generalization: Generalization) -> str:
    """Return a CSV text with a row for each bucket of each question: its number, its label, and its values.

    The label of a group may be a name, or the first few of many values; here all of them are listed, parted by
    " | ", and of a range that has a name, its numbers. A number that is asked exactly has no codes: it is itself,
    and has one row that says so.

    >>> from leastwise import Attribute, Generalization, Groups
    >>> status = Attribute("status", values=("single", "civil", "church"))
    >>> print(code_book(Generalization((Groups(status, (0, 1, 1)),))))
    attribute,code,label,values
    status,0,single,single
    status,1,civil or church,civil | church
    <BLANKLINE>
    """
    rows = [CODE_BOOK, *(row for p in generalization.partitions if not p.suppressed for row in _rows(p))]
    return "".join(map(_line, rows))


def _line(row: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow(row)  # either sign of it is quoted inside a value
    return text.getvalue().removesuffix("\r\n") + "\n"


def _rows(partition: Partition) -> list[tuple[str, str, str, str]]:
    name = partition.attribute.name
    if isinstance(partition, Untouched):
        return [(name, "", "the number itself", partition.attribute.domain_text())]
    behind = tuple(map(partition.behind, range(partition.size)))
    values = partition.groups if isinstance(partition, Groups) else behind
    return [
        (name, str(code), label, " | ".join(inside))
        for code, (label, inside) in enumerate(zip(partition.labels, values, strict=True))
    ]
