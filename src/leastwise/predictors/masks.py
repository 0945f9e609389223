"""What a generalization rules out: a value that it could not have mapped to the observed bucket is impossible.

A mask excludes: the probability becomes 0 and the others are renormalised. (To multiply a logit by 0 is no
exclusion: 0 wins against negative logits.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes

Array = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Mask:
    """One input column that tells which values of a target are possible.

    Attributes
    ----------
    column
        The position of the column among the inputs.
    allowed
        buckets x values: whether the value may lie behind the bucket.
    """

    column: int
    allowed: npt.NDArray[np.bool_]


Masks = tuple[Mask, ...]


def mask_of(column: int, bucket_of: npt.NDArray[Any]) -> Mask:
    """Return the mask of an attribute's own buckets.

    >>> mask_of(0, np.array([0, 0, 1])).allowed.astype(int).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    return Mask(column, np.arange(int(bucket_of.max(initial=0)) + 1)[:, None] == bucket_of[None, :])


def allowed_values(masks: Sequence[Mask], inputs: Codes, size: int) -> npt.NDArray[np.bool_]:
    """Return rows x values: what all masks together leave possible; a row of contradictions excludes nothing."""
    allowed = np.ones((len(inputs), size), dtype=bool)
    for mask in masks:
        allowed &= mask.allowed[inputs[:, mask.column]]
    allowed[~allowed.any(axis=1)] = True
    return allowed


def masked(probabilities: Array, allowed: npt.NDArray[np.bool_]) -> Array:
    """Return the probabilities with the impossible values at 0, renormalised; all alike where nothing is left.

    >>> masked(np.array([[0.6, 0.3, 0.1]]), np.array([[False, True, True]])).round(2).tolist()
    [[0.0, 0.75, 0.25]]
    """
    left = np.where(allowed, probabilities, 0)
    total = left.sum(axis=1, keepdims=True)
    empty = ~(total[:, 0] > 0)
    left[empty] = allowed[empty]
    total[empty, 0] = left[empty].sum(axis=1)
    return np.asarray(left / total)
