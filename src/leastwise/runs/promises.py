"""Whether people who had no say in choosing confirm the limit on the increase of the error, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

from leastwise.documents.wording import NO_BREAK
from leastwise.predictors.held_out import MARGIN, Difference, weighed
from leastwise.runs.budget import NOISE, Budget, in_points, increase_in_words
from leastwise.runs.noise import chance_of_increase

MISSED = ("Missed: ", "Probably missed: ")
"""How a promise begins that is not kept, as far as the test part tells; the second where noise can explain it."""


def promise(
    budget: Budget,
    increase: Difference,
    people: int,
    expected: float | None = None,
    label: str = "",
    labels: int = 1,
) -> str:
    """Say whether a limit on the increase of the error is kept, by people who had no say in choosing.

    It is kept where the labels of these people confirm it, and the beliefs of a classifier that is told everything
    (``expected``) do not speak against it: labels alone confirm a limit now and then by luck. Both have a
    margin: a limit is mostly claimed of candidates that are close to it. It is missed where a check of the same
    figures would call it broken: where noise cannot explain them. Of several ``labels``, ``label`` is the one that
    is meant.

    >>> promise(Budget(max_error_increase=0.01), Difference(0.004, 0.002), 3000)
    'Kept: with 90\xa0% confidence the model errs at most 0.7 points more than with everything asked
    (allowed: 1.0).'
    >>> promise(Budget(max_error_increase=0.01), Difference(0.013, 0.002), 3000)
    'Probably missed: the model errs 1.3 points more than with everything asked, allowed is 1.0, which noise can
    explain: with 99.7\xa0% confidence the records do not rule out 0.8.'
    """
    most = budget.max_error_increase
    assert most is not None
    # Who sees more can coarsen: an increase below zero is chance, and no reason to be surer.
    increase = replace(increase, mean=max(increase.mean, 0.0))
    errors = MARGIN * budget.errors
    upper_by_labels = upper = increase.bound(errors)
    if expected is not None:
        upper = max(upper, weighed(increase, expected).bound(errors))
    level = f"{budget.confidence * 100:g}{NO_BREAK}%"
    about = f" about {label}" * bool(label)
    own, allowed = in_points(increase.mean, most)
    reach = in_points(upper, most)[0]
    if upper <= most:
        return (
            f"Kept: with {level} confidence the model errs at most {reach} points more{about} than with "
            f"everything asked (allowed: {allowed})."
        )
    if increase.mean > most:
        return _missed(budget, most, increase, about, labels)
    if upper_by_labels <= most:
        more = " by what a classifier expects that is told everything"
    else:
        short = (errors * increase.standard_error / max(most - increase.mean, 1e-9)) ** 2
        more = f"; about {_rounded((short - 1) * people):,} more people to test would tell" if short < 100 else ""
    at_most = "a little more than allowed" if reach == allowed else f"at most {reach}"
    return (
        f"Probably kept: the model errs {own} points more{about} than with everything asked (allowed: {allowed}), "
        f"and with {level} confidence {at_most}{more}."
    )


def only_noise(promised: str, misses: Sequence[str]) -> bool:
    """Whether noise can explain all that is beyond a limit, by what was said; the promise speaks of errors."""
    explained = promised.startswith(MISSED[1])
    return all(miss.endswith(NOISE) or (explained and "than with everything asked" in miss) for miss in misses)


def _missed(budget: Budget, most: float, increase: Difference, about: str, labels: int) -> str:
    errs = f"the model errs {increase_in_words(increase.mean, most, about)}"
    if not budget.noise_explains(chance_of_increase(increase, most), labels):
        return f"{MISSED[0]}{errs}."
    level = budget.noise_level(labels)
    lowest = increase.bound(-NormalDist().inv_cdf(1 - level))
    low, allowed = in_points(lowest, most)
    rest = "that it errs no more at all" if lowest <= 0 else "what is allowed" if low == allowed else low
    sure = f"with {(1 - level) * 100:.1f}{NO_BREAK}% confidence"
    return f"{MISSED[1]}{errs}, {NOISE}: {sure} the records do not rule out {rest}."


def _rounded(number: float) -> int:
    """Return a number with two digits that count.

    >>> _rounded(1234.5), _rounded(7.2)
    (1200, 7)
    """
    return int(float(f"{number:.2g}"))
