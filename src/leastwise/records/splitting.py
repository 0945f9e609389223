"""The 60/10/30 protocol: a seeded random split, each part a fair sample of the whole file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError

Rows = npt.NDArray[np.integer[Any]]


def protocol_rows(
    records: int, shares: tuple[float, float, float], random: np.random.Generator
) -> tuple[Rows, Rows, Rows]:
    """Return the rows of the three parts.

    Nothing is moved afterwards: a rare value may be absent from training, and whoever learns there must have a
    rule for it. To move its bearers would leave a test part without them, and every figure about other people.
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise ParameterError(f"the shares of a split must be positive and sum to 1; got {shares}")
    order = random.permutation(records)
    ends = np.round(np.cumsum(shares)[:2] * records).astype(int)
    train, validation, test = (np.sort(rows) for rows in np.split(order, ends))
    return train, validation, test
