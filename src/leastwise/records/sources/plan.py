"""What an engine is asked: counts of groups, and which records lie where.

A record's *place* is a salted permutation of its number or key: a few rounds of ``h -> h^3 + salt`` modulo a
prime, in whole numbers that every engine computes alike. It depends on nothing that the record says. (A hash of
the content would put twins into the same part of a split. The parts would then be no random samples of people,
and the certificate, which rests on that, would promise what it cannot keep.)
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

Family = Literal["int", "float", "text", "bool", "other", "nested"]

PRIME = 2_147_483_579
"""Below 2 to the 31st, so that products fit into 64 bits; cubing permutes, because 3 does not divide PRIME - 1."""

ROUNDS = 3
MOST_GROUPS = 2_000_000
"""So many groups are fetched at most: to judge by them takes about a gigabyte for each million."""

_LARGEST_KEY = 2**62


def salts(seed: int, *names: str) -> tuple[int, ...]:
    """Return the salts of the rounds that belong to these names.

    >>> salts(0, "part") == salts(0, "part"), salts(0, "part") == salts(1, "part")
    (True, False)
    """
    digest = hashlib.sha256("/".join(["leastwise place", str(seed), *names]).encode()).digest()
    return tuple(int.from_bytes(digest[8 * i : 8 * i + 8], "big") % PRIME for i in range(ROUNDS + 1))


def place_of(number: int, seed: int, *names: str) -> int:
    """Return the place of a number in 0 .. PRIME - 1; what every engine computes, said in Python.

    >>> len({place_of(number, 7, "part") for number in range(1000)})
    1000
    """
    first, *others = salts(seed, *names)
    place = (number + first) % PRIME
    for salt in others:
        place = (place**3 + salt) % PRIME
    return place


WHOLE_KEY = "0|-?[1-9][0-9]{0,17}"
"""The form of a key that is a whole number, though its column holds texts, as those of CSV do."""


def number_of_key(key: str) -> int:
    """Return the number of a key that is a text: itself where it is one, else the first eight digits of its MD5.

    >>> number_of_key("7") == 7 + PRIME, number_of_key("007") == number_of_key("7")
    (True, False)
    """
    if re.fullmatch(WHOLE_KEY, key):
        return int(key) % PRIME + PRIME
    return int(hashlib.md5(key.encode(), usedforsecurity=False).hexdigest()[:8], 16)


@dataclass(frozen=True)
class ByValue:
    """A column whose values are looked up, because Python has decided of each what it is."""

    column: str
    family: Family
    bucket_of: Mapping[Any, int]
    missing: int | None
    size: int


@dataclass(frozen=True)
class ByNumber:
    """A column of numbers whose intervals are found by comparing; a number equal to an edge lies left of it.

    ``buckets`` has one entry more than ``edges``; ``missing`` is for null, NaN and ``markers``, ``other`` for what
    lies outside the domain. None: nowhere.
    """

    column: str
    family: Family
    edges: Sequence[float]
    buckets: Sequence[int]
    missing: int | None
    other: int | None
    size: int
    lower: float | None = None
    upper: float | None = None
    integer: bool = False
    markers: Sequence[float] = ()


Placing = ByValue | ByNumber


class Places(NamedTuple):
    """The part of a split: from one place up to below another."""

    start: int
    end: int

    @classmethod
    def of(cls, low: float, high: float) -> Places:
        """Return the places between two shares.

        >>> Places.of(0.5, 1).end == PRIME
        True
        """
        return cls(round(low * PRIME), round(high * PRIME))


class Slice(NamedTuple):
    """Some of the combinations: those of whose first ``digits``, put together, ``number`` is left modulo ``of``.

    The label is no such digit: people who share a generalized record are in one slice, whatever their label.
    """

    number: int
    of: int
    digits: int

    @property
    def halves(self) -> tuple[Slice, Slice]:
        """The two slices that together are this one."""
        return Slice(self.number, 2 * self.of, self.digits), Slice(self.number + self.of, 2 * self.of, self.digits)


@dataclass(frozen=True)
class Plan:
    """One question: how many records have each combination of digits and exact columns, and each value beside it.

    Attributes
    ----------
    words
        Why it is asked.
    digits
        Buckets of columns; they are put together into few whole numbers.
    exact
        Columns that count as they are.
    values
        What is counted beside the combination, each in a set of its own: a column as it is, or its buckets.
    places
        The part of the records; None for all.
    at_least
        Smaller counts do not leave the engine.
    slice
        Which of the combinations; None for all.
    """

    words: str
    digits: tuple[Placing, ...] = ()
    exact: tuple[str, ...] = ()
    values: tuple[str | Placing, ...] = ()
    places: Places | None = None
    at_least: int = 1
    slice: Slice | None = None

    @property
    def columns(self) -> list[str]:
        """What the query reads."""
        beside = (each if isinstance(each, str) else each.column for each in self.values)
        return list(dict.fromkeys([*(digit.column for digit in self.digits), *self.exact, *beside]))

    @property
    def combinations(self) -> float:
        """How many there may be, with what is counted beside; of a column as it is nothing is known."""
        placed = [*self.digits, *(each for each in self.values if not isinstance(each, str))]
        return math.prod(float(each.size + 1) for each in placed)

    @cached_property
    def keys(self) -> list[Packed]:
        """The digits of the combination in whole numbers; without any digit one number, which is 0."""
        return packed(self.digits) or [[]]

    @property
    def sliced(self) -> Packed:
        """What says the slice of a combination: each digit with its factor, to be added up modulo PRIME."""
        digits = self.digits[: self.slice.digits] if self.slice else ()
        return [(digit, salts(0, "slice", str(i))[0]) for i, digit in enumerate(digits)]

    @cached_property
    def looked_up(self) -> dict[str, list[ByValue]]:
        """By column, what is looked up of it."""
        placings: dict[str, list[ByValue]] = {}
        for each in (*self.digits, *self.values):
            if isinstance(each, ByValue):
                placings.setdefault(each.column, []).append(each)
        return placings


Packed = list[tuple[Placing, int]]


def packed(digits: Sequence[Placing]) -> list[Packed]:
    """Put digits together into few whole numbers, with what each is multiplied by; 0 is for what has no bucket."""
    keys: list[Packed] = []
    bound = _LARGEST_KEY
    for digit in digits:
        if bound * (digit.size + 1) > _LARGEST_KEY:
            keys.append([])
            bound = 1
        keys[-1].append((digit, bound))
        bound *= digit.size + 1
    return keys
