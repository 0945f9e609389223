"""One attribute's buckets: intervals of numbers, groups of values, or every value by itself.

A partition is *strict*: every value of the domain lies in exactly one bucket. This holds by construction,
because a partition is stored as a map, never as a list of overlapping sets. Beside its declared values a domain
may have "missing" and "other"; they are placed like any value, alone or with others. Buckets are numbered in
the order of the domain, "missing" and "other" last.

A value equal to an edge belongs to the LEFT bucket: ``x <= edge``.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from leastwise.bucket_labels import alternatives, distinguished, group_label, interval_label
from leastwise.errors import ArtefactError, ParameterError, SchemaError, UnknownValueError, shorten
from leastwise.schema import Attribute
from leastwise.values import number_text, text_of

Codes = npt.NDArray[np.integer[Any]]
Unknown = Literal["error", "other"]
Self = TypeVar("Self", bound="Partition")


class Partition(ABC):
    """The buckets of one attribute.

    ``assignment`` gives the bucket of each *piece*: an interval or a declared value, then "missing" and "other"
    where the domain has them. Everything else follows from it.
    """

    attribute: Attribute
    assignment: tuple[int, ...]

    @abstractmethod
    def bucket_map(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the bucket of each code: of the levels, then of "missing" and "other"."""

    @abstractmethod
    def bucket(self, value: Any, unknown: Unknown = "error") -> int:
        """Return the bucket of one raw value; ``unknown="other"`` sends a strange one where the domain says."""

    @abstractmethod
    def representative(self, bucket: int) -> str | float | None:
        """Return a fixed member of the bucket, chosen from the domain and not from data."""

    @property
    def size(self) -> int:
        """The number of buckets, k."""
        return max(self.assignment) + 1

    @property
    def suppressed(self) -> bool:
        """Whether the attribute is not collected at all (one bucket)."""
        return self.size == 1

    @property
    def untouched(self) -> bool:
        """Whether every value keeps a bucket of its own."""
        return False

    @property
    def missing_bucket(self) -> int | None:
        """Where a missing value goes, None if the domain has none."""
        return self.assignment[self._pieces] if self.attribute.missing else None

    @property
    def other_bucket(self) -> int | None:
        """Where a value outside the domain goes, None if it is not accepted."""
        return self.assignment[-1] if self.attribute.other else None

    @property
    def _pieces(self) -> int:
        return len(self.assignment) - self.attribute.extra_values

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """What people read for each bucket; no two are the same."""
        return ("any",) if self.suppressed else tuple(distinguished(self._labels()))

    def _labels(self) -> list[str]:
        return [self._label(bucket) for bucket in range(self.size)]

    def _label(self, bucket: int) -> str:
        extras = ["missing"] if bucket == self.missing_bucket else []
        extras += ["other"] if bucket == self.other_bucket else []
        own = self._own_label(bucket)
        return alternatives([own, *extras] if own else extras)

    def _own_label(self, bucket: int) -> str:
        raise AssertionError(f"{type(self).__name__} has no bucket labels")

    def _unknown_bucket(self, value: Any, hint: str, unknown: Unknown) -> int:
        if unknown == "other" and self.other_bucket is not None:
            return self.other_bucket
        if unknown == "other":
            hint = f"{hint} (the domain declares no 'other')"
        raise UnknownValueError(self.attribute.name, value, hint)

    def merge(self, first: int, second: int) -> Partition:
        """Return the partition with two buckets made one."""
        for bucket in (first, second):
            if not 0 <= bucket < self.size:
                raise ParameterError(f"{self.attribute.name} has buckets 0 to {self.size - 1}; got {bucket}")
        return self.coarsen([first if bucket == second else bucket for bucket in range(self.size)])

    @abstractmethod
    def coarsen(self, merged: Sequence[int]) -> Partition:
        """Return the partition in which bucket b has become ``merged[b]``."""

    @abstractmethod
    def refine(self, other: Partition) -> Partition:
        """Return the coarsest partition that is at least as fine as both."""

    def is_coarser_than(self, other: Partition) -> bool:
        """Return whether knowing ``other``'s bucket tells this one's (equal partitions included)."""
        return self.refine(other) == other

    def _check_same_attribute(self, other: Partition) -> None:
        if self.attribute != other.attribute:
            raise SchemaError(
                f"partitions of the same attribute are needed; got {shorten(self.attribute.name)} and "
                f"{shorten(other.attribute.name)} (or their domains differ)"
            )


