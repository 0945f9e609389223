"""People who are alike in everything, counted further in this process: cheaper than one set for each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.records.grouping import Beside, Cells, joint_columns
from leastwise.records.sources.engine import Counts, check_size
from leastwise.records.sources.plan import PRIME, ByValue, Placing, Plan, packed

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
    beside, told = [], Beside(row_of, len(starts), n)
    for i, digits in enumerate(packed([each for each in plan.values if not isinstance(each, str)])):
        numbers = alike[f"w{i}"].to_numpy()
        for placing, weight in digits:
            beside.append(_told(told.cells(numbers // weight % (placing.size + 1), placing.size + 1)))
    alone = alike[starts].select(*names, pl.Series("n", sums))
    return _shown(Counts(alone, beside), plan.at_least)


class Held:
    """People as the small numbers that an engine kept of them, counted for one plan after another.

    Parameters
    ----------
    digits
        Gives, by the name of a column, the digit of each row; asked again where columns are too long to be held.
    people
        How many people each row stands for.
    """

    def __init__(self, digits: Callable[[str], npt.NDArray[Any]], people: npt.NDArray[np.int64]) -> None:
        self._digits, self._rows = digits, len(people)
        self._people = None if people.max(initial=0) <= 1 else people
        self._sliced: tuple[Sequence[Placing], npt.NDArray[np.int32]] = (), np.zeros(0, dtype=np.int32)

    def count(self, plan: Plan) -> Counts:
        """Return the combinations of a plan whose columns are all looked up here, and each value beside them."""
        chosen = self._in_slice(plan)
        rows = self._rows if chosen is None else len(chosen)
        few = rows <= MOST_ALIKE  # whose digits are held until combinations are known, not asked for again
        held = [self._digit(each, chosen) for each in plan.digits] if few else []
        columns = iter(held) if few else (self._digit(each, chosen) for each in plan.digits)
        first, row_of = joint_columns(columns, [each.size + 1 for each in plan.digits], rows)
        one_of_each = first if chosen is None else chosen[first]
        again = (self._digit(each, one_of_each) for each in plan.digits)
        digit_of = (each[first] for each in held) if few else again
        keys = {f"k{i}": np.zeros(len(first), dtype=np.int64) for i in range(len(plan.keys))}
        for key, digits in zip(keys.values(), plan.keys, strict=True):
            for _, weight in digits:
                key += next(digit_of) * np.int64(weight)
        weights = self._people if self._people is None or chosen is None else self._people[chosen]
        people = np.bincount(row_of, weights, minlength=len(first)).astype(np.int64)
        alone = check_size(pl.DataFrame({**keys, "n": people}), plan)
        told, beside = Beside(row_of, len(first), weights), []
        for each in plan.values:
            found = _told(told.cells(self._digit(each, chosen), each.size + 1))  # type: ignore[union-attr]
            # Of more people than are held at once, what is fetched is as much as from an engine elsewhere.
            beside.append(check_size(found, plan) if rows > MOST_ALIKE else found)
        return _shown(Counts(alone, beside), plan.at_least)

    def _in_slice(self, plan: Plan) -> npt.NDArray[np.intp] | None:
        """Return the rows of a plan's slice; None for all."""
        if plan.slice is None:
            return None
        by = plan.digits[: plan.slice.digits]
        if self._sliced[0] != by:  # one slice after another is asked for
            numbers = np.zeros(self._rows, dtype=np.int64)
            for placing, factor in plan.sliced:
                numbers += self._digit(placing) * np.int64(factor)
            self._sliced = by, (numbers % PRIME).astype(np.int32)
        return np.flatnonzero(self._sliced[1] % plan.slice.of == plan.slice.number)

    def _digit(self, placing: str | Placing, rows: npt.NDArray[Any] | None = None) -> npt.NDArray[np.int32]:
        """Return the digit of each row, or of some, 0 for what has no bucket."""
        assert isinstance(placing, ByValue)
        own = self._digits(placing.column)
        own = own if rows is None else own[rows]
        table = np.zeros(1 + max([int(own.max(initial=0)), *placing.bucket_of]), dtype=np.int32)
        table[[*placing.bucket_of]] = [bucket + 1 for bucket in placing.bucket_of.values()]
        return table.take(own)


def _told(cells: Cells) -> pl.DataFrame:
    """Return counts beside combinations; the first digit, 0, is for what has no bucket."""
    return pl.DataFrame({"row": cells.record_of, "value": cells.values - 1, "n": cells.counts})


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
