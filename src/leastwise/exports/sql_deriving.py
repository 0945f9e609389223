"""Derived questions in SQL: a rule of ``schema.derive`` as an expression of the text of a column."""

from __future__ import annotations

from collections.abc import Sequence

from leastwise.exports.sql_dialects import Dialect
from leastwise.schema.derive import (
    MOST_DEGREES,
    NEEDS,
    WEEKDAYS,
    Above,
    Amount,
    Grid,
    Part,
    Prefix,
    Region,
    rule_of,
)
from leastwise.schema.values import ANY_NUMBER


def derived_text(dialect: Dialect, rule: str, raw: str, *beside: str) -> str:
    """Return the derived text of a column; of null and NaN nothing is made.

    ``beside`` are the other columns that the rule reads.
    """
    parsed, text = rule_of(rule), dialect.any_text(raw)
    if isinstance(parsed, Region):
        return _region(dialect, parsed, (raw, *beside))
    unanswered = dialect.is_unanswered(raw)
    if isinstance(parsed, Prefix):
        begin = f"substr({text}, 1, {parsed.length})"
        return f"CASE WHEN {nan} THEN NULL ELSE {begin} END" if (nan := dialect.is_any_nan(raw)) else begin
    if isinstance(parsed, Grid):
        return _cell(dialect, parsed, raw, text)
    if isinstance(parsed, Above):
        return _side(dialect, parsed, raw, text)
    made = _part(dialect, parsed, text) if isinstance(parsed, Part) else _amount(dialect, parsed, text)
    refused = dialect.text(parsed.refused)
    valid = dialect.has_form(text, parsed)
    return f"CASE WHEN {unanswered} THEN NULL WHEN {valid} THEN {made} ELSE {refused} END"


def _region(dialect: Dialect, rule: Region, raws: Sequence[str]) -> str:
    texts = [dialect.any_text(raw) for raw in raws]
    lat, lon = (
        dialect.text_as_number(raw, dialect.trimmed(text), ANY_NUMBER)
        for raw, text in zip(raws, texts, strict=True)
    )
    unanswered = " OR ".join(map(dialect.is_unanswered, raws))
    inside = " ".join(
        f"WHEN {lat} BETWEEN {dialect.number(float(box.south))} AND {dialect.number(float(box.north))} AND {lon} "
        f"BETWEEN {dialect.number(float(box.west))} AND {dialect.number(float(box.east))} "
        f"THEN {dialect.text(box.name)}"
        for box in rule.boxes
    )
    return f"CASE WHEN {unanswered} THEN NULL {inside} ELSE {dialect.text(rule.refused)} END"


def _cell(dialect: Dialect, rule: Grid, raw: str, text: str) -> str:
    number = dialect.text_as_number(raw, dialect.trimmed(text), ANY_NUMBER)
    times, over = (f"CAST({each} AS {dialect.number_type})" for each in (rule.per_degree, rule.degrees))
    cell = dialect.floor.format(f"({number} * {times})")
    cell = cell if rule.degrees == 1 else dialect.floor.format(f"({cell} / {over})")
    edge = f"({cell} * {over} / {times} + 0)"  # which makes the zero below zero the other one
    return (
        f"CASE WHEN {dialect.is_unanswered(raw)} THEN NULL WHEN {number} BETWEEN -{MOST_DEGREES} AND "
        f"{MOST_DEGREES} THEN CAST({edge} AS {dialect.text_type}) ELSE {dialect.text(rule.refused)} END"
    )


def _side(dialect: Dialect, rule: Above, raw: str, text: str) -> str:
    low, high = map(dialect.text, rule.classes)
    number = dialect.text_as_number(text, dialect.trimmed(text), ANY_NUMBER)
    threshold = dialect.number(float(rule.threshold))
    return (
        f"CASE WHEN {dialect.is_unanswered(raw)} THEN NULL WHEN {number} > {threshold} THEN {high} "
        f"WHEN {number} <= {threshold} THEN {low} ELSE {dialect.text(rule.refused)} END"
    )


def _amount(dialect: Dialect, rule: Amount, text: str) -> str:
    for sign in rule.removed:
        text = f"replace({text}, {dialect.text(sign)}, '')"
    return f"replace({text}, {dialect.text(rule.decimal)}, '.')" if rule.decimal else text


def _part(dialect: Dialect, rule: Part, text: str) -> str:
    def number(field: str) -> str:
        begin, length = rule.place(field)
        return f"CAST(substr({text}, {begin + 1}, {length}) AS {dialect.integer_type})"

    of = {field: number(field) for field in NEEDS[rule.part]}
    if rule.part == "weekday":
        return _weekday(dialect, of["YYYY"], of["MM"], of["DD"])
    if rule.part == "age":
        # Of a positive number every dialect divides alike.
        days = f"{rule.reference + 10**8} - 10000 * {of['YYYY']} - 100 * {of['MM']} - {of['DD']}"
        value = f"{dialect.divided(days, 10_000)} - 10000"
    elif rule.part == "decade":
        value = f"{dialect.divided(of['YYYY'], 10)} * 10"
    elif rule.part == "quarter":
        value = dialect.divided(f"{of['MM']} + 2", 3)
    elif rule.part == "minutes":
        value = f"60 * {of['hh']} + {of['mm']}"
    else:
        (value,) = of.values()
    return f"CAST({value} AS {dialect.text_type})"


def _weekday(dialect: Dialect, year: str, month: str, day: str) -> str:
    late = dialect.divided(f"14 - {month}", 12)
    years, months = f"({year} - {late})", f"({month} + 12 * {late})"
    quarters, centuries, eras = (dialect.divided(years, each) for each in (4, 100, 400))
    fifths = dialect.divided(f"13 * ({months} + 1)", 5)
    count = f"({day} + {fifths} + {years} + {quarters} - {centuries} + {eras} + 5)"
    whens = " ".join(f"WHEN {place} THEN '{name}'" for place, name in enumerate(WEEKDAYS))
    return f"CASE {count} - 7 * {dialect.divided(count, 7)} {whens} END"
