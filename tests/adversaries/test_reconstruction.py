"""A1 and A2: masks, scoring, numbers; the traps that known implementations fell into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from leastwise import Attribute, DataError, Generalization, Intervals, ParameterError, Schema, Split, Table
from leastwise.adversaries import guessing
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction, top_errors
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from tests.adversaries.populations import Bayes, Stubborn, grouping, population, table_of

RECONSTRUCTING = (Reconstruction, HighCertainty, NonPersonalKnowledge, LeaveOneOut, PartialKnowledge)


def test_what_the_generalization_rules_out_is_never_guessed() -> None:
    # a and b share a bucket, c has its own: whoever insists on c must still not say c of the first bucket.
    table = table_of([(0,), (0,), (1,), (2,)], [3], {0})
    breach = Breach.of(grouping(table, [[0, 0, 1]]), population(table))
    assert Reconstruction(Stubborn).attack(breach).adversary_error == 1 / 4


@pytest.mark.parametrize("block", [1, 7, 10**6])
def test_errors_do_not_depend_on_how_records_are_grouped(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    rng = np.random.default_rng(0)
    table = table_of(rng.integers(0, 3, (50, 3)), [3, 3, 3], {0, 2})
    breach = Breach.of(grouping(table, [[0, 0, 1], [0, 1, 2], [0, 0, 0]]), population(table))
    monkeypatch.setattr(guessing, "_LARGEST_BLOCK", block)
    result = Reconstruction(Bayes).attack(breach)
    monkeypatch.undo()
    fresh = Breach.of(breach.generalization, population(table))
    assert result == Reconstruction(Bayes).attack(fresh)


@pytest.mark.parametrize("attack", RECONSTRUCTING)
def test_the_order_of_the_stolen_records_tells_nothing(attack: type[Any]) -> None:
    rng = np.random.default_rng(1)
    table = table_of(rng.integers(0, 3, (60, 3)), [3, 3, 3], {0, 2})
    g = grouping(table, [[0, 0, 1], [0, 1, 2], [0, 1, 1]])
    shuffled = table.take(rng.permutation(60))
    results = [attack(Bayes).attack(Breach.of(g, Split(table, table, truth))) for truth in (table, shuffled)]
    assert results[0].adversary_error == pytest.approx(results[1].adversary_error)
    if attack is HighCertainty:
        for first, second in zip(results[0].points, results[1].points, strict=True):
            assert first.errors == pytest.approx(second.errors)


@pytest.mark.parametrize("attack", RECONSTRUCTING)
def test_an_attacker_who_is_misled_guesses_the_majority(attack: type[Any]) -> None:
    """Whoever believes in the last value does worse than guessing, and need not."""
    table = table_of([(0, 1)] * 6 + [(1, 0)] * 3 + [(2, 1)], [3, 2], {0})
    breach = Breach.of(Generalization.suppressed(table.schema), population(table))
    result = attack(Stubborn).attack(breach)
    assert result.adversary_error == result.baseline == pytest.approx(0.4)
    assert result["a"].predictor == "majority guess"
    assert result["a"].interval.low <= 0.4 <= result["a"].interval.high
    if attack is HighCertainty:
        assert all(point.mean <= 0.4 + 1e-12 for point in result.points)


def test_surest_guesses_by_hand() -> None:
    wrong, sure = np.array([0, 0, 1, 0, 1, 1]), np.array([0.9, 0.8, 0.8, 0.5, 0.5, 0.4])
    counts = np.ones(6)
    assert [top_errors(wrong, sure, counts, k) for k in (1, 2, 3, 4, 6)] == [0, 0.5, 1, 1.5, 3]
    assert top_errors(wrong, sure, np.array([1, 1, 1, 1, 1, 5]), 10) == 7


@pytest.mark.parametrize("shares", [(), (0,), (101,), (-5,)])
def test_shares_are_percentages(shares: tuple[float, ...]) -> None:
    table = table_of([(0,), (1,)], [2], {0})
    with pytest.raises(ParameterError, match="percentages"):
        HighCertainty(Bayes, shares).attack(Breach.of(Generalization.suppressed(table.schema), population(table)))


def test_a_breach_needs_people_and_personal_attributes() -> None:
    table = table_of([(0,), (1,)], [2], {0})
    g = Generalization.suppressed(table.schema)
    with pytest.raises(DataError, match="test records"):
        Breach((g,), table, table, table.take(np.array([], dtype=int)))
    nobody = table_of([(0,), (1,)], [2], set())
    with pytest.raises(ParameterError, match="personal attributes"):
        Reconstruction(Bayes).attack(Breach.of(Generalization.suppressed(nobody.schema), population(nobody)))


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("attack", RECONSTRUCTING)
def test_runs_on_every_kind_of_attribute(attack: type[Any], rng: np.random.Generator) -> None:
    people = 300
    schema = Schema(
        (
            Attribute("age", "continuous", lower=0, integer=True, personal=True),
            Attribute("pay", "continuous", missing=True, personal=True),
            Attribute("size", "ordinal", values=("S", "M", "L"), personal=True, missing=True),
            Attribute("town", values=("a", "b", "c"), other=True, personal=True),
            Attribute("hours", "continuous"),
            Attribute("job", values=("x", "y")),
        )
    )
    frame = pd.DataFrame(
        {
            "age": rng.integers(0, 90, people),
            "pay": np.where(rng.random(people) < 0.1, np.nan, rng.normal(size=people)),
            "size": rng.choice(["S", "M", "L", None], people),
            "town": rng.choice(["a", "b", "c", "d"], people),
            "hours": rng.normal(size=people),
            "job": rng.choice(["x", "y"], people),
        }
    )
    table = Table.from_frame(frame, schema)
    g = Generalization.of(
        [Intervals(schema["age"], (30, 60)), Intervals(schema["hours"], (0.0,))], schema.attributes
    )
    result = attack(guessing.StrongestOf(quick=True)).attack(Breach.of(g, table.split(0)))
    assert len(result.attributes) == 4
    assert all(0 <= each.adversary_error <= 1 for each in result.attributes)
    assert all(each.interval.low <= each.adversary_error <= each.interval.high for each in result.attributes)
