"""What a generalization would publish of one person's data."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from leastwise.errors import PrivacyLeakWarning, shorten, warn
from leastwise.generalization import Generalization
from leastwise.generalization.information_loss import ends
from leastwise.partition import Intervals, Partition, Untouched, edge_between

if TYPE_CHECKING:
    from leastwise.records.table import Table

NAMED_ATTRIBUTES = 4


@dataclass(frozen=True)
class Leak:
    """Something published that only one person's value explains.

    Attributes
    ----------
    attribute
        Its name.
    kind
        ``bucket``: exactly one person of the sample is in it. ``value``: the domain was read off the records,
        and exactly one person has this value. ``edge``: it was put beside a number that exactly one person has.
    place
        The number of the bucket, of the value in the domain, or of the edge.
    """

    attribute: str
    kind: Literal["bucket", "value", "edge"]
    place: int


def leaks(
    generalization: Generalization, table: Table, inferred: Collection[str] = (), everyone: Table | None = None
) -> tuple[Leak, ...]:
    """Return what in the artefact could only come from one person of the sample.

    Suppressed attributes publish nothing, and continuous ones that are untouched no edge. An edge is a leak
    when a number beside it is one person's, when it is what those two neighbours make it, and when it is not
    round: a round edge (on a grid of at most 200 steps over the domain) would have been drawn without them.

    Parameters
    ----------
    generalization
        The artefact.
    table
        The sample that it was made from.
    inferred
        The names of the attributes whose values were read off the sample instead of declared: a value that one
        person has is then published with the domain, whatever its bucket.
    everyone
        The records that those values were read off, where they are more than the sample: all of the file, where
        the artefact was made from its training part.
    """
    leaked: list[Leak] = []
    maps = table.bucket_maps(generalization)
    for j, partition in enumerate(generalization.partitions):
        if partition.suppressed:
            continue
        use, name = table.use(j), partition.attribute.name
        values = (table if everyone is None else everyone).use(j)[
            : len(partition.attribute.values) if name in inferred else 0
        ]
        leaked += [Leak(name, "value", place) for place in _of_one_person(values)]
        if not (len(values) and partition.untouched):  # else its buckets are the values just named
            leaked += [Leak(name, "bucket", place) for place in _lonely_buckets(partition, maps[j], use)]
        leaked += [Leak(name, "edge", place) for place in _telling_edges(partition, table.levels[j], use)]
    return tuple(leaked)


FEWEST_BESIDE = 10
"""So many people on either side of an edge, within a step, explain it together, and none of them alone."""


def _of_one_person(use: npt.NDArray[Any]) -> list[int]:
    return [int(place) for place in np.flatnonzero((use > 0) & (use <= 1))]


def _lonely_buckets(partition: Partition, mapping: npt.NDArray[Any], use: npt.NDArray[Any]) -> list[int]:
    if isinstance(partition, Untouched):
        return []
    return _of_one_person(np.bincount(mapping, weights=use, minlength=partition.size))


def _telling_edges(partition: Partition, levels: npt.NDArray[Any], use: npt.NDArray[Any]) -> Iterator[int]:
    if not isinstance(partition, Intervals) or not partition.edges:
        return
    present = np.flatnonzero(use[: len(levels)] > 0)
    numbers, people = levels[present].astype(float), use[present]
    step = grid_step(partition, numbers)
    for place, edge in enumerate(partition.edges):
        after = int(np.searchsorted(numbers, edge, side="right"))
        if not 0 < after < len(numbers) or is_multiple(edge, round_step(edge, step, numbers, people)):
            continue
        low, high = float(numbers[after - 1]), float(numbers[after])
        explained = edge in (low, low / 2 + high / 2, edge_between(low, high, partition.attribute.integer))
        if explained and people[after - 1 : after + 1].min() <= 1:
            yield place


def grid_step(partition: Partition, numbers: npt.NDArray[Any]) -> float:
    """Return the step of the round grid: 20 to 200 steps over the domain, where an end is open over the sample."""
    low, high = ends(partition, numbers)
    width = high - low
    if not 0 < width < math.inf:
        return 0.0
    return float(f"5e{math.ceil(math.log10(width)) - 3}")


def round_step(edge: float, step: float, numbers: npt.NDArray[Any], people: npt.NDArray[Any]) -> float:
    """Return the finest of the steps 5, 1, 0.5, ... below the grid's with enough people beside the edge.

    At a multiple of it nobody alone explains an edge. ``numbers`` are in order, with the people of each.

    >>> many, few = np.arange(0.0, 1000.0, 2.0), np.arange(0.0, 1000.0, 40.0)
    >>> round_step(221.0, 50.0, many, np.ones(500)), round_step(221.0, 50.0, few, np.ones(25))
    (50.0, 50.0)
    >>> round_step(221.0, 500.0, many, np.ones(500)), round_step(221.0, 500.0, few, np.ones(25))
    (50.0, 500.0)
    """
    if step <= 0:
        return step
    up_to = np.r_[0.0, np.cumsum(people)]

    def between(low: float, high: float) -> float:
        first, last = np.searchsorted(numbers, [low, high], side="right")
        return float(up_to[last] - up_to[first])

    while True:
        digit, power = f"{step:.0e}".split("e")
        finer = float(f"1e{power}") if digit == "5" else float(f"5e{int(power) - 1}")
        if min(between(edge - finer, edge), between(edge, edge + finer)) < FEWEST_BESIDE:
            return step
        step = finer


def is_multiple(number: float, step: float) -> bool:
    """Return whether a number lies on the grid of that step.

    >>> is_multiple(0.15, 0.05), is_multiple(0.151, 0.05), is_multiple(1, 0)
    (True, False, False)
    """
    return step > 0 and math.isclose(number / step, round(number / step), rel_tol=1e-12, abs_tol=1e-9)


def warn_of_leaks(
    generalization: Generalization, table: Table, inferred: Collection[str] = (), everyone: Table | None = None
) -> None:
    """Warn, once for all of them, of what in the artefact could only come from one person of the sample."""
    leaked = leaks(generalization, table, inferred, everyone)
    if leaked:
        warn(leak_message(leaked), PrivacyLeakWarning)


def leak_message(leaked: tuple[Leak, ...]) -> str:
    """Say in a line how much of which attributes can be traced to one person, and what to do.

    >>> print(leak_message((Leak("age", "edge", 0), Leak("job", "value", 3), Leak("job", "value", 7))))
    only one person of the sample explains: age (1 edge), job (2 values); merge or declare them before publishing
    """
    counts: dict[str, dict[str, int]] = {}
    for leak in leaked:
        kinds = counts.setdefault(leak.attribute, {})
        kinds[leak.kind] = kinds.get(leak.kind, 0) + 1
    named = []
    for name, kinds in counts.items():
        counted = ", ".join(f"{count} {kind}{'s' * (count > 1)}" for kind, count in kinds.items())
        named.append(f"{shorten(name)[1:-1]} ({counted})")
    rest = len(named) - NAMED_ATTRIBUTES
    more = f" and {rest} more attribute{'s' * (rest > 1)}" if rest > 0 else ""
    listing = ", ".join(named[:NAMED_ATTRIBUTES]) + more
    return f"only one person of the sample explains: {listing}; merge or declare them before publishing"
