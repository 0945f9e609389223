"""From trained networks to a strict generalization: each value goes to its likeliest bucket."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from leastwise.generalization import Generalization
from leastwise.minimizers.neural.inputs import Layout
from leastwise.minimizers.neural.networks import GeneralizationNetwork
from leastwise.partition import Groups, Partition, from_map
from leastwise.records.table import Table

Buckets = npt.NDArray[np.intp]


def read_generalization(
    network: GeneralizationNetwork, layout: Layout, table: Table, **origin: Any
) -> Generalization:
    """Return the generalization that the temperature 0 gives.

    Values that nobody in the sample has decide nothing. A number or ordered value joins the bucket of its next
    lower neighbour that somebody has (of the next higher one below all of them); a discrete value, "missing" and
    "other" join the bucket that most people have.
    """
    found = bucket_of_codes(network, layout)
    partitions = [_partition(table, layout, j, found[j]) for j in range(len(table.schema))]
    return table.generalization(partitions, **origin)


def bucket_of_codes(network: GeneralizationNetwork, layout: Layout) -> list[Buckets]:
    """Return, per attribute, the likeliest bucket of each code."""
    with torch.no_grad():
        likeliest = network(1.0).argmax(dim=1).numpy()
    found = [likeliest[a:b].astype(np.intp) for a, b in pairwise(layout.starts)]
    for j in layout.ordered:
        levels = layout.levels(j)
        # Rounding in the network must not turn two neighbours round.
        found[j][:levels] = np.maximum.accumulate(found[j][:levels])
    return found


def _partition(table: Table, layout: Layout, j: int, buckets: Buckets) -> Partition:
    attribute, levels, seen = table.schema.attributes[j], layout.levels(j), layout.seen(j)
    buckets = np.where(seen, buckets, _most_used(buckets, layout.use[j]))
    inner = np.flatnonzero(seen[:levels])
    if attribute.continuous:
        return from_map(attribute, table.levels[j][inner], [*buckets[inner], *buckets[levels:]])
    if len(inner):
        below = np.maximum(np.searchsorted(inner, np.arange(levels), side="right") - 1, 0)
        buckets[:levels] = buckets[inner[below]]
    return Groups(attribute, tuple(int(bucket) for bucket in buckets))


def _most_used(buckets: Buckets, use: npt.NDArray[Any]) -> int:
    return int(np.bincount(buckets, weights=use).argmax()) if len(buckets) else 0
