"""One attribute beside all others as they are: its records by rest, ready for ``kernels.joint_partition``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels.additive_logistic import Additive, fit_beside
from leastwise.kernels.joint_partition import Guessed, Rests, number_pairs
from leastwise.minimizers.coarsening.state import Records

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# What coarser knowledge may count for, in people.
_PSEUDO_COUNTS = 2.0 ** np.arange(-1, 9)


class Rest(NamedTuple):
    """The joint buckets over some attributes: a record of each, and the one of each record."""

    first: npt.NDArray[np.intp]
    of: npt.NDArray[np.intp]

    @classmethod
    def by(cls, keys: Ints) -> Rest:
        """Number the records by their keys."""
        _, first, of = np.unique(keys, return_index=True, return_inverse=True)
        return cls(first, of)


class Item(NamedTuple):
    """The attribute that is parted anew: the place in the row of each record's bucket, and how many there are."""

    place: Ints
    places: int
    attribute: int


# No attribute: all are as they are.
NONE = -1


def scores_of(model: Additive, columns: Sequence[Ints], rows: Any, classes: int, without: int = NONE) -> Floats:
    """Return the log-odds of each class that an additive model gives these records, without one attribute."""
    width = len(model.intercept)
    scores = np.zeros((len(rows), classes))
    scores[:, -width:] += model.intercept
    for j, (column, effect) in enumerate(zip(columns, model.weights, strict=True)):
        if j != without and len(effect) > 1:
            scores[:, -width:] += effect[column[rows]]
    return scores


def rests_of(
    records: Records, columns: Sequence[Ints], rest: Rest, item: Item, model: Additive, pseudo_count: float
) -> Rests:
    """Return the records by rest, in the order of the items, with what the label model knows of them."""
    table, people = records.table, records.people
    order = np.argsort(item.place, kind="stable")
    scores = scores_of(model, columns, rest.first, table.classes, item.attribute)
    effects = np.zeros((item.places, table.classes))
    width = len(model.intercept)
    effects[:, -width:] = fit_beside(scores[rest.of, -width:], item.place, item.places, table.y, people)
    return Rests(
        starts=np.concatenate([[0], np.cumsum(np.bincount(item.place, minlength=item.places))]),
        order=order,
        rest=rest.of[order],
        people=people[order],
        labels=table.y[order].astype(np.int64),
        scores=scores,
        effects=effects,
        bucket_people=np.bincount(item.place, weights=people, minlength=item.places),
        pseudo_count=pseudo_count,
    )


def guessed_of(
    records: Records,
    columns: Sequence[Ints],
    rest: Rest,
    item: Item,
    target: int,
    context: Any,
    pseudo_count: float,
) -> Guessed:
    """Return what is held of one personal attribute, beside its context without the attribute that is parted."""
    values, size = records.targets[:, target], records.target_sizes[target]
    row, rows = _rows([columns[j] for j in context if j != item.attribute], len(values))
    held = np.bincount(row * size + values, weights=records.people, minlength=rows * size)
    table: Floats = held.reshape(rows, size).astype(float)
    pair, pair_rest, value = number_pairs(rest.of, values, len(rest.first), size)
    own = records.own[target] == item.attribute
    rest_row = row[rest.first]
    bucket = np.full(len(value), -1, dtype=np.int64)
    if own:
        home = np.zeros(size, dtype=np.int64)
        home[values] = item.place
        bucket = home[value]
    return Guessed(
        pair=pair,
        starts=np.searchsorted(pair_rest, np.arange(len(rest.first) + 1)),
        prior=table[rest_row[pair_rest], value],
        bucket=bucket,
        total=_before(row, rows, item, records.people)[rest_row] if own else table.sum(axis=1)[rest_row, None],
        most=np.zeros(len(rest_row)) if own else table.max(axis=1)[rest_row],
        pseudo_count=pseudo_count,
    )


def _rows(columns: Sequence[Ints], count: int) -> tuple[Ints, int]:
    """Return the row of each record in the table over some columns, and how many rows there are."""
    row, rows = np.zeros(count, dtype=np.int64), 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        row, rows = row * width + column, rows * width
    return row, rows


def _before(row: Ints, rows: int, item: Item, people: Floats) -> Floats:
    """Return how many people of each row have an item before the first, the second, ..."""
    held = np.bincount(row * item.places + item.place, weights=people, minlength=rows * item.places)
    return np.concatenate([np.zeros((rows, 1)), held.reshape(rows, item.places).cumsum(axis=1)], axis=1)


def calibrated(guessed: Guessed, held: Floats, people: Floats, right: float) -> float:
    """Return the pseudo-count with which as many right guesses are expected as leave-one-out counting found."""
    total, repeats = np.maximum(guessed.total[:, -1], 1.0), np.diff(guessed.starts)
    prior, most = guessed.prior / np.repeat(total, repeats), guessed.most / total

    def expected(pseudo_count: float) -> float:
        best = np.maximum.reduceat(held + pseudo_count * prior, guessed.starts[:-1])
        return float((people * np.maximum(best, pseudo_count * most) / (people + pseudo_count)).sum())

    return float(min(_PSEUDO_COUNTS, key=lambda pseudo_count: abs(expected(pseudo_count) - right)))


def calibrated_label(scores: Floats, held: Floats, right: float) -> float:
    """Return the same for the label, whose coarser knowledge is the additive model."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    people = held.sum(axis=1)

    def expected(pseudo_count: float) -> float:
        return float((people * (held + pseudo_count * odds).max(axis=1) / (people + pseudo_count)).sum())

    return float(min(_PSEUDO_COUNTS, key=lambda pseudo_count: abs(expected(pseudo_count) - right)))
