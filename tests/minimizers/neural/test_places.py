"""Where values stand before anything is learned."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise import Attribute, Schema, Table
from leastwise.minimizers.neural.places import balance_of, label_runs, places_of, spots_of

LABEL = Attribute("y", values=("no", "yes"))


def one_number(codes: np.ndarray, labels: np.ndarray, levels: int) -> Table:
    schema = Schema((Attribute("x", "continuous"),), LABEL)
    return Table(schema, codes.astype(np.uint16)[:, None], (np.arange(float(levels)),), labels.astype(np.uint8))


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
