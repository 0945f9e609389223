"""How many people are guessed right by what is in front, each of them left out of it: pure functions of counts.

Only the two commonest values can be guessed right. With the bare rule (guess what is in front) it is all people of
the commonest or, at a tie, nobody: whoever leaves, the other value wins. Such holes are luck, and a search over
merges finds them. So the lead counts as known up to chance: each of the two is in front with a probability.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.compiling import njit

Array = npt.NDArray[Any]

# Of the standard deviation of a lead: 0 leaves holes at ties; which share above 0 is best was not searched for.
CHANCE = 0.5
TIE = 1e-9


@njit()
def expected_right(front: float, other: float, lead: float, leaving: float) -> float:  # pragma: no cover
    """Return the people expected to be guessed right, of those with the value in front and with the next one.

    Each of them is guessed when the own value is in front although one person of it leaves, which takes
    ``leaving`` from its lead. The lead is normal with a standard deviation of ``CHANCE`` of that of a tie.
    """
    reach = CHANCE * math.sqrt(2.0 * max(front + other - 1.0, 0.0))
    if abs(lead - leaving) >= 6.0 * reach:  # what is left out is below 1e-16
        return front if lead > leaving else 0.0
    stays, overtaken = math.erfc((leaving - lead) / reach), math.erfc((leaving + lead) / reach)
    return 0.5 * (front * stays + other * overtaken)


@njit()
def clear_guesses(held: Array, odds: Array) -> float:  # pragma: no cover
    """Return the people expected to be guessed right by the class in front."""
    best, second, top, next_top = -1.0, -1.0, 0, 0
    for c in range(len(held)):
        u = held[c] + odds[c]
        if u > best:
            best, second, top, next_top = u, best, c, top
        elif u > second:
            second, next_top = u, c
    return float(expected_right(held[top], held[next_top], best - second, 1.0))


@njit()
def near_guesses(held: Array, odds: Array, right: Array) -> float:  # pragma: no cover
    """Return how right the best guess of a number is, summed over people, each of them left out of it."""
    classes = len(held)
    worth = np.zeros(classes)
    for guess in range(classes):
        for c in range(classes):
            worth[guess] += right[guess, c] * (held[c] + odds[c])
    total = 0.0
    for c in range(classes):
        if held[c] > 0:
            best = 0
            for guess in range(1, classes):
                # Sums in another order are equal: of guesses as good as each other the lowest is made.
                if worth[guess] - right[guess, c] > worth[best] - right[best, c] + TIE:
                    best = guess
            total += held[c] * right[best, c]
    return total
