"""Where a split sends the values that nobody in its node has: they are "don't care" there.

A value absent from a node must go somewhere, because the tree is asked about every record of the domain. The
rules, in the order in which the tree grew:

1. Values that stand together so far stay together when the node does not separate them: those absent go with
   those present of the same bucket.
2. When a split divides a bucket, an absent value of it goes with the present value of that bucket which is
   nearest *by effect*. The effect of a value is its mean label over all training records (more than two
   classes: the first principal direction of the class shares); a value that nobody has, has the mean effect.
3. A bucket that is absent as a whole goes, as a whole, with the nearest present value by effect.
4. Between the two numbers (or ordinal values) that a split parts, the cut is one that the attribute already
   has, the nearest to the middle; without one it is in the middle, so that a number goes with the nearer.

So a bucket is divided only where the data of the node separate two of its values; but numbers go by their order,
and "missing" or "other", where the node has them, may have to leave an absent number of their bucket. Since the
rules look only at earlier splits, the buckets of a smaller tree are coarser than those of a larger one.

The price: whoever knew all splits beforehand could do with fewer buckets. Rule 2 must choose a side for an absent
value that the data separated from neither; when a later split separates it from its new company, it could have
stayed with the others. Merging them in the end would undo an earlier division, and the buckets of the smaller
tree would no longer be coarser.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Values:
    """What the rules know of an attribute: which codes are ordered, where they lie, and each code's effect.

    ``places`` has one number per ordered code, ascending; it is empty for a discrete attribute.
    """

    places: Array
    effects: Array


def effects(classes: Array) -> Array:
    """Return the effect of each code, from the people of each class that have it."""
    from leastwise.kernels.orderings import label_scores

    people = classes.sum(axis=1)
    seen = people > 0
    if classes.shape[1] < 2 or not seen.any():
        return np.zeros(len(classes))
    scores = label_scores(np.ascontiguousarray(classes[seen], dtype=float), people[seen].astype(float))
    result = np.full(len(classes), np.average(scores, weights=people[seen]))
    result[seen] = scores
    return result


def sides(values: Values, buckets: Array, left: Array, right: Array) -> npt.NDArray[np.bool_]:
    """Return for every code whether it goes left.

    Parameters
    ----------
    values
        The attribute.
    buckets
        The bucket of each code before this split.
    left, right
        The codes present in the node that go left and right.
    """
    goes, decided = np.zeros((2, len(buckets)), dtype=bool)
    goes[left] = True
    decided[left] = decided[right] = True
    ordered = len(values.places)
    if ordered:
        goes[:ordered] = _numbers(values, buckets, left, right)
        decided[:ordered] = True
    if decided.all():
        return goes
    lefts, rights = _any_of(buckets, decided & goes), _any_of(buckets, decided & ~goes)
    free = ~decided & ~(lefts & rights)[buckets]
    goes[free] = _whole_buckets(values.effects, buckets, lefts, rights, np.concatenate([left, right]), goes)[free]
    for bucket in np.unique(buckets[~decided & ~free]):
        here = buckets == bucket
        asked, models = np.flatnonzero(here & ~decided), np.flatnonzero(here & decided)
        goes[asked] = goes[nearest(values.effects, models, values.effects[asked])]
    return goes


def _any_of(buckets: Array, codes: Array) -> npt.NDArray[np.bool_]:
    return np.bincount(buckets[codes], minlength=int(buckets.max()) + 1) > 0


def _whole_buckets(
    effects: Array, buckets: Array, lefts: Array, rights: Array, present: Array, goes: Array
) -> npt.NDArray[np.bool_]:
    """Return, for each code, where its bucket goes as a whole: with its present values, or by its mean effect."""
    mean = np.bincount(buckets, weights=effects) / np.bincount(buckets)
    absent = ~(lefts | rights)
    lefts = np.where(absent, goes[nearest(effects, present, mean)], lefts)
    return np.asarray(lefts[buckets], dtype=bool)


def nearest(effects: Array, models: Array, asked: Array) -> Array:
    """Return the models whose effects are nearest to those asked; ties go to the smaller effect, then code.

    >>> nearest(np.array([0.1, 0.5, 0.5, 0.9]), np.array([3, 2, 1, 0]), np.array([0.0, 0.3, 0.6, 0.71]))
    array([0, 0, 1, 3])
    """
    ascending = models[np.lexsort((models, effects[models]))]
    known = effects[ascending]
    above = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    below = np.searchsorted(known, known[np.maximum(above - 1, 0)])
    nearer_below = np.abs(asked - known[below]) <= np.abs(known[above] - asked)
    return np.asarray(ascending[np.where(nearer_below, below, above)])


def _numbers(values: Values, buckets: Array, left: Array, right: Array) -> npt.NDArray[np.bool_]:
    ordered = len(values.places)
    low, high = left[left < ordered], right[right < ordered]
    if len(low) and len(high):
        return np.arange(ordered) <= _cut(values.places, buckets, int(low.max()), int(high.min()))
    if len(low) or len(high):
        return np.full(ordered, bool(len(low)))
    # Only "missing" and "other" are here: all numbers go with the nearer of the two.
    model = nearest(values.effects, np.concatenate([left, right]), values.effects[:ordered].mean(keepdims=True))
    return np.full(ordered, bool(np.isin(model, left)[0]))


def _cut(places: Array, buckets: Array, low: int, high: int) -> int:
    """Return the last code of the left side, between the codes ``low`` (left) and ``high`` (right)."""
    middle = places[low] / 2 + places[high] / 2
    known = [c for c in range(low, high) if buckets[c] != buckets[c + 1]]
    if known:
        return min(known, key=lambda c: abs(places[c] / 2 + places[c + 1] / 2 - middle))
    return int(np.searchsorted(places[low:high], middle, side="right")) - 1 + low
