"""Quantiles of people: in order, about equally used, and the middle of each value's own people decides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise.records.grouping import numbered_runs, quantile_of

uses = st.lists(st.integers(0, 50), min_size=1, max_size=30)


@given(uses, st.sampled_from([1, 2, 8, 64, 512]))
def test_the_middle_of_a_values_people_decides(use: list[int], k: int) -> None:
    total, below = sum(use), 0
    for people, found in zip(use, quantile_of(np.array(use, dtype=float), k).tolist(), strict=True):
        exact = Fraction(2 * below + people, 2 * total) * k if total else Fraction(0)
        # A middle that lies on the line between two quantiles may be rounded to either.
        assert found in {int(exact), int(exact - Fraction(1, 10**9)), int(exact + Fraction(1, 10**9))}
        below += people


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=1, max_size=20))
def test_a_run_ends_where_any_column_changes(rows: list[tuple[int, int]]) -> None:
    found = numbered_runs(*np.array(rows).T)
    expected = np.cumsum([i > 0 and rows[i] != rows[i - 1] for i in range(len(rows))])
    assert found.tolist() == expected.tolist()
