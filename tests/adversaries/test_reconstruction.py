"""A1 and A2: masks, scoring, numbers; the traps that known implementations fell into."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from leastwise import Attribute, DataError, Generalization, Intervals, ParameterError, Schema, Split, Table
from leastwise.adversaries import guessing
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.multi_breach import AveragedModel, MultiBreach
from leastwise.adversaries.reconstruction import HighCertainty, Reconstruction, top_errors
from leastwise.adversaries.side_information import LeaveOneOut, NonPersonalKnowledge, PartialKnowledge
from leastwise.predictors.base import Probabilities, Samples
from tests.adversaries.populations import Bayes, grouping, population, table_of

RECONSTRUCTING = (Reconstruction, HighCertainty, NonPersonalKnowledge, LeaveOneOut, PartialKnowledge)


class Stubborn:
    """Believes in the last value, whatever it sees."""

    name = "stubborn"

    def fit(self, train: Samples, validation: Samples) -> Stubborn:
        self.sizes = train.target_sizes
        return self

    def predict(self, inputs: Any) -> list[Probabilities]:
        return [np.tile(np.r_[np.full(size - 1, 1e-30), 1.0], (len(inputs), 1)) for size in self.sizes]


def test_what_the_generalization_rules_out_is_never_guessed() -> None:
    # a and b share a bucket, c has its own: whoever insists on c must still not say c of the first bucket.
    table = table_of([(0,), (0,), (1,), (2,)], [3], {0})
    breach = Breach.of(grouping(table, [[0, 0, 1]]), population(table))
    assert Reconstruction(Stubborn).attack(breach).adversary_error == 1 / 4


def test_masks_of_several_breaches_are_intersected() -> None:
    # {0,1}{2,3} and {0,2}{1,3}: each leaves two values, both together one.
    table = table_of([(0,), (1,), (2,), (3,)], [4], {0})
    several = [grouping(table, [[0, 0, 1, 1]]), grouping(table, [[0, 1, 0, 1]])]
    result = MultiBreach(Stubborn).attack(Breach.of(several, population(table)))
    assert result.adversary_error == 0
    assert result.single_errors == (0.5, 0.5)


def test_an_average_excludes_what_any_breach_rules_out() -> None:
    # {0,1,2}{3,4} and {0}{1,2,3}{4}: of 1 and 2 both leave {1, 2}, and the average must too.
    table = table_of([(v,) for v in range(5)], [5], {0})
    several = [grouping(table, [[0, 0, 0, 1, 1]]), grouping(table, [[0, 1, 1, 1, 2]])]
    model = AveragedModel(Breach.of(several, population(table)), [0], Bayes)
    possible = model.probabilities(2, np.arange(5))[0] > 0
    assert possible.astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 1, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 0, 0, 1],
    ]


def test_two_breaches_tell_what_neither_does(rng: np.random.Generator) -> None:
    one, two = rng.integers(0, 2, (2, 3000))
    split = table_of(np.column_stack([one ^ two, one, two]), [2, 2, 2], {0}).split(0)
    several = [
        split.train.generalization(buckets) for buckets in ([(0, 0), (0, 1), (0, 0)], [(0, 0), (0, 0), (0, 1)])
    ]
    result = MultiBreach().attack(Breach.of(several, split))
    assert min(result.single_errors) > 0.4
    assert result.adversary_error == 0


def test_one_breach_is_not_several() -> None:
    table = table_of([(0,), (1,)], [2], {0})
    g = Generalization.suppressed(table.schema)
    with pytest.raises(ParameterError, match="two generalizations or more"):
        MultiBreach(Bayes).attack(Breach.of(g, population(table)))
    with pytest.raises(ParameterError, match="A6 takes several"):
        Reconstruction(Bayes).attack(Breach.of([g, g], population(table)))


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


AGE = Attribute("age", "continuous", lower=0, upper=100, integer=True, personal=True)


def ages(*numbers: float) -> Table:
    levels = np.unique(numbers)
    return Table(Schema((AGE,)), np.searchsorted(levels, numbers)[:, None], (levels,))


def test_numbers_by_hand() -> None:
    # six people in one bucket; a guess tells all within 5 years: 22 tells 20, 20, 22, 27; the median is 22 or 27
    table = ages(20, 20, 22, 27, 40, 60)
    result = Reconstruction(Bayes).attack(Breach.of(Generalization.suppressed(table.schema), population(table)))
    age = result["age"]
    assert (age.tolerance, age.adversary_error) == (5, pytest.approx(2 / 6))
    assert age.mean_absolute_error == pytest.approx((2 + 2 + 0 + 5 + 18 + 38) / 6)
    spread = ages(10, 20, 30, 40, 50)
    blind = Breach.of(Generalization.suppressed(spread.schema), population(spread))
    assert Reconstruction(Bayes).attack(blind)["age"].mean_absolute_error == pytest.approx(60 / 5)
    strict = Breach.of(Generalization.suppressed(table.schema), population(table), tolerances={"age": 0})
    assert Reconstruction(Bayes).attack(strict)["age"].adversary_error == pytest.approx(4 / 6)


def test_buckets_not_wider_than_twice_the_tolerance_tell_everything() -> None:
    table = ages(*range(101))
    g = Generalization((Intervals(AGE, tuple(range(10, 100, 11))),))  # 11 ages each, within 5 of their middle
    assert Reconstruction(Bayes).attack(Breach.of(g, population(table)))["age"].adversary_error == 0


def test_numbers_asked_exactly_are_read_off() -> None:
    table = ages(20, 20, 22, 27, 40, 60)
    result = Reconstruction(Bayes).attack(Breach.of(Generalization.untouched(table.schema), population(table)))
    assert (result["age"].adversary_error, result["age"].mean_absolute_error) == (0, 0)
    assert result["age"].predictor == "read off"


def test_a_tolerance_is_for_numbers() -> None:
    table = table_of([(0,), (1,)], [2], {0})
    g = Generalization.suppressed(table.schema)
    with pytest.raises(ParameterError, match="continuous"):
        Breach.of(g, population(table), tolerances={"a": 1})
    with pytest.raises(ParameterError, match="from 0"):
        Breach.of(Generalization.suppressed(ages(1, 2).schema), population(ages(1, 2)), tolerances={"age": -1})


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
