"""The guesser in hindsight, against a slow truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise.evaluation.hindsight import told_in_hindsight

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=25)


@given(ROWS)
def test_values(rows: list[tuple[int, int, int]]) -> None:
    z, codes, counts = (np.array(column) for column in zip(*rows, strict=True))
    slow = sum(max(counts[(z == b) & (codes == v)].sum() for v in range(7)) for b in range(4))
    assert told_in_hindsight(z, codes, counts) == slow


@given(ROWS, st.lists(st.integers(-40, 40), min_size=5, max_size=5, unique=True), st.integers(0, 20))
def test_windows(rows: list[tuple[int, int, int]], numbers: list[int], tolerance: int) -> None:
    z, codes, counts = (np.array(column) for column in zip(*rows, strict=True))
    levels = np.sort(np.array(numbers, dtype=float)) / 4
    value = np.concatenate([levels, [1000.0, 2000.0]])[codes]  # the last two codes have no number
    centres = [*(levels + tolerance / 4), 1000.0, 2000.0]
    slow = sum(
        max(counts[(z == b) & (np.abs(value - centre) <= tolerance / 4)].sum() for centre in centres)
        for b in range(4)
    )
    assert told_in_hindsight(z, codes, counts, levels, tolerance / 4) == pytest.approx(slow)


def test_tolerance_of_nothing_is_equality() -> None:
    z, codes, counts = np.zeros(4, dtype=int), np.array([0, 0, 1, 2]), np.ones(4, dtype=int)
    assert told_in_hindsight(z, codes, counts, np.array([1.0, 2.0, 3.0]), 0.0) == told_in_hindsight(
        z, codes, counts
    )


def test_infinite_numbers_are_values() -> None:
    levels = np.array([-np.inf, 0.0, np.inf])
    told = told_in_hindsight(np.zeros(4, dtype=int), np.array([0, 1, 2, 2]), np.ones(4, dtype=int), levels, 1.0)
    assert told == 2
