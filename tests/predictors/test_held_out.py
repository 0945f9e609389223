"""Paired differences of held-out errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.minimizers import PATMinimizer
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


def test_whom_a_generalization_does_not_tell_apart_can_be_one_row():
    table = a_secret_and_its_twin()
    train, validation, _ = table.split(0)
    fine = PATMinimizer(alpha=0, max_leaves=4).minimize(train)
    coarse = Generalization.suppressed(table.schema).replacing(fine[fine.collected[0]])
    few = train.distinct(fine), validation.distinct(fine)
    assert len(few[0]) < len(train)
    assert few[1].people == validation.people
    people, rows = ([held_out(g, *parts)[0] for g in (fine, coarse)] for parts in ((train, validation), few))
    assert people[0].error == pytest.approx(rows[0].error)
    told, again = people[1].is_surprised_more_than(people[0]), rows[1].is_surprised_more_than(rows[0])
    assert (told.mean, told.standard_error) == pytest.approx((again.mean, again.standard_error))
