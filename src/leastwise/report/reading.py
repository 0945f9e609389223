"""Read the facts of a check from a file: untrusted, every problem named, nothing silently repaired."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leastwise.documents import Fields, Problems, is_number, read_json, read_text
from leastwise.documents import Path as Place
from leastwise.errors import ArtefactError

Facts = dict[str, Any]
NUMBERS = ("value", "low", "high", "baseline", "then", "now")
INTERVALS = ("then_interval", "now_interval")


def read_check(path: str | Path) -> Facts:
    """Return the facts that ``leastwise check -o check.json`` or ``monitor`` has written, for ``drift``.

    Raises
    ------
    ArtefactError
        Listing everything that is wrong with the file.
    """
    problems = Problems()
    document = read_json(read_text(Path(path)), problems)
    facts = {} if problems.texts else _check(Fields(document, (), problems), problems)
    if problems.texts:
        raise ArtefactError(f"{path}: not the facts of a check", problems.texts)
    return facts


def _check(fields: Fields, problems: Problems) -> Facts:
    facts: Facts = {
        "title": fields.text("title"),
        "verdict": fields.text("verdict"),
        "reasons": list(fields.texts("reasons")),
    }
    if "passed" in fields:
        facts["passed"] = fields.flag("passed")
    if "verdict" not in fields:
        problems.add(("verdict",), "is missing")
    sections = enumerate(fields.items("sections"))
    return {**facts, "sections": [_section(Fields(s, ("sections", i), problems), problems) for i, s in sections]}


def _section(fields: Fields, problems: Problems) -> Facts:
    text, table = fields.take("text", ""), fields.take("table")
    given = enumerate(fields.items("bars") if fields.take("bars") is not None else [])
    bars = [_bar(Fields(bar, (*fields.path, "bars", i), problems), problems) for i, bar in given]
    if len({(*sorted({"value", "then", "values"} & set(bar)), len(bar.get("values", ()))) for bar in bars}) > 1:
        problems.add((*fields.path, "bars"), "must all be of one kind: single, then and now, or groups as large")
    return {
        "title": fields.text("title"),
        "text": [fields.text("text")] if isinstance(text, str) else list(fields.texts("text")),
        "table": None if table is None else _table(Fields(table, (*fields.path, "table"), problems)),
        "bars": bars,
        "axis": fields.text("axis"),
    }


def _table(fields: Fields) -> Facts:
    columns, rows = fields.texts("columns"), fields.items("rows")
    for i, row in enumerate(rows):
        texts = isinstance(row, list) and all(isinstance(cell, str) for cell in row)
        if not texts or len(row) != len(columns):
            fields.problems.add((*fields.path, "rows", i), f"must be a list of {len(columns)} texts")
    return {"columns": list(columns), "rows": rows}


def _bar(fields: Fields, problems: Problems) -> Facts:
    bar: Facts = {"label": fields.text("label")}
    bar |= {name: fields.number(name) for name in NUMBERS if name in fields}
    bar |= {name: _interval(fields, name) for name in INTERVALS if name in fields}
    if "values" in fields:
        bar["values"] = [
            _named(Fields(value, (*fields.path, "values", i), problems))
            for i, value in enumerate(fields.items("values"))
        ]
    complete = bar.get("values") or all(bar.get(name) is not None for name in ("then", "now"))
    if not complete and bar.get("value") is None:
        problems.add(fields.path, "must have a value, then and now, or values")
    return bar


def _named(fields: Fields) -> Facts:
    value = fields.number("value")
    if value is None:
        fields.problems.add((*fields.path, "value"), "is missing")
    return {
        "name": fields.text("name"),
        "value": value,
        "low": fields.number("low"),
        "high": fields.number("high"),
    }


def _interval(fields: Fields, name: str) -> list[float] | None:
    ends = fields.take(name)
    if ends is None or (isinstance(ends, list) and len(ends) == 2 and all(map(is_number, ends))):
        return ends
    place: Place = (*fields.path, name)
    fields.problems.add(place, "must be two numbers, or null")
    return None
