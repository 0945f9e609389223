"""Derived questions on every kind of frame: the derived text first, then everything else as for any text.

The rules are those of ``schema.derive``; here they are expressions, for Polars itself and, through narwhals, for
engines that keep their records. What asks by a rule is then asked of a column that holds its texts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leastwise.errors import DataError, ParameterError, shorten
from leastwise.partition import Partition
from leastwise.schema import Attribute
from leastwise.schema.derive import (
    MOST_DEGREES,
    NEEDS,
    SPACES,
    THOUSANDTHS,
    WEEKDAYS,
    Above,
    Amount,
    Grid,
    Part,
    Prefix,
    Region,
    derived,
    rule_of,
)

if TYPE_CHECKING:
    from leastwise.apply.request import Request


def is_derived(request: Request) -> bool:
    """Return whether anything that is asked is derived, or the label."""
    asked = [partition.attribute for partition in _asked(request)]
    return any(attribute.derive for attribute in (*asked, *request.labels))


def plain_request(request: Request) -> Request:
    """Return the same request of records in which everything is derived already."""
    given = request.generalization
    partitions = tuple(_plain(partition) for partition in given.partitions)
    label = None if given.label is None else given.label.plain
    return replace(request, generalization=replace(given, partitions=partitions, label=label))


def derived_attributes(request: Request, columns: Container[str]) -> list[Attribute]:
    """Return what is asked by a rule; complain where its column is not there or would leave as it is."""
    attributes = [partition.attribute for partition in _asked(request) if partition.attribute.derive]
    for attribute in attributes:
        for column in attribute.columns:
            if column not in columns:
                raise DataError(f"the records have no column {shorten(column)}, of which {attribute.name} is made")
            if column in request.keep:
                raise ParameterError(f"{shorten(column)} is asked as {attribute.name}; it cannot be kept as it is")
    return [*attributes, *(label for label in request.labels if label.derive and label.column in columns)]


def derived_record(request: Request, record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record with what is derived from it."""
    attributes = derived_attributes(request, record)
    return {**record, **{a.name: derived(a.derive, *(record[c] for c in a.columns)) for a in attributes}}


def derived_frame(request: Request, frame: Any, schema: Mapping[str, Any], api: Any) -> Any:
    """Return a frame, or a query, with what is derived from it; ``api`` is polars or narwhals."""
    return derived_columns(derived_attributes(request, schema), frame, schema, api)


def derived_columns(attributes: Sequence[Attribute], frame: Any, schema: Mapping[str, Any], api: Any) -> Any:
    """Return a frame, or a query, with derived questions under their names."""
    frame = frame.with_columns(*(_expression(a, schema, api).alias(a.name) for a in attributes))
    # In a second step: an engine would work a long expression out anew for each of the seven names.
    days = [attribute.name for attribute in attributes if attribute.derive.startswith("weekday")]
    return frame.with_columns(*(_named_day(api.col(name), api).alias(name) for name in days)) if days else frame


def _asked(request: Request) -> list[Partition]:
    return [partition for partition in request.generalization.partitions if not partition.suppressed]


def _plain(partition: Partition) -> Partition:
    return replace(partition, attribute=partition.attribute.plain) if partition.attribute.derive else partition  # type: ignore[type-var]


def _expression(attribute: Attribute, schema: Mapping[str, Any], api: Any) -> Any:
    texts = [_text(api.col(column), schema[column], api) for column in attribute.columns]
    rule, text = rule_of(attribute.derive), texts[0]
    if isinstance(rule, Region):
        return _region(rule, texts, api)
    if isinstance(rule, Prefix):
        return text.str.slice(0, rule.length)
    valid = text.str.contains(f"^({rule.pattern})$")
    # Engines stop at the first text that is no number, so the others are taken out before.
    clean = api.when(valid).then(text)
    if isinstance(rule, Grid):
        number = clean.str.strip_chars(SPACES).cast(api.Float64)
        valid = valid & (number.abs() <= MOST_DEGREES)
        made = _cell(rule, number, api)
    elif isinstance(rule, Above):
        low, high = map(api.lit, rule.classes)
        number = clean.str.strip_chars(SPACES).cast(api.Float64)
        made = api.when(number > float(rule.threshold)).then(high).otherwise(low)
    else:
        made = _part(rule, clean, api) if isinstance(rule, Part) else _amount(rule, clean)
    refused = api.when(text.is_null() | (text == "")).then(text).otherwise(api.lit(rule.refused))
    return api.when(valid).then(made).otherwise(refused)


