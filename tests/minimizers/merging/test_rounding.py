"""Edges at round places."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Schema, Table
from leastwise.generalization.leaks import leaks
from leastwise.minimizers import Constraints
from leastwise.minimizers.merging.rounding import joined_neighbours, round_places, rounded
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


def test_where_many_lie_beside_an_edge_it_need_not_go_far():
    random = np.random.default_rng(2)
    pay = np.sort(random.gamma(3, 8000, 6000).round(2))  # nobody has what another one has
    levels, codes = np.unique(pay, return_inverse=True)
    labels = (pay > 22_000).astype(int) ^ (random.random(6000) < 0.1)
    table = coded(Schema([PAY], LABEL), codes, labels=labels, numbers={"pay": levels})
    split = table.split(0)
    edge = float(levels[np.searchsorted(levels, 22_000)])
    found = rounded(split.train, split.validation, with_edges(table, edge))
    assert abs(found["pay"].edges[0] - 22_000) <= 100  # a grid for all numbers has steps of 5,000
    assert not leaks(found, split.train)


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


def test_codes_that_nobody_tells_apart_are_with_their_neighbours():
    told = np.array([[40.0, 2], [1, 0], [38, 3], [0, 1], [3, 40], [2, 1], [1, 45]])
    groups = (0, 1, 0, 0, 1, 0, 1)  # of the second, fourth and sixth hardly anybody says anything
    assert joined_neighbours(told, groups, range(7)) == (0, 0, 0, 1, 1, 1, 1)


def test_a_code_that_many_tell_apart_stays_apart():
    told = np.array([[40.0, 2], [2, 40], [38, 3], [3, 40]])
    assert joined_neighbours(told, (0, 1, 0, 1), range(4)) == (0, 1, 0, 1)


@pytest.mark.parametrize("seed", range(5))
def test_the_groups_of_neighbours_are_the_likeliest_of_all(seed: int):
    """Against all groupings, on six codes and two groups."""
    random = np.random.default_rng(seed)
    told, groups = random.integers(0, 8, (6, 2)).astype(float), np.array([0, 1, 0, 1, 1, 0])
    label = np.stack([told[groups == g].sum(axis=0) for g in (0, 1)]) + 10 * told.sum(axis=0) / told.sum()
    log_rate = np.log(label / label.sum(axis=1, keepdims=True))

    def cost(way: Sequence[int]) -> float:
        changes = sum(a != b for a, b in pairwise(way))
        moved = sum(a != b for a, b in zip(way, groups, strict=True))
        return 1.35 * changes - sum(told[v] @ log_rate[g] for v, g in enumerate(way)) + 1e-6 * moved

    best = min(product((0, 1), repeat=6), key=cost)
    assert cost(joined_neighbours(told, groups, range(6))) == pytest.approx(cost(best))
