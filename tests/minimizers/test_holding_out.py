"""Held-out records: disjoint, complete, and every named value left to learn from."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Table
from leastwise.minimizers.holding_out import held_out
from tests.strategies import tables


@settings(deadline=None)
@given(tables(weights=True), st.integers(0, 5))
def test_people_are_divided_and_values_stay(table: Table, seed: int) -> None:
    train, held = held_out(table, 0.25, seed)
    if len(train) < len(table):
        assert train.people + held.people == table.people
    for j, attribute in enumerate(table.schema.attributes):
        if not attribute.continuous:
            assert set(np.unique(train.codes[:, j])) == set(np.unique(table.codes[:, j]))
    again = held_out(table, 0.25, seed)[1]
    assert again.codes.tolist() == held.codes.tolist()
