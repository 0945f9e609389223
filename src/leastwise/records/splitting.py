"""The 60/10/30 protocol: a seeded random split, each part a fair sample of the whole file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError

Rows = npt.NDArray[np.integer[Any]]


def protocol_rows(
    records: int,
    shares: tuple[float, float, float],
    random: np.random.Generator,
    persons: Rows | None = None,
) -> tuple[Rows, Rows, Rows]:
    """Return the rows of the three parts; where the person of each row is given, all rows of one are in one part.

    Nothing is moved afterwards: a rare value may be absent from training, and whoever learns there must have a
    rule for it. To move its bearers would leave a test part without them, and every figure about other people.
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise ParameterError(f"the shares of a split must be positive and sum to 1; got {shares}")
    one_each = np.arange(records) if persons is None else np.unique(persons, return_inverse=True)[1]
    order = random.permutation(int(one_each.max(initial=-1)) + 1)
    ends = np.round(np.cumsum(shares)[:2] * len(order)).astype(int)
    part_of = np.empty(len(order), dtype=np.intp)
    for part, people in enumerate(np.split(order, ends)):
        part_of[people] = part
    train, validation, test = (np.flatnonzero(part_of[one_each] == part) for part in range(3))
    return train, validation, test
