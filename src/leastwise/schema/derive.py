"""Questions derived from what a column holds: the year of a date, the first digits of a postcode, "1.234,50 €".

A rule turns the *text* of a raw value into another text, before anything else looks at it:

- ``prefix 3``: its first three characters (postcodes, ICD-10, NACE, ISCO and SOC codes, phone areas);
- ``year of YYYY-MM-DD``, and in the same way ``quarter``, ``month``, ``decade``, ``weekday``, ``hour`` and
  ``minutes``; the notation is made of YYYY, MM, DD, hh and mm, each in full, and what is between them. A time may
  follow a date;
- ``age on 2025-01-01 of DD.MM.YYYY``: whole years at a reference date;
- ``number of 1.234,5 €``: an amount in local notation. The example shows the thousands separator, the decimal sign
  and what stands before or behind;
- ``grid 0.1``: the lower edge of the cell of so many degrees in which a latitude or longitude lies;
- ``region with lon: North 50 -10 60 10; South 40 -10 50 10``: the named region of a table in which a latitude lies
  with the longitude of another column; each with its southern, western, northern and eastern end. A place on an
  end is inside, of several the first counts, and a name may have several such boxes;
- ``above 50000``: two classes, "up to 50000" and "above 50000", for a label that is a number.

What has another form is not guessed at: it becomes the text "not YYYY-MM-DD", which no domain has, and so is
refused, or goes to "other" where that is declared. No answer stays no answer. Days are not held against the
calendar: 31 February is a day of February. Every road (records, frames, SQL, JavaScript) follows these rules.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from leastwise.errors import SchemaError, shorten
from leastwise.schema.values import ANY_NUMBER, is_missing, is_several, text_of

PARTS = ("year", "quarter", "month", "decade", "weekday", "hour", "minutes", "age")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
FIELDS: Mapping[str, str] = {
    "YYYY": "[0-9][0-9][0-9][0-9]",
    "MM": "(0[1-9]|1[0-2])",
    "DD": "(0[1-9]|[12][0-9]|3[01])",
    "hh": "([01][0-9]|2[0-3])",
    "mm": "[0-5][0-9]",
}
NEEDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("year", "decade"), ("YYYY",)),
    **dict.fromkeys(("quarter", "month"), ("MM",)),
    **dict.fromkeys(("weekday", "age"), ("YYYY", "MM", "DD")),
    "hour": ("hh",),
    "minutes": ("hh", "mm"),
}
SPACES = " \t"
MOST_DEGREES = 360
THOUSANDTHS = 1000  # of a degree, of which every cell has whole ones
_NUMBER_TEXT = f"[{SPACES}]*{ANY_NUMBER}[{SPACES}]*"
BLANKS = " \u00a0\u202f"  # that stand between thousands
_FIELD = re.compile("YYYY|MM|DD|hh|mm")
_PREFIX = re.compile("prefix ([1-9][0-9]?)")
_PART = re.compile(
    r"(year|quarter|month|decade|weekday|hour|minutes) of (.+)|age on ([0-9]{4}-[0-9]{2}-[0-9]{2}) of (.+)"
)
_GRID = re.compile("grid ([1-9][0-9]?|0[.][0-9]{1,3})")
_ABOVE = re.compile("above (-?[0-9]+([.][0-9]+)?)")
_REGION = re.compile(r'region with (?:"((?:[^"]|"")+)"|(.+?)): (.+)')  # a column that holds ": " is quoted
_BOX = re.compile(r" *(\S(?:.*?\S)?)" + 4 * r" +(-?[0-9]{1,3}(?:[.][0-9]+)?)" + " *")
_AMOUNT = re.compile(r"number of ([^0-9]*)1([.,' ]?)234(?:([.,])5)?([^0-9]*)")


@dataclass(frozen=True)
class Prefix:
    """The first characters of a text."""

    length: int

    def of(self, text: str) -> str:
        """Return the derived text."""
        return text[: self.length]


@dataclass(frozen=True)
class Part:
    """A part of a date or time; ``reference`` is the day, as YYYYMMDD, at which an age is taken."""

    part: str
    notation: str
    reference: int = 0

    @property
    def pattern(self) -> str:
        """The form of the whole text, as an expression that all engines read alike."""
        pieces = re.split(f"({_FIELD.pattern})", self.notation)
        form = "".join(FIELDS.get(piece, re.sub(r"([^A-Za-z0-9 :/-])", r"[\1]", piece)) for piece in pieces)
        return f"{form}([T :.,][0-9TZ:., +-]*)?"

    def place(self, field: str) -> tuple[int, int]:
        """Return where a field begins, from 0, and how many characters it has."""
        return self.notation.index(field), len(field)

    @property
    def refused(self) -> str:
        """What a text of another form becomes."""
        return f"not {self.notation}"

    def of(self, text: str) -> str:
        """Return the derived text."""
        if not re.fullmatch(self.pattern, text):
            return self.refused
        number = {f: int(text[i : i + n]) for f in NEEDS[self.part] for i, n in [self.place(f)]}
        year, month, day = number.get("YYYY", 0), number.get("MM", 0), number.get("DD", 0)
        if self.part == "weekday":
            return WEEKDAYS[weekday(year, month, day)]
        value_of = {
            "year": year,
            "decade": year // 10 * 10,
            "month": month,
            "quarter": (month + 2) // 3,
            "hour": number.get("hh", 0),
            "minutes": 60 * number.get("hh", 0) + number.get("mm", 0),
            "age": (self.reference - 10_000 * year - 100 * month - day) // 10_000,
        }
        return str(value_of[self.part])


def weekday(year: int, month: int, day: int) -> int:
    """Return the day of the week, 0 for Monday, by Zeller's congruence in whole numbers.

    >>> weekday(2000, 1, 1), weekday(2024, 2, 29), weekday(1900, 12, 31)
    (5, 3, 0)
    """
    late = (14 - month) // 12  # January and February count to the year before
    years, months = year - late, month + 12 * late
    return (day + (13 * (months + 1)) // 5 + years + years // 4 - years // 100 + years // 400 + 5) % 7


@dataclass(frozen=True)
class Amount:
    """A number in local notation; ``thousands`` is empty where none are set apart."""

    example: str
    before: str
    thousands: str
    decimal: str
    after: str

    @property
    def pattern(self) -> str:
        """The form of the whole text."""
        gap = f"[{BLANKS}]*"
        before, after = (_optional(unit, gap) for unit in (self.before, self.after))
        apart = f"[{BLANKS}]" if self.thousands == " " else f"[{self.thousands}]" if self.thousands else ""
        whole = f"([0-9]{{1,3}}({apart}[0-9][0-9][0-9])+|[0-9]+)" if apart else "[0-9]+"
        rest = f"([{self.decimal}][0-9]+)?" if self.decimal else ""
        return f"{gap}[+-]?{before}[+-]?{whole}{rest}{after}{gap}"

    @property
    def removed(self) -> tuple[str, ...]:
        """What is taken out of the text, wherever it is."""
        texts = [self.before, self.after, *BLANKS, self.thousands]
        return tuple(dict.fromkeys(text for text in texts if text))

    @property
    def refused(self) -> str:
        """What a text of another form becomes."""
        return f"not {self.example}"

    def of(self, text: str) -> str:
        """Return the derived text."""
        if not re.fullmatch(self.pattern, text):
            return self.refused
        for sign in self.removed:
            text = text.replace(sign, "")
        return text.replace(self.decimal, ".") if self.decimal else text


@dataclass(frozen=True)
class Above:
    """On which side of a threshold a number is: two classes, for a label."""

    threshold: str

    @property
    def classes(self) -> tuple[str, str]:
        """What people read for either side."""
        return f"up to {self.threshold}", f"above {self.threshold}"

    pattern = _NUMBER_TEXT  # the form of the whole text
    refused = "not a number"  # what a text of another form becomes

    def of(self, text: str) -> str:
        """Return the derived text."""
        if not re.fullmatch(self.pattern, text):
            return self.refused
        return self.classes[float(text) > float(self.threshold)]


@dataclass(frozen=True)
class Grid:
    """The cell of a latitude or longitude, in degrees; either ``degrees`` or ``per_degree`` is 1."""

    size: str
    degrees: int
    per_degree: int

    pattern = _NUMBER_TEXT  # the form of the whole text
    refused = "not a coordinate in degrees"  # or a number that is no place on earth

    def of(self, text: str) -> str:
        """Return the derived text: the lower edge of the cell. Every road does the same steps on doubles."""
        number = float(text) if re.fullmatch(self.pattern, text) else math.inf
        if not abs(number) <= MOST_DEGREES:
            return self.refused
        cell = math.floor(number * self.per_degree) // self.degrees
        return text_of(cell * self.degrees / self.per_degree) or ""


class Box(NamedTuple):
    """A part of a named region, from its southern to its northern end, and from the western to the eastern one."""

    name: str
    south: str
    west: str
    north: str
    east: str


@dataclass(frozen=True)
class Region:
    """The named region of a table in which a latitude and, in the column ``beside``, a longitude lie."""

    beside: str
    boxes: tuple[Box, ...]

    pattern = _NUMBER_TEXT  # the form of either text
    refused = "in no region"  # what a place in no region becomes, or what is no place

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the regions, each once."""
        return tuple(dict.fromkeys(box.name for box in self.boxes))

    def of(self, text: str, beside: str = "") -> str:
        """Return the derived text."""
        lat, lon = self.degrees(text), self.degrees(beside)
        inside = (
            box.name
            for box in self.boxes
            if float(box.south) <= lat <= float(box.north) and float(box.west) <= lon <= float(box.east)
        )
        return next(inside, self.refused)

    def degrees(self, text: str) -> float:
        """Return the number of a text; one of another form lies nowhere."""
        return float(text) if re.fullmatch(self.pattern, text) else math.nan


