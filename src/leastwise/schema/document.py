"""An attribute as a mapping in a JSON or YAML document, and back."""

from __future__ import annotations

from typing import Any, cast

from leastwise.documents import Fields, Problems
from leastwise.errors import SchemaError
from leastwise.schema.attribute import Attribute, Kind


def attribute_to_document(attribute: Attribute) -> dict[str, Any]:
    """Return an attribute as a mapping, without what is left at its default."""
    numbers = {"lower": attribute.lower, "upper": attribute.upper}
    flags = ("integer", "missing", "other", "personal")
    texts = {"unit": attribute.unit, "question": attribute.question}
    return {
        "name": attribute.name,
        "kind": attribute.kind,
        **({"values": list(attribute.values)} if attribute.values else {}),
        **({"labels": list(attribute.labels)} if attribute.labels else {}),
        **{key: plain_number(number) for key, number in numbers.items() if number is not None},
        **{flag: True for flag in flags if getattr(attribute, flag)},
        **{key: text for key, text in texts.items() if text},
    }


def plain_number(number: float) -> float:
    """Write 63 rather than 63.0."""
    return int(number) if number == int(number) and abs(number) < 1e16 else number


def attribute_from_document(data: Any, path: tuple[str | int, ...], problems: Problems) -> Attribute | None:
    """Read one attribute; note its problems and return None if there are any."""
    fields = Fields(data, path, problems)
    attribute = take_attribute(fields)
    fields.done()
    return attribute


def take_attribute(fields: Fields) -> Attribute | None:
    """Take the keys of an attribute out of a mapping that may have more."""
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
        **{flag: fields.flag(flag) for flag in ("integer", "missing", "other", "personal")},
    }
    if len(fields.problems.texts) > before:
        return None
    try:
        return Attribute(**arguments)
    except SchemaError as error:
        for problem in error.problems:
            fields.problems.add(fields.path, problem)
        return None
