"""Similarity of generalizations against pairs of people counted one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from leastwise import Generalization, Table
from leastwise.evaluation.similarity import adjusted_rand, similarity
from tests.strategies import generalizations, tables

values = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 4)), min_size=2, max_size=7)


@given(values)
def test_equals_the_index_of_the_people_one_by_one(rows: list[tuple[int, int, int]]) -> None:
    one, other, people = (np.array(column) for column in zip(*rows, strict=True))
    if people.sum() < 2:
        return
    expected = adjusted_rand_score(np.repeat(one, people), np.repeat(other, people))
    assert adjusted_rand(one, other, people.astype(float)) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(st.data(), tables())
def test_same_is_one_symmetric_and_never_more(data: st.DataObject, table: Table) -> None:
    first, second = (data.draw(generalizations(table.schema)) for _ in range(2))
    assert similarity(first, first, table) == pytest.approx(1.0)
    there, back = similarity(first, second, table), similarity(second, first, table)
    assert there == pytest.approx(back)
    assert there <= 1 + 1e-9


def test_attributes_that_neither_asks_are_left_out() -> None:
    from tests.evaluation.test_minimum_sample import SCHEMA, people

    table = people(200)
    nothing, everything = Generalization.suppressed(SCHEMA), Generalization.untouched(SCHEMA)
    assert similarity(nothing, nothing, table) == 1.0
    assert similarity(nothing, everything, table) == pytest.approx(0.0)
    half = Generalization.of([everything["job"]], SCHEMA.attributes, label=SCHEMA.label)
    assert similarity(half, half.replacing(nothing["job"]), table) == pytest.approx(0.0)
    assert similarity(half, everything, table) == pytest.approx(1 / 3)
