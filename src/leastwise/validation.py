"""Small checks whose messages say what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, TypeVar

from leastwise.errors import ParameterError, shorten

NEAR = 0.61  # how alike a near miss must be: "leafs" is "min_leaf", "nope" is not "income"
MOST_COMPARED = 5_000  # characters of a name times the names it may be
Number = TypeVar("Number", int, float)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the near miss, or what there is.

    >>> did_you_mean("incom", ["age", "income"])
    "did you mean 'income'?"
    >>> did_you_mean("nope", ["age", "income"])
    'there are: age, income'
    """
    options = [str(option) for option in known]
    close = [option for option in options if option.casefold() == name.casefold()]
    if len(options) * len(name) <= MOST_COMPARED:  # comparing takes long, and a stranger's file may ask for much
        close = close or get_close_matches(name, options, n=1, cutoff=NEAR)
    if close:
        return f"did you mean {shorten(close[0])}?"
    shown = ", ".join(options[:12]) + (f" and {len(options) - 12} more" if len(options) > 12 else "")
    return f"there are: {shown}" if options else "there are none"


def described(value: object) -> str:
    """Describe an object that somebody brought, the same in every process: no address of the memory is in it.

    >>> described(did_you_mean), described(slice(1))
    ('leastwise.validation.did_you_mean', 'slice(None, 1, None)')
    """
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    text = " ".join(repr(value).split())
    if " object at 0x" in text:
        own = (f"{name}={each!r}" for name, each in sorted(getattr(value, "__dict__", {}).items()))
        text = f"{type(value).__qualname__}({', '.join(own)})"
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def check_between(name: str, value: Number, low: Number, high: Number | None = None) -> Number:
    """Return the value if it is a number in [low, high]; complain otherwise."""
    range_text = f"at least {low}" if high is None else f"between {low} and {high}"
    if not is_real(value) or not value >= low or (high is not None and value > high):
        raise ParameterError(f"{name} must be {range_text}; got {shorten(value)}")
    return value


def check_from_zero(name: str, value: float) -> float:
    """Return the value if it is a finite number from 0; complain otherwise."""
    if not is_real(value) or not 0 <= value < math.inf:
        raise ParameterError(f"{name} must be a number from 0; got {shorten(value)}")
    return value


def check_whole(name: str, value: Any, least: int = 1) -> int:
    """Return the value if it is a whole number, of Python or numpy, and large enough; complain otherwise."""
    if not is_whole(value) or value < least:
        raise ParameterError(f"{name} must be a whole number, at least {least}; got {shorten(value)}")
    return int(value)


def is_whole(value: object) -> bool:
    """Return whether a value is a whole number, of Python or numpy; true and false, and 1.0, are not.

    >>> is_whole(1), is_whole(1.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: object) -> bool:
    """Return whether a value is a number, of Python or numpy; true and false are not.

    >>> is_real(0.5), is_real("0.5"), is_real(True)
    (True, False, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool)


def check_choice(name: str, value: str, choices: Iterable[str]) -> str:
    """Return the value if it is one of the choices; suggest the near miss otherwise."""
    options = list(choices)
    if value not in options:
        close = get_close_matches(str(value), options, n=1, cutoff=NEAR)
        hint = f"; did you mean {shorten(close[0])}?" if close else ""
        raise ParameterError(f"{name} must be one of {', '.join(options)}; got {shorten(value)}{hint}")
    return value
