"""How sure a measured error is: intervals for shares and for means.

An error on n test records is a sample. The intervals cover the chance of who was tested: they hold the error of
*this* model, trained on *these* people, on everybody. What another split or another training would give is not in
them; that is what repeated runs with other seeds show.

The share of wrong guesses of one attribute gets the exact binomial interval of Clopper and Pearson, which never
covers less than it says. The mean over several attributes is no binomial count (a person is guessed wrong on some
attributes and right on others): its interval is that of the number of independent right-or-wrong guesses that
would have the same spread. Weights are multiplicities. Survey weights are not a number of people: with
``persons``, who are what was drawn, the spread is that of a weighted mean (Taylor's linearization).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError
from leastwise.validation import check_between

_PSEUDO_COUNT = 2.0


class Interval(NamedTuple):
    """A range that holds the true value with the stated confidence."""

    low: float
    high: float


def binomial_interval(errors: float, n: float, level: float = 0.95) -> Interval:
    """Return the exact (Clopper and Pearson) interval of a share.

    Parameters
    ----------
    errors, n
        How many of how many. Neither needs to be whole, but n must be at least 1.
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
    from scipy.special import betaincinv  # here: most commands count nothing, and should not wait for SciPy

    tail, errors = (1 - level) / 2, min(errors, n)
    low = 0.0 if errors <= 0 else float(betaincinv(errors, n - errors + 1, tail))
    high = 1.0 if errors >= n else float(betaincinv(errors + 1, n - errors, 1 - tail))
    return Interval(low, high)


def error_interval(
    wrong: npt.NDArray[Any], counts: npt.NDArray[Any], persons: npt.NDArray[Any] | None = None, right: float = 0.0
) -> Interval:
    """Return the exact interval of a share of wrong guesses; by person where several may be one person's.

    ``right`` people more were guessed rightly. Errors that are no bits, but say how far off a number was guessed,
    have no bound: their mean has the interval of a normal one.
    """
    if wrong.dtype.kind == "f" and not np.isin(wrong, (0.0, 1.0)).all():
        return distance_interval(wrong, counts, persons)
    if persons is None:
        return binomial_interval(float(wrong @ counts), float(counts.sum()) + right)
    return mean_interval(wrong.astype(float), counts, persons=persons)


def distance_interval(
    off: npt.NDArray[Any], counts: npt.NDArray[Any], persons: npt.NDArray[Any] | None = None
) -> Interval:
    """Return the 95 % interval of a mean distance (normal; by person where several records are one person's).

    >>> low, high = distance_interval(np.array([1.0, 2.0, 3.0, 2.0] * 25), np.ones(100))
    >>> round(low, 2), round(high, 2)
    (1.86, 2.14)
    """
    people, mean = float(counts.sum()), float(np.average(off, weights=counts))
    spread = float(counts @ np.square(off - mean))  # a row that stands for several: each is a person of its own
    if persons is not None:
        own = np.unique(persons, return_inverse=True)[1]
        spread = float(np.square(np.bincount(own, weights=counts * (off - mean))).sum())
    reach = 1.96 * (spread * people / max(people - 1, 1)) ** 0.5 / people
    return Interval(max(mean - reach, 0.0), mean + reach)


def effective_number(records_of_persons: npt.NDArray[Any]) -> float:
    """Return how many persons with one record each tell as much as these with several (Kish).

    >>> effective_number(np.array([1, 1, 1, 1])), effective_number(np.array([5, 5]))
    (4.0, 2.0)
    """
    return float(records_of_persons.sum()) ** 2 / float(np.square(records_of_persons).sum())


def mean_interval(
    values: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None = None,
    level: float = 0.95,
    persons: npt.NDArray[Any] | None = None,
) -> Interval:
    """Return the interval of the mean of one number in [0, 1] per record.

    Where ``persons`` tells whose record each one is, the persons are the random sample, and their means spread.

    Of all values in [0, 1] with this mean, right-or-wrong ones spread the most. Values that spread less tell as
    much as more people with right-or-wrong values would; the exact interval of those is returned. For values
    that are 0 or 1 it is the interval of Clopper and Pearson itself.

    >>> import numpy as np
    >>> low, high = mean_interval(np.array([0.0, 0.5, 1.0, 0.5] * 25))
    >>> round(low, 2), round(high, 2)
    (0.43, 0.57)
    >>> mean_interval(np.array([1.0, 0.0, 0.0, 1.0])) == binomial_interval(2, 4)
    True
    """
    check_between("level", level, 0.0, 1.0)
    counts = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=float)
    people = float(counts.sum())
    if not people >= 1:
        raise ParameterError("an interval needs at least one person; got none")
    mean = min(max(float(values @ counts) / people, 0.0), 1.0)
    spread = float(np.square(values - mean) @ counts) / people
    if persons is not None:
        own = np.unique(persons, return_inverse=True)[1]
        deviations, records = (np.bincount(own, weights=each) for each in ((values - mean) * counts, counts))
        spread = float(np.square(deviations).sum() / np.square(records).sum())
        people = effective_number(records)
    return spread_interval(mean, spread, people, level)


def spread_interval(mean: float, spread: float, people: float, level: float = 0.95) -> Interval:
    """Return the interval of a mean of numbers in [0, 1] whose variance is known, or known to be no larger."""
    most = mean * (1 - mean)
    if not spread > 0:
        return binomial_interval(mean * people, people, level)
    # Few people, or few of them wrong, may show next to no spread by chance: it is shrunk towards the most there
    # can be, as if a few more who were wrong (right) had shown that; and it counts no more than tenfold.
    pseudo_count = _PSEUDO_COUNT / min(mean, 1 - mean)
    shrunk = (people * spread + pseudo_count * most) / (people + pseudo_count)
    gain = min(max(most / shrunk, 1.0), 10.0)
    return binomial_interval(mean * people * gain, people * gain, level)
