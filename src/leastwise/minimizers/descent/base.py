"""What a descent is made of: fine buckets in a row per attribute, and which runs of them are allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.kernels.additive_logistic import fit_additive
from leastwise.kernels.interval_program import run_sums
from leastwise.minimizers.coarsening.path import countable, direction
from leastwise.minimizers.coarsening.state import Records
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.constraints.checks import MergeRules
from leastwise.minimizers.descent.rests import Item
from leastwise.partition import Partition, Untouched
from leastwise.records.table import Table

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Base:
    """The fine buckets that partitions are made of.

    Attributes
    ----------
    partitions, shown
        The fine buckets as they are counted, and as they are published where they stay as they are.
    rows
        Per attribute, its buckets in the order in which runs of them may become one.
    fine
        Per attribute, the bucket of each record.
    forbidden
        Per attribute, the runs [first, last] that the constraints rule out.
    limits
        Per attribute, the largest number of runs; 0 for no limit.
    """

    table: Table
    records: Records
    partitions: tuple[Partition, ...]
    shown: tuple[Partition, ...]
    rows: tuple[list[int], ...]
    fine: tuple[Ints, ...]
    forbidden: tuple[npt.NDArray[np.bool_], ...]
    limits: tuple[int, ...]
    fixed: frozenset[int]

    @cached_property
    def open(self) -> list[int]:
        """The attributes that can be parted in more than one way."""
        return [j for j, row in enumerate(self.rows) if len(row) > 1 and j not in self.fixed]

    @cached_property
    def coarsest(self) -> list[Ints]:
        """Where a descent begins: everything that may change is suppressed."""
        sizes = [partition.size for partition in self.partitions]
        return [np.arange(n) if j in self.fixed else np.zeros(n, dtype=np.int64) for j, n in enumerate(sizes)]

    def item(self, attribute: int) -> Item:
        """Return the place in the row of each record's bucket."""
        row = self.rows[attribute]
        place = np.zeros(self.partitions[attribute].size, dtype=np.int64)
        place[row] = np.arange(len(row))
        return Item(place[self.fine[attribute]], len(row), attribute)

    def generalization(self, now: Sequence[Ints], **origin: Any) -> Generalization:
        """Return the artefact in which each fine bucket has become what ``now`` says."""
        pairs = zip(self.shown, now, strict=True)
        partitions = tuple(p if isinstance(p, Untouched) else p.coarsen(each.tolist()) for p, each in pairs)
        return Generalization(partitions, self.table.schema.label, origin)


def base_of(table: Table, fine: Generalization, constraints: Constraints, records: Records | None = None) -> Base:
    """Return the buckets of a fine generalization, ready to be put into runs."""
    partitions = tuple(countable(table, j, partition, constraints) for j, partition in enumerate(fine.partitions))
    maps = table.bucket_maps(Generalization(partitions))
    every = [maps[j][table.codes[:, j]].astype(np.int64) for j in range(len(maps))]
    records = (records or Records.of(table)).collapsed(every)
    columns = tuple(maps[j][records.table.codes[:, j]].astype(np.int64) for j in range(len(maps)))
    rules = MergeRules.of(constraints, partitions)
    rows = _rows(records, columns, partitions)
    people = [
        np.bincount(c, weights=records.people, minlength=p.size).astype(float)
        for c, p in zip(columns, partitions, strict=True)
    ]
    return Base(
        table=records.table,
        records=records,
        partitions=partitions,
        shown=tuple(
            old if old.attribute.name in constraints.untouched else new
            for old, new in zip(fine.partitions, partitions, strict=True)
        ),
        rows=rows,
        fine=columns,
        forbidden=tuple(
            _forbidden(rules, j, row, people[j], constraints.min_people) for j, row in enumerate(rows)
        ),
        limits=tuple(min(constraints.max_buckets.get(p.attribute.name, 0), p.size) for p in partitions),
        fixed=rules.fixed,
    )


def _rows(records: Records, columns: Sequence[Ints], partitions: Sequence[Partition]) -> tuple[list[int], ...]:
    table = records.table
    sizes = [partition.size for partition in partitions]
    model = fit_additive(columns, sizes, table.y, table.classes, records.people)
    effects = [weights @ direction(weights) for weights in model.weights]
    return tuple(_row(partition, effect) for partition, effect in zip(partitions, effects, strict=True))


def _row(partition: Partition, effect: Floats) -> list[int]:
    """Return the buckets in their own order, or discrete ones by effect; "missing" at the end that it is like."""
    if partition.attribute.kind == "discrete":
        return sorted(range(partition.size), key=lambda bucket: float(effect[bucket]))
    inner = len(partition.assignment) - partition.attribute.extra_values
    row = [*dict.fromkeys(partition.assignment[:inner])]
    for bucket in range(partition.size):
        if bucket not in row:
            nearer = abs(effect[bucket] - effect[row[0]]) < abs(effect[bucket] - effect[row[-1]])
            row = [bucket, *row] if nearer else [*row, bucket]
    return row


def _forbidden(
    rules: MergeRules, attribute: int, row: list[int], people: Floats, min_people: float
) -> npt.NDArray[np.bool_]:
    size = len(row)
    wrong = np.asarray(run_sums(people[row]) < min_people) if min_people else np.zeros((size, size), dtype=bool)
    if rules.free(attribute):
        return wrong
    for first in range(size):
        for last in range(first, size):
            wrong[first, last] |= last > first and not rules.allow(attribute, row[first : last + 1])
    return wrong
