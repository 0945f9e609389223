"""Edges at round places."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.generalization.leaks import leaks
from leastwise.minimizers import Constraints
from leastwise.minimizers.rounding import round_places, rounded
from leastwise.partition import Intervals
from tests.samples import LABEL, coded

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True)
PAY = Attribute("pay", "continuous", lower=0)


def working(rows: int = 4000, retired: int = 65) -> Table:
    random = np.random.default_rng(0)
    age = random.integers(0, 100, rows)
    labels = (age >= retired).astype(int) ^ (random.random(rows) < 0.2)
    return coded(Schema([AGE], LABEL), age, labels=labels)


def with_edges(table: Table, *edges: float) -> Generalization:
    (attribute,) = table.schema.attributes
    return Generalization((Intervals(attribute, edges),), table.schema.label)


def test_an_edge_goes_where_people_would_put_it():
    table = working()
    split = table.split(0)
    found = rounded(split.train, split.validation, with_edges(table, 63))
    assert found["age"].labels == ("0 to 64", "65 to 99")


def test_an_edge_that_the_records_want_stays():
    table = working(20_000, retired=63)
    split = table.split(0, (0.3, 0.6, 0.1))
    found = rounded(split.train, split.validation, with_edges(table, 62))
    assert found["age"].edges == (62.0,)
    held = Constraints(edges={"age": [41]})
    kept = rounded(split.train, split.validation, with_edges(table, 41, 62), constraints=held)
    assert 41.0 in kept["age"].edges


def test_nobody_alone_explains_an_edge():
    random = np.random.default_rng(1)
    pay = np.sort(random.exponential(3000, 3000).round(2))
    levels, codes = np.unique(pay, return_inverse=True)
    labels = (pay > 3121).astype(int) ^ (random.random(3000) < 0.1)
    table = coded(Schema([PAY], LABEL), codes, labels=labels, numbers={"pay": levels})
    split = table.split(0)
    edges = [float(levels[i]) for i in (500, 1300, 2000)]
    before = with_edges(table, *edges)
    assert [leak for leak in leaks(before, split.train) if leak.kind == "edge"]
    found = rounded(split.train, split.validation, before)
    assert not [leak for leak in leaks(found, split.train) if leak.kind == "edge"]
    held = Constraints(edges={"pay": edges})  # declared edges tell of nobody, and must stay
    assert rounded(split.train, split.validation, before, constraints=held)["pay"].edges == tuple(edges)


@given(st.floats(-1e6, 1e6), st.floats(0.01, 1e6), st.floats(0.01, 1e6), st.booleans())
def test_places_lie_between_the_neighbours_and_end_where_the_edge_was(
    edge: float, below: float, above: float, whole: bool
):
    edge = float(round(edge)) if whole else edge
    low, high = edge - below, edge + above
    places = list(round_places(edge, low, high, whole))
    assert places[-1] == edge
    assert len(set(places)) == len(places) <= 11
    if low < edge < high:
        assert all(low < place < high for place in places)
    assert not whole or all(place == int(place) for place in places)
