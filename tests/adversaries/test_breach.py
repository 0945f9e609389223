"""Long continuous columns: attacked as well as short ones, and never blurred across an edge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from leastwise import Attribute, Generalization, Intervals, Schema, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.side_information import NonPersonalKnowledge


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def real_numbers(rng: np.random.Generator, people: int = 4000) -> Table:
    """A real number per person, missing for some, and its first digit under another name."""
    secret = Attribute("pay", "continuous", personal=True, missing=True)
    digit = Attribute("digit", values=tuple("0123456789"))
    pay = rng.random(people)
    frame = pd.DataFrame({"pay": pay, "digit": np.floor(pay * 10).astype(int).astype(str)})
    frame.loc[::10, "pay"] = np.nan
    return Table.from_frame(frame, Schema((secret, digit)))


def test_long_columns_are_attacked_as_well(rng: np.random.Generator) -> None:
    table = real_numbers(rng)
    split = table.split(0)
    tolerances = {"pay": 0.05}
    g = Generalization.suppressed(table.schema)
    blind = Reconstruction().attack(Breach.of(g, split, tolerances=tolerances))["pay"]
    assert blind.baseline == pytest.approx(1 - 0.9 * 0.1, abs=0.02)
    assert blind.adversary_error == pytest.approx(blind.baseline, abs=0.03)
    told = NonPersonalKnowledge().attack(Breach.of(g, split, tolerances=tolerances))["pay"]
    assert told.adversary_error == pytest.approx(0.1, abs=0.06)  # the missing ones are not told by the digit
    assert told.mean_absolute_error == pytest.approx(0.025, abs=0.01)


def test_coarsening_never_crosses_an_edge(rng: np.random.Generator) -> None:
    table = real_numbers(rng)
    g = Generalization(
        (Intervals(table.schema["pay"], (0.123, 0.5)), Generalization.suppressed(table.schema)["digit"])
    )
    breach = Breach.of(g, table.split(0))
    assert len(breach.parts.train.levels[0]) < 140 < len(table.levels[0])
    for part, seen in zip(table.split(0), breach.parts, strict=True):
        assert (part.generalize(g) == seen.generalize(g)).all()


def test_of_a_large_validation_part_some_choose_the_predictor(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = real_numbers(rng)
    split, g = table.split(0), Generalization.suppressed(table.schema)
    assert Breach.of(g, split).validation is split.validation
    whole = NonPersonalKnowledge().attack(Breach.of(g, split))
    monkeypatch.setattr("leastwise.adversaries.breach.CHOOSING", 100)
    breach = Breach.of(g, split)
    assert len(breach.validation) == 100
    assert breach.truth is split.test
    assert NonPersonalKnowledge().attack(breach).adversary_error == pytest.approx(whole.adversary_error, abs=0.02)
