"""The estimate that candidates are chosen by, in words: why this one and not another.

On validation the increase of the error is weighed from two witnesses: the labels of people who were not learned
from, and the beliefs of a classifier that is told everything (``predictors.held_out.weighed``). Limits are held
against it, and the best must keep them with a margin for chance; the test part has no say in that.
"""

from __future__ import annotations

from leastwise.predictors.held_out import MARGIN
from leastwise.runs.budget import Budget
from leastwise.runs.candidates import Figures

ESTIMATED, TESTED = "errs more, estimated to choose by", "errs more on test"
"""The two columns of a frontier, in points."""
WHAT_IT_IS = (
    "By how many points the model errs more than with everything asked is told twice. The estimate is what limits "
    "are held against in choosing: the labels of people whom the model did not learn from (validation; of few "
    "records also the training part, out of fold), weighed with what a classifier believes that is told "
    "everything. In brackets it has the margin for chance with which a limit is to be kept. On test it is by the "
    "labels of the people tested, who had no say in choosing."
)
NUMBERS = " Of a number labels alone count, and a point is a hundredth of the error of guessing."


def what_it_is(number: bool = False) -> str:
    """Say what the two columns are."""
    return WHAT_IT_IS + NUMBERS * number


def margin_of(budget: Budget) -> float:
    """Return how many standard errors a limit must leave to be kept with a margin for chance."""
    return (MARGIN if budget.bounds_groups else 1.0) * budget.errors


def estimate_in_points(figures: Figures, budget: Budget) -> str:
    """Write the estimate with what it is with its margin; empty where the two were not compared.

    >>> from leastwise.confidence import Interval
    >>> from leastwise.predictors.held_out import Difference
    >>> no = Interval(0, 1)
    >>> figures = Figures(utility_risk=0.2, utility_interval=no, adversary_error=0.3, adversary_interval=no,
    ...     by_attribute={}, certified=None, unique_people=0, increase=Difference(0.004, 0.005))
    >>> estimate_in_points(figures, Budget()), on_test_in_points(figures, Budget())
    ('0.4 (1.0)', '0.4')
    """
    increase = budget.increase_of(figures)
    if increase is None:
        return ""
    upper = budget.increase_of(figures, margin_of(budget)) or increase
    return f"{100 * increase.mean:z.1f} ({100 * upper.bound(margin_of(budget)):z.1f})"


def on_test_in_points(figures: Figures, budget: Budget) -> str:
    """Write the increase by the labels of those tested; empty where the two were not compared."""
    increase = budget.increase_of(figures)
    return "" if increase is None else f"{100 * increase.mean:z.1f}"


def estimate_in_words(figures: Figures, budget: Budget) -> str:
    """Say the estimate behind other figures of a candidate; nothing where the two were not compared."""
    increase = budget.increase_of(figures)
    if increase is None:
        return ""
    own, _, upper = estimate_in_points(figures, budget).partition(" ")
    worst = budget.worst_label(figures)
    about = "" if worst is None else f" about {worst.label}"
    more = f"{own} points more{about} than with everything asked {upper[:-1]} with a margin)"
    return f"; the model is estimated to err {more}"