def _first_seen(marks: Iterable[Any]) -> tuple[int, ...]:
    """Number marks in the order of their first appearance."""
    number: dict[Any, int] = {}
    return tuple(number.setdefault(mark, len(number)) for mark in marks)


@dataclass(frozen=True)
class Intervals(Partition):
    """Consecutive intervals of a continuous attribute: (-inf, e1], (e1, e2], ..., (ek, inf).

    ``extras`` gives the buckets of "missing" and "other" (those the domain has, in this order); by default each
    has a bucket of its own.

    Examples
    --------
    >>> age = Attribute("age", "continuous", lower=0, integer=True, missing=True)
    >>> buckets = Intervals(age, (19, 63))
    >>> buckets.labels
    ('0 to 19', '20 to 63', '64 or more', 'missing')
    >>> [buckets.bucket(value) for value in (0, 19, 20, 63, 64, None)]
    [0, 0, 1, 1, 2, 3]
    >>> buckets.merge(0, 3).labels
    ('0 to 19 or missing', '20 to 63', '64 or more')
    """

    attribute: Attribute
    edges: tuple[float, ...] = ()
    extras: tuple[int, ...] = ()
    assignment: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(float(edge) for edge in self.edges))
        size = len(self.edges) + 1
        if not self.extras:
            object.__setattr__(self, "extras", tuple(range(size, size + self.attribute.extra_values)))
        object.__setattr__(self, "assignment", (*range(size), *self.extras))
        problems = interval_problems(self.attribute, self.edges)
        if len(self.extras) != self.attribute.extra_values or self.assignment != _first_seen(self.assignment):
            problems.append(f"extras must place missing and other in existing buckets; got {self.extras}")
        if problems:
            raise ArtefactError(f"attribute {shorten(self.attribute.name)}", problems)

    def bucket_map(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the bucket of each level, then of "missing" and "other"."""
        inner = np.searchsorted(np.asarray(self.edges), np.asarray(levels, dtype=float), side="left")
        return np.concatenate([inner, np.asarray(self.extras, dtype=np.intp)]).astype(np.intp)

    def bucket(self, value: Any, unknown: Unknown = "error") -> int:
        """Return the bucket of one raw value."""
        if self.suppressed:
            return 0
        try:
            number = self.attribute.number(value)
        except UnknownValueError as error:
            return self._unknown_bucket(value, error.hint, unknown)
        if number is not None:
            return bisect_left(self.edges, number)
        if self.missing_bucket is None:
            return self._unknown_bucket(value, self.attribute.missing_hint(), unknown)
        return self.missing_bucket

    def ends(self, bucket: int) -> tuple[float | None, float | None]:
        """Return (above, up_to) of an interval; None is an open end."""
        above = self.edges[bucket - 1] if bucket else None
        return above, self.edges[bucket] if bucket < len(self.edges) else None

    def representative(self, bucket: int) -> float | None:
        """Return the middle of a bounded interval, the number nearest to the edge of an open one."""
        if bucket > len(self.edges):
            return None
        above, up_to = self.ends(bucket)
        return _member(self.attribute, above, up_to)

    def coarsen(self, merged: Sequence[int]) -> Intervals:
        """Return the partition in which bucket b has become ``merged[b]``; intervals join only neighbours."""
        marks = [merged[bucket] for bucket in self.assignment]
        inner, extras = marks[: self._pieces], marks[self._pieces :]
        numbered = _first_seen(inner)
        if any(after < before for before, after in itertools.pairwise(numbered)):
            raise ParameterError(f"{self.attribute.name}: only neighbouring intervals can be merged")
        kept = [e for i, e in enumerate(self.edges) if inner[i] != inner[i + 1]]
        return Intervals(self.attribute, tuple(kept), _first_seen([*inner, *extras])[self._pieces :])

    def refine(self, other: Partition) -> Partition:
        """Return the partition with the edges of both."""
        self._check_same_attribute(other)
        if isinstance(other, Untouched):
            return other
        assert isinstance(other, Intervals)
        edges = tuple(sorted({*self.edges, *other.edges}))
        probes = np.array([*edges, math.inf])
        marks = [*zip(self.bucket_map(probes), other.bucket_map(probes), strict=True)]
        return Intervals(self.attribute, edges, _first_seen(marks)[len(probes) :])

    def _own_label(self, bucket: int) -> str:
        return interval_label(self.attribute, *self.ends(bucket)) if bucket <= len(self.edges) else ""


def interval_problems(attribute: Attribute, edges: Sequence[float]) -> list[str]:
    """Return all that is wrong with the edges, in words."""
    if not attribute.continuous:
        return [f"intervals need a continuous attribute; this one is {attribute.kind}"]
    problems = [f"edges must be finite numbers; got {edge}" for edge in edges if not math.isfinite(edge)]
    for before, after in itertools.pairwise(edges):
        if not before < after:
            problems.append(
                f"edges must ascend; {number_text(after)} comes after {number_text(before)} (an overlap)"
            )
    for edge in edges:
        if attribute.integer and math.isfinite(edge) and edge != math.floor(edge):
            problems.append(f"edges of whole numbers must be whole; write {math.floor(edge)} instead of {edge}")
        below = attribute.lower is not None and edge < attribute.lower
        above = attribute.upper is not None and edge >= attribute.upper
        if below or above:
            problems.append(
                f"edge {number_text(edge)} leaves an empty bucket outside the {attribute.domain_text()}"
            )
    return problems


def _member(attribute: Attribute, above: float | None, up_to: float | None) -> float:
    low = attribute.lower if above is None else above
    high = attribute.upper if up_to is None else up_to
    if low is None:
        return 0.0 if high is None else high
    if high is not None:
        # low is the bucket's own only at the declared end; elsewhere it belongs to the left neighbour.
        middle = low / 2 + high / 2
        middle = math.floor(middle) if attribute.integer else middle
        return float(middle) if middle > low or above is None else high
    if above is None:
        return low
    return low + 1 if low + 1 > low else math.nextafter(low, math.inf)


@dataclass(frozen=True)
class Groups(Partition):
    """Groups of the values of a discrete attribute, or runs of neighbours of an ordinal one.

    Examples
    --------
    >>> colour = Attribute("colour", values=("red", "green", "blue"))
    >>> groups = Groups.of(colour, [["red", "blue"], ["green"]])
    >>> groups.labels, groups.bucket("blue")
    (('red or blue', 'green'), 0)
    >>> groups.merge(0, 1).labels
    ('any',)
    """

    attribute: Attribute
    assignment: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "assignment", _first_seen(self.assignment))
        problems = self._problems()
        if problems:
            raise ArtefactError(f"attribute {shorten(self.attribute.name)}", problems)

    def _problems(self) -> list[str]:
        if self.attribute.continuous:
            return ["groups need a discrete or ordinal attribute; this one is continuous"]
        values = len(self.attribute.values)
        if len(self.assignment) != values + self.attribute.extra_values:
            return [f"the assignment must place {values + self.attribute.extra_values} values"]
        inner = self.assignment[:values]
        if self.attribute.kind == "ordinal" and list(inner) != sorted(inner):
            return ["a bucket of an ordinal attribute must be a run of neighbouring values"]
        return []

    @classmethod
    def of(cls, attribute: Attribute, groups: Sequence[Sequence[str | None]]) -> Groups:
        """Build from lists of values; None stands for "missing", which otherwise is alone, as is "other"."""
        bucket_of: dict[str | None, int] = {}
        for number, group in enumerate(groups):
            bucket_of.update({text_of(value): number for value in group})
        extras = [None] if attribute.missing else []
        marks = [bucket_of.get(v, f"alone {v}") for v in [*attribute.values, *extras]]
        return cls(attribute, _first_seen([*marks, "other"] if attribute.other else marks))

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The values of each bucket, in the order of the domain; without "missing" and "other"."""
        members: list[list[str]] = [[] for _ in range(self.size)]
        for value, bucket in zip(self.attribute.values, self.assignment, strict=False):
            members[bucket].append(value)
        return tuple(map(tuple, members))

    def bucket_map(self, levels: npt.NDArray[Any] | None = None) -> npt.NDArray[np.intp]:
        """Return the bucket of each declared value, then of "missing" and "other"."""
        return np.asarray(self.assignment, dtype=np.intp)

    def bucket(self, value: Any, unknown: Unknown = "error") -> int:
        """Return the bucket of one raw value."""
        if self.suppressed:
            return 0
        text = text_of(value)
        if text is None and self.missing_bucket is not None:
            return self.missing_bucket
        code = None if text is None else self.attribute.code_of.get(text)
        if code is None:
            return self._unknown_bucket(value, self.attribute.unknown_hint(value), unknown)
        return self.assignment[code]

    @property
    def untouched(self) -> bool:
        """Whether every value keeps a bucket of its own."""
        return self.size == len(self.assignment)

    def representative(self, bucket: int) -> str | None:
        """Return the middle value of a run, the first value of a group."""
        values = self.groups[bucket]
        if not values:
            return None
        return values[(len(values) - 1) // 2] if self.attribute.kind == "ordinal" else values[0]

    def coarsen(self, merged: Sequence[int]) -> Groups:
        """Return the partition in which bucket b has become ``merged[b]``."""
        return Groups(self.attribute, tuple(merged[bucket] for bucket in self.assignment))

    def refine(self, other: Partition) -> Groups:
        """Return the common refinement: two values stay together where both keep them together."""
        self._check_same_attribute(other)
        return Groups(self.attribute, _first_seen(zip(self.assignment, other.assignment, strict=True)))

    def _own_label(self, bucket: int) -> str:
        return group_label(self.attribute, self.groups[bucket]) if self.groups[bucket] else ""


@dataclass(frozen=True)
class Untouched(Partition):
    """A continuous attribute asked exactly: every number is its own bucket.

    It has no edges to publish: listing them would list the numbers that somebody gave.
    """

    attribute: Attribute
    assignment: tuple[int, ...] = field(init=False, repr=False, compare=False, default=())

    def __post_init__(self) -> None:
        if not self.attribute.continuous:
            raise ArtefactError(f"attribute {shorten(self.attribute.name)}", ["only numbers can be untouched"])

    @property
    def size(self) -> int:
        """The number of values, where the domain is finite; otherwise 0, for "as many as there are"."""
        attribute = self.attribute
        if not attribute.integer or attribute.lower is None or attribute.upper is None:
            return 0
        return int(attribute.upper - attribute.lower) + 1 + attribute.extra_values

    @property
    def suppressed(self) -> bool:
        """Never: the attribute is collected in full."""
        return False

    @property
    def untouched(self) -> bool:
        """Always."""
        return True

    @property
    def missing_bucket(self) -> None:
        """Missing stays missing."""
        return

    @property
    def other_bucket(self) -> None:
        """A number outside the domain cannot be kept exactly."""
        return

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """There is no list of labels: each number is its own."""
        return ()

    def bucket_map(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return a bucket of its own for each level, for "missing" and for "other"."""
        return np.arange(len(levels) + self.attribute.extra_values, dtype=np.intp)

    def bucket(self, value: Any, unknown: Unknown = "error") -> int:
        """Raise: an untouched number has no numbered bucket."""
        raise ParameterError(f"{self.attribute.name} is untouched and has no numbered buckets")

    def representative(self, bucket: int) -> float | None:
        """Raise: an untouched number represents itself."""
        raise ParameterError(f"{self.attribute.name} is untouched: each number represents itself")

    def coarsen(self, merged: Sequence[int]) -> Partition:
        """Raise: there are no numbered buckets to merge."""
        raise ParameterError(f"{self.attribute.name} is untouched; give it intervals first")

    def refine(self, other: Partition) -> Untouched:
        """Return itself: nothing is finer."""
        self._check_same_attribute(other)
        return self

    def is_coarser_than(self, other: Partition) -> bool:
        """Return whether the other is untouched too."""
        self._check_same_attribute(other)
        return isinstance(other, Untouched)


def suppress(attribute: Attribute) -> Partition:
    """Return the partition that does not collect the attribute at all."""
    nowhere = (0,) * attribute.extra_values
    if attribute.continuous:
        return Intervals(attribute, (), nowhere)
    return Groups(attribute, (0,) * len(attribute.values) + nowhere)


def keep(attribute: Attribute) -> Partition:
    """Return the partition that keeps every value apart."""
    if attribute.continuous:
        return Untouched(attribute)
    return Groups(attribute, tuple(range(len(attribute.values) + attribute.extra_values)))


def from_map(attribute: Attribute, levels: npt.NDArray[Any], buckets: Sequence[int] | Codes) -> Partition:
    """Return the partition that sends code c to ``buckets[c]``: what a minimizer found, as an artefact.

    Codes are the levels, then "missing" and "other". Between two neighbouring levels of a continuous attribute
    that part, the edge is the roundest number that separates them, so that it tells nothing about either.
    """
    marks = [int(bucket) for bucket in buckets]
    if not attribute.continuous:
        return Groups(attribute, tuple(marks))
    inner = marks[: len(levels)]
    cuts = [i for i in range(len(inner) - 1) if inner[i] != inner[i + 1]]
    if len(cuts) + 1 > max(len(set(inner)), 1):
        raise ParameterError(f"{attribute.name}: the buckets of a continuous attribute must be intervals")
    edges = tuple(edge_between(float(levels[i]), float(levels[i + 1]), attribute.integer) for i in cuts)
    # Without a single level (all missing) the one interval still needs a mark of its own.
    runs = [inner[i] for i in cuts] + (inner[-1:] or [-1])
    return Intervals(attribute, edges, _first_seen([*runs, *marks[len(levels) :]])[len(runs) :])


def edge_between(low: float, high: float, integer: bool = False) -> float:
    """Return the roundest number e with low <= e < high, the one nearest to the middle.

    >>> edge_between(20, 41), edge_between(20, 21), edge_between(0.1234, 0.1271), edge_between(-3, 3)
    (30.0, 20.0, 0.125, 0.0)
    """
    if math.isinf(low) or math.isinf(high):
        return low if math.isfinite(low) else -np.finfo(float).max if math.isfinite(high) else 0.0
    # Decimal: the powers of ten must be exact, and must not overflow near the ends of the floats.
    middle, span = (Decimal(low) + Decimal(high)) / 2, Decimal(high) - Decimal(low)
    for power in range(span.adjusted() + 1, span.adjusted() - 20, -1):
        for multiple in (5, 1):
            step = Decimal(multiple).scaleb(power)
            edge = float((middle / step).to_integral_value() * step)
            if low <= edge < high and (not integer or edge == math.floor(edge)):
                return edge + 0.0  # never -0.0
    return low
