"""Records as the networks see them."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Schema, Table
from leastwise.minimizers.neural.inputs import (
    Inputs,
    Layout,
    adversary_target,
    balance_of,
    label_runs,
    places_of,
    spots_of,
)
from tests.minimizers.neural.small import people
from tests.samples import LABEL, coded


def test_named_values_have_rows_of_logits_and_ordered_values_have_places() -> None:
    layout = Layout.of(people(), 5)
    ages = len(people().levels[2])
    assert layout.starts == (0, 4, 7, 7 + ages, 7 + ages + 5)
    assert layout.ordered == (2, 3)
    assert [layout.levels(j) for j in range(4)] == [0, 0, ages, 4]
    assert [layout.named(j).tolist() for j in range(4)] == [[0, 1, 2, 3], [4, 5, 6], [], [7 + ages + 4]]
    for j in layout.ordered:
        assert (np.diff(layout.places[j]) > 0).all()
        assert layout.balance[j].sum() == pytest.approx(1)


def test_each_record_has_the_row_of_its_code() -> None:
    table = people(50)
    inputs = Inputs.of(table, 5)
    np.testing.assert_array_equal(inputs.rows - np.array(inputs.layout.starts[:-1]), table.codes)


def test_rows_that_stand_for_nobody_are_left_out() -> None:
    table = people(50)
    weights = np.ones(50)
    weights[10:] = 0
    assert len(Inputs.of(replace(table, weights=weights), 5)) == 10
    with pytest.raises(DataError, match="needs records"):
        Inputs.of(replace(table, weights=np.zeros(50)), 5)


def test_a_personal_number_is_wanted_as_runs_of_neighbours() -> None:
    rows = 2000
    pay = Attribute("pay", "continuous", personal=True, missing=True)
    codes = np.random.default_rng(0).integers(0, 501, size=rows)
    table = coded(Schema((pay,), LABEL), codes, labels=np.zeros(rows), numbers={"pay": range(500)})
    wanted, size = adversary_target(table, 0)
    assert size == 33  # 32 runs, and missing
    order = np.argsort(codes, kind="stable")
    assert (np.diff(wanted[order]) >= 0).all()
    assert np.bincount(wanted)[:32].max() < 2 * rows / 32


def test_few_personal_numbers_are_wanted_one_by_one() -> None:
    pay = Attribute("pay", "continuous", personal=True)
    table = coded(Schema((pay,), LABEL), [0, 2, 4, 4], labels=np.zeros(4))
    wanted, size = adversary_target(table, 0)
    assert (wanted.tolist(), size) == ([0, 1, 2, 2], 3)


def one_number(codes: np.ndarray, labels: np.ndarray, levels: int) -> Table:
    schema = Schema((Attribute("x", "continuous"),), LABEL)
    return coded(schema, codes, labels=labels, numbers={"x": range(levels)})


def lost(runs: np.ndarray, codes: np.ndarray, labels: np.ndarray, levels: int) -> float:
    """The squared distances of the shrunk shares from the mean of their run, over the people."""
    use = np.bincount(codes, minlength=levels).astype(float)
    share = (np.bincount(codes, weights=labels, minlength=levels) + 2 * labels.mean()) / (use + 2)
    total = 0.0
    for run in np.unique(runs):
        inside = (runs == run) & (use > 0)
        if inside.any():
            mean = np.average(share[inside], weights=use[inside])
            total += float(use[inside] @ (share[inside] - mean) ** 2)
    return total


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), levels=st.integers(2, 7), k=st.integers(1, 4))
def test_no_other_runs_tell_more_of_the_label(seed: int, levels: int, k: int) -> None:
    random = np.random.default_rng(seed)
    codes, labels = random.integers(levels, size=60), random.integers(2, size=60)
    codes[:levels] = np.arange(levels)
    found = label_runs(one_number(codes, labels, levels), 0, np.arange(levels), k)
    assert (np.diff(found) >= 0).all()
    assert len(np.unique(found)) == min(k, levels)
    cuts = itertools.combinations(range(1, levels), min(k, levels) - 1)
    best = min(lost(np.searchsorted(cut, np.arange(levels), side="right"), codes, labels, levels) for cut in cuts)
    assert lost(found, codes, labels, levels) == pytest.approx(best, abs=1e-9)


def test_values_that_nobody_has_take_no_room() -> None:
    codes, labels = np.repeat([1, 3, 5], 20), np.repeat([0, 1, 0], 20)
    found = label_runs(one_number(codes, labels, 7), 0, np.arange(7), 3)
    assert len(set(found[[1, 3, 5]])) == 3
    assert found.tolist() == [0, 0, 0, 1, 1, 2, 2]


def test_rows_that_stand_for_more_people_count_more() -> None:
    codes, labels = np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1])
    table = one_number(codes, labels, 3)
    left = label_runs(replace(table, weights=np.array([50.0, 50, 1, 50])), 0, np.arange(3), 2)
    right = label_runs(replace(table, weights=np.array([50.0, 1, 50, 50])), 0, np.arange(3), 2)
    assert (left.tolist(), right.tolist()) == ([0, 0, 1], [0, 1, 1])


def test_very_many_values_share_spots_in_their_order() -> None:
    spots = spots_of(np.random.default_rng(0).integers(0, 3, size=5000))
    assert (np.diff(spots) >= 0).all()
    assert spots.max() < 512
    assert len(np.unique(spots)) == spots.max() + 1


def test_runs_have_equal_room_with_gaps_between_and_count_alike() -> None:
    runs = np.array([0, 0, 0, 1, 3, 3])
    places = places_of(runs, 4)
    assert (np.floor(places * 4) == runs).all()
    assert (np.diff(places)[np.diff(runs) > 0] >= 0.2 / 4).all()
    np.testing.assert_allclose([balance_of(runs)[runs == run].sum() for run in (0, 1, 3)], 1 / 3)