Rule = Prefix | Part | Amount | Above | Grid | Region


def _optional(unit: str, gap: str) -> str:
    quoted = "".join(f"[{character}]" if character != "^" else r"\^" for character in unit)
    return f"({gap}{quoted}{gap})?" if unit else ""


@lru_cache(maxsize=1000)
def rule_of(text: str) -> Rule:
    """Read a rule; a ``SchemaError`` says what it may be.

    >>> rule_of("prefix 3").of("94110"), rule_of("year of DD.MM.YYYY").of("05.11.1987")
    ('941', '1987')
    >>> rule_of("grid 0.1").of("52.5163"), rule_of("grid 0.1").of("-0.05"), rule_of("grid 5").of("13.38")
    ('52.5', '-0.1', '10')
    >>> rule_of("age on 2025-06-30 of YYYY-MM-DD").of("1990-07-01"), rule_of("number of 1.234,5").of("1.234,50")
    ('34', '1234.50')
    """
    if match := _PREFIX.fullmatch(text):
        return Prefix(int(match[1]))
    if match := _PART.fullmatch(text):
        part, notation = match[1] or "age", match[2] or match[4]
        _check_notation(text, part, notation)
        reference = int(match[3].replace("-", "")) if match[3] else 0
        return Part(part, notation, reference)
    if match := _GRID.fullmatch(text):
        return _grid(text, match[1])
    if match := _REGION.fullmatch(text):
        return _region(text, match[1].replace('""', '"') if match[1] else match[2], match[3])
    if match := _ABOVE.fullmatch(text):
        return Above(match[1])
    if (match := _AMOUNT.fullmatch(text)) and match[2] != match[3]:
        before, after = match[1].strip(BLANKS), match[4].strip(BLANKS)
        if not set(before + after) & {*"+-[]\\", match[2], match[3]} - {None, ""}:
            return Amount(text.removeprefix("number of "), before, match[2], match[3] or "", after)
    raise SchemaError(
        f"derive must be 'prefix 3', 'year of YYYY-MM-DD' ({', '.join(PARTS[1:-1])} likewise), "
        "'age on 2025-01-01 of YYYY-MM-DD', 'number of 1.234,5 €', 'grid 0.1', 'above 50000' or "
        "'region with lon: North 50 0 60 9'; got "
        f"{shorten(text)}"
    )


