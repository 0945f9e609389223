"""Numbers as people read them. A share is a number from 0 to 1; a space before the per cent sign never breaks."""

from __future__ import annotations

import math
from collections.abc import Sequence

NO_BREAK = "\u00a0"
MOST_SHOWN = 12  # answers of a question; the artefact holds the whole list
_DIGITS = 12  # of more, floats do not tell


def percent(share: float, digits: int = 0) -> str:
    """Write a share; what is not quite nothing or not quite everything is never rounded to it.

    >>> percent(0.524), percent(0.1684, 1), percent(0.0004), percent(0.9996), percent(1.0)
    ('52\\xa0%', '16.8\\xa0%', 'under 1\\xa0%', 'over 99\\xa0%', '100\\xa0%')
    """
    step = 10.0**-digits
    shown = round(100 * share, digits)
    if shown <= 0 < share:
        return f"under {step:.{digits}f}{NO_BREAK}%"
    if shown >= 100 and share < 1:
        return f"over {100 - step:.{digits}f}{NO_BREAK}%"
    return f"{shown + 0.0:.{digits}f}{NO_BREAK}%"


def percent_range(interval: Sequence[float] | None, digits: int = 1) -> str:
    """Write an interval of shares, rounded outwards: it may not look narrower than it is.

    >>> percent_range((0.16239, 0.17411)), percent_range(None)
    ('16.2 to 17.5\\xa0%', '')
    """
    if interval is None:
        return ""
    scale = 10.0**digits
    low = math.floor(100 * interval[0] * scale + 1e-9) / scale
    high = math.ceil(100 * interval[1] * scale - 1e-9) / scale
    return f"{low:.{digits}f} to {high:.{digits}f}{NO_BREAK}%"


def in_interval(interval: Sequence[float] | None) -> str:
    """Write an interval behind the figure it belongs to; nothing where there is none.

    >>> in_interval((0.1, 0.2)), in_interval(None)
    (' (95 % interval 10.0 to 20.0\\xa0%)', '')
    """
    return "" if interval is None else f" (95 % interval {percent_range(interval)})"


def compared(difference: float) -> str:
    """Write a difference of two shares so that "full records" can follow.

    >>> compared(0.0104), compared(-0.003), compared(0.0001)
    ('1.0 points more than with', '0.3 points less than with', 'about as often as with')
    """
    shown = round(100 * difference, 1)
    if shown == 0:
        return "about as often as with"
    return f"{abs(shown):.1f} points {'more' if shown > 0 else 'less'} than with"


def percent_at_most(bound: float, digits: int = 0) -> str:
    """Write an upper bound of a share, rounded up: a promise may not be rounded in its own favour.

    >>> percent_at_most(0.7741, 1), percent_at_most(0.774, 1), percent_at_most(0.99951, 1), percent_at_most(0.0)
    ('77.5\\xa0%', '77.4\\xa0%', '100.0\\xa0%', '0\\xa0%')
    """
    return percent(min(rounded_up(100 * bound, digits) / 100, 1.0), digits)


def rounded_up(bound: float, digits: int) -> float:
    """Return the next number with so many digits that is no smaller, but for what floats cannot tell.

    >>> rounded_up(1.21, 1), rounded_up(1.2, 1), rounded_up(0.1 + 0.2, 1), rounded_up(0.3, 400)
    (1.3, 1.2, 0.3, 0.3)
    """
    if digits > _DIGITS:
        return bound
    scale = 10.0**digits
    return round(math.ceil(bound * scale - 1e-9) / scale, digits)


def counted(number: float, one: str, many: str = "") -> str:
    """Write a number of things.

    >>> counted(1, "person", "people"), counted(1200, "record")
    ('1 person', '1,200 records')
    """
    return f"{number:,.0f} {one if number == 1 else many or one + 's'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words by commas and one "and".

    >>> listed(["a", "b", "c"]), listed([])
    ('a, b and c', '')
    """
    return " ".join(words) if len(words) < 2 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def some(words: Sequence[str], most: int = 8, last: str = "and") -> str:
    """Join words, and count those beyond the first few.

    >>> some(["a", "b", "c", "d"], 3), some(["a", "b"])
    ('a, b and 2 others', 'a and b')
    """
    shown = words if len(words) <= most else [*words[: most - 1], f"{len(words) - most + 1} others"]
    return listed(shown, last)


def shortened(texts: Sequence[str], most: int = MOST_SHOWN) -> list[str]:
    """Return the first texts, and how many more there are.

    >>> shortened(["a", "b", "c", "d"], 3), shortened(["a", "b"], 3)
    (['a', 'b', '… 2 more'], ['a', 'b'])
    """
    return list(texts) if len(texts) <= most else [*texts[: most - 1], f"… {len(texts) - most + 1} more"]


def number(value: object) -> str:
    """Write a parameter.

    >>> number(0.7), number(1e-06), number(12000), number(True), number("x"), number([1, 2])
    ('0.7', '1e-06', '12,000', 'yes', 'x', '1, 2')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,}" if isinstance(value, int) else f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(number, value))
    return str(value)
