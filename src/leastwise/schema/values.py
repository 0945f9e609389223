"""What a raw value is: one text per value, the same from CSV, Parquet, Python, SQL and JavaScript.

**The rule.** What a value is does not depend on the type of its column, nor on its neighbours there.

- Equal numbers are one value, however they are typed or spelled: 1, 1.0, ``Decimal("1.00")``, "1", "1.0", "1e0".
  A CSV column is read as numbers if all its texts are numbers and as texts if one is not; both mean the same.
- Texts that are no number are compared character by character. Leading zeros, blanks, underscores and digits of
  other scripts make a code: "01", " 1" and "1_000" are themselves. So are digits that no double holds exactly.
- true and "TRUE" are one value; so are the infinities and "inf". None, NaN, NaT, "" and "NaN" are no answer.
- Where a number is asked, a text can be no code: zeros before and blanks around it do not count.
- Lists, arrays, mappings and bytes are no value, not even an "other" one: they are refused.

``text_of`` says it for declared values and ``as_number`` for numbers. :meth:`leastwise.Attribute.read` holds a raw
value against a domain by them, and every road asks it: tables, partitions, records and frames. The fast
expressions for frames, SQL and JavaScript follow the same grammar, ``CODE_NUMBER`` and ``ANY_NUMBER``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

Say = Callable[[str], str]  # puts our own English words into another language; str leaves them
BLANKS = " \t\n\r\v\f"


def _grammar(whole: str) -> str:
    return f"[+-]?({whole}([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?"


# What text is a number, in a form that all engines read alike: among declared values, where "01" is a code and
# 15 digits are what every double holds, and where a number is asked.
CODE_NUMBER = _grammar("(0|[1-9][0-9]{0,14})")
ANY_NUMBER = _grammar("[0-9]+")
INFINITE = ("inf", "+inf", "infinity", "+infinity")
MINUS_INFINITE = ("-inf", "-infinity")
NAN = ("nan", "+nan", "-nan")
WORDS: Mapping[str, float] = MappingProxyType(
    dict.fromkeys(INFINITE, math.inf) | dict.fromkeys(MINUS_INFINITE, -math.inf) | dict.fromkeys(NAN, math.nan)
)

_CODE_NUMBER, _ANY_NUMBER = re.compile(CODE_NUMBER), re.compile(ANY_NUMBER)
_LONG_INTEGER = re.compile("[+-]?[1-9][0-9]{15,308}")


ONE_VALUE = "each value must be one text or number"


def is_several(value: Any) -> bool:
    """Return whether a raw value is not one: a list, an array, a mapping, or bytes that nobody decoded.

    >>> [is_several(v) for v in ([1], (), {"a": 1}, b"a", "a", 1, None)]
    [True, True, True, True, False, False, False]
    """
    return hasattr(value, "__len__") and not isinstance(value, str) and getattr(value, "shape", None) != ()


def is_missing(value: Any) -> bool:
    """Return whether a raw value is none at all: None, NaN, NaT, or the empty text."""
    if value is None or (isinstance(value, str) and value == ""):
        return True
    # NaN and pandas.NaT are the values that do not equal themselves; NA refuses to answer.
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True
    except ValueError:  # an array is no value, but not a missing one either
        return False


def number_text(number: float) -> str:
    """Write a number in the shortest way that reads back the same.

    >>> number_text(63.0), number_text(0.1), number_text(float("inf"))
    ('63', '0.1', 'inf')
    """
    if math.isfinite(number) and number == int(number) and abs(number) < 1e16:
        return str(int(number))
    return repr(float(number))


def say_numbers(say: Say, words: str, *numbers: float) -> str:
    """Fill numbers into words of a language, with its decimal sign.

    >>> german = {"up to {}": "bis {}", ".": ","}
    >>> say_numbers(str, "up to {}", 0.5), say_numbers(german.__getitem__, "up to {}", 0.5)
    ('up to 0.5', 'bis 0,5')
    """
    return say(words).format(*(number_text(number).replace(".", say(".")) for number in numbers))


def text_of(value: Any) -> str | None:
    """Return the one text of a raw value, None for a missing one; two values are the same if their texts are.

    >>> [text_of(v) for v in ("a", 1, 1.0, True, None, float("nan"))]
    ['a', '1', '1', 'true', None, None]
    >>> [text_of(v) for v in ("1.0", "1e0", "-0", "TRUE", "Infinity", "NaN", "")]
    ['1', '1', '0', 'true', 'inf', None, None]
    >>> [text_of(v) for v in ("01", " 1", "1_000", "0x1", "9007199254740993")]
    ['01', ' 1', '1_000', '0x1', '9007199254740993']
    """
    if is_missing(value):
        return None
    if isinstance(value, str):
        return _text_of_text(value)
    kind = _kind(value)
    if isinstance(value, bool) or kind == "b":
        return "true" if value else "false"
    if isinstance(value, int) or kind in ("i", "u"):
        return _text_of_text(str(int(value)))
    if isinstance(value, float) or kind == "f":
        return number_text(float(value))
    if isinstance(value, Decimal) and value.is_finite():
        written = f"{value:f}"
        return _text_of_text(written.rstrip("0").rstrip(".") if "." in written else written)
    return _text_of_text(str(value))


def _kind(value: Any) -> str:
    return getattr(getattr(value, "dtype", None), "kind", "")


def _text_of_text(text: str) -> str | None:
    number = code_number(text)
    if number is None:
        word = text.lower()
        if word in ("true", "false"):
            return word
        number = WORDS.get(word)
    return text if number is None else None if math.isnan(number) else number_text(number)


def code_number(text: str) -> float | None:
    """Return the number that a text spells among declared values, None if it is a code or another text.

    >>> code_number("1.50"), code_number("01"), code_number("10000000000000000"), code_number("9007199254740993")
    (1.5, None, 1e+16, None)
    """
    if _CODE_NUMBER.fullmatch(text):
        return float(text)
    if _LONG_INTEGER.fullmatch(text):
        number = float(text)
        return number if math.isfinite(number) and int(number) == int(text) else None
    return None


def as_number(value: Any) -> float | None:
    """Return a raw value as a number where a number is asked, NaN for a missing one, None if it is none.

    >>> [as_number(v) for v in (" 7\\n", "007", ".5e1", "-Inf", None, True, "1_000", "0x1", "1e999")]
    [7.0, 7.0, 5.0, -inf, nan, None, None, None, inf]
    """
    if is_missing(value):
        return math.nan
    if isinstance(value, str):
        text = value.strip(BLANKS)
        return float(text) if _ANY_NUMBER.fullmatch(text) else WORDS.get(text.lower())
    if isinstance(value, bool) or not (isinstance(value, (Real, Decimal)) or _kind(value) in ("i", "u", "f")):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def number_of(text: str) -> float | None:
    """Return the number that is written exactly like this text, None if there is none ("01", "a").

    >>> number_of("1"), number_of("-2.5"), number_of("01"), number_of("nan"), number_of("1000000000000000.5")
    (1.0, -2.5, None, None, 1000000000000000.5)
    """
    number = float(text) if _ANY_NUMBER.fullmatch(text) else WORDS.get(text, math.nan)
    return number if number == number and number_text(number) == text else None


def values_as_text(values: Iterable[Any]) -> tuple[str, ...]:
    """Return raw values as the texts of a domain, the missing ones left out.

    >>> values_as_text([1, 2.0, None, "x"])
    ('1', '2', 'x')
    """
    return tuple(text for value in values if (text := text_of(value)) is not None)
