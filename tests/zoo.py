"""Forty columns as organisations have them, and what ``inspect`` must say of each.

Each is a function of nothing but a generator, so that no real person's data is here. ``kind`` is what is proposed,
or what the column is left out as; ``derive`` the rule by which it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

RECORDS = 400
Random = np.random.Generator
Column = Callable[[Random], Sequence[Any]]


@dataclass(frozen=True)
class Animal:
    """A column: its name, its values, and what is said of it."""

    name: str
    values: Column
    kind: str
    derive: str = ""
    says: str = ""


def chosen(*values: Any) -> Column:
    return lambda random: [values[i] for i in random.integers(0, len(values), RECORDS)]


def dates(form: str, first: str = "1950-01-01", days: int = 20_000) -> Column:
    def made(random: Random) -> list[str]:
        found = np.datetime64(first) + random.integers(0, days, RECORDS)
        return [day.strftime(form) for day in found.astype("datetime64[D]").tolist()]

    return made


def amounts(form: Callable[[float], str], scale: float = 3000.0) -> Column:
    return lambda random: [form(round(float(value), 2)) for value in random.gamma(2.0, scale, RECORDS)]


def german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def codes(form: str, top: int, exponent: float = 3.0) -> Column:
    return lambda random: [form.format(int(top * random.random() ** exponent)) for _ in range(RECORDS)]


def mixed(*parts: Column) -> Column:
    def made(random: Random) -> list[Any]:
        columns = [part(random) for part in parts]
        return [columns[i % len(columns)][i] for i in range(RECORDS)]

    return made


def icd(random: Random) -> list[str]:
    letters, numbers = random.integers(0, 6, RECORDS), random.integers(0, 99, RECORDS)
    return [f"{'ACEIJK'[a]}{n // 20:02}.{n % 10}" for a, n in zip(letters, numbers, strict=True)]


EDUCATION = ("Preschool", "1st-4th", "5th-6th", "9th", "12th", "HS-grad", "Some-college", "Bachelors", "Doctorate")
ZOO: tuple[Animal, ...] = (
    Animal("age", lambda r: r.integers(18, 90, RECORDS).tolist(), "continuous"),
    Animal("pay", amounts(lambda v: repr(v)), "continuous"),
    Animal(
        "children", lambda r: np.minimum(r.poisson(1.2, RECORDS), 6).tolist(), "continuous", says="counts from 0"
    ),
    Animal(
        "priors", lambda r: np.minimum(r.geometric(0.3, RECORDS) - 1, 20).tolist(), "continuous", says="counts"
    ),
    Animal("sex code", chosen(1, 2), "discrete"),
    Animal("yes", chosen(True, False), "discrete"),
    Animal("sex", chosen("f", "m"), "discrete"),
    Animal("job", chosen("nurse", "cook", "clerk", "baker"), "discrete"),
    Animal("education", chosen(*EDUCATION), "ordinal", says="order"),
    Animal("pain", chosen("low", "medium", "high"), "ordinal", says="order"),
    Animal("agree", chosen("strongly disagree", "disagree", "neutral", "agree"), "ordinal", says="order"),
    Animal("age band", chosen("under 18", "18-24", "25-64", "65+"), "ordinal", says="order"),
    Animal("month", chosen("Jan", "Feb", "Mar", "Nov"), "ordinal", says="order"),
    Animal("weekday", chosen("Mon", "Tue", "Sun"), "ordinal", says="order"),
    Animal("size", chosen("S", "M", "L", "XL"), "ordinal", says="order"),
    Animal("shirt", chosen("red", "green", "blue"), "discrete"),
    Animal("born", dates("%Y-%m-%d"), "continuous", "year of YYYY-MM-DD", "dates"),
    Animal("geboren", dates("%d.%m.%Y"), "continuous", "year of DD.MM.YYYY", "dates"),
    Animal("dob", dates("%m/%d/%Y"), "continuous", "year of MM/DD/YYYY", "dates"),
    Animal("old", dates("%Y-%m-%d", "1820-01-01"), "continuous", "year of YYYY-MM-DD", "dates"),
    Animal("stamp", dates("%Y-%m-%dT10:00:00Z"), "continuous", "year of YYYY-MM-DD", "dates"),
    Animal("two notations", mixed(dates("%Y-%m-%d"), dates("%d.%m.%Y")), "date", says="several notations"),
    Animal(
        "two zones",
        mixed(dates("%Y-%m-%dT10:00:00Z"), dates("%Y-%m-%dT10:00:00+02:00")),
        "date",
        says="time zones",
    ),
    Animal("one year", dates("%Y-%m-%d", "2024-01-01", 300), "date"),
    Animal(
        "arrival",
        lambda r: [f"{h:02}:{m:02}" for h, m in r.integers(0, 24, (RECORDS, 2))],
        "continuous",
        "minutes of hh:mm",
    ),
    Animal("zip", codes("{:05}", 99_999), "discrete", "prefix 1", "codes of digits"),
    Animal("postcode", codes("{}", 9_000), "continuous"),
    Animal("icd", icd, "discrete", "prefix 1", "ICD-10"),
    Animal("betrag", amounts(german), "continuous", "number of 1.234,5", "amounts"),
    Animal("euro", amounts(lambda v: f"{german(v)} €"), "continuous", "number of 1.234,5 €", "amounts"),
    Animal("dollar", amounts(lambda v: f"${v:,.2f}"), "continuous", "number of $ 1,234.5", "amounts"),
    Animal(
        "suisse", amounts(lambda v: f"{v:,.2f}".replace(",", "'")), "continuous", "number of 1'234.5", "amounts"
    ),
    Animal("rate", amounts(lambda v: f"{v:.1f} %", 10.0), "continuous", "number of 1,234.5 %", "percentages"),
    Animal(
        "mixed money",
        mixed(amounts(lambda v: f"{v} €"), amounts(lambda v: f"{v} $")),
        "amounts",
        says="several currencies",
    ),
    Animal("mail", lambda r: [f"a{i % 90}@example.org" for i in range(RECORDS)], "e-mail addresses"),
    Animal("customer id", lambda r: [f"C-{i:06}" for i in range(RECORDS)], "identifier"),
    Animal("number", lambda r: [*range(RECORDS)], "identifier"),
    Animal("notes", lambda r: [f"the {i}. story that somebody told us" for i in range(RECORDS)], "free text"),
    Animal("lat", lambda r: r.normal(48, 3, RECORDS).tolist(), "continuous", "grid 0.1", "coordinates"),
    Animal("lon", lambda r: r.uniform(-180, 180, RECORDS).tolist(), "continuous", "grid 0.1", "tells a house"),
    Animal("same", lambda r: ["x"] * RECORDS, "constant"),
)
