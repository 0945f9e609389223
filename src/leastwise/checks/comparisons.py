"""Then against now, so that noise does not alarm.

Every question that a check asks ("is this bucket used as it was?", "is the error within its budget?") becomes a
``Comparison`` with a *chance*: how likely data like these are if all is well. The chances of one check are judged
together by Holm's rule, so that asking a hundred questions does not make an alarm a hundred times as likely. And a
difference that is sure but too small to matter is no alarm either: each comparison says whether it matters.

Two counts are compared by the exact test of Fisher, which never promises more than it keeps, however small the
counts; counts against a limit by the exact binomial one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from leastwise.confidence import Interval, binomial_interval
from leastwise.predictors.held_out import Difference
from leastwise.validation import check_between

Status = Literal["fine", "watch", "broken"]
Direction = Literal["any", "more", "less"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """One question of a check, and what the data say to it.

    Attributes
    ----------
    about
        What it is about; comparisons of one kind are shown in one table.
    name
        Of what exactly: an attribute, a bucket, a limit.
    then, now
        The figures; ``then`` is None where there is only a limit.
    limit
        What the budget allows, or the difference that matters.
    interval
        Where the figure of now lies with 95 % confidence; None where it was counted and not estimated.
    chance
        How likely a figure as far off is if all is well (a p-value). 0 or 1 where nothing is left to chance.
    matters
        Whether the figure is beyond its limit, chance aside.
    reason
        What to say if it is broken.
    """

    about: str
    name: str
    then: float | None = None
    now: float
    limit: float | None = None
    interval: Interval | None = None
    chance: float
    matters: bool
    reason: str


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


def statuses(comparisons: Sequence[Comparison], level: float) -> tuple[Status, ...]:
    """Return what to make of each comparison; all of them together alarm by mistake at most at the level.

    What was agreed (limits) and what was promised (then against now) have half of the level each, so that many
    buckets do not make a broken budget hard to see.
    """
    check_between("level", level, 0.0, 1.0)
    found: list[Status] = ["fine"] * len(comparisons)
    families = [[i for i, c in enumerate(comparisons) if (c.then is None) == agreed] for agreed in (True, False)]
    share = level / max(1, sum(1 for family in families if family))
    for family in families:
        for i, chance in zip(family, adjusted([comparisons[i].chance for i in family]), strict=True):
            if comparisons[i].matters:
                found[i] = "broken" if chance <= share else "watch"
    return tuple(found)


def chance_of_shares(
    then: float, people_then: float, now: float, people_now: float, direction: Direction = "any", slack: float = 0
) -> float:
    """Return the chance of two counts this far apart, or farther, if both have the same share behind them.

    Parameters
    ----------
    then, people_then, now, people_now
        How many of how many, on either side.
    direction
        Whether only ``more`` now, only ``less``, or ``any`` difference would be of interest.
    slack
        By how much ``then`` may have been rounded; the count within it that is nearest to no difference counts.

    Examples
    --------
    >>> round(chance_of_shares(10, 100, 30, 100), 4), chance_of_shares(10, 100, 11, 100, slack=5)
    (0.0007, 1.0)
    """
    n1, n2, c2 = round(people_then), round(people_now), round(now)
    if n1 < 1 or n2 < 1:
        return 1.0
    nearest = min(max(c2 * n1 / n2, then - slack), then + slack)
    # Chances come in steps: the count as it was told may have the larger one.
    return max(_chance(min(max(round(c1), 0), n1), n1, c2, n2, direction) for c1 in (nearest, then))


def _chance(c1: int, n1: int, c2: int, n2: int, direction: Direction) -> float:
    # Of all the people, those in question were dealt out to either side by chance alone.
    dealt = n1 + n2, c1 + c2, n2
    if direction == "more":
        return min(1.0, float(stats.hypergeom.sf(c2 - 1, *dealt)))
    less = float(stats.hypergeom.cdf(c2, *dealt))
    if direction == "less":
        return min(1.0, less)
    return min(1.0, 2 * min(less, float(stats.hypergeom.sf(c2 - 1, *dealt))))


def chance_above(count: float, people: float, limit: float) -> float:
    """Return the chance of so many or more if the share behind them is at the limit.

    >>> round(chance_above(15, 100, 0.1), 3), chance_above(0, 100, 0.1)
    (0.073, 1.0)
    """
    if people < 1:
        return 1.0
    return float(stats.binom.sf(round(count) - 1, round(people), min(max(limit, 0.0), 1.0)))


def chance_below(count: float, people: float, limit: float) -> float:
    """Return the chance of so many or fewer if the share behind them is at the limit."""
    if people < 1:
        return 1.0
    return float(stats.binom.cdf(round(count), round(people), min(max(limit, 0.0), 1.0)))


def chance_of_number(count: int, limit: float) -> float:
    """Return the chance of so many rare events or more if their expected number is at the limit.

    >>> chance_of_number(1, 0), round(chance_of_number(5, 3), 3)
    (0.0, 0.185)
    """
    return float(stats.poisson.sf(count - 1, limit)) if count > 0 else 1.0


def chance_of_increase(increase: Difference, limit: float) -> float:
    """Return the chance of such an increase if the true one is at the limit, both measured on the same people.

    Two classifiers of the same records err on mostly the same people; only those on whom they differ are noise.

    >>> round(chance_of_increase(Difference(0.2, 0.04), 0.1), 4)
    0.0062
    """
    return float(stats.norm.sf((increase.mean - limit) / increase.standard_error))


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
        found = binomial_interval(mean * middle, middle)
        low, high = (middle, high) if found.high - found.low > width else (low, middle)
    return low
