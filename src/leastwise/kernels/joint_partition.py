"""What every run of buckets of one attribute costs while all other attributes stay as they are.

The records are put into *rests*: the joint buckets over all other attributes. A run of the attribute's buckets
parts each rest, and what falls into the run is one joint bucket. Of n people in it, those expected to be guessed
right are ``n * max_v (count(v) + c * prior(v)) / (n + c)``: coarser knowledge is the prior, and ``c`` its
pseudo-count. (Leave-one-out is unbiased for a partition that is given. But whoever looks for the best partition
finds ties: two values equally often, neither of which is guessed when one is left out.)

Runs that begin at the same bucket are counted together: going one bucket further adds that bucket's records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]


class Rests(NamedTuple):
    """The records of one attribute's buckets, in the order of the buckets."""

    starts: Array  # bucket: where its records begin; one more at the end
    order: Array  # the records in this order
    rest: Array  # record, in order: its rest
    people: Array  # record, in order: how many people it stands for
    labels: Array  # record, in order: its class
    scores: Array  # rest x class: log-odds of the additive model, without the attribute
    effects: Array  # bucket x class: what each bucket adds to them
    bucket_people: Array  # bucket: people
    pseudo_count: float  # people that the additive model counts for
    right: Array  # guess x class: how right a guess is, where that is no yes or no (a number); else empty


class Guessed(NamedTuple):
    """One personal attribute: the pairs of a rest and a value, those of a rest next to each other."""

    pair: Array  # record: its pair
    starts: Array  # rest: where its pairs begin; one more at the end
    prior: Array  # pair: people of this value in the rest's row of the context
    bucket: Array  # pair: the bucket of its value, where the attribute itself is guessed; otherwise -1
    total: Array  # rest x (bucket + 1): people of the row in the buckets before; else only the last column counts
    most: Array  # rest: people of the row's commonest value; 0 where the attribute itself is guessed
    pseudo_count: float  # people that the row counts for


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _right_in_rest(guessed: Guessed, held: Array, rest: int, first: int, last: int) -> float:  # pragma: no cover
    """Return the people expected to be guessed right in one rest and run."""
    own = guessed.bucket[guessed.starts[rest]] >= 0
    total = guessed.total[rest, last + 1] - guessed.total[rest, first] if own else guessed.total[rest, -1]
    share = guessed.pseudo_count / max(total, 1.0)
    best, people = 0.0 if own else share * guessed.most[rest], 0.0
    for pair in range(guessed.starts[rest], guessed.starts[rest + 1]):
        if own and not first <= guessed.bucket[pair] <= last:
            continue
        people += held[pair]
        best = max(best, held[pair] + share * guessed.prior[pair])
    return float(people * best / (people + guessed.pseudo_count))


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def run_hits(rests: Rests, guessed: Guessed) -> Array:  # pragma: no cover
    """Return, for each run [first, last] of buckets, the people whose personal value is guessed right."""
    size, count = len(rests.starts) - 1, len(guessed.starts) - 1
    own = len(guessed.bucket) > 0 and guessed.bucket[0] >= 0
    result = np.zeros((size, size))
    held = np.zeros(len(guessed.prior))
    right = np.zeros(count)
    stamp = np.full(count, -1, dtype=np.int64)
    touched = np.empty(count, dtype=np.int64)
    for first in range(size):
        held[:] = 0.0
        right[:] = 0.0
        stamp[:] = -1
        known, total = 0, 0.0
        for last in range(first, size):
            # Of its own values a longer run allows more, so that all rests change; else those with new records.
            known = known if own else 0
            for i in range(rests.starts[last], rests.starts[last + 1]):
                held[guessed.pair[rests.order[i]]] += rests.people[i]
                rest = rests.rest[i]
                if stamp[rest] < 0 or (not own and stamp[rest] != last):
                    stamp[rest] = last
                    touched[known] = rest
                    known += 1
            for k in range(known):
                rest = touched[k]
                now = _right_in_rest(guessed, held, rest, first, last)
                total += now - right[rest]
                right[rest] = now
            result[first, last] = total
    return result


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _label_right(rests: Rests, held: Array, rest: int, effect: Array, odds: Array) -> float:  # pragma: no cover
    """Return the people of one rest and run whose label is guessed right, leaving each out."""
    classes = held.shape[1]
    most = -np.inf
    for c in range(classes):
        odds[c] = rests.scores[rest, c] + effect[c]
        most = max(most, odds[c])
    whole, people, best = 0.0, 0.0, 0.0
    for c in range(classes):
        odds[c] = np.exp(odds[c] - most)
        whole += odds[c]
        people += held[rest, c]
    if len(rests.right):
        best = -np.inf
        for guess in range(classes):
            worth = 0.0
            for c in range(classes):
                worth += rests.right[guess, c] * (held[rest, c] + rests.pseudo_count * odds[c] / whole)
            best = max(best, worth)
    else:
        for c in range(classes):
            best = max(best, held[rest, c] + rests.pseudo_count * odds[c] / whole)
    return float(people * best / (people + rests.pseudo_count))


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def run_label_hits(rests: Rests) -> Array:  # pragma: no cover
    """Return, for each run [first, last] of buckets, the people whose label is guessed right."""
    size, (count, classes) = len(rests.starts) - 1, rests.scores.shape
    result = np.zeros((size, size))
    odds = np.zeros(classes)
    touched = np.empty(count, dtype=np.int64)
    for first in range(size):
        held = np.zeros((count, classes))
        seen = np.zeros(count, dtype=np.bool_)
        effect, people, known = np.zeros(classes), 0.0, 0
        for last in range(first, size):
            effect += rests.bucket_people[last] * rests.effects[last]
            people += rests.bucket_people[last]
            for i in range(rests.starts[last], rests.starts[last + 1]):
                held[rests.rest[i], rests.labels[i]] += rests.people[i]
                if not seen[rests.rest[i]]:
                    seen[rests.rest[i]] = True
                    touched[known] = rests.rest[i]
                    known += 1
            mean = effect / max(people, 1e-9)
            for k in range(known):
                result[first, last] += _label_right(rests, held, touched[k], mean, odds)
    return result


@njit(cache=True, nogil=True, error_model="numpy")  # type: ignore[untyped-decorator]
def number_pairs(
    rest: Array, values: Array, rests: int, size: int
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return (pair of each record, rest of each pair, value of each pair); those of a rest next to each other."""
    number = np.full(rests * size, -1, dtype=np.int32)
    for i in range(len(rest)):
        number[rest[i] * size + values[i]] = 0
    count = 0
    for key in range(len(number)):
        if number[key] == 0:
            number[key] = count
            count += 1
    pair = np.empty(len(rest), dtype=np.int64)
    pair_rest, pair_value = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    for i in range(len(rest)):
        place = number[rest[i] * size + values[i]]
        pair[i], pair_rest[place], pair_value[place] = place, rest[i], values[i]
    return pair, pair_rest, pair_value
