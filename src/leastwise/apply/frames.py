"""Every kind of frame: answered in Polars where the records are in memory, as a query where they are not."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import polars as pl

from leastwise.apply.lazy_frames import transform_lazy
from leastwise.apply.polars_frames import not_flat, transform_polars
from leastwise.apply.request import Request, families_of
from leastwise.errors import DataError
from leastwise.schema.values import is_missing, text_of

Eager = nw.DataFrame[Any]


def transform_frame(request: Request, frame: Any) -> Any:
    """Return the generalized records as the kind of frame that came in."""
    if isinstance(frame, pl.DataFrame):
        return transform_polars(request, frame)
    if isinstance(frame, pl.LazyFrame):
        return transform_lazy(request, frame, pl)
    records = _narwhals(frame)
    if isinstance(records, nw.LazyFrame):
        return transform_lazy(request, records, nw).to_native()
    return _transform_eager(request, records).to_native()


def _narwhals(frame: Any) -> Any:
    try:
        return nw.from_native(frame)
    except TypeError:
        raise DataError(
            "records must be a dict or a pandas, Polars, PyArrow, DuckDB or PySpark frame; "
            f"got {type(frame).__name__}"
        ) from None


def _transform_eager(request: Request, records: Eager) -> Eager:
    """Answer in Polars and put the answers beside the columns that are no attributes."""
    families = families_of(records.schema, nw)
    steps = request.steps(families, pl)
    if steps:
        asked = pl.DataFrame([_polars_column(records[s.name]).alias(s.name) for s in steps])
        done = transform_polars(replace(request, suppressed=False, keep=()), asked)
        records = records.with_columns(*(_like(column, records) for column in done.iter_columns()))
    if request.label and request.label in families:
        request.check_label(records[request.label].unique().to_list())
    return cast(Eager, request.finished(records, families, nw))


def _polars_column(column: nw.Series[Any]) -> pl.Series:
    if column.dtype in (nw.Categorical, nw.Enum):
        column = column.cast(nw.String)
    if column.dtype != nw.Object:
        return column.to_polars()
    raw = column.to_list()
    if any(hasattr(value, "__len__") and not isinstance(value, str) for value in raw):
        raise not_flat(column.name, "lists")
    values = [None if is_missing(value) else value for value in raw]
    if len({*map(type, values)} - {type(None)}) == 1:
        with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
            return pl.Series(column.name, values, strict=True)
    # Values of several types, or of none that Polars has: they are compared by their texts anyway.
    return pl.Series(column.name, [text_of(value) for value in values], dtype=pl.String)


def _like(column: pl.Series, records: Eager) -> nw.Series[Any]:
    """Return a Polars column as one of the frame's own kind."""
    backend = records.implementation
    if backend.is_pyarrow():
        arrow = column.to_arrow(compat_level=pl.CompatLevel.oldest())
        chunks = backend.to_native_namespace().chunked_array([arrow])
        return cast("nw.Series[Any]", nw.from_native(chunks, series_only=True).alias(column.name))
    if column.null_count() and column.dtype.is_integer():
        column = column.cast(pl.Float64)  # pandas' way to hold integers beside missing ones
    plain = column.dtype.is_numeric()
    dtype = nw.from_native(column, series_only=True).dtype if plain or column.dtype == pl.String else None
    values = column.to_numpy() if plain else column.to_list()
    return nw.new_series(column.name, values, dtype, backend=backend)
