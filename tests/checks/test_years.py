"""A generalization chosen on the people of 2018, checked on those of 2019 (as the paper does with its years)."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from leastwise import Generalization, PATMinimizer, Table
from leastwise.checks import Promise, check, read_new
from leastwise.evaluation import evaluate


@pytest.fixture(scope="module")
def chosen(data_folder: Path) -> tuple[Generalization, Promise]:
    from benchmarks.data import nist

    sample = nist(2018)
    split = Table.from_frame(sample.frame, sample.schema).split(0)
    g = PATMinimizer(alpha=0.7, max_leaves=20, random_state=0).minimize(split.train)
    return g, Promise.of(g, split.test, evaluate(g, split, ["A1", "A8"], quick=True))


def test_a_year_later_all_is_as_promised(chosen: tuple[Generalization, Promise]) -> None:
    from benchmarks.data import nist

    g, promised = chosen
    later = nist(2019)
    found = check(g, read_new(later.frame, later.schema), promise=promised, quick=True)
    assert len(found.comparisons) > 50
    assert found.reasons == ()


def test_other_people_of_the_same_year_are_not(chosen: tuple[Generalization, Promise]) -> None:
    from benchmarks.data import nist

    g, promised = chosen
    later = nist(2019)
    young = later.frame.filter(pl.col("AGEP") < 35)
    found = check(g, read_new(young, later.schema), promise=promised, quick=True)
    assert any(reason.startswith("AGEP: ") for reason in found.reasons)
    assert any(reason.startswith("PINCP: ") for reason in found.reasons)
