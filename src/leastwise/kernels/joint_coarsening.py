"""What a merge of buckets does to the guesses, counted on joint buckets and leaving each record out of its own.

Every record is guessed by the counts of its joint bucket *without itself*, mixed with what coarser knowledge says,
so that a record alone in its joint bucket is not taken as known. For a personal attribute the coarser knowledge is
the joint bucket over a few telling attributes (its *context*), and below that the attribute's own bucket. For the
label it is an additive model of the log-odds.

A merge touches only the joint buckets that contain the merged buckets; records are kept as a linked list per joint
bucket, so that merging two is one step.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit
from leastwise.kernels.numbering import number_keys
from leastwise.kernels.right_guesses import clear_guesses, expected_right, near_guesses

Array = npt.NDArray[Any]

NOT_NEGATIVE = 2**63 - 1  # of a sum that may have wrapped around, all bits but the sign


class Joint(NamedTuple):
    """The joint buckets, told apart by their Zobrist keys: a merge changes a key by one difference."""

    buckets: Array  # joint bucket x (attributes, then one that is always 0): the bucket
    keys: Array  # joint bucket: the sum of the random numbers of its buckets
    zobrist: Array  # attribute x bucket: its random 62-bit number
    alive: Array  # joint bucket: whether it has not been merged away
    head: Array  # joint bucket: its first record
    tail: Array  # joint bucket: its last record


class Members(NamedTuple):
    """The records, as linked lists from ``Joint.head``."""

    following: Array  # record: the next one in its joint bucket, -1 at the end
    people: Array  # record: how many people it stands for
    values: Array  # record x personal attribute: the value


class Label(NamedTuple):
    """The label, and its additive model."""

    people: Array  # joint bucket x class: people
    scores: Array  # joint bucket x class: log-odds of the additive model
    effects: Array  # attribute x bucket x class: what each bucket adds to them
    right: Array  # guess x class: how right a guess is, where that is no yes or no (a number); else empty


class Targets(NamedTuple):
    """The personal attributes that are guessed."""

    own: Array  # personal attribute: its position among the attributes
    sizes: Array  # personal attribute: values
    people: Array  # personal attribute x value: people
    bucket: Array  # personal attribute x value: its bucket


class Contexts(NamedTuple):
    """Back-off: of each personal attribute a table of people by a few telling attributes (row) and value."""

    strides: Array  # personal attribute x attribute: step in its table, 0 where not in the context
    rows: Array  # personal attribute: rows of its table
    row_of: Array  # joint bucket x personal attribute: its row in the table
    starts: Array  # personal attribute: where its table begins
    counts: Array  # the tables, flat: row x value -> people


class State(NamedTuple):
    """Everything that a merge is scored by; changed in place by ``apply_merge``."""

    joint: Joint
    records: Members
    label: Label
    targets: Targets
    contexts: Contexts
    hits: Array  # joint bucket x (personal attributes, then label): people guessed right
    bucket_people: Array  # attribute x bucket: people
    pseudo_counts: Array  # people that coarser knowledge counts for: each context, the label model, own buckets


@njit()
def _groups(state: State, attribute: int, into: Array) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Return the joint buckets that a merge touches, chained by what they become: (first, next, touched)."""
    buckets, keys_of, zobrist, alive, _, _ = state.joint
    total = len(alive)
    touched = np.empty(total, dtype=np.int64)
    keys = np.empty(total, dtype=np.int64)
    count = 0
    for z in range(total):
        bucket = buckets[z, attribute]
        if alive[z] and into[bucket] >= 0:
            touched[count] = z
            moved = zobrist[attribute, into[bucket]] - zobrist[attribute, bucket]
            keys[count] = (keys_of[z] + moved) & NOT_NEGATIVE
            count += 1
    group_of, groups = number_keys(keys[:count])
    first = np.full(groups, -1, dtype=np.int64)
    last = np.empty(groups, dtype=np.int64)
    chain = np.full(total, -1, dtype=np.int64)
    for i in range(count):
        group = group_of[i]
        if first[group] < 0:
            first[group] = touched[i]
        else:
            chain[last[group]] = touched[i]
        last[group] = touched[i]
    return first, chain, touched[:count]


@njit()
def _two_most(counts: Array) -> tuple[int, int]:  # pragma: no cover
    """Return the places of the largest and the second largest entry above 0, -1 where there is none."""
    best, second = -1, -1
    for v in range(len(counts)):
        if counts[v] <= 0:
            continue
        if best < 0 or counts[v] > counts[best]:
            best, second = v, best
        elif second < 0 or counts[v] > counts[second]:
            second = v
    return best, second


