"""Information loss: NCP and GCP, the measures of older work, reported for comparison only.

They count how many values share a bucket and nothing else, so that they cannot tell a grouping that gives a
secret away from one that hides it (paper §2.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.partition import Groups, Intervals, Partition

if TYPE_CHECKING:
    from leastwise.records.table import Table

Floats = npt.NDArray[np.float64]
Weights = Sequence[float] | Mapping[str, float]


def ncp(partition: Partition, numbers: npt.NDArray[Any] | None = None) -> Floats:
    """Return the normalized certainty penalty of each bucket: 0 for a single value, else its share of the domain.

    The share of an interval is its width over that of the declared domain, of whole numbers their count over
    the domain's. Where an end is not declared, that of ``numbers`` (the sample) takes its place; without any
    width, an interval is all there is and has 1. "missing" and "other" count as one value each in a countable
    domain and have no width in a continuum.

    >>> from leastwise.schema import Attribute
    >>> colour = Attribute("colour", values=("red", "green", "blue", "white"))
    >>> ncp(Groups.of(colour, [["red", "blue", "white"], ["green"]])).tolist()
    [0.75, 0.0]
    >>> share = Attribute("share", "continuous", lower=0, upper=2)
    >>> ncp(Intervals(share, (0.5,))).tolist()
    [0.25, 0.75]
    """
    if isinstance(partition, Groups):
        return _penalties(np.bincount(partition.assignment).astype(float), len(partition.assignment))
    if isinstance(partition, Intervals):
        low, high = ends(partition, np.empty(0) if numbers is None else np.asarray(numbers, dtype=float))
        return (_of_whole_numbers if partition.attribute.integer else _of_real_numbers)(partition, low, high)
    return np.zeros(partition.size)


def _penalties(members: Floats, domain: float) -> Floats:
    """Return the share of each bucket; one that holds a single value, or nothing, has no penalty."""
    return np.where(members <= 1, 0.0, members / max(domain, 1.0))


def ends(partition: Partition, numbers: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the ends of the domain, where one is open that of the finite numbers."""
    finite = numbers[np.isfinite(numbers)]
    lower, upper = partition.attribute.lower, partition.attribute.upper
    low = float(finite.min(initial=math.inf)) if lower is None else lower
    high = float(finite.max(initial=-math.inf)) if upper is None else upper
    return low, high


def _of_whole_numbers(partition: Intervals, low: float, high: float) -> Floats:
    domain = high - low + 1 if low <= high else 0.0
    if domain <= 1:
        return _without_width(partition)
    bounds = np.clip([low - 1, *partition.edges, high], low - 1, high)
    members = np.zeros(partition.size)
    members[: len(bounds) - 1] = np.diff(bounds)
    np.add.at(members, list(partition.extras), 1.0)
    return _penalties(members, domain + partition.attribute.extra_values)


def _of_real_numbers(partition: Intervals, low: float, high: float) -> Floats:
    if not low < high:
        return _without_width(partition)
    # Halved, because the width of the widest domain is more than a number can hold.
    bounds = np.clip([low, *partition.edges, high], low, high) / 2
    shares = np.zeros(partition.size)
    shares[: len(bounds) - 1] = np.diff(bounds) / (high / 2 - low / 2)
    return shares


def _without_width(partition: Intervals) -> Floats:
    """Return 1 for each interval and 0 for "missing" or "other" alone."""
    return np.where(np.arange(partition.size) <= len(partition.edges), 1.0, 0.0)


def gcp(generalization: Generalization, table: Table, weights: Weights | None = None) -> float:
    """Return the global certainty penalty: the mean NCP over records and attributes, from 0 to 1.

    Parameters
    ----------
    generalization
        What is judged.
    table
        The records; each counts for the people it stands for.
    weights
        How much each attribute matters, in their order or by name; equally by default. Only their proportions
        count.
    """
    generalization, shares = generalization.within(table.schema), _attribute_weights(generalization, weights)
    maps = table.bucket_maps(generalization)
    losses = [_loss(p, table, j, maps[j]) for j, p in enumerate(generalization.partitions)]
    return float(np.dot(shares, losses))


def _loss(partition: Partition, table: Table, j: int, mapping: npt.NDArray[Any]) -> float:
    """Return the mean NCP of one attribute over the people."""
    if partition.untouched or not table.people:
        return 0.0
    use, levels = table.use(j), table.levels[j]
    present = levels[use[: len(levels)] > 0] if partition.attribute.continuous else None
    return float(np.dot(use, ncp(partition, present)[mapping]) / table.people)


def _attribute_weights(generalization: Generalization, weights: Weights | None) -> Floats:
    names = generalization.schema.names
    if isinstance(weights, Mapping):
        for name in weights:
            generalization.schema.position(name)
        weights = [weights.get(name, 0.0) for name in names]
    given = np.ones(len(names)) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (len(names),) or not np.all(given >= 0) or not 0 < given.sum() < math.inf:
        raise ParameterError(
            f"weights must be one number per attribute ({len(names)}), none negative, not all 0; got {weights!r}"
        )
    return np.asarray(given / given.sum(), dtype=float)
