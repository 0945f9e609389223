"""People who are alike in everything, counted further in this process: cheaper than one set for each value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.records.grouping import Cells
from leastwise.records.sources.engine import Counts
from leastwise.records.sources.plan import Plan, packed

MOST_ALIKE = 4_000_000
"""So many groups of people are held at most."""


def counted_further(alike: pl.DataFrame, plan: Plan, names: Sequence[str]) -> Counts:
    """Return the combinations of a plan, and each value beside them.

    Parameters
    ----------
    alike
        Groups of people: the combination under ``names``, looked up values put together in w0, w1, ..., and n.
    """
    alike = alike.sort(*names)
    n, starts = alike["n"].to_numpy().astype(np.int64), _starts(alike, names)
    sums = np.add.reduceat(n, starts) if len(starts) else n
    row_of = np.repeat(np.arange(len(starts)), np.diff(starts, append=alike.height))
    beside = []
    for i, digits in enumerate(packed([each for each in plan.values if not isinstance(each, str)])):
        numbers = alike[f"w{i}"].to_numpy()
        for placing, weight in digits:
            found = Cells.of(row_of, numbers // weight % (placing.size + 1), n)
            beside.append(pl.DataFrame({"row": found.record_of, "value": found.values - 1, "n": found.counts}))
    alone = alike[starts].select(*names, pl.Series("n", sums))
    return _shown(Counts(alone, beside), plan.at_least)


def _starts(alike: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[Any]:
    """Return where each combination begins, in groups that are in order."""
    other = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in names)
    # Nothing is before the first, which a combination of nulls would be equal to.
    begins = alike.select(other | (pl.int_range(pl.len()) == 0)).to_series()
    return np.flatnonzero(begins.to_numpy())


def _shown(found: Counts, at_least: int) -> Counts:
    """Leave out counts that are too small to be shown."""
    if at_least == 1:
        return found
    enough = pl.col("n") >= at_least
    shown = found.alone.select(enough).to_series().to_numpy()
    row_of = pl.Series(np.cumsum(shown) - 1)  # of what is shown: who has a count that is has a combination that is
    kept = [each.filter(enough) for each in found.beside]
    beside = [each.with_columns(row=row_of.gather(each["row"])) for each in kept]
    return Counts(found.alone.filter(enough), beside)
