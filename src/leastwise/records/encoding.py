"""From raw columns to codes: the one place where the raw values of a sample are looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.errors import DataError, UnknownValueError
from leastwise.schema import Attribute
from leastwise.schema.values import text_of

Column = nw.Series[Any]
LARGEST_WHOLE = 2.0**53  # beyond it a float skips whole numbers
Encoded = tuple[npt.NDArray[Any], npt.NDArray[Any]]


def encode_values(column: Column, attribute: Attribute) -> Encoded:
    """Return (codes, levels) of an ordinal or discrete attribute."""
    codes = mapped(column, lambda value: value_code(value, attribute))
    return codes, np.asarray(attribute.values, dtype=object)


def value_code(value: Any, attribute: Attribute) -> int:
    """Return the code of a raw value of an ordinal or discrete attribute."""
    text = text_of(value)
    size = len(attribute.values)
    if text is None and attribute.missing:
        return size
    code = None if text is None else attribute.code_of.get(text)
    if code is not None:
        return code
    if attribute.other:
        return size + int(attribute.missing)
    raise UnknownValueError(attribute.name, value, attribute.unknown_hint(value))


def encode_numbers(column: Column, attribute: Attribute) -> Encoded:
    """Return (codes, levels) of a continuous attribute; the levels are its distinct numbers."""
    if column.dtype.is_numeric():
        numbers = column.cast(nw.Float64()).to_numpy().astype(float)
        outside = _outside(numbers, attribute)
    else:
        numbers = mapped(column, lambda value: _number(value, attribute)).astype(float)
        outside = mapped(column, lambda value: _is_outside(value, attribute)).astype(bool)
    _refuse(column, attribute, outside, attribute.other)
    missing = np.isnan(numbers) & ~outside
    _refuse(column, attribute, missing, attribute.missing)
    known = ~missing & ~outside
    if attribute.integer and (np.abs(numbers[known & np.isfinite(numbers)]) > LARGEST_WHOLE).any():
        raise DataError(
            f"{attribute.name}: whole numbers beyond 2^53 cannot be told apart; leave the column out (is it an "
            "identifier?) or declare it discrete"
        )
    levels, inner = np.unique(numbers[known], return_inverse=True)
    codes = np.empty(len(numbers), dtype=np.min_scalar_type(len(levels) + 2))
    codes[known] = inner
    codes[missing] = len(levels)
    codes[outside] = len(levels) + int(attribute.missing)
    return codes, levels


def _outside(numbers: npt.NDArray[np.float64], attribute: Attribute) -> npt.NDArray[np.bool_]:
    outside = np.zeros(len(numbers), dtype=bool)
    if attribute.lower is not None:
        outside |= numbers < attribute.lower
    if attribute.upper is not None:
        outside |= numbers > attribute.upper
    if attribute.integer:
        outside |= np.isfinite(numbers) & (numbers != np.floor(numbers))
    return outside


def _number(value: Any, attribute: Attribute) -> float:
    number = None if _is_outside(value, attribute) else attribute.number(value)
    return np.nan if number is None else number


def _is_outside(value: Any, attribute: Attribute) -> bool:
    try:
        attribute.number(value)
    except UnknownValueError:
        return True
    return False


def _refuse(column: Column, attribute: Attribute, found: npt.NDArray[np.bool_], accepted: bool) -> None:
    if not accepted and found.any():
        row = int(np.flatnonzero(found)[0])
        value = column[row]
        raise UnknownValueError(attribute.name, value, attribute.unknown_hint(value), row)


def encode_label(column: Column, label: Attribute) -> npt.NDArray[Any]:
    """Return the class of each record; a record without a label cannot be used."""
    codes = mapped(column, lambda value: -1 if text_of(value) is None else value_code(value, label))
    without = int((codes < 0).sum())
    if without:
        raise DataError(f"the label {label.name!r} is missing in {without:,} records; leave those out")
    return codes.astype(np.min_scalar_type(max(len(label.values) - 1, 0)))


def mapped(column: Column, function: Callable[[Any], Any]) -> npt.NDArray[Any]:
    """Apply a function of a raw value to a whole column, calling it once for each distinct value."""
    values, index = distinct_values(column)
    used = [*range(len(values))] + ([-1] if (index < 0).any() else [])
    results = {}
    for i in used:
        try:
            results[i] = function(None if i < 0 else values[i])
        except UnknownValueError as error:
            row = int(np.flatnonzero(index == i)[0])
            raise UnknownValueError(error.attribute, error.value, error.hint, row) from None
    # Index -1, a missing value, finds its result at the end.
    lookup = np.asarray([results[i] for i in range(len(values))] + [results.get(-1, 0)])
    return np.asarray(lookup[index])


def distinct_values(column: Column) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the distinct values that are not missing, and the place of each record's, -1 for missing."""
    if column.dtype in (nw.Categorical, nw.Enum):
        column = column.cast(nw.String())
    values = [value for value in column.unique().to_list() if value is not None and value == value]
    places = list(range(len(values)))
    if not values:
        return [], np.full(len(column), -1, dtype=np.int64)
    index = column.replace_strict(values, places, default=-1, return_dtype=nw.Int64())
    return values, index.to_numpy()
