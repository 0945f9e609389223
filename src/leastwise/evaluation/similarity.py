"""How alike two generalizations of the same attributes are, as the people see them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.records.table import Table

Array = npt.NDArray[Any]


def similarity(first: Generalization, second: Generalization, table: Table) -> float:
    """Return the mean agreement of the partitions, 1 if they are the same, about 0 if they have nothing in common.

    The agreement of two partitions of an attribute is the adjusted Rand index of the people in the table: over all
    pairs of people, how often both partitions put them together or both keep them apart, beyond chance. It is 0
    where only one of the two asks the attribute at all. Attributes that neither asks are left out.
    """
    scores = []
    maps = zip(table.bucket_maps(first), table.bucket_maps(second), strict=True)
    for j, (one, other) in enumerate(maps):
        if not (first.partitions[j].suppressed and second.partitions[j].suppressed):
            scores.append(adjusted_rand(one, other, table.use(j)))
    return float(np.mean(scores)) if scores else 1.0


def adjusted_rand(one: Array, other: Array, people: Array) -> float:
    """Return the adjusted Rand index of two partitions of values that so many people have.

    >>> adjusted_rand(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([2.0, 3.0, 4.0]))
    1.0
    >>> adjusted_rand(np.array([0, 0, 1]), np.array([0, 0, 0]), np.array([2.0, 3.0, 4.0]))
    0.0
    """
    together = np.zeros((int(one.max()) + 1, int(other.max()) + 1))
    np.add.at(together, (one, other), people)
    both, in_one, in_other = (_pairs(counts) for counts in (together, together.sum(axis=1), together.sum(axis=0)))
    expected = in_one * in_other / max(_pairs(people.sum()), 1e-300)
    most = (in_one + in_other) / 2
    # Everybody alone, or everybody together, in both: the same, though there is nothing to adjust for.
    return 1.0 if most - expected <= 1e-9 * max(most, 1.0) else float((both - expected) / (most - expected))


def _pairs(counts: Any) -> float:
    return float(np.sum(counts * (counts - 1) / 2))
