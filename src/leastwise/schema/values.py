"""How raw values are written: one text per value, the same from CSV, Parquet, Python and JavaScript.

Values of a discrete or ordinal attribute are compared by their *text*, so that the code 1 is the same value
whether it arrives as the integer 1, the float 1.0 (pandas' way to hold integers beside missing ones) or the
text "1".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any


def is_missing(value: Any) -> bool:
    """Return whether a raw value stands for "no answer": None, NaN, NaT, or the empty text."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    # NaN, pandas.NaT and pandas.NA are the values that do not equal themselves (NA refuses to answer at all).
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def number_text(number: float) -> str:
    """Write a number in the shortest way that reads back the same.

    >>> number_text(63.0), number_text(0.1), number_text(float("inf"))
    ('63', '0.1', 'inf')
    """
    if math.isfinite(number) and number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(float(number))


def text_of(value: Any) -> str | None:
    """Return the text of a raw value, None for a missing one.

    >>> [text_of(v) for v in ("a", 1, 1.0, True, None, float("nan"))]
    ['a', '1', '1', 'true', None, None]
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if isinstance(value, bool) or kind == "b":
        return "true" if value else "false"
    if isinstance(value, int) or kind in ("i", "u"):
        return str(int(value))
    if isinstance(value, float) or kind == "f":
        return number_text(float(value))
    return str(value)


def number_of(text: str) -> float | None:
    """Return the number that is written exactly like this text, None if there is none ("01", "a").

    >>> number_of("1"), number_of("-2.5"), number_of("01"), number_of("nan")
    (1.0, -2.5, None, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number == number and number_text(number) == text else None


def values_as_text(values: Iterable[Any]) -> tuple[str, ...]:
    """Return raw values as the texts of a domain, the missing ones left out.

    >>> values_as_text([1, 2.0, None, "x"])
    ('1', '2', 'x')
    """
    return tuple(text for value in values if (text := text_of(value)) is not None)
