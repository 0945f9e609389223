"""What noise can explain: the one rule by which a run and a check say that a limit is missed.

A figure beyond its limit has a *chance*: how likely one as far off is where the true one keeps the limit (a
p-value), and pays for how many limits there are. Only where it is small a limit is missed; otherwise noise can
explain what was seen.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from leastwise.confidence import Interval, binomial_interval
from leastwise.predictors.held_out import Difference

NOISE_LEVEL = 0.01
"""How often a check alarms although all is well: once in a hundred times."""
FOR_LIMITS = 1 / 3
"""What limits have of that level in a check that asks for unknown values and holds a promise, too: a run that says
of a limit that it is missed must not be louder than that."""


class Chance(NamedTuple):
    """How likely a figure as far beyond its limit is where the true one is at the limit, and one as far within.

    ``interval`` holds the true one with 95 % confidence; None where nothing was estimated.
    """

    beyond: float
    within: float
    interval: Interval | None = None


COUNTED = Chance(0.0, 0.0)
"""What was counted and not estimated leaves nothing to chance."""


def adjusted(chances: Sequence[float]) -> tuple[float, ...]:
    """Return the chances corrected for how many there are (Holm): alarm where one is at most the level.

    >>> adjusted([0.01, 0.5, 0.02])
    (0.03, 0.5, 0.04)
    """
    order = np.argsort(chances, kind="stable")
    result = np.empty(len(chances))
    largest = 0.0
    for place, i in enumerate(order):
        largest = max(largest, min(1.0, (len(chances) - place) * chances[i]))
        result[i] = largest
    return tuple(result.tolist())


def chance_above(count: float, people: float, limit: float) -> float:
    """Return the chance of so many or more if the share behind them is at the limit.

    >>> round(chance_above(15, 100, 0.1), 3), chance_above(0, 100, 0.1)
    (0.073, 1.0)
    """
    if people < 1:
        return 1.0
    from scipy import stats  # here: most commands judge nothing, and should not wait for it

    return float(stats.binom.sf(round(count) - 1, round(people), min(max(limit, 0.0), 1.0)))


def chance_below(count: float, people: float, limit: float) -> float:
    """Return the chance of so many or fewer if the share behind them is at the limit."""
    if people < 1:
        return 1.0
    from scipy import stats

    return float(stats.binom.cdf(round(count), round(people), min(max(limit, 0.0), 1.0)))


def chance_of_number(count: int, limit: float) -> float:
    """Return the chance of so many rare events or more if their expected number is at the limit.

    >>> chance_of_number(1, 0), round(chance_of_number(5, 3), 3)
    (0.0, 0.185)
    """
    from scipy import stats

    return float(stats.poisson.sf(count - 1, limit)) if count > 0 else 1.0


def chance_of_increase(increase: Difference, limit: float) -> float:
    """Return the chance of such an increase if the true one is at the limit, both measured on the same people.

    Two classifiers of the same records err on mostly the same people; only those on whom they differ are noise.

    >>> round(chance_of_increase(Difference(0.2, 0.04), 0.1), 4)
    0.0062
    """
    from scipy import stats

    # Where nobody differs there is no noise to speak of.
    return float(stats.norm.sf((increase.mean - limit) / max(increase.standard_error, 1e-12)))


def bound_by_counts(increase: Difference, people: float, confidence: float) -> float:
    """Return an upper bound of an increase by how many people it loses and gains, right also where these are few.

    A standard error knows nothing of those who were not met: where 1 person of 300 is lost, it takes more than 2
    for unlikely, which are not. The counts behind mean and standard error have exact (Poisson) limits, which are
    put together as squares (MOVER, Zou and Donner 2008).

    >>> nobody, one = Difference(0.0, 1 / 300), Difference(1 / 300, 1 / 300)
    >>> [round(300 * bound_by_counts(each, 300, 0.9), 1) for each in (nobody, one)]
    [2.7, 3.9]
    """
    from scipy import stats

    differ = people * (increase.standard_error**2 * (people - 1) + increase.mean**2)
    lost, gained = (max((differ + sign * people * increase.mean) / 2, 0.0) for sign in (1, -1))
    more = float(stats.chi2.ppf(confidence, 2 * lost + 2)) / 2 - lost
    fewer = gained - float(stats.chi2.ppf(1 - confidence, 2 * gained)) / 2 if gained else 0.0
    return increase.mean + math.hypot(more, fewer) / people


def of_share(count: float, people: float, most: float) -> Chance:
    """Return how far a share of people is from the most that is allowed, by exact tests."""
    interval = binomial_interval(min(count, people), people) if people >= 1 else None
    return Chance(chance_above(count, people, most), chance_below(count, people, most), interval)


def of_number(count: int, most: int) -> Chance:
    """Return how far a number of rare events is from the most that is allowed."""
    from scipy import stats

    return Chance(chance_of_number(count, most), float(stats.poisson.cdf(count, most)))


def of_increase(increase: Difference, most: float) -> Chance:
    """Return how far a difference is from the most that is allowed, both measured on the same people."""
    beyond = chance_of_increase(increase, most)
    return Chance(beyond, 1 - beyond, Interval(increase.bound(-1.96), increase.bound(1.96)))


def chance_of_gap(increases: Sequence[Difference], limit: float) -> float:
    """Return the chance of a gap between two of these groups: of many pairs one was picked, and pays for all.

    >>> far = [Difference(0.0, 0.01), Difference(0.1, 0.01)]
    >>> chance_of_gap(far, 0.02) < 1e-6, chance_of_gap([*far, *far], 0.02) / chance_of_gap(far, 0.02)
    (True, 6.0)
    """
    pairs = [
        Difference(abs(one.mean - two.mean), math.hypot(one.standard_error, two.standard_error))
        for one, two in combinations(increases, 2)
    ]
    return min([1.0, *(len(pairs) * chance_of_increase(each, limit) for each in pairs)])


def people_of_share(share: Difference) -> float:
    """Return how many people have a share of this standard error, or tell as much where records are not theirs.

    >>> round(people_of_share(Difference.of(np.array([1.0, 0, 0, 0, 0]), np.ones(5))))
    5
    """
    mean, error = min(share.mean, 1.0), max(share.standard_error, 1e-9)
    return max(mean * (1 - mean) / error**2 + 1, 1 / error)


def people_behind(mean: float, interval: Interval | None, people: float) -> float:
    """Return how many right-or-wrong guesses would give this mean an interval as narrow as this one.

    The mean over several attributes is surer than that of one; its interval says by how much, and a test at
    another level needs to know.

    >>> round(people_behind(0.4, binomial_interval(400, 1000), 200))
    1000
    """
    if interval is None:
        return people
    width, low, high = interval[1] - interval[0], 1.0, 1e9
    for _ in range(100):
        middle = math.sqrt(low * high)
        binomial = binomial_interval(mean * middle, middle)
        low, high = (middle, high) if binomial.high - binomial.low > width else (low, middle)
    return low
