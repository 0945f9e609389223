"""How sure a measured error is: intervals for shares and for means.

An error on n test records is a sample. The share of wrong guesses of one attribute gets the exact binomial
interval of Clopper and Pearson, which never covers less than it says. The mean over several attributes is no
binomial count (a person is guessed wrong on some attributes and right on others), so its interval comes from
the spread of the persons' own shares.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from leastwise.errors import ParameterError
from leastwise.validation import check_between


class Interval(NamedTuple):
    """A range that holds the true value with the stated confidence."""

    low: float
    high: float


def binomial_interval(errors: float, n: float, level: float = 0.95) -> Interval:
    """Return the exact (Clopper and Pearson) interval of a share.

    Parameters
    ----------
    errors, n
        How many of how many. Neither needs to be whole (people may be weighted), but n must be at least 1.
    level
        The confidence; the interval holds the true share at least that often.

    Examples
    --------
    >>> [round(end, 4) for end in binomial_interval(0, 10)], [round(end, 4) for end in binomial_interval(5, 10)]
    ([0.0, 0.3085], [0.1871, 0.8129])
    """
    check_between("level", level, 0.0, 1.0)
    if not n >= 1 or not 0 <= errors <= n * (1 + 1e-12):
        raise ParameterError(f"errors must be between 0 and n, and n at least 1; got {errors} of {n}")
    tail, errors = (1 - level) / 2, min(errors, n)
    low = 0.0 if errors <= 0 else float(stats.beta.ppf(tail, errors, n - errors + 1))
    high = 1.0 if errors >= n else float(stats.beta.ppf(1 - tail, errors + 1, n - errors))
    return Interval(low, high)


def mean_interval(
    values: npt.NDArray[Any], weights: npt.NDArray[Any] | None = None, level: float = 0.95
) -> Interval:
    """Return the interval of the mean of one number in [0, 1] per person.

    Normal, from the spread of the values; widened to Hoeffding's where there is no spread to judge by (all
    persons alike), so that 0 errors of 10 are not said to be exactly 0.

    >>> import numpy as np
    >>> low, high = mean_interval(np.array([0.0, 0.5, 1.0, 0.5]))
    >>> round(low, 3), round(high, 3)
    (0.1, 0.9)
    """
    check_between("level", level, 0.0, 1.0)
    counts = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    people = float(counts.sum())
    if not people >= 1:
        raise ParameterError("an interval needs at least one person; got none")
    mean = float(values @ counts) / people
    spread = math.sqrt(float(np.square(values - mean) @ counts) / max(people - 1, 1) / people)
    half = float(stats.norm.ppf((1 + level) / 2)) * spread if spread > 0 else _hoeffding(people, level)
    return Interval(max(0.0, mean - half), min(1.0, mean + half))


def _hoeffding(people: float, level: float) -> float:
    return math.sqrt(math.log(2 / (1 - level)) / (2 * people)) if level < 1 else 1.0
