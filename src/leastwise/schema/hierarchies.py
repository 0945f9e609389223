"""Hierarchies that are brought along, and those of files.

What is brought is public and stable: the countries of ISO 3166 in the regions of the United Nations (M49), the
months in quarters, and the codes of occupation (2018) and place of birth of the American Community Survey in the
groups that the Census Bureau publishes. They are facts; whoever needs other ones writes a file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from leastwise.documents import LARGEST_DOCUMENT, Problems, read_text
from leastwise.documents.yaml import LocatedDocument
from leastwise.errors import SchemaError, shorten
from leastwise.schema.hierarchy import Hierarchy, Row, hierarchy_from_document
from leastwise.validation import did_you_mean

Grouping = Callable[[Sequence[str]], Hierarchy]

_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "england": "GB", "scotland": "GB", "wales": "GB", "northern ireland": "GB", "uk": "GB",
        "great britain": "GB", "united states of america": "US", "viet nam": "VN", "türkiye": "TR",
        "turkiye": "TR", "korea": "KR", "republic of korea": "KR", "russian federation": "RU",
        "czech republic": "CZ", "swaziland": "SZ", "macedonia": "MK", "burma": "MM", "cape verde": "CV",
        "ivory coast": "CI", "lao pdr": "LA", "macau": "MO", "brunei": "BN", "east timor": "TL",
        "holland": "NL", "vatican": "VA", "micronesia": "FM",
    }
)  # fmt: skip
_MONTHS = "january february march april may june july august september october november december"
_ARTS, _SERVICE = "Management, business, science and arts", "Service"
_OFFICE, _NATURAL = "Sales and office", "Natural resources, construction and maintenance"
_PRODUCTION = "Production, transportation and material moving"
OCCUPATIONS: tuple[tuple[int, int, str, str], ...] = (
    (10, 440, "Management occupations", _ARTS),
    (500, 750, "Business operations specialists", _ARTS),
    (800, 960, "Financial specialists", _ARTS),
    (1005, 1240, "Computer and mathematical occupations", _ARTS),
    (1300, 1560, "Architecture and engineering occupations", _ARTS),
    (1600, 1980, "Life, physical and social science occupations", _ARTS),
    (2000, 2060, "Community and social service occupations", _ARTS),
    (2100, 2180, "Legal occupations", _ARTS),
    (2200, 2555, "Education, training and library occupations", _ARTS),
    (2600, 2970, "Arts, design, entertainment, sports and media occupations", _ARTS),
    (3000, 3550, "Healthcare practitioners and technical occupations", _ARTS),
    (3600, 3655, "Healthcare support occupations", _SERVICE),
    (3700, 3960, "Protective service occupations", _SERVICE),
    (4000, 4160, "Food preparation and serving occupations", _SERVICE),
    (4200, 4255, "Building and grounds cleaning and maintenance occupations", _SERVICE),
    (4300, 4655, "Personal care and service occupations", _SERVICE),
    (4700, 4965, "Sales occupations", _OFFICE),
    (5000, 5940, "Office and administrative support occupations", _OFFICE),
    (6000, 6130, "Farming, fishing and forestry occupations", _NATURAL),
    (6200, 6765, "Construction trades", _NATURAL),
    (6800, 6950, "Extraction workers", _NATURAL),
    (7000, 7640, "Installation, maintenance and repair workers", _NATURAL),
    (7700, 8990, "Production occupations", _PRODUCTION),
    (9000, 9760, "Transportation and material moving occupations", _PRODUCTION),
    (9800, 9830, "Military specific occupations", "Military"),
    (9920, 9920, "Unemployed, without work for five years", "Unemployed"),
)
BIRTHPLACES: tuple[tuple[int, int, str, str], ...] = (
    (1, 59, "United States", "United States and its islands"),
    (60, 99, "Islands of the United States", "United States and its islands"),
    (100, 199, "Europe", "Europe"),
    (200, 299, "Asia", "Asia"),
    (300, 302, "Northern America", "Other Americas"),
    (303, 319, "Central America", "Other Americas"),
    (320, 359, "Caribbean", "Other Americas"),
    (360, 398, "South America", "Other Americas"),
    (399, 399, "Americas, not specified", "Other Americas"),
    (400, 499, "Africa", "Africa"),
    (500, 554, "Oceania and at sea", "Oceania and at sea"),
)


def un_regions(values: Sequence[str]) -> Hierarchy:
    """Return countries (names, or codes of two or three letters) in regions and continents."""
    text = (files("leastwise.schema") / "trees" / "un-regions.csv").read_text(encoding="utf-8")
    known: dict[str, Row] = {}
    for *names, region, continent in csv.reader(text.splitlines(), delimiter=";"):
        known |= {_plain(name): (region, continent) for name in names}
    for alias, code in _ALIASES.items():
        known[_plain(alias)] = known[code.casefold()]
    return Hierarchy(tuple((value, *known[_plain(value)]) for value in values if _plain(value) in known))


def quarters(values: Sequence[str]) -> Hierarchy:
    """Return months (names, their first three letters, or numbers) in quarters."""
    places: dict[str, int] = {}
    for number, month in enumerate(_MONTHS.split()):
        places |= dict.fromkeys((month, month[:3], str(number + 1), f"{number + 1:02}"), number // 3 + 1)
    rows = [(value, f"quarter {places[_plain(value)]}") for value in values if _plain(value) in places]
    return Hierarchy(tuple(rows))


def _plain(text: str) -> str:
    return re.sub(r"[^\w]+", " ", text.casefold()).strip()


def by_ranges(ranges: Sequence[tuple[int, int, str, str]]) -> Grouping:
    """Return what groups codes that are numbers."""

    def group(values: Sequence[str]) -> Hierarchy:
        rows = []
        for value in values:
            matching = [names for low, high, *names in ranges if value.isdigit() and low <= int(value) <= high]
            rows += [(value, *matching[0])] if matching else []
        return Hierarchy(tuple(rows))

    return group


SHIPPED: Mapping[str, Grouping] = MappingProxyType(
    {
        "un-regions": un_regions,
        "quarters": quarters,
        "census-occupations": by_ranges(OCCUPATIONS),
        "census-birthplaces": by_ranges(BIRTHPLACES),
    }
)


def load_hierarchy(name: str) -> Grouping:
    """Return a hierarchy that is brought along, or that of a file: .yaml, or .csv as ARX writes it."""
    if name in SHIPPED:
        return SHIPPED[name]
    path = Path(name)
    if path.suffix.lower() not in (".csv", ".yaml", ".yml"):
        raise SchemaError(
            f"a hierarchy is a .yaml or .csv file, or one of {', '.join(SHIPPED)}; got {shorten(name)}: "
            f"{did_you_mean(name, SHIPPED)}"
        )
    text = read_text(path, SchemaError)
    if len(text) > LARGEST_DOCUMENT:
        raise SchemaError(f"{path}: too large for a hierarchy")
    try:
        return (Hierarchy.from_arx(text) if path.suffix.lower() == ".csv" else _from_yaml(text)).within
    except SchemaError as error:
        raise SchemaError(f"{path}: not a hierarchy", error.problems or [str(error)]) from None


def _from_yaml(text: str) -> Hierarchy:
    source = LocatedDocument.read(text)
    problems = Problems(source.where)
    problems.texts += source.problems
    hierarchy = hierarchy_from_document(source.content, (), problems) if source.whole else None
    if hierarchy is None or problems.texts:
        raise SchemaError("not a hierarchy", problems.texts)
    return hierarchy
