"""Groups of named values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ArtefactError, shorten
from leastwise.partition.base import Partition, first_seen
from leastwise.partition.labels import NAMED_VALUES, alternatives, group_label
from leastwise.schema import Attribute
from leastwise.schema.names import Content
from leastwise.schema.values import Say, text_of


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
        object.__setattr__(self, "assignment", first_seen(self.assignment))
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
        marks = [bucket_of.get(text_of(v), f"alone {v}") for v in [*attribute.values, *extras]]
        return cls(attribute, first_seen([*marks, "other"] if attribute.other else marks))

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

    def _piece(self, known: float) -> int:
        return int(known)

    @property
    def untouched(self) -> bool:
        """Whether every value keeps a bucket of its own; without a listed value, "other" is all of them."""
        return self.size == len(self.assignment) and (self.size > 1 or bool(self.attribute.values))

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
        return Groups(self.attribute, first_seen(zip(self.assignment, other.assignment, strict=True)))

    def _own_content(self, bucket: int) -> Content:
        return Content(frozenset(self.groups[bucket]))

    def told(self, bucket: int, say: Say = str) -> str:
        """Say its values as nobody has named them, empty where it has none."""
        return group_label(self.attribute, self.groups[bucket], say) if self.groups[bucket] else ""

    def behind(self, bucket: int, say: Say = str) -> tuple[str, ...]:
        """Return all values of a group whose label does not list them."""
        values = tuple(map(self.attribute.label_of, self.groups[bucket]))
        most_told = 2 if self.attribute.kind == "ordinal" else NAMED_VALUES
        listed = len(values) <= most_told and self.own_label(bucket) == alternatives(values or ("",))
        return () if listed and not self.name(bucket) else values
