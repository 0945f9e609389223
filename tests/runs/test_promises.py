"""A promise in words: kept, probably kept, probably missed, missed; by the same rule as a check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from leastwise.checks.budgets import utility_comparisons
from leastwise.checks.comparisons import statuses
from leastwise.checks.drifting import DriftLimits, unseen_comparisons
from leastwise.predictors.held_out import MARGIN, Difference
from leastwise.runs.budget import NOISE, Budget
from leastwise.runs.promises import MISSED, only_noise, promise
from tests.report.hand_made import SCHEMA, evaluation, generalizations

ONE_POINT = Budget(max_error_increase=0.01)


@given(st.floats(-0.05, 0.05), st.floats(1e-4, 0.05), st.floats(0, 0.05), st.floats(0.5, 0.999))
def test_kept_means_that_the_upper_bound_keeps_it(
    mean: float, error: float, most: float, confidence: float
) -> None:
    budget = Budget(max_error_increase=most, confidence=confidence)
    text = promise(budget, Difference(mean, error), 1000)
    upper = max(mean, 0) + MARGIN * budget.errors * error  # who sees more can coarsen: less is chance
    assert text.startswith("Kept:") == (upper <= most)
    assert text.startswith("Probably kept:") == (upper > most >= mean)
    assert text.startswith(MISSED) == (upper > most and mean > most)


@given(
    st.floats(0.0101, 0.05),
    st.floats(1e-4, 0.02),
    st.sampled_from([{}, {"max_error": 0.9}, {"max_asked": 3, "max_unique": 9}]),
    st.integers(0, 30),
)
def test_a_run_calls_nothing_missed_that_a_check_would_not_call_broken(
    mean: float, error: float, others: dict[str, Any], attributes: int
) -> None:
    budget = replace(ONE_POINT, **others)
    judged = evaluation(generalizations(SCHEMA)[0], 0.2, 0.3)
    assert judged.utility is not None
    judged = replace(judged, utility=replace(judged.utility, increase=Difference(mean, error)))
    comparisons = utility_comparisons(judged, budget)
    unseen = unseen_comparisons({f"a{i}": 0 for i in range(attributes)}, 1000, DriftLimits())
    place = next(i for i, c in enumerate(comparisons) if "more error" in c.name)
    status = statuses([*comparisons, *unseen], DriftLimits().level)[place]
    said = promise(budget, Difference(mean, error), 1000)
    if said.startswith("Missed: "):
        assert status == "broken"
    if status == "watch":
        assert said.startswith("Probably missed: ")


def test_what_noise_can_explain_is_said_with_what_is_not_ruled_out() -> None:
    said = promise(ONE_POINT, Difference(0.013, 0.002), 3000)
    assert said.startswith(MISSED[1])
    assert said.endswith(
        "errs 1.3 points more than with everything asked, allowed is 1.0, which noise can explain: "
        "with 99.7\xa0% confidence the records do not rule out 0.8."
    )
    none = promise(ONE_POINT, Difference(0.013, 0.01), 3000)
    assert none.endswith("the records do not rule out that it errs no more at all.")
    assert "0.0" not in none


def test_both_numbers_have_the_same_digits() -> None:
    just = promise(ONE_POINT, Difference(0.01003, 0.003), 3000)
    assert "than with everything asked, just above what is allowed, 1.0, which noise can explain:" in just
    assert "errs 1.0 points more" in just
    finer = promise(Budget(max_error_increase=0.0025), Difference(0.02, 0.001), 3000)
    assert finer == "Missed: the model errs 2.00 points more than with everything asked, allowed is 0.25."


def test_several_limits_and_labels_make_nobody_surer() -> None:
    far = Difference(0.0158, 0.002)
    assert promise(ONE_POINT, far, 3000).startswith("Missed: ")
    assert promise(replace(ONE_POINT, max_asked=3, max_buckets=20), far, 3000).startswith(MISSED[1])
    assert promise(ONE_POINT, far, 3000, label="pay", labels=4).startswith(MISSED[1])


def test_only_noise_is_no_miss() -> None:
    assert only_noise(f"{MISSED[1]}x.", [f"x, {NOISE}"])
    assert not only_noise("", ["x"])
    more = "errs 1.2 points more than with everything asked, allowed is 1.0"
    assert only_noise(f"Probably missed: {more}.", [more])
    assert not only_noise(f"Missed: {more}.", [more])
