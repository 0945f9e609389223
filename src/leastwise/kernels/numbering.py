"""Distinct keys, numbered and counted: by an array of all possible ones, or by a hash table (open addressing)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Ints = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.floating[Any]]


@njit()
def slot(table: Ints, key: int, limit: int, start: int = 0) -> int:
    """Return where a key is, or belongs, in an open-addressing table: ``limit`` entries from ``start`` on."""
    # The upper bits of a product, scaled to the table: a remainder would take longer than all else.
    place = ((key * 0x9E3779B97F4A7C1 & 0x7FFFFFFFFFFFFFF) >> 27) * limit >> 32
    while table[start + place] != -1 and table[start + place] != key:
        place = place + 1 if place + 1 < limit else 0
    return start + place


@njit()
def _number_few(keys: Ints, bound: int) -> tuple[Ints, int]:
    """Number keys below a bound that an array of all of them can hold."""
    number_of = np.full(bound, -1, np.int64)
    numbers = np.full(len(keys), -1, np.int64)
    found = 0
    for i in range(len(keys)):
        if keys[i] < 0:
            continue
        if number_of[keys[i]] == -1:
            number_of[keys[i]] = found
            found += 1
        numbers[i] = number_of[keys[i]]
    return numbers, found


@njit()
def number_keys(keys: Ints) -> tuple[Ints, int]:
    """Number the distinct keys in the order in which they appear; a negative key stays -1."""
    most = -1
    for i in range(len(keys)):
        most = max(most, keys[i])
    if most < 8 * len(keys):
        numbers, found = _number_few(keys, most + 1)
        return numbers, found
    limit = 2 * len(keys) + 7
    table = np.full(limit, -1, np.int64)
    number_of = np.empty(limit, np.int64)
    numbers = np.full(len(keys), -1, np.int64)
    found = 0
    for i in range(len(keys)):
        if keys[i] < 0:
            continue
        place = slot(table, keys[i], limit)
        if table[place] == -1:
            table[place] = keys[i]
            number_of[place] = found
            found += 1
        numbers[i] = number_of[place]
    return numbers, found


@njit()
def count_keys(
    keys: Ints, people: Floats, each: int, nodes: int, values: int
) -> tuple[Ints, Ints, Floats, Floats]:
    """Count the people of keys ``node * values + value``; a negative key is nobody's.

    ``each`` so many keys are those of one row, which stands for ``people``. Of each node: how many values it has;
    then, node by node, the values and their people; and all people of each node.
    """
    pair, pairs = number_keys(keys)
    of_pair, sums = np.empty(pairs, np.int64), np.zeros(pairs)
    for i in range(len(keys)):
        if pair[i] >= 0:
            of_pair[pair[i]] = keys[i]
            sums[pair[i]] += people[i // each]
    lengths, total = np.zeros(nodes, np.int32), np.zeros(nodes)
    for p in range(pairs):
        lengths[of_pair[p] // values] += 1
        total[of_pair[p] // values] += sums[p]
    place = np.cumsum(lengths) - lengths
    found, counts = np.empty(pairs, np.int32), np.empty(pairs)
    for p in range(pairs):
        node = of_pair[p] // values
        found[place[node]], counts[place[node]] = of_pair[p] % values, sums[p]
        place[node] += 1
    return lengths, found, counts, total


@njit()
def distinct_pairs(bucket_of: Ints, values: Ints, people: Floats, size: int) -> tuple[Ints, Ints, Floats]:
    """Return the distinct (bucket, value) pairs in the order in which they appear, and the people of each.

    Values are below the ``size``.
    """
    keys = np.empty(len(values), np.int64)
    for i in range(len(values)):
        keys[i] = bucket_of[i] * size + values[i]
    number, found = number_keys(keys)
    bucket, value, together = np.empty(found, np.int64), np.empty(found, np.int64), np.zeros(found)
    for i in range(len(values)):
        bucket[number[i]], value[number[i]] = bucket_of[i], values[i]
        together[number[i]] += people[i]
    return bucket, value, together
