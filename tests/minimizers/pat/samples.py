"""Random encoded tables with every kind of attribute: missing values, "other", and values that nobody has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from leastwise import Attribute, Schema, Table
from tests.samples import coded


def random_table(
    seed: int,
    rows: int = 60,
    classes: int = 2,
    weights: str = "none",
    discrete: int = 5,
    extras: bool = True,
) -> Table:
    """Return records whose label and attributes depend on each other, so that there is something to split."""
    random = np.random.default_rng(seed)
    hidden = random.random(rows)
    values = tuple(f"v{v}" for v in range(discrete + 2))
    attributes = (
        Attribute("age", "continuous", lower=0, integer=True, missing=extras),
        Attribute("pay", "continuous"),
        Attribute("size", "ordinal", values=("S", "M", "L", "XL"), missing=extras, other=extras, personal=True),
        Attribute("job", values=values, missing=extras, personal=True),
        Attribute("sex", values=("F", "M"), personal=True),
        Attribute("town", values=values),
    )
    numbers = {"age": np.arange(0, 60, 7), "pay": np.round(np.sort(random.normal(size=8)), 3)}
    # The last declared values of "job" and "town" are never drawn: nobody has them.
    drawn = [9 + extras, 8, 4 + 2 * extras, discrete, 2, discrete]
    columns = [
        np.minimum((size * (0.6 * random.random(rows) + 0.4 * hidden)).astype(int), size - 1) for size in drawn
    ]
    label = np.minimum((classes * (0.5 * random.random(rows) + 0.5 * hidden)).astype(int), classes - 1)
    schema = Schema(attributes, Attribute("y", values=tuple(f"c{c}" for c in range(classes))))
    people = _weights(random, rows, weights)
    return coded(schema, *columns, labels=label, numbers=numbers, weights=people)


def _weights(random: np.random.Generator, rows: int, kind: str) -> np.ndarray | None:
    if kind == "none":
        return None
    whole = random.integers(1, 4, rows).astype(float)
    return whole if kind == "whole" else whole * random.random(rows)


def repeated(table: Table) -> Table:
    """Return the table with a row for each person."""
    assert table.weights is not None
    rows = np.repeat(np.arange(len(table)), table.weights.astype(int))
    return replace(table.take(rows), weights=None)
