"""Guesses of a number: each tells all numbers within the tolerance, and may lie between two that occur."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
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

    def tells(self, guess: Places, numbers: Numbers) -> npt.NDArray[np.bool_]:
        """Return, one by one, whether a guess tells a number; NaN is told by none."""
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
