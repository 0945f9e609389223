"""Lazy frames: Polars itself, and DuckDB or Spark through narwhals.

A lazy frame is looked at once before the result is promised: one aggregate query counts the values that no
expression could place, and only if there are any are they fetched and decided. A result is therefore never
silently wrong, provided that the source does not change between the two readings.

DuckDB and Spark look each value up in the lists of declared values, so that tens of thousands of declared values
take them minutes where Polars takes a moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import polars as pl

from leastwise.apply.polars_frames import check_flat, gathered, same_value
from leastwise.apply.request import Request, families_of, with_texts
from leastwise.apply.steps import Step, looked_up
from leastwise.errors import UnknownValueError


def transform_lazy(request: Request, frame: Any, api: Any) -> Any:
    """Return the generalized records as a query; ``api`` is the module of the frame, polars or narwhals."""
    schema = frame.collect_schema()
    families = families_of(schema, api)
    steps = request.steps(families, api)
    for step in steps:
        check_flat(step.name, schema[step.name])
    frame = with_texts(frame, schema, request.generalization.collected, api)
    decided = _decide(steps, frame, api)
    if request.label and request.label in families:
        request.check_label(frame.select(request.label).unique().collect()[request.label].to_list())
    # Two projections, one upon the other: a query that named each place in every case would grow with both.
    places = [step.with_decided(decided.get(step.name, {})).alias(step.name) for step in steps]
    answers = [_answered(step, schema[step.name]) for step in steps]
    placed = frame.with_columns(*places).with_columns(*answers) if steps else frame
    return request.finished(placed, families, api)


def _decide(steps: Sequence[Step], frame: Any, api: Any) -> dict[str, dict[Any, Any]]:
    if not steps:
        return {}
    open_places = (step.place.is_null().cast(api.Int32).sum().alias(step.name) for step in steps)
    counts = frame.select(*open_places).collect()
    return {step.name: _decide_values(step, frame, api) for step in steps if counts[step.name].to_list()[0]}


def _decide_values(step: Step, frame: Any, api: Any) -> dict[Any, Any]:
    undecided = frame.filter(step.place.is_null()).select(step.name).unique().collect()
    values = undecided[step.name].to_list()
    try:
        return {value: step.decide(value) for value in values}
    except UnknownValueError as error:
        if api is not pl:
            raise  # the rows of a query have no number
        row = frame.select(same_value(step.name, error.value).arg_true().first()).collect().item()
        raise UnknownValueError(error.attribute, error.value, error.hint, row) from None


def _answered(step: Step, dtype: Any) -> Any:
    place = step.api.col(step.name)
    if step.api is pl:
        return gathered(step, place, dtype)
    if step.direct:
        return place
    of_pieces = {piece: step.of_pieces[piece] for piece in step.first_pieces if step.of_pieces[piece] is not None}
    return looked_up(nw, place, of_pieces, _answer_type(step)).alias(step.name)


def _answer_type(step: Step) -> Any:
    if step.output == "codes":
        return nw.Int32
    answer = next((answer for answer in step.of_pieces if answer is not None), None)
    types = ((bool, nw.Boolean), (int, nw.Int64), (float, nw.Float64))
    return next((dtype for kind, dtype in types if isinstance(answer, kind)), nw.String)
