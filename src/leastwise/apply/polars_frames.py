"""Polars frames, with Polars' own expressions: all attributes at once, the few hard values one by one."""

from __future__ import annotations

from typing import Any, cast

import polars as pl

from leastwise.apply.request import Request, families_of, with_texts
from leastwise.apply.steps import Step
from leastwise.errors import DataError, UnknownValueError
from leastwise.partition import Untouched


def transform_polars(request: Request, frame: pl.DataFrame, first_row: int = 0) -> pl.DataFrame:
    """Return the generalized records; ``first_row`` is the place of the frame in a longer one."""
    families = families_of(frame.schema, pl)
    steps = request.steps(families, pl)
    frame = with_texts(frame, frame.schema, request.generalization.collected, pl)
    if request.label and request.label in families:
        _check_label(request, frame[request.label], first_row)
    places = frame.select(step.place.alias(step.name) for step in steps)
    for step in steps:
        if places[step.name].null_count():
            decided = _decide(step, frame[step.name], places[step.name], first_row)
            completed = step.with_decided(decided).alias(step.name)
            places = places.with_columns(frame.select(completed).to_series())
    answered = places.select(gathered(step, pl.col(step.name), frame.schema[step.name]) for step in steps)
    return cast(pl.DataFrame, request.finished(frame.with_columns(answered), families, pl))


def _check_label(request: Request, column: pl.Series, first_row: int) -> None:
    try:
        request.check_label(column.unique(maintain_order=True))
    except UnknownValueError as error:
        raise _in_row(error, column, first_row) from None


def _in_row(error: UnknownValueError, column: pl.Series, first_row: int) -> UnknownValueError:
    row = column.to_frame().select(same_value(column.name, error.value).arg_true().first()).item()
    return UnknownValueError(error.attribute, error.value, error.hint, first_row + row)


def _decide(step: Step, column: pl.Series, place: pl.Series, first_row: int) -> dict[Any, Any]:
    check_flat(step.name, column.dtype)
    undecided = column.filter(place.is_null()).unique(maintain_order=True)
    try:
        return {value: step.decide(value) for value in undecided}
    except UnknownValueError as error:
        raise _in_row(error, column, first_row) from None


def check_flat(name: str, dtype: Any) -> None:
    """Refuse a column of lists or structs."""
    if dtype.is_nested():
        raise not_flat(name, dtype)


def not_flat(name: str, found: object) -> DataError:
    """Return the error for a column of lists or structs."""
    return DataError(f"{name}: each value must be one text or number; the column holds {found}")


def same_value(name: str, value: Any) -> pl.Expr:
    """Return whether each value of a column is this one, missing ones included."""
    column = pl.col(name)
    return column.is_null() if value is None else column.is_nan() if value != value else column == value


def gathered(step: Step, place: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Return the answers of the pieces that an expression gives."""
    if isinstance(step.partition, Untouched):
        return place.alias(step.name)
    return pl.lit(_lookup(step, dtype)).gather(place).alias(step.name)


def _lookup(step: Step, dtype: pl.DataType) -> pl.Series:
    if step.output != "representative":
        return pl.Series(step.of_pieces, dtype=pl.Int32 if step.output == "codes" else pl.String)
    lookup = pl.Series(step.of_pieces)
    alike = (dtype.is_integer() and lookup.dtype.is_integer()) or (dtype.is_float() and lookup.dtype.is_float())
    # A member from the domain may be too large for the small integers that a column holds.
    if alike and lookup.cast(dtype, strict=False).cast(lookup.dtype).equals(lookup):
        return lookup.cast(dtype)
    return lookup
