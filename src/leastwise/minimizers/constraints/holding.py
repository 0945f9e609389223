"""What a minimizer without constraints found, brought to them where suppressing and merging is all it takes."""

from __future__ import annotations

from dataclasses import replace

from leastwise.generalization import Generalization
from leastwise.minimizers.constraints.checks import too_few
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.minimizers.constraints.floor import at_least
from leastwise.partition import Partition, suppress
from leastwise.records.table import Table


def brought_to(constraints: Constraints, generalization: Generalization, train: Table) -> Generalization:
    """Suppress what must not be collected, and merge buckets that too few people use.

    What else is broken stays so: ``constraint_checks.broken`` tells.
    """
    partitions = tuple(
        suppress(p.attribute) if p.attribute.name in constraints.suppressed else p
        for p in generalization.partitions
    )
    found = replace(generalization, partitions=partitions)
    if not any(too_few(constraints, partition, train, j) for j, partition in enumerate(partitions)):
        return found
    merged = at_least(found, train, bucket=max(constraints.min_people, 1))
    pairs = zip(partitions, merged.partitions, strict=True)
    return replace(merged, partitions=tuple(_unless_exempt(constraints, old, new) for old, new in pairs))


def _unless_exempt(constraints: Constraints, old: Partition, new: Partition) -> Partition:
    """Return the merged partition; what must be untouched may have buckets of few people."""
    return old if old.attribute.name in constraints.untouched else new