class Coarser(NamedTuple):
    """Counts of values in rows of coarser knowledge, each row filled when it is first asked for."""

    counts: Array  # row x value: people
    ready: Array  # row: whether it is filled
    people: Array  # row: people in all
    most: Array  # row x 2: the commonest value and the next one, -1 where there is none


@njit()
def _nothing_filled(counts: Array) -> Coarser:  # pragma: no cover
    rows = len(counts)
    return Coarser(counts, np.zeros(rows, dtype=np.bool_), np.zeros(rows), np.full((rows, 2), -1, dtype=np.int64))


@njit()
def _summed_up(coarser: Coarser, row: int) -> None:  # pragma: no cover
    coarser.ready[row] = True
    coarser.people[row] = coarser.counts[row].sum()
    coarser.most[row, 0], coarser.most[row, 1] = _two_most(coarser.counts[row])


@njit()
def _fill_context(
    state: State, target: int, attribute: int, into: Array, row: int, goal: int, coarser: Coarser
) -> None:  # pragma: no cover
    """Fill a row of the target's context as it is after the merge, of which ``goal`` is the merged bucket."""
    stride = state.contexts.strides[target, attribute]
    size, begin = state.targets.sizes[target], state.contexts.starts[target]
    for b in range(len(into)):
        if stride and into[b] == goal:
            start = begin + (row + stride * (b - goal)) * size
            coarser.counts[row] += state.contexts.counts[start : start + size]
    _summed_up(coarser, row)


@njit()
def _fill_own(
    state: State, target: int, attribute: int, into: Array, home: int, coarser: Coarser
) -> None:  # pragma: no cover
    """Fill the people of each value in one of the target's own buckets as it is after the merge."""
    own = state.targets.own[target]
    for v in range(state.targets.sizes[target]):
        bucket = state.targets.bucket[target, v]
        if own == attribute and into[bucket] >= 0:
            bucket = into[bucket]
        if bucket == home:
            coarser.counts[home, v] = state.targets.people[target, v]
    _summed_up(coarser, home)


@njit()
def _hold(
    head: Array, following: Array, people: Array, values: Array, target: int, z: int, chain: Array, held: Array,
    seen: Array,
) -> int:  # fmt: skip  # pragma: no cover
    """Count the values of all records of a group of joint buckets; return how many different ones there are."""
    count = 0
    while z >= 0:
        r = head[z]
        while r >= 0:
            if people[r] > 0:
                v = values[r, target]
                if held[v] == 0:
                    seen[count] = v
                    count += 1
                held[v] += people[r]
            r = following[r]
        z = chain[z]
    return count


@njit()
def _right_guesses(
    held: Array,
    seen: Array,
    count: int,
    rows: Array,
    rows_most: Array,
    row: int,
    own_most: Array,
    home: int,
    people: Array,
    target: int,
    share: float,
    inner: float,
) -> float:  # pragma: no cover
    """Return the people guessed right by the value in front; besides the values ``seen``, only those commonest in
    the row and in the own bucket can come there.
    """
    best, second, top, next_top = -1.0, -1.0, -1, -1
    for i in range(count + 4):
        v = seen[i] if i < count else rows_most[row, i - count] if i < count + 2 else own_most[home, i - count - 2]
        if v < 0 or v in (top, next_top) or (i >= count and held[v] > 0):
            continue
        u = held[v] + share * (rows[row, v] + inner * people[target, v])
        if u > best:
            best, second, top, next_top = u, best, v, top
        elif u > second:
            second, next_top = u, v
    other = held[next_top] if next_top >= 0 else 0.0
    # A person who leaves takes one from the row too.
    return float(expected_right(held[top], other, best - second, 1.0 + share))


