"""What counting on the training records says of a generalization, and which candidates it leaves in the race.

Validation is small. Among hundreds of close candidates it prefers the lucky ones, and a lucky candidate on its
frontier hides a better one. So what the training records, which are many more, show to be beaten is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.coarsening.path import countable
from leastwise.minimizers.coarsening.state import PseudoCounts, Records, make_state
from leastwise.minimizers.constraints import Constraints

# Two candidates guess about so many people differently; it makes the difference of their errors uncertain.
_DIFFERENTLY = 0.1


class Estimate(NamedTuple):
    """Errors by leave-one-out counting on the training records."""

    utility_risk: float
    adversary_error: float


def estimate(records: Records, generalization: Generalization, weights: npt.NDArray[np.float64]) -> Estimate:
    """Return the errors of a generalization; ``weights`` are those of the personal attributes."""
    table, none = records.table, Constraints()
    partitions = tuple(countable(table, j, p, none) for j, p in enumerate(generalization.partitions))
    maps = table.bucket_maps(Generalization(partitions))
    columns = [maps[j][table.codes[:, j]].astype(np.int64) for j in range(len(maps))]
    state, _ = make_state(records, columns, [partition.size for partition in partitions], PseudoCounts())
    hits = state.hits.sum(axis=0) / max(records.people.sum(), 1e-12)
    return Estimate(1 - float(hits[-1]), 1 - float(hits[:-1] @ weights / max(weights.sum(), 1e-12)))


def unbeaten(estimates: Sequence[Estimate], people: float) -> list[int]:
    """Return the positions of those that no other one beats in both errors by more than a standard error.

    ``people`` is how many the estimates were counted on.

    >>> found = [Estimate(0.2, 0.3), Estimate(0.2005, 0.2995), Estimate(0.21, 0.29), Estimate(0.21, 0.4)]
    >>> unbeaten(found, people=30_000), unbeaten(found, people=300)
    ([0, 1, 3], [0, 1, 2, 3])
    """
    tolerance = (_DIFFERENTLY / max(people, 1.0)) ** 0.5
    points = np.array(estimates, dtype=float).reshape(-1, 2)
    risk, error = points[:, 0], points[:, 1]
    better = (risk[:, None] < risk[None, :] - tolerance) & (error[:, None] > error[None, :] + tolerance)
    return np.flatnonzero(~better.any(axis=0)).tolist()
