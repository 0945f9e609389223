"""What merges gain: how much more often an adversary errs where some answers are asked as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from leastwise.generalization import Generalization
from leastwise.kernels.joint_coarsening import score_merge
from leastwise.minimizers.coarsening.path import FineBuckets
from leastwise.minimizers.coarsening.state import PseudoCounts, make_state
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.minimizers.optimal.items import target_weights
from leastwise.records.table import Table


def gains_of(
    table: Table,
    generalization: Generalization,
    merges: Sequence[tuple[int, Sequence[int]]],
    constraints: Constraints | None = None,
) -> list[float]:
    """Return by how much more often an adversary errs, on average, if only these buckets become one.

    Counted on the joint buckets of these records, each left out of its own, as a path of merges does.

    Parameters
    ----------
    merges
        Of each, the place of the attribute, and the buckets that become one.
    """
    if not merges:
        return []
    fine = FineBuckets.of(table, generalization, constraints or Constraints())
    sizes = [partition.size for partition in fine.partitions]
    state, _ = make_state(fine.records, fine.columns, sizes, PseudoCounts())
    weights, people = target_weights(table, None), float(fine.records.people.sum())
    gained = []
    for attribute, buckets in merges:
        into = np.full(state.bucket_people.shape[1], -1, dtype=np.int64)
        into[list(buckets)] = min(buckets)
        right = score_merge(state, attribute, into)[:-1]
        gained.append(-float(right @ weights) / people)
    return gained