@njit()
def _target_hits(
    state: State,
    target: int,
    attribute: int,
    into: Array,
    first: Array,
    chain: Array,
    all_of_them: bool,
    pseudo_counts: Array,
) -> tuple[float, Array]:  # pragma: no cover
    """Return the change of the people guessed right, and the right guesses: pseudo-count x group of joint buckets.

    ``all_of_them`` is False when the merge leaves the coarser knowledge alone; then groups of one are skipped. The
    change is that by the first pseudo-count.
    """
    size, rows, begin = state.targets.sizes[target], state.contexts.rows[target], state.contexts.starts[target]
    stride, own = state.contexts.strides[target, attribute], state.targets.own[target]
    counts = state.contexts.counts[begin : begin + rows * size].reshape(rows, size)
    # The context is as it is where the merge leaves it alone; otherwise its rows begin empty.
    context = _nothing_filled(np.zeros((rows, size)) if stride else counts)
    at_home = _nothing_filled(np.zeros((state.bucket_people.shape[1], size)))
    held, seen = np.zeros(size), np.empty(size, dtype=np.int64)
    own_pseudo_count = state.pseudo_counts[len(state.targets.own) + 1]
    result = np.zeros((len(pseudo_counts), len(first)))
    change = 0.0
    # Taken out of their tuples here: in the loop that would count references, which takes longer than all else.
    buckets, row_of, hits, head = state.joint.buckets, state.contexts.row_of, state.hits, state.joint.head
    following, people, values = state.records
    of_value = state.targets.people
    ready, row_people, row_most, row_counts = context.ready, context.people, context.most, context.counts
    home_ready, home_people, home_most = at_home.ready, at_home.people, at_home.most
    for g in range(len(first)):
        z = first[g]
        if chain[z] < 0 and not all_of_them:
            continue
        bucket, home = buckets[z, attribute], buckets[z, own]
        row, home = row_of[z, target] + stride * (into[bucket] - bucket), into[home] if own == attribute else home
        if not ready[row]:
            _fill_context(state, target, attribute, into, row, into[bucket], context)
        if not home_ready[home]:
            _fill_own(state, target, attribute, into, home, at_home)
        count = _hold(head, following, people, values, target, z, chain, held, seen)
        # A bucket can be without values of its own: all its numbers are in runs that are commoner elsewhere.
        inner = own_pseudo_count / home_people[home] if home_people[home] > 0 else 0.0
        for i in range(len(pseudo_counts)):
            share = pseudo_counts[i] / (max(row_people[row] - 1, 0.0) + own_pseudo_count)
            result[i, g] = _right_guesses(
                held, seen, count, row_counts, row_most, row, home_most, home, of_value, target, share, inner
            )
        for i in range(count):
            held[seen[i]] = 0.0
        before = 0.0
        while z >= 0:
            before += hits[z, target]
            z = chain[z]
        change += result[0, g] - before
    return change, result


@njit()
def _label_hits(
    state: State, attribute: int, into: Array, first: Array, chain: Array, effect: Array
) -> tuple[float, Array]:  # pragma: no cover
    """Return the change of the people whose label is guessed right, and the right guesses of each group."""
    people, scores, effects, right = state.label
    classes, last, buckets, hits = people.shape[1], state.hits.shape[1] - 1, state.joint.buckets, state.hits
    pseudo_count, yes_or_no = state.pseudo_counts[len(state.targets.own)], len(right) == 0
    held, odds = np.zeros(classes), np.zeros(classes)
    result = np.zeros(len(first))
    change = 0.0
    for g in range(len(first)):
        z = first[g]
        bucket, most = buckets[z, attribute], -np.inf
        for c in range(classes):
            held[c] = 0.0
            odds[c] = scores[z, c] - effects[attribute, bucket, c] + effect[into[bucket], c]
            most = max(most, odds[c])
        before = 0.0
        while z >= 0:
            before += hits[z, last]
            for c in range(classes):
                held[c] += people[z, c]
            z = chain[z]
        total = 0.0
        for c in range(classes):
            odds[c] = math.exp(odds[c] - most)
            total += odds[c]
        for c in range(classes):
            odds[c] *= pseudo_count / total
        # The additive model has few parameters; one record hardly moved it, so it is not left out there.
        if yes_or_no:
            result[g] = clear_guesses(held, odds)
        else:
            result[g] = near_guesses(held, odds, right)
        change += result[g] - before
    return change, result


@njit()
def _merged_effect(state: State, attribute: int, into: Array) -> Array:  # pragma: no cover
    """Return the effect of each bucket after the merge: the mean of those that went into it."""
    effect = np.zeros(state.label.effects.shape[1:])
    people = np.zeros(len(into))
    for b in range(len(into)):
        if into[b] >= 0:
            people[into[b]] += state.bucket_people[attribute, b]
            effect[into[b]] += state.bucket_people[attribute, b] * state.label.effects[attribute, b]
    for b in range(len(into)):
        effect[b] /= max(people[b], 1e-9)
    return effect


@njit()
def score_merge(state: State, attribute: int, into: Array) -> Array:  # pragma: no cover
    """Return the change of the people guessed right, per personal attribute and for the label (last).

    ``into`` says what each bucket of the attribute would become, the number of one of those that become the same;
    -1 leaves a bucket as it is.
    """
    first, chain, _ = _groups(state, attribute, into)
    targets = len(state.targets.own)
    change = np.zeros(targets + 1)
    for t in range(targets):
        moved = state.contexts.strides[t, attribute] > 0 or state.targets.own[t] == attribute
        now = state.pseudo_counts[t : t + 1]
        change[t] = _target_hits(state, t, attribute, into, first, chain, moved, now)[0]
    effect = _merged_effect(state, attribute, into)
    change[targets] = _label_hits(state, attribute, into, first, chain, effect)[0]
    return change


