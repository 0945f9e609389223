"""How the counts along paths of joint buckets guess, under many settings at once: pure functions of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]
# To score paths, what comes of their first nodes is kept for the next path: those are the fullest.
_KEPT = 6


@njit()
def _mix_in(
    node: int, starts: Ints, values: Ints, counts: Floats, people: Floats, settings: Floats, shares: Floats,
    state: Floats,
) -> None:  # fmt: skip
    """Do what ``_go_down`` does at one node, under all settings at once: values x settings.

    The rows of ``state`` are the scales, and room for what a node divides by and takes.
    """
    tried = settings.shape[1]
    for s in range(tried):
        state[2, s] = 0.0
    for i in range(starts[node], starts[node + 1]):
        for s in range(tried):
            state[2, s] += min(settings[1, s], counts[i])
    for s in range(tried):
        total = people[node] + settings[0, s]
        if total > 0:
            state[0, s] *= (settings[0, s] + state[2, s]) / total
        if state[0, s] < 1e-100:
            for v in range(len(shares)):
                shares[v, s] *= state[0, s]
            state[0, s] = 1.0
        # To multiply is faster than to divide.
        state[1, s] = 1 / (total * state[0, s]) if total > 0 else 0.0
    for i in range(starts[node], starts[node + 1]):
        for s in range(tried):
            shares[values[i], s] += (counts[i] - min(settings[1, s], counts[i])) * state[1, s]


@njit()
def _likeliest(shares: Floats, best: Ints, largest: Floats) -> None:
    """Put in the value of the largest share under each setting; of equal ones the first."""
    best[:] = 0
    largest[:] = shares[0]
    for v in range(1, len(shares)):
        for s in range(len(best)):
            larger = shares[v, s] > largest[s]
            best[s] = v if larger else best[s]
            largest[s] = shares[v, s] if larger else largest[s]


@njit()
def _multiply(shares: Floats, scale: Floats, product: Floats, found: Floats) -> None:
    """Multiply in what one person was thought to be: one logarithm for many people, under each setting."""
    least = 1.0
    for s in range(len(product)):
        product[s] *= max(shares[s] * scale[s], 1e-12)
        least = min(least, product[s])
    if least < 1e-280:
        for s in range(len(product)):
            found[s, 1] -= np.log(product[s])
            product[s] = 1.0


@njit()
def score_posteriors(
    path: Ints,
    starts: Ints,
    values: Ints,
    counts: Floats,
    people: Floats,
    base: Floats,
    base_of: Ints,
    settings: Floats,
    depths: Ints,
    row_ends: Ints,
    row_v: Ints,
    row_w: Floats,
) -> Floats:
    """Return, by depth and (pseudo-count, discount), the people guessed wrongly and the sum of their log losses.

    The rows of path q, each a value and how many people have it, end at ``row_ends[q + 1]``. All settings go down
    a path together: side by side in memory, the processor does several at once.
    """
    found = np.zeros((len(depths), len(settings), 2))
    order, tried = _by_first_nodes(path), np.ascontiguousarray(settings.T)
    for d in range(len(depths)):
        _score_to(
            depths[d], path, order, starts, values, counts, people, base, base_of, tried, row_ends, row_v, row_w,
            found[d],
        )  # fmt: skip
    return found


@njit()
def _by_first_nodes(path: Ints) -> Ints:
    """Return an order of the paths in which those with the same first nodes are neighbours, as far as kept."""
    key, bound = np.zeros(len(path), np.int64), 1.0
    for depth in range(min(_KEPT, path.shape[1])):
        low, high = 2**62, -2
        for q in range(len(path)):
            high = max(high, path[q, depth])
            low = min(low, path[q, depth]) if path[q, depth] >= 0 else low
        width = max(high - low + 1, 0) + 2  # behind the nodes of this depth, the two signs that there is none
        bound *= width
        if bound > 2**62:
            break
        for q in range(len(path)):
            node = path[q, depth]
            key[q] = key[q] * width + (node - low if node >= 0 else width + node)
    return np.argsort(key, kind="mergesort")


@njit()
def _in_common(path: Ints, base_of: Ints, one: int, other: int, end: int) -> int:
    """Return how many nodes two paths begin with in common; -1 where not even what they begin from is the same."""
    if other < 0 or base_of[one] != base_of[other]:
        return -1
    common = 0
    while common < end and path[one, common] == path[other, common]:
        common += 1
    return common


@njit()
def _score_to(
    end: int,
    path: Ints,
    order: Ints,
    starts: Ints,
    values: Ints,
    counts: Floats,
    people: Floats,
    base: Floats,
    base_of: Ints,
    settings: Floats,
    row_ends: Ints,
    row_v: Ints,
    row_w: Floats,
    found: Floats,
) -> None:
    """Do what ``score_posteriors`` does, for one depth: what two paths have in common is done once."""
    tried = settings.shape[1]
    kept, kept_scale = np.empty((_KEPT + 1, base.shape[1], tried)), np.ones((_KEPT + 1, tried))
    shares, state = np.empty(kept.shape[1:]), np.empty((3, tried))
    best, largest, last = np.empty(tried, np.int64), np.empty(tried), -1
    # The logarithms take longest: where the same nodes say something of many paths, those of a value are kept.
    logs, known, state_of = np.empty(shares.shape), np.full(len(shares), -1, np.int64), 0
    product = np.ones(tried)
    for q in order:
        common = _in_common(path, base_of, q, last, end)
        if common < 0:
            for v in range(len(shares)):
                kept[0, v] = base[base_of[q], v]
        if common < max(end, 1):
            begin = min(max(common, 0), _KEPT)
            shares[:], state[0] = kept[begin], kept_scale[begin]
            for depth in range(begin, end):
                node = path[q, depth]
                if node == -1:
                    break
                if node >= 0:
                    _mix_in(node, starts, values, counts, people, settings, shares, state)
                if depth < _KEPT:
                    kept[depth + 1], kept_scale[depth + 1] = shares, state[0]
            _likeliest(shares, best, largest)
            state_of = q
        last = q
        for r in range(row_ends[q], row_ends[q + 1]):
            v = row_v[r]
            if row_w[r] == 1.0:
                _multiply(shares[v], state[0], product, found)
                for s in range(tried):
                    found[s, 0] += 1.0 if v != best[s] else 0.0
                continue
            if known[v] != state_of:
                known[v] = state_of
                for s in range(tried):
                    logs[v, s] = np.log(max(shares[v, s] * state[0, s], 1e-12))
            for s in range(tried):
                found[s, 0] += row_w[r] if v != best[s] else 0.0
                found[s, 1] -= row_w[r] * logs[v, s]
    for s in range(tried):
        found[s, 1] -= np.log(product[s])
