"""Leave-one-out guesses along a chain of joint buckets: each person is guessed from all others.

With one person left out, every node of the chain has one person less, whatever that person's value is. So the
weights of the nodes, and with them the sums over the values, are those of a joint bucket and not of a person: only
the person's own value is then corrected. All people of a joint bucket share one walk along the chain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit
from leastwise.kernels.numbering import count_keys, number_keys

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]
_TIE = 1e-12  # sums of the same shares in another order are equal


@njit()
def distinct_rows(z: Ints, found: int, values: Ints, size: int, people: Floats) -> Any:
    """Return the distinct (joint bucket, value) rows in the order of the ``found`` joint buckets.

    Returns
    -------
    first, starts
        Of each joint bucket one of its people, and where its rows begin.
    row_z, row_v, row_w
        Of each row the joint bucket, the value and the people.
    row_of
        The row of each person.
    """
    pair, pairs = number_keys(z * size + values)
    first, one = np.empty(found, np.int64), np.empty(pairs, np.int64)
    weight = np.zeros(pairs)
    for i in range(len(z)):
        first[z[i]], one[pair[i]] = i, i
        weight[pair[i]] += people[i]
    starts = np.zeros(found + 1, np.int64)
    for p in range(pairs):
        starts[z[one[p]] + 1] += 1
    starts = np.cumsum(starts)
    place, row_of_pair = starts[:-1].copy(), np.empty(pairs, np.int64)
    row_z, row_v, row_w = np.empty(pairs, np.int64), np.empty(pairs, np.int64), np.empty(pairs)
    for p in range(pairs):
        row = place[z[one[p]]]
        place[z[one[p]]] += 1
        row_of_pair[p] = row
        row_z[row], row_v[row], row_w[row] = z[one[p]], values[one[p]], weight[p]
    return first, starts, row_z, row_v, row_w, row_of_pair[pair]


@njit()
def count_nodes(node_of: Ints, row_z: Ints, row_v: Ints, row_w: Floats, values: int, nodes: int) -> Any:
    """Return, node by node, the values that occur and their people; and all people of each node.

    ``node_of`` is distinct inputs x depths (-1: no node), the rows are distinct (inputs, value) pairs.
    """
    depths = node_of.shape[1]
    keys = np.full(len(row_z) * depths, -1, np.int64)
    for r in range(len(row_z)):
        for depth in range(depths):
            node = node_of[row_z[r], depth]
            if node >= 0:
                keys[r * depths + depth] = node * values + row_v[r]
    lengths, found, counts, people = count_keys(keys, row_w, depths, nodes, values)
    starts = np.zeros(nodes + 1, np.int64)
    starts[1:] = np.cumsum(lengths)
    return starts, found, counts, people


@njit()
def _add_up(
    path: Ints,
    starts: Ints,
    values: Ints,
    counts: Floats,
    people: Floats,
    prior: Floats,
    pseudo: float,
    out: Floats,
) -> float:
    """Sum the counts along a path, each node weighed as it is with one person less; return a person's own weight.

    From fine to coarse: what a node leaves over goes to the coarser one.
    """
    weight, own = 1.0, 0.0
    out[:] = 0.0
    for depth in range(len(path) - 1, -1, -1):
        node = path[depth]
        # Where the coarser node has the same people, counting them twice would make them surer.
        if node < 0 or (depth > 0 and people[path[depth - 1]] == people[node]):
            continue
        total = people[node] - 1.0 + pseudo
        for i in range(starts[node], starts[node + 1]):
            out[values[i]] += weight / total * counts[i]
        own += weight / total
        weight *= pseudo / total
    for v in range(len(out)):
        out[v] += weight * prior[v]
    return own


@njit()
def guesses(
    node_of: Ints,
    counted: tuple[Ints, Ints, Floats, Floats],
    z_starts: Ints,
    row_v: Ints,
    prior: Floats,
    begin: Ints,
    end: Ints,
    pseudo: float,
) -> Any:
    """Return for each row whether the likeliest guess is wrong about its people, each left out, and its chance.

    ``z_starts`` says which rows belong to each distinct input (rows lie in their order). Guess g tells the values
    ``begin[g]`` to ``end[g]``: one value each, or a window of numbers.
    """
    starts, values, counts, people = counted
    sums, before = np.empty(len(prior)), np.zeros(len(prior) + 1)
    wrong, sure = np.empty(len(row_v), np.bool_), np.empty(len(row_v))
    for z in range(len(node_of)):
        own = _add_up(node_of[z], starts, values, counts, people, prior, pseudo, sums)
        for v in range(len(sums)):
            before[v + 1] = before[v] + sums[v]
        for r in range(z_starts[z], z_starts[z + 1]):
            v, best, right = row_v[r], -np.inf, False
            for g in range(len(begin)):
                covers = begin[g] <= v <= end[g]
                chance = before[end[g] + 1] - before[begin[g]] - (own if covers else 0.0)
                if chance > best + _TIE:  # of equally likely guesses the first is made
                    best, right = chance, covers
            wrong[r], sure[r] = not right, best
    return wrong, sure


@njit()
def fullest_values(bucket_of: Ints, buckets: int, codes: Ints, size: int, people: Ints) -> Any:
    """Return the sum over joint buckets of the people who have its commonest value."""
    pair, pairs = number_keys(bucket_of * size + codes)
    counts, most = np.zeros(pairs), np.zeros(buckets)
    for i in range(len(pair)):
        counts[pair[i]] += people[i]
        most[bucket_of[i]] = max(most[bucket_of[i]], counts[pair[i]])
    return most.sum()
