"""What each bucket answers: its label, its number, or a fixed member in the type of the column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from leastwise.partition import Partition

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
