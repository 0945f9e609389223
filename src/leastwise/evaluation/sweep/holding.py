"""Candidates under constraints: brought to what merging can mend, and refused where they break the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from leastwise.generalization import Generalization
from leastwise.minimizers import Constraints, at_least
from leastwise.partition import Intervals, Partition, Untouched, suppress
from leastwise.table import Table
from leastwise.values import text_of


def brought_to(constraints: Constraints, generalization: Generalization, train: Table) -> Generalization:
    """Suppress what must not be collected, and merge buckets that too few people use."""
    partitions = [
        suppress(p.attribute) if p.attribute.name in constraints.suppressed else p
        for p in generalization.partitions
    ]
    found = replace(generalization, partitions=tuple(partitions))
    if constraints.min_people > 0 and not _filled(constraints, found, train):
        return at_least(found, train, bucket=max(constraints.min_people, 1))
    return found


def broken(constraints: Constraints, generalization: Generalization, train: Table) -> list[str]:
    """Say which constraints a generalization breaks, by attribute."""
    found = [text for partition in generalization.partitions for text in _broken(constraints, partition)]
    in_all = constraints.max_buckets_in_all
    if in_all is not None and sum(_size(p, train, j) for j, p in enumerate(generalization.partitions)) > in_all:
        found.append(f"more than {in_all} buckets in all")
    if constraints.min_people > 0 and not _filled(constraints, generalization, train):
        found.append(f"a bucket with fewer than {constraints.min_people:g} people")
    return found


def _broken(constraints: Constraints, partition: Partition) -> Iterable[str]:
    name = partition.attribute.name
    if name in constraints.suppressed and not partition.suppressed:
        yield f"{name} is asked"
    if name in constraints.untouched and not partition.untouched:
        yield f"{name} is not asked in full"
    most = constraints.max_buckets.get(name)
    if most is not None and (isinstance(partition, Untouched) or partition.size > most):
        yield f"{name} has more than {most} buckets"
    if not _has_edges(partition, constraints.edges.get(name, ())):
        yield f"{name} lacks an edge that must stay"
    if any(_shared(partition, values) != 1 for values in constraints.together.get(name, ()) if len(values) > 1):
        yield f"{name} parts values that belong together"
    if any(_shared(partition, values) != len(values) for values in constraints.apart.get(name, ())):
        yield f"{name} joins values that must stay apart"


def _has_edges(partition: Partition, edges: Sequence[float]) -> bool:
    if not len(edges) or isinstance(partition, Untouched):
        return True
    return isinstance(partition, Intervals) and {float(edge) for edge in edges} <= {
        float(e) for e in partition.edges
    }


def _shared(partition: Partition, values: Sequence[Any]) -> int:
    """Return into how many buckets the values fall."""
    if isinstance(partition, Untouched):
        return len({text_of(value) for value in values})
    return len({_bucket(partition, value) for value in values})


def _bucket(partition: Partition, value: Any) -> int | None:
    if text_of(value) is None:
        return partition.missing_bucket
    if isinstance(partition, Intervals):
        return int(np.searchsorted(partition.edges, float(value), side="left"))
    return int(partition.assignment[partition.attribute.code_of[str(text_of(value))]])


def _size(partition: Partition, train: Table, attribute: int) -> int:
    return train.sizes[attribute] if isinstance(partition, Untouched) else partition.size


def _filled(constraints: Constraints, generalization: Generalization, train: Table) -> bool:
    """Return whether every bucket is used by enough training records; what must be untouched is exempt."""
    maps = train.bucket_maps(generalization)
    for j, partition in enumerate(generalization.partitions):
        if partition.suppressed or partition.attribute.name in constraints.untouched:
            continue
        size = 0 if isinstance(partition, Untouched) else partition.size
        use = np.bincount(maps[j], weights=train.use(j), minlength=size)
        if use.min() < constraints.min_people:
            return False
    return True
