"""Survey weights: for how much of a population each record speaks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import DataError, SchemaError, shorten
from leastwise.schema import Schema
from leastwise.validation import did_you_mean

Floats = npt.NDArray[np.float64]


def read_weights(records: Any, name: str, schema: Schema, person: str | None = None) -> Floats:
    """Read the weights of a narwhals frame; what is no weight is refused in one line."""
    shown = shorten(name)
    columns = [column for each in (*schema.attributes, *schema.labels) for column in each.columns]
    if name in (*schema.names, *columns):
        raise SchemaError(f"{shown} is the survey weight, so it is no attribute; leave it out of the schema")
    if name == person:
        raise SchemaError(f"{shown} cannot tell both whose record it is and how much it weighs")
    if name not in records.columns:
        raise DataError(f"the records have no column {shown}; {did_you_mean(name, records.columns)}")
    values = [_number(value) for value in records[name].to_list()]
    weights: Floats = np.array(values, dtype=float)
    bad = ~np.isfinite(weights) | (weights < 0)
    if bad.any():
        raise DataError(
            f"survey weights must be numbers from 0 up; {int(bad.sum()):,} of {len(bad):,} in {shown} are "
            "missing, negative or no numbers"
        )
    if len(weights) and not weights.any():
        raise DataError(f"survey weights must not all be 0; in {shown} they are")
    return weights


def scaled(weights: Floats) -> Floats:
    """Return the weights with a mean of 1: what counts people then counts as many as there are records.

    >>> scaled(np.array([10.0, 30.0]))
    array([0.5, 1.5])
    """
    total = float(weights.sum())
    return weights * (len(weights) / total) if total > 0 else weights


def _number(value: Any) -> float:
    try:
        return float("nan") if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return float("nan")