@njit()
def score_target(state: State, target: int, pseudo_counts: Array) -> Array:  # pragma: no cover
    """Return the people of every joint bucket who are guessed right, by each of the pseudo-counts.

    The last target is the label.
    """
    nothing = np.zeros(state.bucket_people.shape[1], dtype=np.int64)
    total, targets = len(state.joint.alive), len(state.targets.own)
    first, chain = np.arange(total), np.full(total, -1, dtype=np.int64)
    # Nothing is merged: the last column of the buckets is an attribute that is not there.
    outside = state.joint.buckets.shape[1] - 1
    if target < targets:
        _, result = _target_hits(state, target, outside, nothing, first, chain, True, pseudo_counts)
        return np.asarray(result)
    effect, result = np.zeros(state.label.effects.shape[1:]), np.zeros((len(pseudo_counts), total))
    for i in range(len(pseudo_counts)):
        state.pseudo_counts[targets] = pseudo_counts[i]
        result[i] = _label_hits(state, outside, nothing, first, chain, effect)[1]
    return result


@njit()
def apply_merge(state: State, attribute: int, into: Array) -> None:  # pragma: no cover
    """Make the buckets what ``into`` says (see ``score_merge``)."""
    first, chain, touched = _groups(state, attribute, into)
    effect = _merged_effect(state, attribute, into)
    targets = len(state.targets.own)
    for t in range(targets):
        moved = state.contexts.strides[t, attribute] > 0 or state.targets.own[t] == attribute
        now = state.pseudo_counts[t : t + 1]
        _, hits = _target_hits(state, t, attribute, into, first, chain, moved, now)
        for g in range(len(first)):
            if moved or chain[first[g]] >= 0:
                state.hits[first[g], t] = hits[0, g]
    _, label_hits = _label_hits(state, attribute, into, first, chain, effect)
    state.hits[first, targets] = label_hits
    for z in touched:
        bucket = state.joint.buckets[z, attribute]
        state.label.scores[z] += effect[into[bucket]] - state.label.effects[attribute, bucket]
        state.joint.keys[z] += (
            state.joint.zobrist[attribute, into[bucket]] - state.joint.zobrist[attribute, bucket]
        )
        state.contexts.row_of[z] += state.contexts.strides[:, attribute] * (into[bucket] - bucket)
        state.joint.buckets[z, attribute] = into[bucket]
    for g in range(len(first)):
        z = first[g]
        other = chain[z]
        while other >= 0:
            state.records.following[state.joint.tail[z]] = state.joint.head[other]
            state.joint.tail[z] = state.joint.tail[other]
            state.label.people[z] += state.label.people[other]
            state.joint.alive[other] = False
            other = chain[other]
    _merge_tables(state, attribute, into, effect)


@njit()
def _merge_tables(state: State, attribute: int, into: Array, effect: Array) -> None:  # pragma: no cover
    for t in range(len(state.targets.own)):
        if state.targets.own[t] == attribute:
            for v in range(state.targets.sizes[t]):
                if into[state.targets.bucket[t, v]] >= 0:
                    state.targets.bucket[t, v] = into[state.targets.bucket[t, v]]
        stride = state.contexts.strides[t, attribute]
        if stride == 0:
            continue
        size, begin = state.targets.sizes[t], state.contexts.starts[t]
        width = _width(state, t, attribute)
        for row in range(state.contexts.rows[t]):
            b = (row // stride) % width
            if into[b] >= 0 and into[b] != b:
                goal = begin + (row + (into[b] - b) * stride) * size
                for v in range(size):
                    state.contexts.counts[goal + v] += state.contexts.counts[begin + row * size + v]
                    state.contexts.counts[begin + row * size + v] = 0.0
    for b in range(len(into)):
        if into[b] >= 0 and into[b] != b:
            state.bucket_people[attribute, into[b]] += state.bucket_people[attribute, b]
            state.bucket_people[attribute, b] = 0.0
    for b in range(len(into)):
        if into[b] == b:
            state.label.effects[attribute, b] = effect[b]


@njit()
def _width(state: State, target: int, attribute: int) -> int:  # pragma: no cover
    """Return how many buckets the attribute has in a context table: the ratio of its step to the next larger."""
    stride = state.contexts.strides[target, attribute]
    larger = state.contexts.rows[target]
    for j in range(state.contexts.strides.shape[1]):
        if state.contexts.strides[target, j] > stride:
            larger = min(larger, state.contexts.strides[target, j])
    return int(larger // stride)
