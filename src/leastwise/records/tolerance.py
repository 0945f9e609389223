"""When a guessed number counts as told: within a twentieth of the range, unless somebody says otherwise."""

from __future__ import annotations

import numpy as np

from leastwise.records.table import Table
from leastwise.schema import Attribute

SHARE = 0.05


def default_tolerance(attribute: Attribute, table: Table, position: int) -> float:
    """Return a twentieth of the range: the declared one, or where it is open, that of the middle 90 % of people.

    Whole for whole numbers, so that an age is told within 2 years and not within 2.3.
    """
    use = table.use(position)[: len(table.levels[position])]
    if attribute.lower is not None and attribute.upper is not None:
        span = attribute.upper - attribute.lower
    elif use.sum():
        places = np.searchsorted(np.cumsum(use), use.sum() * np.array([SHARE, 1 - SHARE]))
        low, high = np.asarray(table.levels[position], dtype=float)[np.minimum(places, len(use) - 1)]
        span = float(high - low) if np.isfinite(high - low) else 0.0
    else:
        span = 0.0
    return float(np.floor(span * SHARE)) if attribute.integer else span * SHARE
