"""Survey weights after the choice: check, monitor and train speak of the population, not of who was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from leastwise import Attribute, DataError, Generalization, Intervals, ParameterError, Schema, Table
from leastwise.checks import Check, Promise, check, monitor, read_new
from leastwise.evaluation import evaluate
from leastwise.models import train
from leastwise.models.model import card
from leastwise.partition import keep
from tests.cli.running import runner

AGE = Attribute("age", kind="continuous", lower=0, integer=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
SCHEMA = Schema((AGE, SEX), Attribute("rich", values=("no", "yes")))
POLICY = "format: leastwise-policy\nversion: 1\ngeneralization: g.json\nquick: true\ndata: sample.csv\n"
G = Generalization((Intervals(AGE, (50,)), keep(SEX)), SCHEMA.label)


def everybody(rows: int, seed: int) -> pl.DataFrame:
    """Draw from the population: half of it is old, and the old are rich."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 81, rows)
    rich = np.where((age > 50) ^ (rng.random(rows) < 0.1), "yes", "no")
    return pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], rows), "rich": rich})


def surveyed(rows: int, seed: int) -> pl.DataFrame:
    """Ask one in four of the old, who speak for four each."""
    drawn = everybody(2 * rows, seed).with_columns(weight=pl.when(pl.col("age") > 50).then(4.0).otherwise(1.0))
    asked = np.random.default_rng(seed + 1).random(2 * rows) < 1 / drawn["weight"].to_numpy()
    return drawn.filter(pl.Series(asked))


@pytest.fixture(scope="module")
def promised() -> Promise:
    test = Table.from_frame(surveyed(4000, 100), SCHEMA, None, "weight").split(0).test
    table = Table.from_frame(surveyed(4000, 100), SCHEMA, None, "weight")
    return Promise.of(G, test, evaluate(G, table, ["A1", "A8"], 0, True, held_out=True))


def checked(frame: pl.DataFrame, promise: Promise, weights: str | None) -> Check:
    return check(G, read_new(frame, SCHEMA, weights), promise=promise, quick=True)


def test_a_promise_is_of_the_population_and_as_sure_as_the_weights_let_it_be(promised: Promise) -> None:
    assert promised.effective_people is not None
    assert promised.effective_people < 0.8 * promised.people
    old = promised.use[0].counts[1] / promised.people_counted
    assert old == pytest.approx(0.5, abs=0.05)
    assert promised.utility is not None
    assert promised.utility.people == pytest.approx(promised.effective_people, abs=2)
    assert Promise.from_json(promised.to_json()) == promised


def test_a_promise_without_weights_says_nothing_of_them() -> None:
    table = Table.from_frame(everybody(600, 101), SCHEMA)
    made = Promise.of(G, table.split(0).test, evaluate(G, table, ["A1", "A8"], 0, True, held_out=True))
    assert made.effective_people is None
    assert "effective_people" not in made.to_json()


def test_a_check_counts_new_records_as_the_promise_did(promised: Promise) -> None:
    new = surveyed(3000, 103)
    weighted, unweighted = checked(new, promised, "weight"), checked(new.drop("weight"), promised, None)
    assert not weighted.broken
    assert "weighted as the survey says" in weighted.notes[0]
    assert any(reason.startswith("age: ") for reason in unweighted.reasons)
    assert "The promise counted records by survey weights, and here they count once each." in unweighted.notes


def test_a_check_finds_drift_in_spite_of_weights(promised: Promise) -> None:
    older = surveyed(3000, 104).with_columns(pl.col("age") + 15)
    assert any(reason.startswith("age: ") for reason in checked(older, promised, "weight").reasons)


def test_few_heavy_records_are_not_taken_for_many() -> None:
    """Of records whose weights differ much, shares that differ by chance alarm no more often than they should."""
    alarms, rng = 0, np.random.default_rng(100)
    table = Table.from_frame(surveyed(2000, 105), SCHEMA, None, "weight")
    made = Promise.of(G, table.split(0).test, evaluate(G, table, ["A8"], 0, True, held_out=True))
    for seed in range(40):
        new = everybody(400, 200 + seed).with_columns(weight=pl.Series(rng.lognormal(0, 1.5, 400)))
        codes = G.transform(new).with_columns(new["weight"])
        found = monitor(G, codes, made, survey_weights="weight")
        alarms += any(reason.startswith("age: ") for reason in found.reasons)
    assert alarms <= 3


