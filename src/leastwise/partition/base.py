"""What every partition can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError, SchemaError, shorten
from leastwise.partition.labels import alternatives, distinguished
from leastwise.schema import Attribute, Extra, Unknown
from leastwise.schema.derive import derived
from leastwise.schema.names import Content, same_name
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
        name = self.name(bucket)
        if name:
            return name
        extras = ["missing"] if bucket == self.missing_bucket else []
        extras += ["other"] if bucket == self.other_bucket else []
        own = self.own_label(bucket)
        return alternatives([own, *extras] if own else extras)

    def name(self, bucket: int) -> str:
        """Return what people call the bucket, empty where nobody has named it."""
        return self.attribute.name_of.get(self.content(bucket), "") if self.attribute.names else ""

    def own_label(self, bucket: int, say: Say = str) -> str:
        """Return what people read for its numbers or values, empty where it has only "missing" or "other".

        ``say`` puts the words into another language.
        """
        own = self.attribute.name_of.get(self.content(bucket).own, "") if self.attribute.names else ""
        return own or self.told(bucket, say)

    def content(self, bucket: int) -> Content:
        """Return what a bucket holds."""
        own = self._own_content(bucket)
        return replace(own, missing=bucket == self.missing_bucket, other=bucket == self.other_bucket)

    def _own_content(self, bucket: int) -> Content:
        raise AssertionError(f"{type(self).__name__} has no buckets to name")

    def told(self, bucket: int, say: Say = str) -> str:
        """Say the numbers or values of a bucket as nobody has named them, empty where it has none."""
        raise AssertionError(f"{type(self).__name__} has no bucket labels")

    def behind(self, bucket: int, say: Say = str) -> tuple[str, ...]:
        """Return what a bucket holds where its label does not say it: the numbers, or all values of a group."""
        told = self.told(bucket, say)
        return (told,) if told and (self.name(bucket) or self.own_label(bucket, say) != told) else ()

    @property
    def clashing(self) -> tuple[str, ...]:
        """The names that are also what another bucket is called."""
        heard = [same_name(self._label(bucket)) for bucket in range(self.size if self.attribute.names else 0)]
        names = map(self.name, range(len(heard)))
        return tuple(name for name in names if name and heard.count(same_name(name)) > 1)

    @property
    def unnamed(self) -> Self:
        """The same, as nobody has named a bucket."""
        return self.of_attribute(self.attribute.unnamed) if self.attribute.names else self

    def of_attribute(self, attribute: Attribute) -> Self:
        """Return the same buckets of an attribute that differs only in its texts, or in whether it is personal."""
        return replace(self, attribute=attribute)  # type: ignore[type-var]

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
