"""The 60/10/30 protocol: a seeded random split whose training part has seen every value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError

Rows = npt.NDArray[np.integer[Any]]


def protocol_rows(
    columns: Sequence[Rows],
    records: int,
    shares: tuple[float, float, float],
    random: np.random.Generator,
) -> tuple[tuple[Rows, Rows, Rows], int]:
    """Return the rows of the three parts, and how many records of the drawn test part were exchanged.

    Training must hold every value of ``columns``. A record that brings one is taken from validation where
    possible: the test part is a fair sample only as far as it is left alone.
    """
    if min(shares) < 0 or abs(sum(shares) - 1) > 1e-9:
        raise ParameterError(f"the shares of a split must be positive and sum to 1; got {shares}")
    order = random.permutation(records)
    ends = np.round(np.cumsum(shares) * records).astype(int)
    # Validation comes first in the rest, so that its records are found first.
    train, rest = _complete(columns, order[: ends[0]], order[ends[0] :])
    validation, test = np.split(rest, [max(0, ends[1] - len(train))])
    replaced = len(np.setdiff1d(order[ends[1] :], test))
    return (np.sort(train), np.sort(validation), np.sort(test)), replaced


def _complete(columns: Sequence[Rows], train: Rows, rest: Rows) -> tuple[Rows, Rows]:
    """Exchange records so that the training part holds every value."""
    train, rest = train.copy(), rest.copy()
    counts = [np.bincount(column[train], minlength=int(column.max(initial=0)) + 1) for column in columns]
    spare = iter(_spare(columns, counts, train))
    for column, count in zip(columns, counts, strict=True):
        for code in np.unique(column[rest]):
            if count[code]:
                continue
            place = int(np.flatnonzero(column[rest] == code)[0])
            back = next(spare, None)
            train, rest = _exchange(columns, counts, train, rest, place, back)
    return train, rest


def _spare(columns: Sequence[Rows], counts: Sequence[Rows], train: Rows) -> Iterator[int]:
    """Yield places in the training part whose record can go: each of its values is there a second time."""
    for place, row in enumerate(train.tolist()):
        if all(count[column[row]] > 1 for column, count in zip(columns, counts, strict=True)):
            yield place


def _exchange(
    columns: Sequence[Rows], counts: Sequence[Rows], train: Rows, rest: Rows, place: int, back: int | None
) -> tuple[Rows, Rows]:
    row = rest[place]
    for column, count in zip(columns, counts, strict=True):
        count[column[row]] += 1
        if back is not None:
            count[column[train[back]]] -= 1
    if back is None:
        return np.append(train, row), np.delete(rest, place)
    train[back], rest[place] = row, train[back]
    return train, rest
