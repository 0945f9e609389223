"""A label that is a number: its levels, the best guess, and how far off guesses are; each by brute force."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Schema, Table
from leastwise.records.numbers import FEW_LEVELS, MOST_LEVELS, Numbers

numbers = st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=60).map(np.array)


@given(numbers, st.integers(1, 12))
def test_levels_are_numbers_that_somebody_has_and_codes_are_the_nearest(exact: np.ndarray, most: int) -> None:
    found = Numbers.of(exact, most=most)
    assert len(found.levels) <= max(most, 1)
    assert (np.diff(found.levels) > 0).all()
    assert set(found.levels) <= set(exact)
    distance = np.abs(exact[:, None] - found.levels[None, :])
    assert np.array_equal(distance[np.arange(len(exact)), found.codes], distance.min(axis=1))
    if len(np.unique(exact)) <= most:
        assert np.array_equal(found.levels, np.unique(exact)), "few numbers are told exactly"


@given(numbers)
def test_the_scale_is_the_error_of_the_best_constant_guess(exact: np.ndarray) -> None:
    best = min(np.abs(exact - guess).mean() for guess in exact)
    assert Numbers.of(exact).scale == pytest.approx(best or 1.0)


@given(st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4).filter(any), min_size=1, max_size=5))
def test_the_guess_is_the_one_that_is_off_least_and_the_loss_is_what_others_lose(counts: list[list[int]]) -> None:
    label = Numbers(np.zeros(0), np.array([0.0, 1.0, 5.0, 6.0]), 2.0)
    shares = np.array(counts) / np.sum(counts, axis=1, keepdims=True)
    off = np.array([[sum(p * abs(a - b) for p, a in zip(row, label.levels, strict=True)) / 2 for b in label.levels]
                    for row in shares])  # fmt: skip
    guessed = label.guess(shares)
    assert off[np.arange(len(off)), guessed] == pytest.approx(off.min(axis=1))
    assert label.expected_loss(shares, guessed) == pytest.approx(np.zeros(len(off)))
    assert label.expected_loss(shares, np.full(len(off), 3)) == pytest.approx(off[:, 3] - off.min(axis=1))


@given(st.lists(st.booleans(), min_size=2, max_size=40).filter(lambda bits: len({*bits}) == 2), st.data())
def test_of_two_numbers_off_is_wrong(bits: list[bool], data: st.DataObject) -> None:
    """The number 0 or 1 is a class: its distance is the error, in shares of the error of guessing."""
    exact = np.array(bits, dtype=float)
    label = Numbers.of(exact)
    guessed = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(bits), max_size=len(bits))))
    assert np.array_equal(label.codes, np.array(bits, dtype=int))
    assert label.off(guessed) * label.scale == pytest.approx((guessed != exact).astype(float))
    share = exact.mean()
    assert label.scale == pytest.approx(min(share, 1 - share)), "guessing is the error of the majority"


SCHEMA = Schema((Attribute("a", values=("x", "y"), personal=True),), Attribute("n", "continuous", unit="years"))


def table(values: list[object]) -> Table:
    return Table.from_frame(
        pl.DataFrame({"a": ["x", "y"] * (len(values) // 2), "n": values}, strict=False), SCHEMA
    )


def test_a_table_keeps_the_number_and_parts_are_told_by_the_levels_of_training() -> None:
    random = np.random.default_rng(0)
    whole = table(random.normal(size=400).tolist())
    train, validation, test = split = whole.split(1)
    assert whole.number is not None
    assert all(part.number is not None and len(part.number.levels) == MOST_LEVELS for part in split)
    assert train.number is not None
    assert set(train.number.levels) <= set(train.number.exact), "no other's number is guessed by"
    assert np.array_equal(validation.number.levels, train.number.levels)  # type: ignore[union-attr]
    assert test.number.scale == train.number.scale  # type: ignore[union-attr]
    assert sorted(np.concatenate([part.number.exact for part in split])) == sorted(whole.number.exact)  # type: ignore[union-attr]
    own = train.with_own_levels()
    assert own.classes == FEW_LEVELS == own.y.max() + 1
    assert np.array_equal(own.number.exact, train.number.exact)  # type: ignore[union-attr]
    assert own.with_own_levels().classes == FEW_LEVELS


def test_what_is_stored_of_a_number_is_the_number() -> None:
    few = table([1.0, 1.0, 2.0, 2.5])
    assert few.stored_label.tolist() == [0, 0, 1, 2]
    assert few.distinct().people == 4
    assert len(table([1.0, 7.0, 1.0, 8.0]).distinct()) == 3


@pytest.mark.parametrize("values", [[1.0, None], ["x", 1.0], [float("inf"), 1.0]])
def test_a_record_without_a_number_is_refused(values: list[object]) -> None:
    with pytest.raises(DataError):
        table(values)
