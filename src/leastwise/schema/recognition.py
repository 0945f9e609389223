"""Columns that are better asked by a part of them: dates, codes whose beginning says what they are, local amounts.

Each rule looks at the texts of one column. It proposes a derived question (see ``schema.derive``), or says why the
column cannot be one: two notations, two currencies, two time zones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from leastwise.schema.derive import Amount, Part, rule_of
from leastwise.schema.profile import Profile
from leastwise.schema.values import as_number, code_number, text_of

MANY_CODES = 50  # from here on the beginning of a code is proposed
PER_PREFIX = 20  # records that a proposed prefix has on average
_DATES = (
    "YYYY-MM-DD", "YYYY/MM/DD", "YYYY.MM.DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "MM-DD-YYYY",
)  # fmt: skip
_AMOUNTS = ("1,234.5", "1.234,5", "1 234,5", "1'234.5", "1 234.5", "1234,5", "1234.5")
_UNIT = re.compile(r"[^0-9+\-.,'\s\u00a0\u202f]+")
_CURRENCIES = {
    *"€$£¥₹₽₺₩",
    "%",
    "=",  # of a spreadsheet's formula that is nothing but a number
    "EUR",
    "USD",
    "GBP",
    "CHF",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "JPY",
    "kr",
    "zł",
    "Fr.",
}
_ZONE = re.compile(r"[0-9]{2}:[0-9]{2}.*?(Z|[+-][0-9]{2}:?[0-9]{2})$")
_CLOCK = re.compile("([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?")
_MAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_PLACE = re.compile(r"(?i)^(?:long|(?:.*[\W_])?(?:lat|latitude|lon|lng|longitude))$")
_MOST_LONGITUDE = 180
_DIGITS = re.compile("[0-9]{4,6}")
_LENGTHS = (4, 3, 2, 1)
# What codes look like, what they are, and the beginnings of them that mean something.
_CODES = (
    (_DIGITS, "codes of digits", _LENGTHS),
    (re.compile("[0-9]{2}[.][0-9]{1,2}([.][0-9]{1,2})?"), "codes such as NACE", (4, 2, 1)),
    (re.compile("[A-Z][0-9][0-9A-Z]([.]?[0-9A-Z]{1,4})?"), "codes such as ICD-10", (3, 1)),
)
_ZIP = re.compile(
    r"(?i)(?:^|[\W_])(?:zip|zipcode|postal|postcode|postleitzahl|plz|cap|cp|zcta|puma)(?:$|[\W_\d]|code)"
)


@dataclass(frozen=True)
class Recognised:
    """What a column was recognised as; ``rule`` is empty where it cannot be asked as it is."""

    what: str
    reason: str
    rule: str = ""
    kind: Literal["continuous", "ordinal", "discrete"] = "continuous"
    warnings: tuple[str, ...] = ()


def recognised(facts: Profile) -> Recognised | None:
    """Return what a column is, where a part of it is better asked; None for all others."""
    if facts.form == "number" and _PLACE.match(facts.name):
        return _coordinates(facts)
    if not facts.counts or facts.distinct < 2:
        return None
    if facts.form == "date":
        return _date(facts)
    if facts.form == "number":
        # Postcodes that no zero in front has told: their name does.
        telling = _ZIP.search(facts.name) and facts.distinct > MANY_CODES and facts.whole
        return _prefix(facts, "postcodes") if telling and all(map(_DIGITS.fullmatch, facts.counts)) else None
    if facts.form != "text":
        return None
    texts = [*facts.counts]
    if all(map(_MAIL.fullmatch, texts)):
        return Recognised("e-mail addresses", "e-mail addresses: whoever has one knows the person")
    if all(map(_CLOCK.fullmatch, texts)):
        return Recognised("times", "times of day or durations", "minutes of hh:mm")
    return _amount(facts) or _code(facts)


def _coordinates(facts: Profile) -> Recognised | None:
    """Propose cells of degrees: a coordinate tells a house."""
    if facts.whole or not len(facts.finite) or np.abs(facts.finite).max() > _MOST_LONGITUDE:
        return None
    more = f"it tells a house: asked by its cell of 0.1 degrees, about 11 km; --derive {facts.name}='grid 1'"
    return Recognised("coordinates", f"coordinates, {facts.distinct:,} distinct", "grid 0.1", warnings=(more,))


def _date(facts: Profile) -> Recognised:
    reason = f"dates or times, {facts.distinct:,} distinct"
    fits = [form for form in _DATES if all(map(_form(f"year of {form}"), facts.counts))]
    zones = {match[1] for text in facts.counts if (match := _ZONE.search(text))}
    if len(zones) > 1 or (zones and not all(map(_ZONE.search, facts.counts))):
        named = ", ".join(sorted(zones)[:3])
        return Recognised("date", f"{reason}, in several time zones ({named}): bring them to one")
    if not fits:
        some = [form for form in _DATES if any(map(_form(f"year of {form}"), facts.counts))]
        hint = f"in several notations ({', '.join(some[:3])})" if len(some) > 1 else "days or months of one digit"
        return Recognised("date", f"{reason}, {hint}: write them in one, such as YYYY-MM-DD")
    rule = f"year of {fits[0]}"
    more = (
        f"asked as its year; derive can also be: age on 2025-01-01 of {fits[0]}, quarter, month, decade, weekday",
    )
    if len(fits) > 1:
        more = (f"{' and '.join(fits[:2])} fit all of them alike: say which in derive; {more[0]}",)
    if len(_derived_counts(facts, rule)) < 3:
        return Recognised("date", reason, "", warnings=("ask for the month or the weekday instead: derive",))
    return Recognised("date", reason, rule, warnings=more)


def _form(rule: str) -> Callable[[str], object]:
    parsed = rule_of(rule)
    assert isinstance(parsed, Part | Amount)
    return re.compile(parsed.pattern).fullmatch


def _amount(facts: Profile) -> Recognised | None:
    units = Counter(unit for text in facts.counts for unit in {*_UNIT.findall(text)})
    if not all(unit in _CURRENCIES for unit in units):
        return None
    numbers = [_UNIT.sub("", text) for text in facts.counts]
    written = units or any(as_number(text) is None for text in numbers)
    if not written or not all(re.search("[0-9]", text) for text in numbers):
        return None
    if len(units) > 1:
        return Recognised(
            "amounts", f"amounts in several currencies or units ({', '.join(sorted(units))}): bring them to one"
        )
    unit = next(iter(units), "")
    for example in _AMOUNTS if unit else _AMOUNTS[:-1]:
        before = bool(unit) and any(text.strip().lstrip("+-").startswith(unit) for text in facts.counts)
        form = example if not unit else f"{unit} {example}" if before else f"{example} {unit}"
        if all(map(_form(f"number of {form}"), facts.counts)):
            what = "percentages" if unit == "%" else "amounts"
            return Recognised(
                what, f"{what} written like {form}, {facts.distinct:,} distinct", f"number of {form}"
            )
    return None


def _code(facts: Profile) -> Recognised | None:
    for pattern, what, lengths in _CODES:
        if facts.distinct > MANY_CODES and all(map(pattern.fullmatch, facts.counts)):
            # What is different for each record is an identifier, unless it is called a postcode.
            unique = facts.distinct >= 0.95 * facts.known and not _ZIP.search(facts.name)
            return None if unique else _prefix(facts, what, lengths)
    return None


def _prefix(facts: Profile, what: str, lengths: Iterable[int] = _LENGTHS) -> Recognised | None:
    """Propose the longest beginning that enough people share."""
    for length in lengths:
        counts = _derived_counts(facts, f"prefix {length}")
        if 3 <= len(counts) <= facts.known / PER_PREFIX:
            warning = f"asked by its first {length}; --discrete {facts.name} asks it as it is"
            return Recognised(
                what, f"{what}, {facts.distinct:,} distinct", f"prefix {length}", "discrete", (warning,)
            )
    return None


def derived_profile(facts: Profile, rule: str) -> Profile:
    """Return the facts about what a rule makes of a column."""
    counts = _derived_counts(facts, rule)
    numbers = [code_number(text) for text in counts]
    if any(number is None for number in numbers):
        return replace(facts, form="text", distinct=len(counts), counts=counts, strange=(), numbers=np.empty(0))
    known = np.unique(np.array(numbers, dtype=float))
    return replace(facts, form="number", distinct=len(counts), counts=counts, strange=(), numbers=known)


def _counted(facts: Profile) -> Iterable[tuple[str, int]]:
    """Return the texts of a column; of very many numbers nobody counted how often each occurs."""
    return facts.counts.items() or ((text_of(number) or "", 1) for number in facts.finite)


def _derived_counts(facts: Profile, rule: str) -> dict[str, int]:
    counts: Counter[str] = Counter()
    made: Iterable[tuple[str, int]] = ((rule_of(rule).of(text), count) for text, count in _counted(facts))
    for text, count in made:
        counts[text_of(text) or ""] += count
    return dict(counts)
