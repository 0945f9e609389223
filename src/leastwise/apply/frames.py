"""Every kind of frame: answered in Polars where the records are in memory, as a query where they are not.

A lazy frame is looked at once before the result is promised: one aggregate query counts the values that no
expression could place, and only if there are any are they fetched and decided. A result is therefore never
silently wrong, provided that the source does not change between the two readings.

DuckDB and Spark look each value up in the lists of declared values, so that tens of thousands of declared values
take them minutes where Polars takes a moment.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import polars as pl

from leastwise.apply.deriving import derived_attributes, derived_frame, is_derived, plain_request
from leastwise.apply.request import Request, families_of, with_texts
from leastwise.apply.steps import Step
from leastwise.errors import DataError, UnknownValueError
from leastwise.partition import Untouched
from leastwise.records.encoding import derived_column
from leastwise.schema.patterns import check_no_patterns
from leastwise.schema.values import ONE_VALUE, is_missing, is_several, text_of

Eager = nw.DataFrame[Any]


def transform_frame(request: Request, frame: Any) -> Any:
    """Return the generalized records as the kind of frame that came in."""
    if isinstance(frame, pl.DataFrame | pl.LazyFrame):
        check_no_patterns(frame.collect_schema().names())
    if isinstance(frame, pl.DataFrame):
        return transform_polars(request, frame)
    if isinstance(frame, pl.LazyFrame):
        return transform_lazy(request, frame, pl)
    try:
        records: Any = nw.from_native(frame)
    except TypeError:
        raise DataError(
            "records must be a dict or a pandas, Polars, PyArrow, DuckDB or PySpark frame; "
            f"got {type(frame).__name__}"
        ) from None
    if isinstance(records, nw.LazyFrame):
        return transform_lazy(request, records, nw).to_native()
    return _transform_eager(request, records).to_native()


def _transform_eager(request: Request, records: Eager) -> Eager:
    """Answer in Polars and put the answers beside the columns that are no attributes."""
    check_no_patterns(records.columns)
    if is_derived(request):
        for attribute in derived_attributes(request, records.columns):
            first, *beside = (records[name] for name in attribute.columns)
            column = derived_column(first, attribute.derive, *beside)
            records = records.with_columns(column.alias(attribute.name))
        request = plain_request(request)
    families = families_of(records.schema, nw)
    steps = request.steps(families, pl)
    if steps:
        asked = pl.DataFrame([_polars_column(records[s.name]).alias(s.name) for s in steps])
        done = transform_polars(replace(request, suppressed=False, keep=()), asked)
        records = records.with_columns(*(_like(column, records) for column in done.iter_columns()))
    request.check_labels(families, lambda name: records[name].unique().to_list())
    return cast(Eager, request.finished(records, families, nw))


def _polars_column(column: nw.Series[Any]) -> pl.Series:
    if column.dtype in (nw.Categorical, nw.Enum):
        column = column.cast(nw.String)
    if column.dtype not in (nw.Object, nw.Unknown):
        return column.to_polars()
    raw = column.to_list()
    for row, value in enumerate(raw):
        if is_several(value):
            raise UnknownValueError(column.name, value, ONE_VALUE, row)
    values = [None if is_missing(value) else value for value in raw]
    if len({*map(type, values)} - {type(None)}) == 1:
        with suppress(TypeError, OverflowError, pl.exceptions.PolarsError):
            made = pl.Series(column.name, values, strict=True)
            if made.dtype != pl.Object:
                return made
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


def transform_polars(
    request: Request, frame: pl.DataFrame, first_row: int = 0, others: Counter[str] | None = None
) -> pl.DataFrame:
    """Return the generalized records; ``first_row`` is the place of the frame in a longer one.

    ``others`` counts, by attribute, the values that went to "other".
    """
    if is_derived(request):
        request, frame = plain_request(request), derived_frame(request, frame, frame.schema, pl)
    schema, families = frame.schema, families_of(frame.schema, pl)
    steps = request.steps(families, pl)
    frame = with_texts(frame, schema, request.generalization.collected, pl)
    with _in_row(frame, first_row):
        request.check_labels(families, lambda name: frame[name].unique(maintain_order=True))
        places = frame.select(step.place.alias(step.name) for step in steps)
        for step in steps:
            if places[step.name].null_count():
                check_flat(step.name, frame.schema[step.name])
                undecided = frame[step.name].filter(places[step.name].is_null()).unique(maintain_order=True)
                completed = step.with_decided({value: step.decide(value) for value in undecided})
                places = places.with_columns(frame.select(completed.alias(step.name)).to_series())
    if others is not None:
        others.update({s.name: int((places[s.name] == s.other_piece).sum()) for s in steps if s.attribute.other})
    answered = places.select(gathered(step, pl.col(step.name), schema[step.name]) for step in steps)
    return cast(pl.DataFrame, request.finished(frame.with_columns(answered), families, pl))


@contextmanager
def _in_row(frame: pl.DataFrame | pl.LazyFrame, first_row: int = 0) -> Iterator[None]:
    """Name the row of a value that is refused."""
    try:
        yield
    except UnknownValueError as error:
        column, value = pl.col(error.attribute), error.value
        same: pl.Expr = column.eq_missing(value) if value == value else column.is_nan()
        row = frame.lazy().select(same.arg_true().first()).collect().item()
        raise UnknownValueError(error.attribute, value, error.hint, first_row + row) from None


def check_flat(name: str, dtype: Any) -> None:
    """Refuse a column of lists or structs."""
    if dtype.is_nested():
        raise DataError(f"{name}: {ONE_VALUE}; the column holds {dtype}")


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


def transform_lazy(request: Request, frame: Any, api: Any) -> Any:
    """Return the generalized records as a query; ``api`` is the module of the frame, polars or narwhals."""
    if is_derived(request):
        request, frame = plain_request(request), derived_frame(request, frame, frame.collect_schema(), api)
    schema = frame.collect_schema()
    families = families_of(schema, api)
    steps = request.steps(families, api)
    for step in steps:
        check_flat(step.name, schema[step.name])
    frame = with_texts(frame, schema, request.generalization.collected, api)
    decided = {}
    if steps:
        open_places = (step.place.is_null().cast(api.Int32).sum().alias(step.name) for step in steps)
        counts = frame.select(*open_places).collect()
        decided = {step.name: _decided(step, frame) for step in steps if counts[step.name].to_list()[0]}
    request.check_labels(families, lambda name: frame.select(name).unique().collect()[name].to_list())
    # Two projections, one upon the other: a query that named each place in every case would grow with both.
    places = [step.with_decided(decided.get(step.name, {})).alias(step.name) for step in steps]
    answers = [_answered(step, schema[step.name]) for step in steps]
    placed = frame.with_columns(*places).with_columns(*answers) if steps else frame
    return request.finished(placed, families, api)


def _decided(step: Step, frame: Any) -> dict[Any, Any]:
    undecided = frame.filter(step.place.is_null()).select(step.name).unique().collect()
    # The rows of any other query have no number.
    with _in_row(frame) if isinstance(frame, pl.LazyFrame) else nullcontext():
        return {value: step.decide(value) for value in undecided[step.name].to_list()}


def _answered(step: Step, dtype: Any) -> Any:
    place = step.api.col(step.name)
    if step.api is pl:
        return gathered(step, place, dtype)
    if step.direct:
        return place
    of_pieces = {piece: step.of_pieces[piece] for piece in step.first_pieces if step.of_pieces[piece] is not None}
    return step.looked_up(place, of_pieces, _answer_type(step)).alias(step.name)


def _answer_type(step: Step) -> Any:
    if step.output == "codes":
        return nw.Int32
    answer = next((answer for answer in step.of_pieces if answer is not None), None)
    types = ((bool, nw.Boolean), (int, nw.Int64), (float, nw.Float64))
    return next((dtype for kind, dtype in types if isinstance(answer, kind)), nw.String)
