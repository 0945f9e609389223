"""From tree to generalization: the common refinement, per attribute, of all splits on it.

Thresholds are united and groupings refined; a record and its generalized record take the same path through the
tree, since a bucket's values go the same way at every split.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.pat.tree import PATTree, refined
from leastwise.partition import Partition, from_map, suppress

Array = npt.NDArray[Any]


def bucket_maps(tree: PATTree) -> list[Array]:
    """Return, per attribute, the bucket of each code."""
    *_, last = _growing(tree, [len(tree.splits)])
    return last


def _growing(tree: PATTree, stops: Sequence[int]) -> Iterator[list[Array]]:
    """Yield the buckets after so many splits, ``stops`` ascending."""
    maps = [
        np.zeros(len(level) + attribute.extra_values, dtype=np.int64)
        for level, attribute in zip(tree.levels, tree.schema.attributes, strict=True)
    ]
    done = 0
    for stop in stops:
        for split in tree.splits[done:stop]:
            maps[split.attribute] = refined(maps[split.attribute], split.goes_left)
        done = max(done, stop)
        yield list(maps)


def generalization(tree: PATTree, **origin: Any) -> Generalization:
    """Return what the tree asks."""
    return generalizations(tree, [len(tree.splits) + 1], [origin])[0]


def generalizations(
    tree: PATTree, leaves: Sequence[int], origins: Sequence[dict[str, Any]]
) -> list[Generalization]:
    """Return what the tree asks at each of several numbers of leaves, in the order given."""
    ascending = sorted(set(leaves))
    found: dict[int, tuple[Partition, ...]] = {}
    before: list[tuple[Array, Partition]] = []
    for count, maps in zip(ascending, _growing(tree, [max(k - 1, 0) for k in ascending]), strict=True):
        # An attribute that no split has touched since keeps its partition.
        before = [
            before[j] if before and before[j][0] is mapping else (mapping, _partition(tree, j, mapping))
            for j, mapping in enumerate(maps)
        ]
        found[count] = tuple(partition for _, partition in before)
    label = tree.schema.label
    return [Generalization(found[k], label, origin) for k, origin in zip(leaves, origins, strict=True)]


def _partition(tree: PATTree, attribute: int, mapping: Array) -> Partition:
    declared = tree.schema.attributes[attribute]
    return from_map(declared, tree.levels[attribute], mapping) if mapping.any() else suppress(declared)
