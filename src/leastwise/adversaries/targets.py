"""What an adversary wants to know of each person, and when a guess counts as right.

A discrete or ordinal attribute is told when the value is. A continuous one is told when the guessed number is
within a stated tolerance; the adversary then guesses the number with the most probability around it, which is
not always the likeliest number and may lie between two that occur.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.records.grouping import Cells
from leastwise.records.table import Table
from leastwise.schema import Attribute

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Target:
    """One personal attribute of the attacked people.

    Attributes
    ----------
    position, attribute
        Which attribute.
    truth
        Its code for each person: what only the scoring knows.
    numbers
        For a continuous attribute the number of each of its codes ("missing" and "other" are NaN).
    guessable
        For a continuous attribute the number of each code that a predictor knows (see ``coarsening``).
    tolerance
        How far off a guessed number may be; None for named values.
    windows
        The numbers to guess of a continuous attribute; None for named values.
    prior
        How often each code that a predictor knows occurs in the training part.
    counts
        How many people each of the true codes stands for.
    withheld
        How many people there are beside, whose code is not known: they count as told.
    """

    position: int
    attribute: Attribute
    truth: npt.NDArray[Any]
    numbers: Numbers
    guessable: Numbers
    tolerance: float | None
    windows: Windows | None
    prior: Numbers
    counts: npt.NDArray[Any]
    withheld: float = 0.0

    @property
    def people(self) -> float:
        """How many people are attacked."""
        return float(self.counts.sum()) + self.withheld

    def best(self, probabilities: npt.NDArray[Any]) -> tuple[npt.NDArray[np.intp], Numbers]:
        """Return, for rows of probabilities, the guess that is likeliest to be right and how likely it is.

        A guess is a code; of a continuous attribute it is a window, or "missing" or "other" behind the windows.
        """
        chances = probabilities if self.windows is None else self._chances(self.windows, probabilities)
        guess = chances.argmax(axis=1)
        return guess.astype(np.intp), np.asarray(chances[np.arange(len(guess)), guess], dtype=float)

    def median(self, probabilities: npt.NDArray[Any]) -> Numbers:
        """Return, for rows of probabilities, the guess with the least expected distance."""
        known = np.flatnonzero(~np.isnan(self.guessable))
        cumulative = np.cumsum(probabilities[:, known], axis=1)
        middle = (cumulative < cumulative[:, -1:] / 2).sum(axis=1)
        return np.asarray(self.guessable[known][np.minimum(middle, len(known) - 1)])

    def wrong(self, guess: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Return for each person whether the guess was wrong."""
        if self.windows is None:
            return np.asarray(guess != self.truth)
        extras, windows = self.attribute.extra_values, len(self.windows.below)
        # "missing" and "other" have no number: they are told by their place behind the numbers.
        same_extra = guess - windows == self.truth - (len(self.numbers) - extras)
        numbered = guess < windows
        told = self.windows.covers(np.where(numbered, guess, 0), self.numbers[self.truth]) if windows else numbered
        return np.asarray(~np.where(numbered, told, same_extra))

    def distance(self, guessed: Numbers) -> float | None:
        """Return the mean distance to the true number, over the people who have one."""
        true, counts = self.numbers[self.truth], self.counts
        known = np.isfinite(true) & np.isfinite(guessed)
        people = float(counts[known].sum())
        return float((np.abs(guessed - true)[known] * counts[known]).sum() / people) if people else None

    @cached_property
    def naive_wrong(self) -> npt.NDArray[np.bool_]:
        """For each person whether the majority guess, learned on the training part, was wrong."""
        guess, _ = self.best(self.prior[None, :])
        return self.wrong(np.repeat(guess, len(self.truth)))

    def _chances(self, windows: Windows, probabilities: npt.NDArray[Any]) -> npt.NDArray[Any]:
        codes = len(windows.told)
        return np.hstack([probabilities[:, :codes] @ windows.told, probabilities[:, codes:]])


def target_of(
    position: int,
    train: Table,
    truth: Table,
    seen: Table,
    tolerances: Mapping[str, float],
    cells: Cells | None = None,
    people: float = 0.0,
) -> Target:
    """Return the target at a position; ``seen`` is the training part as predictors see it.

    Where people are counted, it is scored on ``cells``; so many more as ``people`` says are withheld.
    """
    attribute = truth.schema.attributes[position]
    tolerance = None
    if attribute.continuous:
        tolerance = tolerances.get(attribute.name, train.default_tolerance(position))
    counts = truth.counts if cells is None else cells.counts
    return Target(
        position=position,
        attribute=attribute,
        truth=truth.codes[:, position].astype(np.intp) if cells is None else cells.values,
        numbers=_numbers(truth, position),
        guessable=_numbers(seen, position),
        tolerance=tolerance,
        windows=None if tolerance is None else _windows(position, train, seen, tolerance),
        prior=seen.use(position) / seen.people,
        counts=counts,
        withheld=0.0 if cells is None else people - float(counts.sum()),
    )


