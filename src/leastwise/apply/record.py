"""One record, value by value: the slow truth that every frame must agree with.

A *piece* is an interval or a declared value, then "missing" and "other" where the domain has them; the partition
assigns each piece to its bucket.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from leastwise.apply.answers import MISSING_LABEL, Output, answers, family_of
from leastwise.errors import DataError, UnknownValueError, shorten
from leastwise.partition import Intervals, Partition, Unknown, Untouched
from leastwise.records.files import NO_NUMBER, NUMBER
from leastwise.schema import Attribute
from leastwise.schema.values import is_missing, number_text, text_of
from leastwise.validation import did_you_mean

if TYPE_CHECKING:
    from leastwise.apply.request import Request

_NUMBER, _NO_NUMBER = re.compile(NUMBER), re.compile(NO_NUMBER)


def transform_record(request: Request, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return one generalized record."""
    partitions = {partition.attribute.name: partition for partition in request.generalization.partitions}
    result = {name: record[name] for name in request.leaving(record)}
    if request.label and request.label in record:
        request.check_label([record[request.label]])
    for name, partition in partitions.items():
        if name not in record and not partition.suppressed:
            raise absent(name, record)
        if request.suppressed or not partition.suppressed:
            result[name] = answer(partition, record.get(name), request.output, request.unknown)
    return result


def absent(name: str, columns: Any) -> DataError:
    """Return the error for an attribute that is asked but not there."""
    return DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, columns)}")


def answer(partition: Partition, value: Any, output: Output, unknown: Unknown = "error") -> Any:
    """Return what one raw value becomes."""
    if isinstance(partition, Untouched):
        return untouched_answer(partition, value, output)
    piece = 0 if partition.suppressed else piece_of(partition, value, unknown)
    return answers(partition, output, family_of(type(value)))[partition.assignment[piece]]


def untouched_answer(partition: Untouched, value: Any, output: Output) -> Any:
    """Return the number itself, or its text; a missing one stays missing."""
    attribute = partition.attribute
    number = attribute.number(value)
    if number is None and not attribute.missing:
        raise UnknownValueError(attribute.name, value, attribute.missing_hint())
    if output == "labels":
        return MISSING_LABEL if number is None else number_text(number)
    if number is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value if number is not None else None
    return int(number) if isinstance(value, str) and holds_integers(attribute) else number


def holds_integers(attribute: Attribute) -> bool:
    """Return whether an integer type holds every number of the domain; an open end includes infinity."""
    bounds = (attribute.lower, attribute.upper)
    return attribute.integer and all(bound is not None and abs(bound) < 2**53 for bound in bounds)


def piece_of(partition: Partition, value: Any, unknown: Unknown = "error") -> int:
    """Return the piece of a raw value; one outside the domain is an error, or "other" where that is declared."""
    piece = _known_piece(partition, value)
    if piece is not None:
        return piece
    attribute = partition.attribute
    if unknown == "other" and attribute.other:
        return len(partition.assignment) - 1
    hint = attribute.unknown_hint(None if is_missing(value) else value)
    if unknown == "other":
        hint = f"{hint} (the domain declares no 'other')"
    raise UnknownValueError(attribute.name, value, hint)


def _known_piece(partition: Partition, value: Any) -> int | None:
    attribute = partition.attribute
    missing = len(partition.assignment) - attribute.extra_values if attribute.missing else None
    if is_missing(value):
        return missing
    if isinstance(partition, Intervals):
        return _interval(partition, value, missing)
    for text in spellings(value):
        if text is None and missing is not None:
            return missing
        if text is not None and text in attribute.code_of:
            return attribute.code_of[text]
    return None


def _interval(partition: Intervals, value: Any, missing: int | None) -> int | None:
    try:
        number = partition.attribute.number(value)
    except UnknownValueError:
        return None
    return missing if number is None else partition.bucket(number)


def spellings(value: Any) -> Iterator[str | None]:
    """Give the texts under which a value may be declared: its own first.

    >>> [*spellings("1.0")], [*spellings("True")], [*spellings("01")], [*spellings("NaN")]
    (['1.0', '1'], ['True', 'true', 'TRUE'], ['01'], ['NaN', None])
    """
    text = text_of(value)
    yield text
    if text is None:
        return
    if _NUMBER.fullmatch(text):
        yield from {number_text(float(text))} - {text}
    elif _NO_NUMBER.fullmatch(text):
        yield None if "nan" in text.lower() else number_text(float(text))
    elif text.lower() in ("true", "false"):
        yield from (form for form in (text.lower(), text.capitalize(), text.upper()) if form != text)
