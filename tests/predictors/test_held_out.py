"""Paired differences of held-out errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.predictors.held_out import Difference, Folds, held_out
from tests.samples import a_secret_and_its_twin


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), min_size=2, max_size=50))
def test_mean_and_standard_error_are_those_of_the_textbook(values: list[float]):
    found = Difference.of(np.array(values), np.ones(len(values)))
    assert found.mean == pytest.approx(np.mean(values))
    expected = np.std(values, ddof=1) / len(values) ** 0.5
    assert found.standard_error == pytest.approx(max(expected, 1 / len(values)))


def test_a_row_that_stands_for_three_people_counts_three_times():
    once = Difference.of(np.array([1.0, 0, 0, 1.0, 1.0]), np.ones(5))
    weighted = Difference.of(np.array([1.0, 0]), np.array([3.0, 2.0]))
    assert once == weighted


def test_the_paired_difference_is_known_better_than_either_error():
    table = a_secret_and_its_twin()
    split = table.split(0)
    everything, _ = held_out(Generalization.untouched(table.schema), split.train, split.validation)
    nothing, _ = held_out(Generalization.suppressed(table.schema), split.train, split.validation)
    again, _ = held_out(Generalization.untouched(table.schema), split.train, split.validation)
    assert again.errs_more_than(everything) == Difference(0.0, 1 / len(split.validation))
    assert nothing.errs_more_than(everything).mean == pytest.approx(nothing.error - everything.error)
    assert nothing.errs_more_than(everything).bound(-3) > 0.2


def test_importance_is_highest_for_what_tells():
    table = a_secret_and_its_twin()
    rise = Folds.of(table).importance(Generalization.untouched(table.schema))
    assert max(rise, key=lambda name: rise[name]) == "useful"
    assert rise["useful"] > 10 * max(abs(rise["twin"]), abs(rise["secret"]))
