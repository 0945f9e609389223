"""The 60/10/30 protocol: a seeded random split, each part a fair sample of the whole file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError

FEWEST_OF_A_RUN = 300
"""A quarter of the records is for validation; with fewer than 75 there, chance would choose."""

Rows = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Dealt:
    """How records are split that were drawn from others: as those are, so that who is tested there stays so here.

    Attributes
    ----------
    seed
        Of the split.
    share
        Where each record lies between 0 and 1: below the first share it is training, and so on.
    """

    seed: int
    share: npt.NDArray[np.float64]

    def take(self, rows: Rows) -> Dealt:
        """Return it for some of the rows."""
        return Dealt(self.seed, self.share[rows])

    def rows(self, shares: tuple[float, float, float]) -> tuple[Rows, Rows, Rows]:
        """Return the rows of the three parts.

        >>> [part.tolist() for part in Dealt(0, np.array([0.1, 0.9, 0.65])).rows((0.6, 0.1, 0.3))]
        [[0], [2], [1]]
        """
        ends = np.array([shares[0], shares[0] + shares[1]]).round(9)
        part_of = np.searchsorted(ends, self.share, side="right")
        train, validation, test = (np.flatnonzero(part_of == part) for part in range(3))
        return train, validation, test


def protocol_rows(
    records: int, shares: tuple[float, float, float], random: np.random.Generator, persons: Rows | None = None
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
