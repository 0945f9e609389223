"""Numbers: every one by itself, or in intervals."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.partition.base import Partition, first_seen
from leastwise.partition.labels import interval_label
from leastwise.schema import Attribute
from leastwise.schema.names import Content
from leastwise.schema.values import Say, number_text


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

    def _piece(self, known: float) -> int:
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
        if len(self.extras) != self.attribute.extra_values or self.assignment != first_seen(self.assignment):
            problems.append(f"extras must place missing and other in existing buckets; got {self.extras}")
        if problems:
            raise ArtefactError(f"attribute {shorten(self.attribute.name)}", problems)

    def bucket_map(self, levels: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """Return the bucket of each level, then of "missing" and "other"."""
        inner = np.searchsorted(np.asarray(self.edges), np.asarray(levels, dtype=float), side="left")
        return np.concatenate([inner, np.asarray(self.extras, dtype=np.intp)]).astype(np.intp)

    def _piece(self, known: float) -> int:
        return bisect_left(self.edges, known)

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
        numbered = first_seen(inner)
        if any(after < before for before, after in itertools.pairwise(numbered)):
            raise ParameterError(f"{self.attribute.name}: only neighbouring intervals can be merged")
        kept = [e for i, e in enumerate(self.edges) if inner[i] != inner[i + 1]]
        return Intervals(self.attribute, tuple(kept), first_seen([*inner, *extras])[self._pieces :])

    def refine(self, other: Partition) -> Partition:
        """Return the partition with the edges of both."""
        self._check_same_attribute(other)
        if isinstance(other, Untouched):
            return other
        assert isinstance(other, Intervals)
        edges = tuple(sorted({*self.edges, *other.edges}))
        probes = np.array([*edges, math.inf])
        marks = [*zip(self.bucket_map(probes), other.bucket_map(probes), strict=True)]
        return Intervals(self.attribute, edges, first_seen(marks)[len(probes) :])

    def _own_content(self, bucket: int) -> Content:
        above, up_to = self.ends(bucket) if bucket <= len(self.edges) else (None, None)
        return Content(above=above, up_to=up_to)

    def told(self, bucket: int, say: Say = str) -> str:
        """Say its numbers as nobody has named them, empty where it has none."""
        return interval_label(self.attribute, *self.ends(bucket), say) if bucket <= len(self.edges) else ""


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
