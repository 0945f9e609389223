"""Ways to make a partition: suppress, keep, or read off what a minimizer found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.partition.base import Codes, Partition, first_seen
from leastwise.partition.groups import Groups
from leastwise.partition.intervals import Intervals, Untouched
from leastwise.schema import Attribute


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
    return Intervals(attribute, edges, first_seen([*runs, *marks[len(levels) :]])[len(runs) :])


@lru_cache(maxsize=4096)  # the candidates of one path share most of their edges
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
