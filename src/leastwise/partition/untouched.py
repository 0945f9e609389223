"""Every number by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ArtefactError, ParameterError, shorten
from leastwise.partition.base import Partition
from leastwise.schema import Attribute


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