def _grid(text: str, size: str) -> Grid:
    if "." not in size:
        return Grid(size, int(size), 1)
    per_degree = round(1 / float(size)) if float(size) else 0
    if (
        not per_degree or 1 / per_degree != float(size) or THOUSANDTHS % per_degree
    ):  # else edges of one degree would not be edges of cells
        raise SchemaError(f"derive: a grid must cut a degree into whole cells, such as 0.1; got {shorten(text)}")
    return Grid(size, 1, per_degree)


def _region(text: str, beside: str, table: str) -> Region:
    boxes = []
    for part in table.split(";"):
        if not (match := _BOX.fullmatch(part)):
            raise SchemaError(
                "derive: a region is its name and its southern, western, northern and eastern end in degrees, "
                f"such as North 50 -10 60 10; got {shorten(part)}"
            )
        box = Box(*match.groups())
        if float(box.south) > float(box.north) or float(box.west) > float(box.east):
            raise SchemaError(
                f"derive: the ends of {shorten(box.name)} must go from south to north and from west to east "
                f"(beyond the antimeridian, in two parts of one name); got {shorten(part)}"
            )
        boxes.append(box)
    return Region(beside, tuple(boxes))


def regions_from(rows: Iterable[tuple[str, ...]], beside: str) -> str:
    """Return the rule for a table of regions: name, south, west, north, east; its first row may be a header.

    >>> regions_from([("region", "s", "w", "n", "e"), ("North", "50", "-10", "60", "10")], "lon")
    'region with lon: North 50 -10 60 10'
    >>> regions_from([("North: all", "50", "-10", "60", "10")], "position: lon")
    'region with "position: lon": North: all 50 -10 60 10'
    """
    cells = [[cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)]
    if cells and not any(character.isdigit() for cell in cells[0][1:] for character in cell):
        cells = cells[1:]
    told = [" ".join(row) for row in cells]
    quoted = '"' + beside.replace('"', '""') + '"' if ": " in beside or beside.startswith('"') else beside
    made = f"region with {quoted}: {'; '.join(told)}"
    rule_of(made)
    return made