def test_collected_records_may_be_people_or_a_survey(promised: Promise) -> None:
    assert not monitor(G, G.transform(everybody(3000, 106)), promised).broken
    survey = surveyed(3000, 107)
    coarse = G.transform(survey).with_columns(survey["weight"])
    weighted, once = (
        monitor(G, coarse, promised, survey_weights="weight"),
        monitor(G, coarse.drop("weight"), promised),
    )
    assert not weighted.broken
    assert once.broken
    tells = Table.from_frame(survey, SCHEMA, None, "weight").effective_people
    said = f"these {survey.height:,} records tell as much as {tells:,.0f} would with equal weights."
    assert any(said in note for note in weighted.notes)
    assert "The promise counted records by survey weights, and here they count once each." in once.notes
    equal = monitor(G, coarse.with_columns(weight=pl.lit(2.0)), promised, survey_weights="weight")
    assert not any("weighted as the survey says" in note for note in equal.notes)
    with pytest.raises(DataError, match="no column 'wieght'"):
        monitor(G, coarse, promised, survey_weights="wieght")
    strange = coarse.with_columns(
        sex=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("999 secret")).otherwise("sex"),
        weight=pl.when(pl.int_range(pl.len()) == 0).then(0).otherwise("weight"),  # stands for nobody
    )
    with pytest.raises(DataError, match="sex: 1 record holds something that is none of its 2 answers"):
        monitor(G, strange, promised, survey_weights="weight")
    with pytest.raises(ParameterError, match="counted records have no survey weights"):
        monitor(G, coarse, promised, counts=pl.Series([1] * coarse.height), survey_weights="weight")


def test_a_model_is_fitted_and_measured_by_weights() -> None:
    """Among the old of this survey most say no, but those who say yes speak for many more."""
    rng = np.random.default_rng(108)
    age = rng.integers(20, 81, 6000)
    rich = np.where((age > 50) & (rng.random(6000) < 0.3), "yes", "no")
    weight = np.where(rich == "yes", 20.0, 1.0)
    frame = pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], 6000), "rich": rich, "weight": weight})
    coarse = G.transform(frame).with_columns(frame["weight"])
    plain, weighed = train(G, coarse.drop("weight")), train(G, coarse, survey_weights="weight")
    old = pl.DataFrame({"age": ["51 or more"], "sex": ["f"]})
    assert plain.predict(old)["prediction"].item() == "no"
    assert weighed.predict(old)["prediction"].item() == "yes"
    told = frame.filter(pl.col("age") > 50)["weight"].sum() / frame["weight"].sum()
    always = frame.filter(pl.col("rich") == "no")["weight"].sum() / frame["weight"].sum()
    assert weighed.facts.baseline == pytest.approx(always, abs=0.03)
    assert weighed.facts.error < 0.1 < told
    assert weighed.facts.interval.low <= weighed.facts.error <= weighed.facts.interval.high
    assert "weighted by weight" in card(weighed.facts)
    assert weighed.facts.collected == ("age", "sex")


@pytest.mark.parametrize("weights", [None, "weight"])
def test_equal_weights_change_nothing(weights: str | None) -> None:
    frame = everybody(600, 109).with_columns(weight=pl.lit(3.0))
    found = train(G, G.transform(frame).with_columns(frame["weight"]), survey_weights=weights)
    plain = train(G, G.transform(frame))
    assert (found.facts.error, found.facts.interval) == (plain.facts.error, plain.facts.interval)


def test_the_commands_take_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("skops")
    monkeypatch.chdir(tmp_path)
    run: Any = runner(monkeypatch, capsys)
    G.save("g.json")
    surveyed(3000, 110).write_csv("sample.csv")
    new = surveyed(3000, 111)
    new.write_csv("new.csv")
    Path("leastwise.yaml").write_text(POLICY + "survey_weights: weight\n")
    assert run("check", "--write-promise", "promise.json").code == 0
    assert run("check", "--data", "new.csv", "--promise", "promise.json").code == 0
    Path("leastwise.yaml").write_text(POLICY)
    assert run("check", "--data", "new.csv", "--promise", "promise.json").code == 1
    said = run("check", "--data", "new.csv", "--promise", "promise.json", "--survey-weights", "weight")
    assert said.code == 0
    G.transform(new).with_columns(new["weight"]).write_csv("coarse.csv")
    assert run("monitor", "g.json", "coarse.csv", "--promise", "promise.json").code == 1
    assert (
        run("monitor", "g.json", "coarse.csv", "--promise", "promise.json", "--survey-weights", "weight").code == 0
    )
    assert "rich: wrong on" in run("train", "g.json", "coarse.csv", "--survey-weights", "weight").out
