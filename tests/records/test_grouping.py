"""Quantiles of people: in order, about equally used, and the middle of each value's own people decides."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise.records.grouping import even_runs, numbered_runs, quantile_of

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


@given(uses, st.sampled_from([1, 2, 3, 5, 8, 64]))
def test_even_runs_are_neighbours_and_at_most_so_many(use: list[int], k: int) -> None:
    found = even_runs(np.array(use, dtype=float), k)
    assert found[0] == 0
    assert {*np.diff(found).tolist()} <= {0, 1}
    assert found.max() < max(k, 1)


def test_what_nearly_everybody_answers_leaves_the_runs_to_the_others() -> None:
    use = np.array([900.0] + [1.0] * 100)
    assert np.bincount(even_runs(use, 22)).tolist() == [900 // 900] + [5] * 20
    assert len(np.unique(numbered_runs(quantile_of(use, 22)))) == 4  # equal shares of everybody would be wasted
