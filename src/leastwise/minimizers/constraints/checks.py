"""Whether a generalization holds to constraints, and which merges would make it break them.

Merging can only break what keeps values apart: edges, lists of values apart, attributes untouched. Whatever limits
the number of buckets, or wants people or values in them, holds on once it holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.partition import Intervals, Partition, Untouched, keep
from leastwise.records.table import Table
from leastwise.schema.values import text_of


def broken(constraints: Constraints, generalization: Generalization, table: Table) -> list[str]:
    """Return what the generalization breaks, a phrase for each; the table is that of the training records."""
    sizes = [
        table.sizes[j] if isinstance(partition, Untouched) else partition.size
        for j, partition in enumerate(generalization.partitions)
    ]
    in_all = constraints.max_buckets_in_all
    problems = [] if in_all is None or sum(sizes) <= in_all else [f"{sum(sizes)} buckets in all, not {in_all}"]
    for j, partition in enumerate(generalization.partitions):
        name = partition.attribute.name
        phrases = [*_size_problems(constraints, partition, sizes[j]), *_edge_problems(constraints, partition)]
        phrases += _list_problems(constraints, partition)
        if too_few(constraints, partition, table, j):
            phrases.append(f"a bucket of fewer than {constraints.min_people:g} people")
        problems += [f"{name}: {phrase}" for phrase in phrases]
    return problems


def check_start(constraints: Constraints, start: Generalization, table: Table) -> None:
    """Raise a ``ParameterError`` where the start of a path breaks constraints: merging need not mend that."""
    constraints.check(table.schema)
    problems = broken(constraints, start, table)
    if problems:
        raise ParameterError(
            "the start of a path must hold to the constraints; found "
            + "; ".join(problems)
            + "; start from optimal_path(..., constraints=...)"
        )


def _size_problems(constraints: Constraints, partition: Partition, size: int) -> list[str]:
    name = partition.attribute.name
    limit = constraints.max_buckets.get(name)
    problems = []
    if limit is not None and (isinstance(partition, Untouched) or size > limit):
        problems.append(f"{size} buckets, not {limit}")
    if name in constraints.suppressed and not partition.suppressed:
        problems.append("is not suppressed")
    if name in constraints.untouched and partition != keep(partition.attribute):
        problems.append("is not untouched")
    return problems


def _edge_problems(constraints: Constraints, partition: Partition) -> list[str]:
    edges = constraints.edges.get(partition.attribute.name, ())
    kept = partition.edges if isinstance(partition, Intervals) else edges
    return [f"the edge {edge:g} is gone" for edge in edges if float(edge) not in kept]


def _list_problems(constraints: Constraints, partition: Partition) -> list[str]:
    name = partition.attribute.name
    parted = [v for v in constraints.together.get(name, ()) if len({*bucket_of_values(partition, v)}) > 1]
    joined = [v for v in constraints.apart.get(name, ()) if len({*bucket_of_values(partition, v)}) < len({*v})]
    return [f"{[*v]} are not together" for v in parted] + [f"{[*v]} are not apart" for v in joined]


def bucket_of_values(partition: Partition, values: Iterable[Any]) -> list[int]:
    """Return the bucket of each raw value; None stands for "missing"."""
    attribute, given = partition.attribute, [*values]
    if not attribute.continuous:
        return [int(partition.assignment[_code(partition, value)]) for value in given]
    numbers = [float(value) for value in given if text_of(value) is not None]
    levels = np.unique(np.array(numbers, dtype=float))
    buckets = partition.bucket_map(levels)
    return [int(buckets[len(levels) if text_of(v) is None else np.searchsorted(levels, float(v))]) for v in given]


def _code(partition: Partition, value: Any) -> int:
    attribute, text = partition.attribute, text_of(value)
    return len(partition.assignment) - attribute.extra_values if text is None else attribute.code_of[text]


def too_few(constraints: Constraints, partition: Partition, table: Table, j: int) -> bool:
    """Return whether a bucket has too few people; beyond an edge that must stay there may be nobody."""
    if not constraints.min_people or partition.attribute.name in constraints.untouched:
        return False
    people = np.bincount(partition.bucket_map(table.levels[j]), weights=table.use(j))
    if partition.attribute.continuous:
        people = people[people > 0]
    return bool((people < constraints.min_people).any())


@dataclass(frozen=True, eq=False)
class MergeRules:
    """Which buckets of the start of a path may become one.

    Attributes
    ----------
    fixed
        The attributes that stay as they are.
    side
        Per attribute, the interval between kept edges that each bucket lies in; -1 where it does not matter.
    apart
        Per attribute, lists of buckets of which no two may become one.
    """

    fixed: frozenset[int]
    side: tuple[npt.NDArray[np.intp], ...]
    apart: tuple[tuple[frozenset[int], ...], ...]

    @classmethod
    def of(cls, constraints: Constraints, partitions: Sequence[Partition]) -> MergeRules:
        """Read the constraints for the partitions that a path starts from."""
        names = [partition.attribute.name for partition in partitions]
        return cls(
            fixed=frozenset(j for j, name in enumerate(names) if name in constraints.untouched),
            side=tuple(_sides(constraints, partition) for partition in partitions),
            apart=tuple(
                tuple(frozenset(bucket_of_values(partition, v)) for v in constraints.apart.get(name, ()))
                for name, partition in zip(names, partitions, strict=True)
            ),
        )

    def free(self, attribute: int) -> bool:
        """Return whether any of its buckets may become one."""
        return attribute not in self.fixed and not self.apart[attribute] and bool(self.side[attribute].max() < 0)

    def allow(self, attribute: int, buckets: Iterable[int]) -> bool:
        """Return whether these buckets of the start may become one."""
        if attribute in self.fixed or self.free(attribute):
            return attribute not in self.fixed
        joined = {*buckets}
        sides = {int(self.side[attribute][bucket]) for bucket in joined} - {-1}
        return len(sides) <= 1 and all(len(joined & parted) <= 1 for parted in self.apart[attribute])


def _sides(constraints: Constraints, partition: Partition) -> npt.NDArray[np.intp]:
    side = np.full(max(partition.size, 1), -1, dtype=np.intp)
    edges = sorted(float(edge) for edge in constraints.edges.get(partition.attribute.name, ()))
    if edges and isinstance(partition, Intervals):
        upper = np.array([*partition.edges, np.inf])
        side[np.asarray(partition.assignment[: len(upper)])] = np.searchsorted(edges, upper, side="left")
    return side
