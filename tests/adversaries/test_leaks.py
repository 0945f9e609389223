"""Planted leaks: where the stolen records tell an attribute, the default adversary must find it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from leastwise import Generalization, Split, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction
from leastwise.partition import suppress
from tests.adversaries.populations import table_of

PEOPLE = 4000
NAME = "a"  # the secret is always the first attribute


def split_of(secret: Any, *columns: Any) -> Split:
    codes = np.column_stack([secret, *columns])
    return table_of(codes, [int(column.max()) + 1 for column in codes.T], {0}).split(0)


def stolen(split: Split) -> Breach:
    """Everything is collected but the secret itself."""
    g = Generalization.untouched(split.train.schema)
    return Breach.of(g.replacing(suppress(split.train.schema[NAME])), split)


def error(split: Split) -> float:
    return Reconstruction().attack(stolen(split)).adversary_error


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_a_duplicate_under_another_name(rng: np.random.Generator) -> None:
    secret = rng.integers(0, 5, PEOPLE)
    renamed = np.array([3, 0, 4, 1, 2])[secret]
    assert error(split_of(secret, renamed, rng.integers(0, 4, PEOPLE))) == 0


def test_a_function_of_two_others(rng: np.random.Generator) -> None:
    one, two = rng.integers(0, 4, (2, PEOPLE))
    assert error(split_of((one + two) % 4, one, two)) == 0


def test_an_exclusive_or(rng: np.random.Generator) -> None:
    one, two = rng.integers(0, 2, (2, PEOPLE))
    result = Reconstruction().attack(stolen(split_of(one ^ two, one, two)))
    assert result.adversary_error == 0
    assert result.baseline == pytest.approx(0.5, abs=0.05)


def test_an_exclusive_or_with_noise_is_told_up_to_the_noise(rng: np.random.Generator) -> None:
    one, two = rng.integers(0, 2, (2, PEOPLE))
    noise = rng.random(PEOPLE) < 0.1
    assert error(split_of(one ^ two ^ noise, one, two)) == pytest.approx(0.1, abs=0.025)


def test_an_exclusive_or_among_many_others(rng: np.random.Generator) -> None:
    """Nearly every joint bucket is somebody's own, so plain counting would learn nothing."""
    one, two = rng.integers(0, 2, (2, PEOPLE))
    others = rng.integers(0, 4, (5, PEOPLE))
    assert error(split_of(one ^ two, one, *others, two)) < 0.05


def test_no_leak_is_found_where_there_is_none(rng: np.random.Generator) -> None:
    secret = (rng.random(PEOPLE) < 0.3).astype(int)
    result = Reconstruction().attack(stolen(split_of(secret, *rng.integers(0, 3, (3, PEOPLE)))))
    assert result.adversary_error == pytest.approx(result.baseline, abs=0.04)


def test_the_certain_few_are_found(rng: np.random.Generator) -> None:
    """One answer in twenty tells the secret, the others tell nothing: the surest 2 % are all told."""
    secret = rng.integers(0, 2, PEOPLE)
    marker = np.where(rng.random(PEOPLE) < 0.05, 1 + secret, 0)
    result = HighCertainty().attack(stolen(split_of(secret, marker)))
    assert result.at(2).mean == 0
    assert result.at(100).mean > 0.4


def test_a_leaking_grouping_is_told_from_a_harmless_one() -> None:
    """The paper's four values: two groupings of the same size, one of which tells the secret."""
    value = np.repeat([0, 1, 2, 3], 500)
    secret = value // 2
    table: Table = table_of(np.column_stack([secret, value]), [2, 4], {0})
    split = table.split(0)

    def a1(buckets: tuple[int, ...]) -> float:
        g = split.train.generalization([(0, 0), buckets])
        return Reconstruction().attack(Breach.of(g, split)).adversary_error

    assert a1((0, 0, 1, 1)) == 0
    assert a1((0, 1, 0, 1)) == pytest.approx(0.5, abs=0.06)