def _region(rule: Region, texts: Sequence[Any], api: Any) -> Any:
    form = f"^({rule.pattern})$"
    lat, lon = (api.when(t.str.contains(form)).then(t).str.strip_chars(SPACES).cast(api.Float64) for t in texts)
    made = api.lit(rule.refused)
    for box in reversed(rule.boxes):
        high = (lat >= float(box.south)) & (lat <= float(box.north))
        inside = high & (lon >= float(box.west)) & (lon <= float(box.east))
        made = api.when(inside).then(api.lit(box.name)).otherwise(made)
    answered = [~(text.is_null() | (text == "")) for text in texts]
    return api.when(answered[0] & answered[1]).then(made)


def _text(column: Any, dtype: Any, api: Any) -> Any:
    if dtype == api.String:
        return column
    if not dtype.is_float():
        return column.cast(api.String)
    column = api.when(~column.is_nan()).then(column)  # no answer, as everywhere
    whole = api.when((column == column.floor()) & (column.abs() < 2.0**53)).then(column)
    return (
        api.when(whole.is_null()).then(column.cast(api.String)).otherwise(whole.cast(api.Int64).cast(api.String))
    )


def _cell(rule: Grid, number: Any, api: Any) -> Any:
    """Return the edge of a cell in thousandths of a degree: Polars would multiply by a reciprocal to divide."""
    cell = (number * float(rule.per_degree)).floor().cast(api.Int64) // rule.degrees
    edge = cell * (THOUSANDTHS * rule.degrees // rule.per_degree)
    return api.concat_str([edge.cast(api.String), api.lit("e-3")])


def _amount(rule: Amount, text: Any) -> Any:
    for sign in rule.removed:
        text = text.str.replace_all(sign, "", literal=True)
    return text.str.replace_all(rule.decimal, ".", literal=True) if rule.decimal else text


def _part(rule: Part, text: Any, api: Any) -> Any:
    places = {field: rule.place(field) for field in NEEDS[rule.part]}
    number = {f: text.str.slice(begin, length).cast(api.Int64) for f, (begin, length) in places.items()}
    if rule.part == "weekday":
        return _weekday(number["YYYY"], number["MM"], number["DD"], api)
    expression_of = {
        "year": lambda: number["YYYY"],
        "decade": lambda: number["YYYY"] // 10 * 10,
        "month": lambda: number["MM"],
        "quarter": lambda: (number["MM"] + 2) // 3,
        "hour": lambda: number["hh"],
        "minutes": lambda: 60 * number["hh"] + number["mm"],
        "age": lambda: (rule.reference - 10_000 * number["YYYY"] - 100 * number["MM"] - number["DD"]) // 10_000,
    }
    return expression_of[rule.part]().cast(api.String)


def _weekday(year: Any, month: Any, day: Any, api: Any) -> Any:
    """Return the number of the day as a text, 0 for Monday."""
    late = (14 - month) // 12
    years, months = year - late, month + 12 * late
    count = day + (13 * (months + 1)) // 5 + years + years // 4 - years // 100 + years // 400 + 5
    return (count % 7).cast(api.String)


def _named_day(text: Any, api: Any) -> Any:
    chain = api
    for number, name in enumerate(WEEKDAYS):
        chain = chain.when(text == str(number)).then(api.lit(name))
    return chain.otherwise(text)
