"""The plain facts about one raw column: what form its values have, how many there are, which are missing.

Facts only: what they suggest is decided in ``inference``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.records.encoding import LARGEST_WHOLE
from leastwise.schema.values import code_number, text_of

Form = Literal["number", "text", "truth", "ordered", "date", "nested", "empty"]
MOST_VALUES = 10_000  # named values of one attribute; beyond that nobody could read or edit the domain

_DATE = re.compile(
    r"[0-9]{4}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12][0-9]|3[01])(?:[T ][0-9:.,+Z -]*)?"
    r"|(?:0?[1-9]|[12][0-9]|3[01])[-/.](?:0?[1-9]|[12][0-9]|3[01])[-/.][0-9]{4}(?:[T ][0-9:.,+Z -]*)?"
)
_NO_NUMBERS: npt.NDArray[np.float64] = np.empty(0)


@dataclass(frozen=True)
class Profile:
    """What is in a column.

    ``counts`` has each distinct value as text with its number of records; it is left empty for numbers of more
    than ``MOST_VALUES`` kinds. ``numbers`` are the distinct numbers, ascending. ``strange`` are the texts that
    are no numbers in a column that otherwise is one. ``categories`` is the domain that an ordered type declares.
    ``floats`` says that the column holds floating-point numbers.
    """

    name: str
    form: Form
    records: int
    missing: int
    distinct: int
    counts: Mapping[str, int] = field(default_factory=dict)
    numbers: npt.NDArray[np.float64] = field(default_factory=lambda: _NO_NUMBERS)
    strange: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    floats: bool = False

    @property
    def known(self) -> int:
        """The records that have a value."""
        return self.records - self.missing

    @property
    def finite(self) -> npt.NDArray[np.float64]:
        """The distinct finite numbers."""
        return self.numbers[np.isfinite(self.numbers)]

    @property
    def whole(self) -> bool:
        """Whether all finite numbers are whole; large floats are, but by no choice of theirs."""
        if not len(self.finite) or (self.floats and np.abs(self.finite).max() > LARGEST_WHOLE):
            return False
        return bool((self.finite == np.floor(self.finite)).all())

    @property
    def sorted_values(self) -> tuple[str, ...]:
        """The distinct values in an order that tells nothing about who came first."""
        if self.categories:
            return self.categories
        if self.form == "number":
            return tuple(sorted(self.counts, key=lambda text: (float(text), text)))
        return tuple(sorted(self.counts))

    def common_values(self, at_least: int) -> tuple[str, ...]:
        """Return the values that so many records have; all of them where the type declares them."""
        if self.categories:
            return self.categories
        return tuple(value for value in self.sorted_values if self.counts[value] >= at_least)

    def most_frequent(self, most: int) -> tuple[str, ...]:
        """Return so many of the values, those that most records have."""
        chosen = {*sorted(self.counts, key=lambda value: (-self.counts[value], value))[:most]}
        return tuple(value for value in self.sorted_values if value in chosen)

    @property
    def single(self) -> tuple[str, ...]:
        """The values that exactly one record has."""
        return tuple(value for value in self.sorted_values if self.counts.get(value) == 1)


def profile(column: nw.Series[Any]) -> Profile:
    """Look at a column once."""
    dtype = column.dtype
    if dtype.is_numeric():
        return _profile_numbers(column)
    if dtype in (nw.Date, nw.Datetime, nw.Time, nw.Duration):
        missing = int(column.null_count())
        return Profile(
            column.name, "date", len(column), missing, column.n_unique() - (missing > 0), _counts(column)
        )
    if dtype.is_nested() or dtype == nw.Binary:
        return Profile(column.name, "nested", len(column), int(column.null_count()), 0)
    return _profile_values(column)


def _profile_numbers(column: nw.Series[Any]) -> Profile:
    numbers = column.cast(nw.Float64()).to_numpy().astype(float)
    known = numbers[~np.isnan(numbers)]
    distinct, people = np.unique(known, return_counts=True)
    missing = len(numbers) - len(known)
    counts: dict[str, int] = {}
    if len(distinct) <= MOST_VALUES:
        told = column.dtype == nw.Float64 or (
            column.dtype.is_integer() and np.abs(distinct).max(initial=0) < 2**53
        )
        # Where a double tells every number, what was counted is enough: wide files have thousands of columns.
        counts = _texts(distinct.tolist(), people.tolist()) if told else _counts(column)
    form: Form = "number" if len(distinct) else "empty"
    floats = column.dtype.is_float()
    return Profile(column.name, form, len(numbers), missing, len(distinct), counts, distinct, floats=floats)


def _profile_values(column: nw.Series[Any]) -> Profile:
    try:
        counts = _counts(column)
    except TypeError:  # lists or mappings in a column of Python objects
        return Profile(column.name, "nested", len(column), int(column.null_count()), 0)
    missing = len(column) - sum(counts.values())
    form = _form_of_values(column.dtype, counts)
    numeric = [n for text in counts if (n := code_number(text)) is not None] if form == "text" else []
    strange = tuple(text for text in counts if code_number(text) is None) if form == "text" else ()
    if numeric and not strange:
        numbers = np.unique(numeric)
        return Profile(column.name, "number", len(column), missing, len(counts), counts, numbers)
    almost = len(numeric) >= max(3, 9 * len(strange)) or (len(numeric) > 2 and len(strange) == 1)
    categories = tuple(map(str, column.dtype.categories)) if isinstance(column.dtype, nw.Enum) else ()
    return Profile(
        column.name,
        form,
        len(column),
        missing,
        len(counts),
        counts,
        strange=strange if almost else (),
        categories=categories,
    )


def _form_of_values(dtype: Any, counts: Mapping[str, int]) -> Form:
    if isinstance(dtype, nw.Enum):
        return "ordered"
    if not counts:
        return "empty"
    if dtype == nw.Boolean:
        return "truth"
    return "date" if all(map(_DATE.fullmatch, counts)) else "text"


def _counts(column: nw.Series[Any]) -> dict[str, int]:
    """Return how many records have each value, by its text; the missing ones are left out."""
    if column.dtype in (nw.Categorical, nw.Enum):
        column = column.cast(nw.String())
    # Records without a value are dropped first: not all frames agree whether they count.
    table = column.alias("value").drop_nulls().value_counts(name="count")
    return _texts(table["value"].to_list(), table["count"].to_list())


def _texts(values: Iterable[Any], people: Iterable[int]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for value, count in zip(values, people, strict=True):
        if isinstance(value, (list, dict, tuple, set, np.ndarray)):
            raise TypeError("nested values have no text")
        text = text_of(value)
        if text is not None:
            counts[text] += count
    return dict(counts)
