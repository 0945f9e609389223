"""One record, value by value: the slow truth that every frame must agree with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from leastwise.apply.deriving import derived_record, is_derived, plain_request
from leastwise.errors import DataError, shorten
from leastwise.partition import Partition, Untouched
from leastwise.schema import Attribute, Extra, Unknown
from leastwise.schema.values import number_text
from leastwise.validation import did_you_mean

Output = Literal["labels", "codes", "representative"]
Family = Literal["text", "int", "float", "bool", "other"]
MISSING_LABEL = "missing"


def family_of(kind: type) -> Family:
    """Return the family of a Python type."""
    families: tuple[tuple[type, Family], ...] = ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"))
    for base, family in families:
        if issubclass(kind, base):
            return family
    return "other"


def answers(partition: Partition, output: Output, family: Family) -> Sequence[Any]:
    """Return the answer of each bucket; ``family`` is that of the column, which a representative keeps."""
    if output == "labels":
        return partition.labels
    if output == "codes":
        return range(partition.size)
    members = [partition.representative(bucket) for bucket in range(partition.size)]
    return _numbers(members, partition, family) if partition.attribute.continuous else _named(members, family)


def _numbers(members: Sequence[Any], partition: Partition, family: Family) -> list[Any]:
    """Integers stay integers where every member is one; a text that wrote a number becomes the number."""
    wants_integers = family == "int" or (family != "float" and partition.attribute.integer)
    whole = all(member is None or (member == int(member) and abs(member) < 2**63) for member in members)
    as_type = int if wants_integers and whole else float
    return [None if member is None else as_type(member) for member in members]


def _named(members: Sequence[Any], family: Family) -> list[Any]:
    parsers: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "bool": _truth}
    if family not in parsers:
        return list(members)
    try:
        return [None if member is None else parsers[family](member) for member in members]
    except ValueError:
        # The column's type cannot hold the domain: a text says it.
        return list(members)


def _truth(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


if TYPE_CHECKING:
    from leastwise.apply.request import Request


def transform_record(request: Request, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return one generalized record."""
    if is_derived(request):
        request, record = plain_request(request), derived_record(request, record)
    partitions = {partition.attribute.name: partition for partition in request.generalization.partitions}
    result = {name: record[name] for name in request.leaving(record)}
    request.check_labels(record, lambda name: [record[name]])
    for name, partition in partitions.items():
        if name not in record and not partition.suppressed:
            raise absent(name, record)
        if request.suppressed or not partition.suppressed:
            result[name] = answer(partition, record.get(name), request.output, request.unknown)
    return result


def absent(name: str, columns: Any) -> DataError:
    """Return the error for an attribute that is asked but not there."""
    return DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, columns)}")


def answer(partition: Partition, value: Any, output: Output, unknown: Unknown = "other") -> Any:
    """Return what one raw value becomes."""
    if isinstance(partition, Untouched):
        return untouched_answer(partition, value, output)
    piece = 0 if partition.suppressed else partition.piece(value, unknown)
    return answers(partition, output, family_of(type(value)))[partition.assignment[piece]]


def untouched_answer(partition: Untouched, value: Any, output: Output) -> Any:
    """Return the number itself, or its text; a missing one stays missing."""
    attribute = partition.attribute
    number = attribute.read(value, "error")  # a number outside the domain cannot be kept exactly
    if isinstance(number, Extra):
        return MISSING_LABEL if output == "labels" else None
    if output == "labels":
        return number_text(number)
    if isinstance(value, int):
        return value
    return int(number) if isinstance(value, str) and holds_integers(attribute) else number


def holds_integers(attribute: Attribute) -> bool:
    """Return whether an integer type holds every number of the domain; an open end includes infinity."""
    bounds = (attribute.lower, attribute.upper)
    return attribute.integer and all(bound is not None and abs(bound) < 2**53 for bound in bounds)
