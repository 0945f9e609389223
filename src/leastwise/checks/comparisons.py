"""Then against now, so that noise does not alarm.

Every question that a check asks ("is this bucket used as it was?", "is the error within its budget?") becomes a
``Comparison`` with a *chance*: how likely data like these are if all is well. The chances of one check are judged
together by Holm's rule, so that asking a hundred questions does not make an alarm a hundred times as likely. And a
difference that is sure but too small to matter is no alarm either: each comparison says whether it matters.

Two counts are compared by the exact test of Fisher, which never promises more than it keeps, however small the
counts; counts against a limit by the exact binomial one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import stats

from leastwise.confidence import Interval
from leastwise.evaluation.noise import adjusted
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
    agreed
        Whether it is a limit of the budget.
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
    agreed: bool = False


def statuses(comparisons: Sequence[Comparison], level: float) -> tuple[Status, ...]:
    """Return what to make of each comparison; all of them together alarm by mistake at most at the level.

    What was agreed (the budget), other limits (values that nobody declared) and what was promised (then against
    now) have equal parts of the level, so that many buckets or attributes do not make a broken budget hard to see.
    """
    check_between("level", level, 0.0, 1.0)
    status_of: list[Status] = ["fine"] * len(comparisons)
    families = dict[tuple[bool, bool], list[int]]()
    for i, comparison in enumerate(comparisons):
        families.setdefault((comparison.agreed, comparison.then is None), []).append(i)
    share = level / max(1, len(families))
    for family in families.values():
        for i, chance in zip(family, adjusted([comparisons[i].chance for i in family]), strict=True):
            if comparisons[i].matters:
                status_of[i] = "broken" if chance <= share else "watch"
    return tuple(status_of)


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
