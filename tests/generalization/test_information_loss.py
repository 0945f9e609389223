from __future__ import annotations

import dataclasses

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import (
    Attribute,
    Generalization,
    Groups,
    Intervals,
    ParameterError,
    Schema,
    SchemaError,
    Table,
    Untouched,
)
from leastwise.generalization.information_loss import gcp, ncp
from leastwise.partition import keep, suppress
from tests import strategies
from tests.samples import one_column

COLOUR = Attribute("colour", values=("red", "green", "blue", "white"))


def test_the_papers_four_values_lose_the_same_whether_they_leak_or_not() -> None:
    """Paper §2.2: a1, a2 need medication, a3, a4 do not; only the first grouping tells, GCP is 0.5 for both."""
    a = Attribute("a", values=("a1", "a2", "a3", "a4"))
    table = one_column(a, ["a1", "a2", "a3", "a4"])
    telling = Generalization((Groups.of(a, [["a1", "a2"], ["a3", "a4"]]),))
    hiding = Generalization((Groups.of(a, [["a1", "a4"], ["a2", "a3"]]),))
    assert gcp(telling, table) == gcp(hiding, table) == 0.5
    needs_medication = np.array([True, True, False, False])
    told = table.generalize(telling)[:, 0]
    hidden = table.generalize(hiding)[:, 0]
    assert {bool(needs_medication[told == b].all()) for b in (0, 1)} == {True, False}
    assert [needs_medication[hidden == b].mean() for b in (0, 1)] == [0.5, 0.5]


def test_a_group_costs_its_share_and_a_single_value_nothing() -> None:
    assert ncp(Groups(COLOUR, (0, 0, 0, 1))).tolist() == [0.75, 0.0]


def test_missing_is_a_value_of_the_domain() -> None:
    colour = Attribute("colour", values=("red", "green", "blue"), missing=True)
    assert ncp(Groups(colour, (0, 1, 1, 0))).tolist() == [0.5, 0.5]
    assert ncp(Groups(colour, (0, 0, 0, 1))).tolist() == [0.75, 0.0]


def test_whole_numbers_are_counted_over_the_declared_domain() -> None:
    age = Attribute("age", "continuous", lower=0, upper=9, integer=True)
    assert ncp(Intervals(age, (0, 4))).tolist() == [0.0, 0.4, 0.5]


def test_whole_numbers_and_missing_in_one_bucket() -> None:
    age = Attribute("age", "continuous", lower=1, upper=3, integer=True, missing=True)
    assert ncp(Intervals(age, (2,), extras=(1,))).tolist() == [0.5, 0.5]
    assert ncp(Intervals(age, (2,))).tolist() == [0.5, 0.0, 0.0]


def test_an_open_end_takes_the_range_of_the_sample() -> None:
    pay = Attribute("pay", "continuous", lower=0)
    assert ncp(Intervals(pay, (10,)), np.array([3.0, 40.0, np.inf])).tolist() == [0.25, 0.75]


def test_without_any_width_an_interval_is_all_there_is() -> None:
    pay = Attribute("pay", "continuous", missing=True)
    assert ncp(Intervals(pay, ())).tolist() == [1.0, 0.0]
    assert ncp(Intervals(pay, ()), np.array([7.0])).tolist() == [1.0, 0.0]


def test_the_widest_domain_does_not_overflow() -> None:
    wide = Attribute("wide", "continuous", lower=-1.7e308, upper=1.7e308)
    assert ncp(Intervals(wide, (0,))).tolist() == [0.5, 0.5]


def test_untouched_numbers_cost_nothing() -> None:
    pay = Attribute("pay", "continuous")
    assert ncp(Untouched(pay)).tolist() == []
    assert gcp(Generalization((Untouched(pay),)), one_column(pay, [1.0, 2.5])) == 0.0


def test_attributes_are_weighted_by_name_or_place() -> None:
    other = Attribute("other", values=("x", "y"))
    table = Table.from_frame(
        pl.DataFrame({"colour": ["red", "blue"], "other": ["x", "y"]}), Schema([COLOUR, other])
    )
    g = Generalization((suppress(COLOUR), keep(other)))
    assert gcp(g, table) == 0.5
    assert gcp(g, table, [3, 1]) == gcp(g, table, {"colour": 3, "other": 1}) == 0.75
    assert gcp(g, table, {"colour": 1}) == 1.0


@pytest.mark.parametrize("weights", [[1], [1, -1], [0, 0], [np.nan, 1]])
def test_weights_that_make_no_sense_are_refused(weights: list[float]) -> None:
    other = Attribute("other", values=("x", "y"))
    table = Table.from_frame(pl.DataFrame({"colour": ["red"], "other": ["x"]}), Schema([COLOUR, other]))
    with pytest.raises(ParameterError, match="one number per attribute"):
        gcp(Generalization.suppressed(table.schema), table, weights)


def test_a_misspelt_weight_is_named() -> None:
    table = one_column(COLOUR, ["red"])
    with pytest.raises(SchemaError, match="did you mean 'colour'"):
        gcp(Generalization.suppressed(table.schema), table, {"color": 1})


@given(st.data(), strategies.tables(weights=True))
def test_the_limit_points_frame_every_generalization(data: st.DataObject, table: Table) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    nothing = Generalization.untouched(table.schema)
    everything = Generalization.suppressed(table.schema)
    assert gcp(nothing, table) == 0.0
    assert gcp(everything, table) == pytest.approx(1.0)
    assert 0.0 <= gcp(g, table) <= 1.0 + 1e-12


@given(st.data(), strategies.tables(weights=True))
def test_a_row_of_three_people_is_three_rows(data: st.DataObject, table: Table) -> None:
    g = data.draw(strategies.generalizations(table.schema))
    assert table.weights is not None
    rows = np.repeat(np.arange(len(table)), table.weights.astype(int))
    repeated = dataclasses.replace(table.take(rows), weights=None)
    assert gcp(g, table) == pytest.approx(gcp(g, repeated))
