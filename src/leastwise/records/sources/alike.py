"""People who are alike in everything, counted further in this process: cheaper than one set for each value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.records.grouping import Beside, Cells, joint_columns, taken
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


class _Combined(NamedTuple):
    """The combinations of some digits, how many people have each, and the number of each row's own."""

    digits: tuple[Placing, ...]
    alone: pl.DataFrame
    row_of: npt.NDArray[np.int32]


class Held:
    """People as the small numbers that an engine kept of them, counted for one plan after another.

    Parameters
    ----------
    digits
        Gives, by the name of a column, the digit of each row; asked again where columns are too long to be held.
    rows
        How many there are.
    people
        How many people each row stands for; None: one.
    """

    def __init__(
        self, digits: Callable[[str], npt.NDArray[Any]], rows: int, people: npt.NDArray[np.int64] | None
    ) -> None:
        self._digits, self._rows, self._people = digits, rows, people
        self._last: _Combined | None = None

    def count(self, plan: Plan) -> Counts:
        """Return the combinations of a plan whose columns are all looked up here, and each value beside them."""
        _, alone, row_of = self._combined(plan)
        chosen, people = None, self._people
        if plan.slice is not None:
            shown = _in_slice(plan, alone)
            chosen = np.flatnonzero(taken(shown, row_of))
            alone, row_of = alone.filter(shown), (np.cumsum(shown, dtype=np.int32) - 1)[row_of[chosen]]
            people = None if people is None else people[chosen]
        check_size(alone, plan)
        told, beside = Beside(row_of, alone.height, people), []
        for each in plan.values:
            cells = _told(told.cells(self._digit(each, chosen), each.size + 1))  # type: ignore[union-attr]
            # Of more people than are held at once, what is fetched is as much as from an engine elsewhere.
            beside.append(check_size(cells, plan) if len(row_of) > MOST_ALIKE else cells)
        return _shown(Counts(alone, beside), plan.at_least)

    def _combined(self, plan: Plan) -> _Combined:
        """Return the combinations of a plan; what is asked again in slices is not put together again."""
        if self._last is None or self._last.digits != plan.digits:
            self._last = None  # not both at a time
            columns, sizes = map(self._digit, plan.digits), [each.size + 1 for each in plan.digits]
            first, row_of = joint_columns(columns, sizes, self._rows)
            again = (self._digit(each, first) for each in plan.digits)
            keys = {f"k{i}": np.zeros(len(first), dtype=np.int64) for i in range(len(plan.keys))}
            for key, digits in zip(keys.values(), plan.keys, strict=True):
                for _, weight in digits:
                    key += next(again).astype(np.int64) * weight
            n = np.bincount(row_of, self._people, minlength=len(first)).astype(np.int64)
            self._last = _Combined(plan.digits, pl.DataFrame({**keys, "n": n}), row_of.astype(np.int32))
        return self._last

    def _digit(self, placing: str | Placing, rows: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Return the digit of each row, or of some, 0 for what has no bucket."""
        assert isinstance(placing, ByValue)
        own = self._digits(placing.column)
        own = own if rows is None else own[rows]
        size = 1 + max([int(own.max(initial=0)), *placing.bucket_of])
        table = np.zeros(size, dtype=np.min_scalar_type(placing.size))
        table[[*placing.bucket_of]] = [bucket + 1 for bucket in placing.bucket_of.values()]
        return taken(table, own)


def _in_slice(plan: Plan, alone: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Return which combinations are in the slice of a plan."""
    assert plan.slice is not None
    digit_of = (
        alone[f"k{i}"].to_numpy() // weight % (digit.size + 1)
        for i, digits in enumerate(plan.keys)
        for digit, weight in digits
    )
    numbers = np.zeros(alone.height, dtype=np.int64)
    for (_, factor), digit in zip(plan.sliced, digit_of, strict=False):
        numbers += digit * factor
    shown: npt.NDArray[np.bool_] = numbers % PRIME % plan.slice.of == plan.slice.number
    return shown


def _told(cells: Cells) -> pl.DataFrame:
    """Return counts beside combinations; the first digit, 0, is for what has no bucket."""
    return pl.DataFrame({"row": cells.record_of, "value": cells.values - 1, "n": cells.counts})


def _starts(alike: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[Any]:
    """Return where each combination begins, in groups that are in order."""
    other = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in names)
    # Nothing is before the first, which a combination of nulls would be equal to.
    begins = alike.select(other | (pl.int_range(pl.len()) == 0)).to_series()
    return np.flatnonzero(begins.to_numpy())


def _shown(counts: Counts, at_least: int) -> Counts:
    """Leave out counts that are too small to be shown."""
    if at_least == 1:
        return counts
    enough = pl.col("n") >= at_least
    shown = counts.alone.select(enough).to_series().to_numpy()
    row_of = pl.Series(np.cumsum(shown) - 1)  # of what is shown: who has a count that is has a combination that is
    kept = [each.filter(enough) for each in counts.beside]
    beside = [each.with_columns(row=row_of.gather(each["row"])) for each in kept]
    return Counts(counts.alone.filter(enough), beside)
