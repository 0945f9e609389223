"""Numbers: told within a tolerance, and how far off the best guess is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, ParameterError, Schema, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.evaluation.hindsight import told_in_hindsight
from tests.adversaries.populations import Bayes, population, table_of

AGE = Attribute("age", "continuous", lower=0, upper=100, integer=True, personal=True)


def ages(*numbers: float) -> Table:
    levels = np.unique(numbers)
    return Table(Schema((AGE,)), np.searchsorted(levels, numbers)[:, None], (levels,))


def test_numbers_by_hand() -> None:
    # six people in one bucket; a guess tells all within 5 years: 22 tells 20, 20, 22, 27; the median is 22 or 27
    table = ages(20, 20, 22, 27, 40, 60)
    result = Reconstruction(Bayes).attack(Breach.of(Generalization.suppressed(table.schema), population(table)))
    age = result["age"]
    assert (age.tolerance, age.adversary_error) == (5, pytest.approx(2 / 6))
    assert age.mean_absolute_error == pytest.approx((2 + 2 + 0 + 5 + 18 + 38) / 6)
    spread = ages(10, 20, 30, 40, 50)
    blind = Breach.of(Generalization.suppressed(spread.schema), population(spread))
    assert Reconstruction(Bayes).attack(blind)["age"].mean_absolute_error == pytest.approx(60 / 5)
    strict = Breach.of(Generalization.suppressed(table.schema), population(table), tolerances={"age": 0})
    assert Reconstruction(Bayes).attack(strict)["age"].adversary_error == pytest.approx(4 / 6)


def test_buckets_not_wider_than_twice_the_tolerance_tell_everything() -> None:
    table = ages(*range(101))
    g = Generalization((Intervals(AGE, tuple(range(10, 100, 11))),))  # 11 ages each, within 5 of their middle
    assert Reconstruction(Bayes).attack(Breach.of(g, population(table)))["age"].adversary_error == 0


def test_a_guess_may_lie_between_the_numbers_that_occur() -> None:
    table = ages(10, 20, 30, 41)  # 15 tells 10 and 20; no number that occurs tells two
    result = Reconstruction(Bayes).attack(Breach.of(Generalization.suppressed(table.schema), population(table)))
    assert (result["age"].adversary_error, result.baseline) == (pytest.approx(0.5), pytest.approx(0.5))


@given(
    st.lists(st.integers(0, 100), min_size=1, max_size=30),
    st.sets(st.integers(1, 99), max_size=4),
    st.integers(0, 20),
)
def test_knowing_everybody_it_tells_as_many_as_one_guess_per_bucket_can(
    numbers: list[int], edges: set[int], tolerance: int
) -> None:
    table, cuts = ages(*numbers), tuple(sorted(edges))
    g = Generalization((Intervals(AGE, cuts),)) if cuts else Generalization.suppressed(table.schema)
    breach = Breach.of(g, population(table), tolerances={"age": tolerance})
    levels = np.asarray(table.levels[0], dtype=float)
    buckets, codes = np.searchsorted(cuts, numbers), np.searchsorted(levels, numbers)
    told = told_in_hindsight(buckets, codes, np.ones(len(numbers), dtype=np.int64), levels, tolerance)
    assert Reconstruction(Bayes).attack(breach)["age"].adversary_error == pytest.approx(1 - told / len(numbers))


def test_numbers_asked_exactly_are_read_off() -> None:
    table = ages(20, 20, 22, 27, 40, 60)
    result = Reconstruction(Bayes).attack(Breach.of(Generalization.untouched(table.schema), population(table)))
    assert (result["age"].adversary_error, result["age"].mean_absolute_error) == (0, 0)
    assert result["age"].predictor == "read off"


def test_a_tolerance_is_for_numbers() -> None:
    table = table_of([(0,), (1,)], [2], {0})
    g = Generalization.suppressed(table.schema)
    with pytest.raises(ParameterError, match="continuous"):
        Breach.of(g, population(table), tolerances={"a": 1})
    with pytest.raises(ParameterError, match="from 0"):
        Breach.of(Generalization.suppressed(ages(1, 2).schema), population(ages(1, 2)), tolerances={"age": -1})
