"""A generalization chosen on the people of 2018, checked on those of 2019 (as the paper does with its years)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from leastwise import Generalization, PATMinimizer, Table
from leastwise.checks import Promise, check, read_new
from leastwise.datasets import Dataset
from leastwise.evaluation import evaluate

FEW = 8000  # of 23,000 people a year: all of them take three times as long


def people(year: int, few: int | None) -> Dataset:
    from benchmarks.data import nist

    whole = nist(year)
    return whole if few is None else replace(whole, frame=whole.frame.sample(few, seed=0))


@pytest.fixture(scope="module", params=[FEW, pytest.param(None, marks=pytest.mark.slow)])
def few(request: pytest.FixtureRequest, data_folder: Path) -> int | None:
    found: int | None = request.param
    return found


@pytest.fixture(scope="module")
def chosen(few: int | None) -> tuple[Generalization, Promise]:
    sample = people(2018, few)
    split = Table.from_frame(sample.frame, sample.schema).split(0)
    g = PATMinimizer(alpha=0.7, max_leaves=20, random_state=0).minimize(split.train)
    return g, Promise.of(g, split.test, evaluate(g, split, ["A1", "A8"], quick=True))


def test_a_year_later_all_is_as_promised(chosen: tuple[Generalization, Promise], few: int | None) -> None:
    g, promised = chosen
    later = people(2019, few)
    found = check(g, read_new(later.frame, later.schema), promise=promised, quick=True)
    assert len(found.comparisons) > 50
    assert found.reasons == ()


def test_other_people_of_the_same_year_are_not(chosen: tuple[Generalization, Promise], few: int | None) -> None:
    g, promised = chosen
    later = people(2019, few)
    young = later.frame.filter(pl.col("AGEP") < 35)
    found = check(g, read_new(young, later.schema), promise=promised, quick=True)
    assert any(reason.startswith("AGEP: ") for reason in found.reasons)
    assert any(reason.startswith("PINCP: ") for reason in found.reasons)
