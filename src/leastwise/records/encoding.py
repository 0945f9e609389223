"""From raw columns to codes: the one place where the raw values of a sample are looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.documents.wording import counted
from leastwise.errors import DataError, UnknownValueError
from leastwise.schema import Attribute, Extra
from leastwise.schema.derive import Region, derived, raw_text, rule_of
from leastwise.schema.values import ONE_VALUE, is_missing, is_several, text_of

Column = nw.Series[Any]
LARGEST_WHOLE = 2.0**53  # beyond it a float skips whole numbers
_SMALLEST_PLAIN = 1e-3  # what is nearer to 0 may be written with an exponent
Mask = npt.NDArray[np.bool_]
Encoded = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def encode_values(column: Column, attribute: Attribute) -> Encoded:
    """Return (codes, levels) of an ordinal or discrete attribute."""
    codes = mapped(column, lambda value: value_code(value, attribute))
    return codes, np.asarray(attribute.values, dtype=object)


def value_code(value: Any, attribute: Attribute) -> int:
    """Return the code of a raw value of an ordinal or discrete attribute."""
    code = attribute.read(value)
    if isinstance(code, Extra):
        return len(attribute.values) + (code is Extra.OTHER and attribute.missing)
    return int(code)


def encode_numbers(column: Column, attribute: Attribute) -> Encoded:
    """Return (codes, levels) of a continuous attribute; the levels are its distinct numbers."""
    if column.dtype.is_numeric():
        numbers = column.cast(nw.Float64()).to_numpy().astype(float)
        missing, outside = _beside(column, numbers, attribute)
    else:
        # A number, or where it lies beside them.
        cells = mapped(column, lambda value: _cell(attribute.read(value))).reshape(-1, 2)
        numbers, missing, outside = cells[:, 0], cells[:, 1] == 1, cells[:, 1] == 2
    inside = ~missing & ~outside
    if attribute.integer and (np.abs(numbers[inside & np.isfinite(numbers)]) > LARGEST_WHOLE).any():
        raise DataError(
            f"{attribute.name}: whole numbers beyond 2^53 cannot be told apart; leave the column out (is it an "
            "identifier?) or declare it discrete"
        )
    levels, inner = np.unique(numbers[inside], return_inverse=True)
    codes = np.empty(len(numbers), dtype=np.min_scalar_type(len(levels) + 2))
    codes[inside] = inner
    codes[missing] = len(levels)
    codes[outside] = len(levels) + int(attribute.missing)
    return codes, levels


def _cell(value: float | Extra) -> tuple[float, int]:
    return (np.nan, 1 if value is Extra.MISSING else 2) if isinstance(value, Extra) else (value, 0)


def _beside(column: Column, numbers: npt.NDArray[np.float64], attribute: Attribute) -> tuple[Mask, Mask]:
    """Return which numbers of a column are missing and which "other"; the first that is neither is refused."""
    missing = np.isnan(numbers)
    outside = ~attribute.contains(numbers) & ~missing
    if not attribute.missing:
        missing, outside = np.zeros_like(missing), outside | missing
    if outside.any() and not attribute.other:
        row = int(np.flatnonzero(outside)[0])
        raise UnknownValueError(attribute.name, column[row], attribute.unknown_hint(column[row]), row)
    return missing, outside


def derived_column(column: Column, rule: str, *beside: Column) -> Column:
    """Return the texts that a rule of ``schema.derive`` makes of a column, and of others that it reads."""
    if beside:
        region = rule_of(rule)
        assert isinstance(region, Region)
        told = _in_regions(region, column, *beside)
        return nw.new_series(column.name, told, nw.String(), backend=column.implementation)
    values, index = distinct_values(column)
    texts = [derived(rule, value) for value in values]
    made = [texts[place] for place in index]
    return nw.new_series(column.name, made, nw.String(), backend=column.implementation)


def _in_regions(rule: Region, column: Column, beside: Column) -> list[str | None]:
    """Return the region of each pair of coordinates: what ``derived`` makes of them one by one."""
    (lat, no_lat), (lon, no_lon) = _degrees(rule, column), _degrees(rule, beside)
    region = np.full(len(lat), len(rule.boxes), dtype=np.int64)
    for place in reversed(range(len(rule.boxes))):  # of several boxes the first counts
        south, west, north, east = map(float, rule.boxes[place][1:])
        region[(south <= lat) & (lat <= north) & (west <= lon) & (lon <= east)] = place
    region[no_lat | no_lon] = len(rule.boxes) + 1
    names = [*(box.name for box in rule.boxes), rule.refused, None]
    return [names[place] for place in region.tolist()]


def _degrees(rule: Region, column: Column) -> tuple[npt.NDArray[np.float64], Mask]:
    """Return the numbers of a column of coordinates, and where there is no answer."""
    if column.dtype in (nw.Float64, nw.Int64):
        numbers = column.cast(nw.Float64()).to_numpy().astype(float)
        size = np.abs(numbers)
        # Smaller and larger ones are written with an exponent: whether that is a coordinate, their text decides.
        plain = (numbers == 0) | ((size >= _SMALLEST_PLAIN) & (size < LARGEST_WHOLE))
        missing = np.isnan(numbers)
        odd = np.flatnonzero(~plain & ~missing)
        numbers[odd] = [rule.degrees(raw_text(value) or "") for value in column[odd.tolist()].to_list()]
        return numbers, missing
    values, index = distinct_values(column)
    if any(map(is_several, values)):
        raise DataError(f"{column.name}: {ONE_VALUE}; the column holds lists")
    texts = [raw_text(value) for value in values]
    numbers = np.array([math.nan if text is None else rule.degrees(text) for text in texts], dtype=float)
    return numbers[index], np.array([text is None for text in texts], dtype=bool)[index]


def encode_label(column: Column, label: Attribute) -> npt.NDArray[Any]:
    """Return the class of each record; a record without a label cannot be used."""
    column = derived_column(column, label.derive) if label.derive else column
    codes = mapped(column, lambda value: -1 if text_of(value) is None else value_code(value, label))
    without = int((codes < 0).sum())
    if without:
        raise DataError(f"the label {label.name!r} is missing in {counted(without, 'record')}; leave those out")
    return codes.astype(np.min_scalar_type(max(len(label.values) - 1, 0)))


def label_numbers(column: Column, label: Attribute) -> npt.NDArray[np.float64]:
    """Return the number of each record; a record without one cannot be used."""
    column = derived_column(column, label.derive) if label.derive else column
    without = int(sum(text_of(value) is None for value in column.to_list()))
    if without:
        raise DataError(f"the label {label.name!r} is missing in {counted(without, 'record')}; leave those out")
    codes, levels = encode_numbers(column, label)
    if label.extra_values or not np.isfinite(levels).all():
        raise DataError(f"the label {label.name!r} must be a finite number in every record")
    return np.asarray(levels, dtype=float)[codes]


def mapped(column: Column, function: Callable[[Any], Any]) -> npt.NDArray[Any]:
    """Apply a function of a raw value to a whole column, calling it once for each distinct value."""
    values, index = distinct_values(column)
    results = []
    for place, value in enumerate(values):
        try:
            results.append(function(value))
        except UnknownValueError as error:
            row = int(np.flatnonzero(index == place)[0])
            raise UnknownValueError(error.attribute, error.value, error.hint, row) from None
    return np.asarray(np.asarray(results)[index])


def distinct_values(column: Column) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the distinct values, None last for all that are missing, and the place of each record's."""
    if column.dtype in (nw.Categorical, nw.Enum):
        column = column.cast(nw.String())
    if column.dtype == nw.Object:
        values, index = _distinct_objects(column)
    else:
        column = column.alias("value")  # Polars would take a name like ^a$ for a pattern
        values = [value for value in column.unique().to_list() if not is_missing(value)]
        index = np.full(len(column), -1, dtype=np.int64)
        if values:
            places = list(range(len(values)))
            index = column.replace_strict(values, places, default=-1, return_dtype=nw.Int64()).to_numpy()
    missing = index < 0
    return ([*values, None], np.where(missing, len(values), index)) if missing.any() else (values, index)


def _distinct_objects(column: Column) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the same of Python objects, told apart by their type too: to Python True, 1 and 1.0 are equal."""
    places: dict[tuple[type, Any], int] = {}
    try:
        indices = (-1 if is_missing(v) else places.setdefault((type(v), v), len(places)) for v in column.to_list())
        index = np.fromiter(indices, dtype=np.int64, count=len(column))
    except TypeError:
        raise DataError(f"{column.name}: {ONE_VALUE}; the column holds lists") from None
    return [value for _, value in places], index
