"""Values that have an order in themselves: grades, bands of numbers, "low, medium, high", months, weekdays.

A CSV file cannot say that its texts are ordered; their words can. Only what is plain is taken: every value must be
known, and no two of them may stand at one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# From first to last; words at one place are other words for the same.
_ORDERS: tuple[str, ...] = (
    "very low, low, medium low, medium|moderate|mid|average|normal, medium high, high, very high",
    "none|no, mild|light|slight|minor, moderate|medium, severe|heavy|serious|major, critical|extreme",
    "very bad|very poor, bad|poor, fair|average|ok, good, very good, excellent",
    "never, rarely|seldom|almost never, sometimes|occasionally, often|frequently, "
    "usually|mostly|almost always, always",
    "strongly disagree|totally disagree, disagree, rather disagree|somewhat disagree, "
    "neutral|neither|undecided, rather agree|somewhat agree, agree, strongly agree|totally agree",
    "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
    "xxs, xs, s, m, l, xl, xxl|2xl, xxxl|3xl",
    "tiny, small, medium, large, very large|huge",
    "daily, weekly, monthly, quarterly, yearly|annually|annual",
    "january|jan, february|feb, march|mar, april|apr, may, june|jun, july|jul, august|aug, "
    "september|sep|sept, october|oct, november|nov, december|dec",
    "monday|mon, tuesday|tue|tues, wednesday|wed, thursday|thu|thurs, friday|fri, saturday|sat, sunday|sun",
    "q1, q2, q3, q4",
    "junior, intermediate, senior",
    "beginner, intermediate, advanced, expert",
    "none|no schooling|no education, preschool|kindergarten|nursery, 1st 4th, 5th 6th, 7th 8th|primary|elementary|"
    "primary school|elementary school, 9th, 10th, 11th, 12th, secondary|hs grad|high school|high school graduate|"
    "secondary school, some college, assoc voc|associate|associates|associate degree, assoc acdm, "
    "bachelors|bachelor|bachelor's|bachelor degree|bachelor's degree, masters|master|master's|master's degree, "
    "prof school|professional, doctorate|phd|doctoral|doctor",
)
_PLACES: tuple[dict[str, int], ...] = tuple(
    {word.strip(): place for place, words in enumerate(order.split(",")) for word in words.split("|")}
    for order in _ORDERS
)
_BELOW = re.compile(r"(?:under|below|less than|up to|<=?|at most|younger than)\s*([0-9]+(?:\.[0-9]+)?)\D*")
_ABOVE = re.compile(
    r"(?:over|above|more than|>=?|at least|older than)\s*([0-9]+(?:\.[0-9]+)?)\D*"
    r"|([0-9]+(?:\.[0-9]+)?)\s*(?:\+|and more|or more|and over|and above|or older|plus)\D*"
)
_BAND = re.compile(
    r"[(\[]?\s*([0-9]+(?:\.[0-9]+)?)\s*(?:st|nd|rd|th)?\s*(?:-|–|to|,|\.\.)\s*"
    r"([0-9]+(?:\.[0-9]+)?)\s*(?:st|nd|rd|th)?\D*"
)
_RANK = re.compile(r"([0-9]+)(?:st|nd|rd|th)|(?:grade|level|class|stage|step|tier|band|year)\s*([0-9]+)")
_FEWEST = 3  # two values in an order are two values


def natural_order(values: Iterable[str]) -> tuple[str, ...] | None:
    """Return values in the order that their words have; None where they have none.

    >>> natural_order(["high", "low", "medium"])
    ('low', 'medium', 'high')
    >>> natural_order(["25-34", "18-24", "65+", "under 18"])
    ('under 18', '18-24', '25-34', '65+')
    >>> natural_order(["red", "green", "blue"]) is None
    True
    """
    texts = {value: _plain(value) for value in values}
    if len(texts) < _FEWEST:
        return None
    for places in _PLACES:
        if all(text in places for text in texts.values()):
            return _sorted({value: (float(places[text]),) for value, text in texts.items()})
    bands = {value: _band(text) for value, text in texts.items()}
    known = {value: place for value, place in bands.items() if place is not None}
    return _sorted(known) if len(known) == len(texts) else None


def _plain(value: str) -> str:
    words = value.strip().casefold()
    return words if re.search(r"[0-9]\s*[-–]\s*[0-9]", words) else re.sub(r"[\s_-]+", " ", words)


def _band(text: str) -> tuple[float, ...] | None:
    if match := _BELOW.fullmatch(text):
        return float(match[1]), -1.0
    if match := _ABOVE.fullmatch(text):
        return float(match[1] or match[2]), 1.0
    if match := _BAND.fullmatch(text):
        low, high = float(match[1]), float(match[2])
        return (low, 0.0) if low <= high else None
    match = _RANK.fullmatch(text)
    return None if match is None else (float(match[1] or match[2]), 0.0)


def _sorted(places: dict[str, tuple[float, ...]]) -> tuple[str, ...] | None:
    distinct = len({*places.values()}) == len(places)
    return tuple(sorted(places, key=lambda value: places[value])) if distinct else None
