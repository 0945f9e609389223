"""Which buckets of one attribute may become one next: pairs, all there are, or a few runs of like effect."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from leastwise.kernels.interval_program import best_partition, spread
from leastwise.minimizers.constraints.checks import MergeRules
from leastwise.partition import Partition

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Groups = tuple[tuple[int, ...], ...]
"""One merge, perhaps of many buckets of an attribute: those of a group become one."""

# Up to so many groups of a discrete attribute, any two may be merged; beyond, neighbours by effect.
_ALL_PAIRS = 8
# A merge of many buckets leaves at most so many runs.
_RUNS = 5


def possible_merges(
    attribute: int, partition: Partition, now: Ints, rules: MergeRules, effect: Floats, people: Floats
) -> list[Groups]:
    """Return what may be merged at once under the rules.

    Parameters
    ----------
    attribute, partition
        The attribute, and its buckets at the start of the path.
    now
        Per bucket of the start, the bucket that it is in by now, named by the first one in it.
    effect, people
        Per bucket of the start, the effect on the label and the people of the bucket that it is in.
    """
    buckets: list[int] = np.unique(now).tolist()
    if len(buckets) < 2:
        return []
    if partition.attribute.kind == "discrete":
        row = sorted(buckets, key=lambda b: float(effect[b]))
        few = len(buckets) <= _ALL_PAIRS
        pairs = [*itertools.combinations(buckets, 2)] if few else [*itertools.pairwise(row)]
    else:  # "missing" and "other" are free: they may join any
        inner = len(partition.assignment) - partition.attribute.extra_values
        ordered = {int(now[b]) for b in partition.assignment[:inner]}
        row, free = [b for b in buckets if b in ordered], [b for b in buckets if b not in ordered]
        pairs = [*itertools.pairwise(row), *itertools.product(row, free), *itertools.combinations(free, 2)]
    merges: list[Groups] = [(pair,) for pair in pairs]
    merges += _all_between_edges(rules.side[attribute], buckets)
    merges += _runs(row, effect, people)
    members = {bucket: np.flatnonzero(now == bucket).tolist() for bucket in buckets}
    return [
        m for m in merges if all(rules.allow(attribute, [i for b in group for i in members[b]]) for group in m)
    ]


def _all_between_edges(side: npt.NDArray[np.intp], buckets: list[int]) -> list[Groups]:
    """Return the merge of all there is, between edges that must stay."""
    groups = [tuple(b for b in buckets if side[b] == each) for each in np.unique(side[buckets])]
    large = tuple(group for group in groups if len(group) > 1)
    return [large] if sum(map(len, large)) > 2 else []


def _runs(row: list[int], effect: Floats, people: Floats) -> list[Groups]:
    """Return the merges of the row into 2, 3, ... runs, each the best for the label alone.

    Where joint buckets are sparse one pair changes nothing, and only many together show what they gain.
    """
    if len(row) <= 3:
        return []
    cost = spread(people[row], effect[row][:, None], np.zeros(0), np.zeros((0, 1)))
    partitions = best_partition(cost[None], np.zeros(1), min(_RUNS, len(row) - 2))
    parts = [[row[i:j] for i, j in itertools.pairwise((0, *each.ends))] for each in partitions if each.size > 1]
    return [tuple(tuple(sorted(run)) for run in runs if len(run) > 1) for runs in parts]
