"""Nested re-releases: a new generalization that tells nothing that earlier ones did not tell.

Whoever holds several generalized records of a person knows their refinement. One that is coarser than that adds
nothing: about people who were asked before nothing new is learned (A6 gains nothing on A1 of the finest).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from leastwise.errors import ParameterError
from leastwise.generalization import Generalization
from leastwise.minimizers.constraints.constraints import Constraints
from leastwise.partition import Intervals, Partition, Untouched, suppress
from leastwise.records.table import Table

Array = npt.NDArray[Any]


def nested(constraints: Constraints | None, earlier: Sequence[Generalization], table: Table) -> Constraints:
    """Return the constraints under which nothing is asked that the earlier generalizations did not tell together.

    Parameters
    ----------
    constraints
        What else must be held to.
    earlier
        All that were ever in use, of the same attributes.
    table
        The records: values between which no edge was drawn stay together.
    """
    if not earlier:
        raise ParameterError("to stay nested there must be an earlier generalization; name one: previous")
    told = reduce(Generalization.refine, (each.within(table.schema) for each in earlier)).within(table.schema)
    held = constraints or Constraints()
    never = [p.attribute.name for p in told.partitions if p.suppressed]
    together = {
        p.attribute.name: [*held.together.get(p.attribute.name, ()), *_values(p, table, j)]
        for j, p in enumerate(told.partitions)
        if not p.suppressed and not isinstance(p, Untouched)
    }
    return replace(
        held,
        nested_in=told,
        suppressed=tuple(dict.fromkeys([*held.suppressed, *never])),
        together={**held.together, **{name: lists for name, lists in together.items() if lists}},
    )


def _values(partition: Partition, table: Table, j: int) -> list[list[Any]]:
    """Return the values of each bucket that hold it together: of a row the first and the last, else all."""
    levels, attribute = table.levels[j], partition.attribute
    bucket_of = partition.bucket_map(levels)
    raw = [float(level) if attribute.continuous else level for level in levels]
    raw += [None] if attribute.missing else []
    found = [[raw[i] for i in np.flatnonzero(bucket_of[: len(raw)] == b)] for b in range(partition.size)]
    if attribute.continuous:
        found = [[*_ends([v for v in each if v is not None]), *[v for v in each if v is None]] for each in found]
    return [each for each in found if len(each) > 1]


def _ends(values: list[Any]) -> list[Any]:
    return values if len(values) < 2 else [values[0], values[-1]]


def inside(told: Generalization, generalization: Generalization, table: Table) -> Generalization:
    """Return the finest that is coarser than a generalization and than what was told before.

    An edge that parts the same people as an earlier one is moved there first.
    """
    pairs = zip(told.partitions, generalization.partitions, strict=True)
    partitions = [_inside(before, now, table.levels[j]) for j, (before, now) in enumerate(pairs)]
    return replace(generalization, partitions=tuple(partitions))


def _inside(before: Partition, now: Partition, levels: Array) -> Partition:
    if now.suppressed or before.suppressed:
        return suppress(now.attribute)
    now = _snapped(before, now, levels)
    if isinstance(before, Untouched) or now.is_coarser_than(before):
        return now
    if isinstance(now, Untouched):
        return before
    places = _places(before, now, levels)
    one, two = before.bucket_map(places), now.bucket_map(places)
    ends = (one, before.size + two)
    graph = coo_matrix((np.ones(len(one)), ends), shape=(before.size + now.size,) * 2)
    _, component = connected_components(graph, directed=False)
    merged = component[: before.size]
    if isinstance(before, Intervals):
        merged = _neighbours(merged, np.asarray(before.assignment)[: len(before.edges) + 1])
    return before.coarsen(np.unique(merged, return_inverse=True)[1].tolist())


def _neighbours(merged: Array, row: Array) -> Array:
    """Join what lies between intervals that are one: "missing" may have joined two that are no neighbours."""
    while True:
        marks = merged[row]
        torn = [
            mark for mark in np.unique(marks) if np.ptp(np.flatnonzero(marks == mark)) >= (marks == mark).sum()
        ]
        if not torn:
            return merged
        places = np.flatnonzero(marks == torn[0])
        merged = np.where(np.isin(merged, marks[places[0] : places[-1] + 1]), torn[0], merged)


def _places(before: Partition, now: Partition, levels: Array) -> Array:
    """Return a value in each interval between all edges; of values, all of them."""
    if not (isinstance(before, Intervals) and isinstance(now, Intervals)):
        return levels
    edges = sorted({*before.edges, *now.edges})
    return np.array([*edges, edges[-1] + 1.0]) if edges else levels


def _snapped(before: Partition, now: Partition, levels: Array) -> Partition:
    if not (isinstance(before, Intervals) and isinstance(now, Intervals)):
        return now
    seen = np.sort(levels.astype(float))
    place = {int(np.searchsorted(seen, edge, side="right")): edge for edge in before.edges}
    edges = tuple(place.get(int(np.searchsorted(seen, edge, side="right")), edge) for edge in now.edges)
    return Intervals(now.attribute, edges, now.extras) if len({*edges}) == len(now.edges) else now
