"""Records as the networks see them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise import Attribute, DataError, Schema, Table
from leastwise.minimizers.neural.inputs import Inputs, Layout, adversary_target
from tests.minimizers.neural.small import people


def test_named_values_and_missing_have_rows_and_ordered_values_have_places() -> None:
    layout = Layout.of(people())
    assert (layout.named, layout.ordered) == ((0, 1), (2, 3))
    assert [rows.tolist() for rows in (layout.rows[0], layout.rows[1], layout.rows[3])] == [
        [0, 1, 2, 3],
        [4, 5, 6],
        [-1, -1, -1, -1, 7],
    ]
    assert layout.logit_rows == 8
    assert (layout.rows[2] == -1).all()
    for j in layout.ordered:
        places = layout.places[j][: layout.levels(j)]
        assert (np.diff(places) > 0).all()
        assert places.min() >= 0
        assert places.max() <= 1


def test_a_value_that_many_have_stands_apart_from_its_neighbours() -> None:
    gain = Attribute("gain", "continuous")
    codes = np.array([0] * 90 + list(range(1, 11)), dtype=np.uint8)[:, None]
    table = Table(
        Schema((gain,), Attribute("y", values=("no",))), codes, (np.arange(11.0) ** 5,), np.zeros(100, int)
    )
    steps = np.diff(Layout.of(table).places[0])
    assert steps[0] > 3 * steps[1:].max()


def test_rows_that_stand_for_nobody_are_left_out() -> None:
    table = people(50)
    weights = np.ones(50)
    weights[10:] = 0
    assert len(Inputs.of(replace(table, weights=weights))) == 10
    with pytest.raises(DataError, match="needs records"):
        Inputs.of(replace(table, weights=np.zeros(50)))


def test_a_personal_number_is_wanted_as_runs_of_neighbours() -> None:
    rows = 2000
    pay = Attribute("pay", "continuous", personal=True, missing=True)
    codes = np.random.default_rng(0).integers(0, 501, size=(rows, 1)).astype(np.uint16)
    table = Table(Schema((pay,), Attribute("y", values=("no",))), codes, (np.arange(500.0),), np.zeros(rows, int))
    wanted, size = adversary_target(table, 0)
    assert size == 33  # 32 runs, and missing
    order = np.argsort(codes[:, 0], kind="stable")
    assert (np.diff(wanted[order]) >= 0).all()
    assert np.bincount(wanted)[:32].max() < 2 * rows / 32


def test_few_personal_numbers_are_wanted_one_by_one() -> None:
    pay = Attribute("pay", "continuous", personal=True)
    codes = np.array([0, 2, 4, 4], dtype=np.uint8)[:, None]
    table = Table(Schema((pay,), Attribute("y", values=("no",))), codes, (np.arange(5.0),), np.zeros(4, int))
    wanted, size = adversary_target(table, 0)
    assert (wanted.tolist(), size) == ([0, 1, 2, 2], 3)
