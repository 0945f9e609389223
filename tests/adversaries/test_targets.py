"""Numbers: told within a tolerance, and how far off the best guess is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Intervals, ParameterError, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.targets import windows_of
from leastwise.evaluation.certificate import told_in_hindsight
from leastwise.predictors.base import Samples
from leastwise.predictors.strongest import Strongest
from tests.adversaries.populations import Bayes, population, table_of
from tests.samples import one_column

AGE = Attribute("age", "continuous", lower=0, upper=100, integer=True, personal=True)


def ages(*numbers: float) -> Table:
    return one_column(AGE, list(numbers))


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


def test_a_guess_tells_a_part_of_a_long_columns_runs() -> None:
    # 1,000 numbers are given to predictors in runs of about 8; one guess still tells 11 of them, not 8 or 16.
    table = one_column(Attribute("pay", "continuous", integer=True, personal=True), list(range(1000)))
    breach = Breach.of(Generalization.suppressed(table.schema), population(table), tolerances={"pay": 5})
    assert Reconstruction(Bayes).attack(breach)["pay"].adversary_error == pytest.approx(1 - 11 / 1000)


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True),
    st.sampled_from([1e-3, 0.1, 1.0, 1e7 / 3, 1e16, 1e300]),
    st.sampled_from([0.0, 1e8, 1.7e9, 1e15]),
    st.floats(0, 10),
)
def test_what_a_guess_is_said_to_tell_it_tells(
    steps: list[int], scale: float, origin: float, tolerance: float
) -> None:
    levels = np.unique(origin + np.array(sorted(steps)) * scale)
    found = windows_of(levels, np.ones(len(levels)), np.arange(len(levels)), len(levels), tolerance * scale)
    guesses = np.arange(len(levels))
    told = np.array([found.covers(guesses, np.full(len(levels), level)) for level in levels])
    assert (told == found.told).all()
    assert found.told.diagonal().all()  # the number that a guess begins with, and so never fewer than it alone
    assert (found.above - found.below <= 2 * tolerance * scale * (1 + 1e-6) + np.spacing(levels[-1]) * 2).all()


@pytest.mark.parametrize("levels", [[-np.inf, 0, 1, np.inf], [-1.7e308, 1.7e308], [np.inf], []])
@pytest.mark.parametrize("tolerance", [0.0, 1.0, 1e308, np.inf])
def test_infinite_numbers_are_told_by_themselves(levels: list[float], tolerance: float) -> None:
    size = len(levels)
    found = windows_of(np.array(levels, dtype=float), np.ones(size), np.arange(size), size, tolerance)
    assert found.covers(np.arange(size), np.array(levels, dtype=float)).all()
    assert not found.covers(np.arange(size), np.full(size, np.nan)).any()


@dataclass
class Always:
    """Holds one code for certain, whatever it sees."""

    code: int
    name: str

    def fit(self, train: Samples, validation: Samples) -> Always:
        (self.codes,) = train.target_sizes
        return self

    def predict(self, inputs: Any) -> list[Any]:
        return [np.repeat(np.eye(self.codes)[[self.code]], len(inputs), axis=0)]


def test_of_two_predictors_numbers_are_guessed_by_the_one_that_comes_near_more_often() -> None:
    # 0 is the most frequent number, but 11 is near three in five.
    table = ages(*[0] * 400, *[10] * 200, *[11] * 200, *[12] * 200, *[60] * 10)
    breach = Breach.of(Generalization((Intervals(AGE, (50,)),)), population(table), tolerances={"age": 1})
    both = Reconstruction(lambda: Strongest((Always(0, "exact"), Always(2, "near")), mixtures=False))
    found = both.attack(breach)["age"]
    assert (found.predictor, found.adversary_error) == ("near", pytest.approx(400 / 1010))


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
