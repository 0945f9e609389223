"""From trained networks to a strict generalization: each value goes to its likeliest bucket."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from leastwise.generalization import Generalization
from leastwise.minimizers.neural.inputs import Layout
from leastwise.minimizers.neural.networks import GeneralizationNetwork, tensor
from leastwise.partition import Groups, Partition, from_map
from leastwise.table import Table

Buckets = npt.NDArray[np.intp]


def read_generalization(network: GeneralizationNetwork, layout: Layout, table: Table) -> Generalization:
    """Return the generalization that the temperature 0 gives.

    Values that nobody in the sample has decide nothing. A number or ordered value joins the bucket of its next
    lower neighbour that somebody has (of the next higher one below all of them); a discrete value, "missing" and
    "other" join the bucket that most people have.
    """
    found = bucket_of_codes(network, layout)
    return table.generalization([_partition(table, layout, j, found[j]) for j in range(len(table.schema))])


def bucket_of_codes(network: GeneralizationNetwork, layout: Layout) -> list[Buckets]:
    """Return, per attribute, the likeliest bucket of each code."""
    with torch.no_grad():
        logits, common = network.logits.numpy(), network.common.numpy()
        moved = _moved(network, layout)
    found: dict[int, Buckets] = {}
    for i, j in enumerate(layout.named):
        found[j] = (logits[layout.rows[j]] + common[i]).argmax(axis=1)
    for i, j in enumerate(layout.ordered):
        levels = layout.levels(j)
        # Rounding in the network must not turn two neighbours round.
        nearest = np.maximum.accumulate(moved[:levels, i] * network.k).astype(np.intp)
        extras = logits[layout.rows[j][levels:]].argmax(axis=1)
        found[j] = np.concatenate([np.minimum(nearest, network.k - 1), extras])
    return [found[j] for j in range(len(found))]


def _moved(network: GeneralizationNetwork, layout: Layout) -> npt.NDArray[np.float32]:
    """Return the place of each level after the monotone map, normalized over the whole sample."""
    levels = [layout.levels(j) for j in layout.ordered]
    places, counts = np.zeros((2, max(levels, default=0), len(levels)), dtype=np.float32)
    for i, j in enumerate(layout.ordered):
        places[: levels[i], i] = layout.places[j][: levels[i]]
        counts[: levels[i], i] = (layout.use[j] * layout.balance[j])[: levels[i]]
    moved: npt.NDArray[np.float32] = network.monotone(tensor(places), tensor(counts)).numpy()
    return moved


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
