"""The interval dynamic program: the cheapest way to cut a row of items into buckets, exactly.

Items come in a fixed order; a bucket is a run of neighbouring items, to which *free* items may be added (the
"missing" and "other" of an ordered attribute, which have no place in the order). A subset of the free items is a
bit mask. The cost of every possible bucket is ``cost[mask, first, last]``; infinite means forbidden.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Two costs closer than this share of the whole are equal; then the fewer buckets win.
_TIE = 1e-11


class Buckets(NamedTuple):
    """One partition: the last item of each run, and the free items that joined it or stand alone.

    Attributes
    ----------
    ends
        Position behind the last item of each run, ascending.
    joined
        Per run, the bit mask of the free items in it.
    alone
        Bit masks of the buckets that hold free items only.
    cost
        The sum over the buckets.
    """

    ends: tuple[int, ...]
    joined: tuple[int, ...]
    alone: tuple[int, ...]
    cost: float

    @property
    def size(self) -> int:
        """The number of buckets."""
        return len(self.ends) + len(self.alone)


@njit()
def revealed(
    starts: Ints, places: Ints, counts: Floats, target_of: Ints, weight_of: Floats, first: Ints, items: int
) -> Floats:  # pragma: no cover
    """Return, for every run of items, the weighted sum over targets of the commonest value's count.

    ``places[starts[i]:starts[i + 1]]`` are the values that item i holds and ``counts`` how often. ``first`` are
    items that are in every run (the free ones; they follow the ``items`` of the row). Counts are kept while a run
    grows, so that a run costs only what its last item holds.
    """
    result = np.zeros((items, items))
    held = np.zeros(len(target_of))
    most = np.zeros(len(weight_of))
    for left in range(items):
        held[:] = 0.0
        most[:] = 0.0
        total = 0.0
        for step in range(-len(first), items - left):
            item = first[step + len(first)] if step < 0 else left + step
            for entry in range(starts[item], starts[item + 1]):
                place = places[entry]
                held[place] += counts[entry]
                target = target_of[place]
                if held[place] > most[target]:
                    total += weight_of[target] * (held[place] - most[target])
                    most[target] = held[place]
            if step >= 0:
                result[left, left + step] = total
    return result


@njit()
def _cheapest(cost: Floats, limit: int, margin: float) -> tuple[Floats, Ints]:  # pragma: no cover
    """Fill best[k, end, mask]: the least cost of the first ``end`` items and the free ones in ``mask``.

    With ``limit`` 0 there is one layer and any number of runs; otherwise layer k has exactly k runs.
    """
    masks, items = cost.shape[0], cost.shape[1]
    layers = limit + 1 if limit else 1
    best = np.full((layers, items + 1, masks), np.inf)
    runs = np.zeros((layers, items + 1, masks), dtype=np.int64)
    source = np.zeros((layers, items + 1, masks), dtype=np.int64)
    best[0, 0, 0] = 0.0
    for layer in range(1 if limit else 0, layers):
        before = layer - 1 if limit else 0
        for end in range(1, items + 1):
            for mask in range(masks):
                for joined in range(masks):
                    if joined & mask != joined:
                        continue
                    rest = mask ^ joined
                    for left in range(end):
                        value = best[before, left, rest] + cost[joined, left, end - 1]
                        if not value < best[layer, end, mask] + margin:
                            continue
                        count = runs[before, left, rest] + 1
                        clearly = value < best[layer, end, mask] - margin
                        if clearly or count < runs[layer, end, mask] or best[layer, end, mask] == np.inf:
                            best[layer, end, mask] = value
                            runs[layer, end, mask] = count
                            source[layer, end, mask] = left * masks + joined
    return best, source


def best_partition(cost: Floats, alone: Floats, limit: int = 0) -> list[Buckets]:
    """Return the cheapest partition, or with a limit the cheapest of each number of buckets that is possible.

    Parameters
    ----------
    cost
        ``cost[mask, first, last]`` of a bucket of the items first to last and the free items of the mask.
    alone
        ``alone[mask]``: the cost of a bucket of free items only; ``alone[0]`` is not used.
    limit
        The largest number of buckets; 0 for no limit (one partition is returned).

    Returns
    -------
    list of Buckets
        Without a limit one partition; with one, for each number of buckets the best, in ascending number. Empty
        when the constraints allow none.
    """
    finite = cost[np.isfinite(cost)]
    margin = _TIE * max(float(np.abs(finite).max(initial=0.0)), 1e-300)
    best, source = _cheapest(np.ascontiguousarray(cost), limit, margin)
    found: dict[int, Buckets] = {}
    for layer in range(best.shape[0]):
        for mask in range(cost.shape[0]):
            if not np.isfinite(best[layer, -1, mask]):
                continue
            for groups, extra in _leftovers(cost.shape[0] - 1 - mask, alone):
                made = Buckets(*_trace(source, layer, mask, limit), groups, float(best[layer, -1, mask] + extra))
                if not np.isfinite(made.cost) or (limit and made.size > limit):
                    continue
                known = found.setdefault(made.size if limit else 0, made)
                fewer = made.cost < known.cost + margin and made.size < known.size
                if fewer or made.cost < known.cost - margin:
                    found[made.size if limit else 0] = made
    return [found[key] for key in sorted(found)]


def _leftovers(mask: int, alone: Floats) -> list[tuple[tuple[int, ...], float]]:
    """Return the ways to put the free items that joined no run into buckets of their own."""
    if mask == 0:
        return [((), 0.0)]
    low = mask & -mask
    ways = []
    for part in range(1, mask + 1):
        if part & mask == part and part & low:
            ways += [((part, *rest), float(alone[part]) + extra) for rest, extra in _leftovers(mask ^ part, alone)]
    return ways


def _trace(source: Ints, layer: int, mask: int, limit: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    ends, joined = [], []
    masks, end = source.shape[2], source.shape[1] - 1
    while end:
        left, taken = divmod(int(source[layer, end, mask]), masks)
        ends.append(end)
        joined.append(taken)
        end, mask, layer = left, mask ^ taken, layer - 1 if limit else 0
    return tuple(ends[::-1]), tuple(joined[::-1])


@njit()
def lower_bound(cost: Floats, revealed_alone: Floats) -> float:  # pragma: no cover
    """Return a bound from below on the cost of partitions that may also cut *inside* an item.

    A bucket costs at least what the items that lie wholly in it cost, because spread and commonest counts grow
    with the bucket. A bucket without a whole item holds parts of two neighbours; it reveals at least half of what
    the two parts reveal alone, and the parts of an item together at least what the item does. So an item that is
    cut, and whose neighbours are cut too, costs at least half of ``revealed_alone``. The bound is the cheapest
    cover of the row by whole runs and cut items.
    """
    items = cost.shape[0]
    whole = np.full(items + 1, np.inf)
    first_cut = np.full(items + 1, np.inf)
    later_cut = np.full(items + 1, np.inf)
    whole[0] = 0.0
    for end in range(1, items + 1):
        first_cut[end] = whole[end - 1]
        later_cut[end] = first_cut[end - 1]
        if end >= 2:
            later_cut[end] = min(later_cut[end], later_cut[end - 1] + revealed_alone[end - 2] / 2)
        for left in range(end):
            before = min(whole[left], first_cut[left], later_cut[left])
            whole[end] = min(whole[end], before + cost[left, end - 1])
    return float(min(whole[items], first_cut[items], later_cut[items]))


def spread(weights: Floats, effects: Floats, free_weights: Floats, free_effects: Floats) -> Floats:
    """Return, for every run with the free items added, the sum of squared distances from its mean effect."""

    def moments(people: Floats, values: Floats) -> tuple[Floats, Floats, Floats]:
        return people, people[:, None] * values, people * (values**2).sum(axis=1)

    pairs = zip(moments(weights, effects), moments(free_weights, free_effects), strict=True)
    weight, first, second = (run_sums(part) + free.sum(axis=0) for part, free in pairs)
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = np.where(weight > 0, (first**2).sum(axis=-1) / weight, 0.0)
    return np.asarray(np.maximum(second - squared, 0.0))


def run_sums(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return [first, last] -> the sum over the items first to last (0 where last < first)."""
    total = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values, axis=0)])
    sums = total[None, 1:] - total[:-1, None]
    below = np.tril_indices(len(values), -1)
    sums[below] = 0.0
    return np.asarray(sums)


def variance_runs(scores: npt.NDArray[Any], k: int) -> list[npt.NDArray[np.intp]]:
    """Return, for 1, 2, ... up to k runs, the run of each score when the sum of variances is least (exactly).

    Divided by the number of runs that sum is the paper's average variance. Every score counts once, however many
    people have it. There are no more runs than different scores: to part equal ones would gain nothing.

    >>> [runs.tolist() for runs in variance_runs(np.array([9.0, 1.0, 8.0, 0.0]), 3)]
    [[0, 0, 0, 0], [1, 0, 1, 0], [2, 1, 2, 0]]
    """
    if not len(scores):
        return [np.zeros(0, dtype=np.intp)]
    distinct, place = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    times = np.bincount(place).astype(float)
    # Far from zero, sums of squares would lose the digits that tell close scores apart.
    centred = (distinct - distinct.mean())[:, None]
    variances = spread(times, centred, np.zeros(0), np.zeros((0, 1))) / np.maximum(run_sums(times), 1.0)
    found = best_partition(variances[None], np.zeros(1), min(k, len(distinct)))
    items = np.arange(len(distinct))
    return [np.searchsorted(buckets.ends, items, side="right").astype(np.intp)[place] for buckets in found]
