"""Records as the networks see them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from leastwise import Attribute, DataError, Schema, Table
from leastwise.minimizers.neural.inputs import Inputs, Layout, adversary_target
from tests.minimizers.neural.small import people


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
