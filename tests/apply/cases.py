"""Records of all kinds for the laws of apply: known, missing, odd and strange values, in columns of every type."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, UnknownValueError
from leastwise.schema.values import number_text, text_of
from tests.strategies import attributes, partitions, texts, values

Columns = dict[str, list[Any]]


@st.composite
def generalized_columns(draw: st.DrawFn, strange: bool = False) -> tuple[Generalization, pl.DataFrame]:
    """Draw a generalization and a frame for it; with ``strange`` also values outside the domains."""
    declared = [draw(attributes(f"a{j}")) for j in range(draw(st.integers(1, 3)))]
    rows = draw(st.integers(1, 6))
    label = Attribute("y", values=tuple("012345"))
    generalization = Generalization(tuple(draw(partitions(attribute)) for attribute in declared), label)
    columns = [draw(_columns(attribute, rows, strange)) for attribute in declared]
    return generalization, pl.DataFrame([*columns, pl.Series("y", range(rows))])


@st.composite
def _columns(draw: st.DrawFn, attribute: Attribute, rows: int, strange: bool) -> pl.Series:
    one = values(attribute)
    if strange or not (attribute.values or attribute.continuous or attribute.missing):
        one = one | _strange(attribute)
    drawn = draw(st.lists(one, min_size=rows, max_size=rows))
    drawn = [None if value is None or value != value else value for value in drawn]
    if not attribute.continuous or not all(isinstance(value, (float, type(None))) for value in drawn):
        return pl.Series(attribute.name, [text_of(value) for value in drawn], dtype=pl.String)
    return draw(st.sampled_from(_number_columns(attribute.name, drawn)))


def _strange(attribute: Attribute) -> st.SearchStrategy[Any]:
    if attribute.continuous:
        return st.floats(allow_nan=True) | st.sampled_from(
            [None, 0.5, 1e308, -1e308, "x", "1e3", " 7", "nan", "-inf"]
        )
    return texts | st.sampled_from([None, "1.0", "TRUE", "nan", "01", "inf"])


def _number_columns(name: str, numbers: Sequence[float | None]) -> list[pl.Series]:
    """Return the same numbers as every type of column that can hold them."""
    found = [
        pl.Series(name, numbers, dtype=pl.Float64),
        pl.Series(name, [math.nan if number is None else number for number in numbers], dtype=pl.Float64),
        pl.Series(name, [None if n is None else number_text(n) for n in numbers], dtype=pl.String),
    ]
    if all(n is None or (math.isfinite(n) and n == int(n) and abs(n) < 2**63) for n in numbers):
        whole = pl.Series(name, [None if n is None else int(n) for n in numbers], dtype=pl.Int64)
        found += [
            whole,
            *(w for w in (whole.cast(pl.Int8, strict=False),) if w.null_count() == whole.null_count()),
        ]
    return found


def comparable(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Make rows comparable across frames: numbers as numbers, other values by their texts, missing ones alike."""
    return [{name: text_of(_number(value)) for name, value in row.items()} for row in rows]


def _number(value: Any) -> Any:
    """Return 10000000000000000 as 1e16: a column of integers has no other way to write what a record has."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def outcome(make: Callable[[], Sequence[dict[str, Any]]]) -> list[dict[str, Any]] | str:
    """Return the rows, or the attribute that had a strange value."""
    try:
        return comparable(make())
    except UnknownValueError:
        return "strange"