def _windows(position: int, train: Table, seen: Table, tolerance: float) -> Windows:
    levels, codes = train.levels[position].astype(float), len(seen.levels[position])
    code_of = np.arange(len(levels))
    if codes < len(levels):  # the column was coarsened: the records tell the run of each number
        code_of[:] = 0
        numbered = train.codes[:, position] < len(levels)
        code_of[train.codes[numbered, position]] = seen.codes[numbered, position]
        code_of = np.maximum.accumulate(code_of)
    return windows_of(levels, train.use(position)[: len(levels)], code_of, codes, tolerance)


def _numbers(table: Table, position: int) -> Numbers:
    attribute = table.schema.attributes[position]
    if not attribute.continuous:
        return np.full(table.sizes[position], np.nan)
    return np.concatenate(
        [np.asarray(table.levels[position], dtype=float), np.full(attribute.extra_values, np.nan)]
    )


Places = npt.NDArray[np.intp]

# Of a column of very many numbers, guesses begin at so many of them, about equally used.
MOST_GUESSES = 512
# Numbers that lie apart by just the tolerance are close, whatever their last digit.
_SLACK = 1 + 1e-9
# An unused number weighs next to nothing, but more than none: a run of unused ones has shares too.
_UNUSED = 1e-9


@dataclass(frozen=True, eq=False)
class Windows:
    """The guesses of one continuous attribute, in the order of their numbers.

    Attributes
    ----------
    below, above
        The smallest and the largest number that each guess tells.
    told
        Codes x guesses: the share of a code's people whom the guess tells. Where a predictor knows runs of
        numbers (see ``coarsening``), a guess may tell a part of one.
    """

    below: Numbers
    above: Numbers
    told: Numbers

    def covers(self, guess: Places, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """Return, one by one, whether a number lies in the window of a guess; NaN lies in none."""
        return np.asarray((self.below[guess] <= numbers) & (numbers <= self.above[guess]))


def windows_of(levels: Numbers, use: Numbers, code_of: Places, codes: int, tolerance: float) -> Windows:
    """Return the guesses from numbers in order, how many people have each, and the code of each.

    >>> found = windows_of(np.array([10.0, 20.0, 30.0]), np.ones(3), np.arange(3), codes=3, tolerance=5)
    >>> found.told  # 15 tells the first two, 25 the last two
    array([[1., 0., 0.],
           [1., 1., 0.],
           [0., 1., 1.]])
    """
    first = _starts(use)
    with np.errstate(over="ignore", invalid="ignore"):  # infinite numbers, and nearly infinite ones
        reach = np.searchsorted(levels, levels[first] + 2 * tolerance * _SLACK, side="right") - 1
        last = np.maximum(reach, first)
        low, high = levels[first], levels[last]
        middle = np.where(high > low, low + (high - low) / 2, low)
        # Rounding must not push out the ends, which the guess was made to tell.
        below, above = np.fmin(low, middle - tolerance * _SLACK), np.fmax(high, middle + tolerance * _SLACK)
    return Windows(below, above, _told(levels, use + _UNUSED, code_of, codes, below, above))


def _starts(use: Numbers) -> Places:
    """Return the levels at which guesses begin."""
    if len(use) <= MOST_GUESSES:
        return np.arange(len(use))
    shares = np.cumsum(use + _UNUSED)
    wanted = np.linspace(0, shares[-1], MOST_GUESSES, endpoint=False)
    return np.unique(np.searchsorted(shares, wanted, side="right")).astype(np.intp)


def _told(levels: Numbers, use: Numbers, code_of: Places, codes: int, below: Numbers, above: Numbers) -> Numbers:
    """Return the shares: a code is a run of levels, a window another one, and they overlap or not."""
    before = np.concatenate([[0.0], np.cumsum(use)])
    begin, end = (np.searchsorted(code_of, np.arange(codes), side=side) for side in ("left", "right"))
    from_, to = np.searchsorted(levels, below, side="left"), np.searchsorted(levels, above, side="right")
    inside = [np.clip(edge[None, :], begin[:, None], end[:, None]) for edge in (from_, to)]
    people = before[end] - before[begin]
    return np.asarray((before[inside[1]] - before[inside[0]]) / np.maximum(people, 1e-300)[:, None])
