"""What every partition can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.partition.labels import alternatives, distinguished
from leastwise.schema import Attribute, Extra, Unknown
from leastwise.schema.derive import derived
from leastwise.schema.values import Say

Codes = npt.NDArray[np.integer[Any]]


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
    def _piece(self, known: float) -> int:
        """Return the piece of a number of the domain, or of the position of a declared value."""

    @abstractmethod
    def representative(self, bucket: int) -> str | float | None:
        """Return a fixed member of the bucket, chosen from the domain and not from data."""

    def piece(self, value: Any, unknown: Unknown = "other") -> int:
        """Return the piece of one raw value; a strange one goes where the domain says, or is refused."""
        found = self.attribute.read(derived(self.attribute.derive, value), unknown)
        if isinstance(found, Extra):
            return self._pieces if found is Extra.MISSING else len(self.assignment) - 1
        return self._piece(found)

    def bucket(self, value: Any, unknown: Unknown = "other") -> int:
        """Return the bucket of one raw value."""
        return 0 if self.suppressed else self.assignment[self.piece(value, unknown)]

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
        return ("any",) if self.suppressed else tuple(distinguished([self._label(b) for b in range(self.size)]))

    def _label(self, bucket: int) -> str:
        extras = ["missing"] if bucket == self.missing_bucket else []
        extras += ["other"] if bucket == self.other_bucket else []
        own = self.own_label(bucket)
        return alternatives([own, *extras] if own else extras)

    def own_label(self, bucket: int, say: Say = str) -> str:
        """Return what people read for its numbers or values, empty where it has only "missing" or "other".

        ``say`` puts the words into another language.
        """
        raise AssertionError(f"{type(self).__name__} has no bucket labels")

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


def first_seen(marks: Iterable[Any]) -> tuple[int, ...]:
    """Number marks in the order of their first appearance.

    >>> first_seen("abcab")
    (0, 1, 2, 0, 1)
    """
    number: dict[Any, int] = {}
    return tuple(number.setdefault(mark, len(number)) for mark in marks)
