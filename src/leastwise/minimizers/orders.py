"""An order for the values of each attribute, so that a run of neighbours is a bucket."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes
from leastwise.records.table import Table

Ranks = npt.NDArray[np.intp]
"""The place of each code of an attribute."""

# People that a value is taken to have had at the common share before its own are counted.
_SHRINKAGE = 10.0


def value_ranks(table: Table, classes: npt.NDArray[Any]) -> list[Ranks]:
    """Return the place of each code: ordered values in their order, discrete ones by the classes of their people.

    "missing" and "other" of an ordered attribute come before its values, where a cut can set them apart.
    """
    places = []
    for j, (attribute, size) in enumerate(zip(table.schema.attributes, table.sizes, strict=True)):
        if attribute.kind == "discrete":
            places.append(np.argsort(np.argsort(_leaning(table, j, classes), kind="stable")))
        else:
            places.append(np.roll(np.arange(size), len(table.levels[j]) - size))
    return places


def _leaning(table: Table, j: int, classes: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return one number per value: towards which classes its people lean."""
    count = int(classes.max(initial=0)) + 1
    keys = table.codes[:, j].astype(np.intp) * count + classes
    people = np.bincount(keys, weights=table.counts, minlength=table.sizes[j] * count).reshape(-1, count)
    prior = people.sum(axis=0) / max(people.sum(), 1.0)
    shares = (people + _SHRINKAGE * prior) / (people.sum(axis=1, keepdims=True) + _SHRINKAGE)
    if count <= 2:
        return np.asarray(shares[:, -1])
    return np.asarray(shares @ principal_direction(shares - prior, people.sum(axis=1)))


def principal_direction(rows: npt.NDArray[Any], people: npt.NDArray[Any] | None = None) -> npt.NDArray[np.float64]:
    """Return the direction in which the rows, of so many people each, vary most around 0 (principal component).

    An eigenvector has no sign: its largest entry is made positive, so that an order along it is always the same.
    """
    if rows.shape[1] == 1:
        return np.ones(1)
    weighted = rows if people is None else people[:, None] * rows
    vector = np.linalg.eigh(weighted.T @ rows)[1][:, -1]
    return np.asarray(vector * np.sign(vector[np.abs(vector).argmax()]))


def ranked(codes: Codes, ranks: list[Ranks]) -> npt.NDArray[np.float32]:
    """Return the records as places, one column per attribute."""
    return np.stack([rank[codes[:, j]] for j, rank in enumerate(ranks)], axis=1).astype(np.float32)