def columns_of(rule: str) -> tuple[str, ...]:
    """Return the other columns that a rule reads."""
    made = rule_of(rule) if rule else None
    return (made.beside,) if isinstance(made, Region) else ()


def _check_notation(text: str, part: str, notation: str) -> None:
    fields = _FIELD.findall(notation)
    absent = [field for field in NEEDS[part] if field not in fields]
    strange = re.search(r"[0-9A-SU-Za-z^\[\]\\]", _FIELD.sub("", notation))
    if absent or len({*fields}) < len(fields) or strange:
        raise SchemaError(
            "derive: a notation is made of YYYY, MM, DD, hh and mm, each once, and other characters "
            f"between them, and {part} needs {', '.join(NEEDS[part])}; got {shorten(text)}"
        )


def notation_of(rule: str) -> str:
    """Return how a person writes what a rule reads; empty where any text will do.

    >>> notation_of("year of DD.MM.YYYY"), notation_of("number of 1.234,5 €"), notation_of("prefix 3")
    ('DD.MM.YYYY', '1.234,5 €', '')
    """
    made = rule_of(rule) if rule else None
    if isinstance(made, Grid):
        return "12.345"
    return made.notation if isinstance(made, Part) else made.example if isinstance(made, Amount) else ""


def raw_text(value: Any) -> str | None:
    """Return the text of a raw value as rules see it: a text as it is written, None for no answer."""
    if is_missing(value):
        return None
    return value if isinstance(value, str) else text_of(value)


def derived(rule: str, value: Any, *beside: Any) -> Any:
    """Return what a rule makes of a raw value; what is missing, or is no single value, stays as it is.

    ``beside`` are the values of the other columns that it reads; without them a region is one already.
    """
    if not rule or is_several(value):
        return value
    made, text = rule_of(rule), raw_text(value)
    if not isinstance(made, Region):
        return None if text is None else made.of(text)
    if not beside:
        return value
    other = raw_text(beside[0])
    return None if text in (None, "") or other in (None, "") else made.of(str(text), str(other))
