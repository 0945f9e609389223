"""Survey weights: estimates are the population's, intervals know the design effect, crowds are of records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import leastwise
from leastwise import (
    Attribute,
    DataError,
    Generalization,
    ParameterError,
    PATMinimizer,
    Schema,
    SchemaError,
    Table,
)
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.linkability import Linkability
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.cli.main import app
from leastwise.confidence import binomial_interval, mean_interval
from leastwise.evaluation import Evaluation, certify
from leastwise.evaluation.risk import risk_of
from leastwise.minimizers import FeatureSelectionMinimizer
from leastwise.minimizers.constraints import at_least
from leastwise.policy import Policy
from leastwise.predictors.held_out import Difference
from leastwise.records.survey import scaled
from leastwise.runs.task import fingerprint
from tests import strategies as own
from tests.adversaries.populations import Bayes, grouping, population, table_of
from tests.samples import a_secret_and_its_twin

SCHEMA = Schema(
    (Attribute("age", kind="continuous", lower=0), Attribute("sex", values=("f", "m"), personal=True)),
    Attribute("rich", values=("no", "yes")),
)


def people(rows: int = 600, seed: int = 0) -> pl.DataFrame:
    """Who is heavy is old, and the old are rich: without the weights the share of the rich is another."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    rich = np.where((age > 50) ^ (rng.random(rows) < 0.1), "yes", "no")
    weight = np.where(age > 50, rng.integers(5, 40, rows), rng.integers(1, 4, rows))
    return pl.DataFrame({"age": age, "sex": rng.choice(["f", "m"], rows), "rich": rich, "PWGTP": weight})


def repeated(table: Table, times: Any) -> Table:
    return table.take(np.repeat(np.arange(len(table)), times))


def test_equal_weights_are_no_weights() -> None:
    frame = people().with_columns(PWGTP=pl.lit(7.5))
    with_, without = Table.from_frame(frame, SCHEMA, survey_weights="PWGTP"), Table.from_frame(frame, SCHEMA)
    assert (with_.weights, with_.persons, with_.survey) == (None, None, False)
    assert fingerprint(with_) == fingerprint(without)


@given(own.tables(max_rows=30), st.data())
def test_shares_are_those_of_records_repeated_as_often(table: Table, data: st.DataObject) -> None:
    times = np.array(data.draw(st.lists(st.integers(0, 4), min_size=len(table), max_size=len(table))))
    if not times.any():
        return
    weighted, copies = table.with_survey_weights(times.astype(float)), repeated(table, times)
    assert weighted.people == pytest.approx(len(table))
    for j in range(len(table.schema)):
        assert weighted.use(j) / weighted.people == pytest.approx(copies.use(j) / copies.people)


@given(st.integers(0, 50))
def test_errors_and_attacks_are_those_of_records_repeated_as_often(seed: int) -> None:
    rng = np.random.default_rng(seed)
    plain = table_of(rng.integers(0, 3, (60, 2)), [3, 3], {1})
    times = rng.integers(1, 5, 60)
    weighted, copies = plain.with_survey_weights(times.astype(float)), repeated(plain, times)
    g = grouping(plain, [[0, 0, 1], [0, 0, 0]])
    found = [Reconstruction(Bayes).attack(Breach.of(g, population(each)))["b"] for each in (weighted, copies)]
    assert found[0].adversary_error == pytest.approx(found[1].adversary_error)
    assert found[0].baseline == pytest.approx(found[1].baseline)


def test_the_utility_is_that_of_records_repeated_as_often() -> None:
    plain = a_secret_and_its_twin(400)
    times = np.random.default_rng(1).integers(1, 6, 400)
    weighted, copies = plain.with_survey_weights(times.astype(float)), repeated(plain, times)
    wrong = np.random.default_rng(2).random(400) < 0.3
    one = risk_of(wrong, weighted, weighted, "", 0.0)
    many = risk_of(np.repeat(wrong, times), copies, copies, "", 0.0)
    assert (one.error, one.baseline) == pytest.approx((many.error, many.baseline))
    assert one.interval.high - one.interval.low > many.interval.high - many.interval.low, "copies are no people"


@pytest.mark.parametrize("minimizer", [PATMinimizer(min_leaf=1), FeatureSelectionMinimizer()])
def test_minimizers_make_of_weights_what_they_make_of_records_repeated_as_often(minimizer: Any) -> None:
    plain = a_secret_and_its_twin(600)
    times = np.random.default_rng(1).integers(1, 6, 600)
    weighted, copies = plain.with_survey_weights(times.astype(float)), repeated(plain, times)
    assert minimizer.minimize(weighted).partitions == minimizer.minimize(copies).partitions


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), min_size=2, max_size=30))
def test_the_spread_of_a_weighted_mean_is_that_of_a_design_based_estimate(drawn: list[tuple[bool, int]]) -> None:
    """Taylor's linearization by hand: the squares of weight times deviation, over the square of all weights."""
    values, weights = (np.array(each, dtype=float) for each in zip(*drawn, strict=True))
    found = Difference.of(values, weights, np.arange(len(values)))
    mean = float(values @ weights / weights.sum())
    by_hand = sum((w * (v - mean)) ** 2 for v, w in zip(values, weights, strict=True)) / weights.sum() ** 2
    n = len(values)
    assert found.mean == pytest.approx(mean)
    assert found.standard_error == pytest.approx(max((by_hand * n / (n - 1)) ** 0.5, 1 / n))


def test_the_interval_covers_where_weights_differ() -> None:
    """Counting weights as people covers far too seldom; by record it covers, also where the heavy err more."""
    rng, told = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(400):
        heavy = rng.random(150) < 0.2
        weights = scaled(np.where(heavy, 12.0, 1.0))
        wrong = (rng.random(150) < np.where(heavy, 0.4, 0.2)).astype(float)
        truth = (0.2 * 12 * 0.4 + 0.8 * 0.2) / (0.2 * 12 + 0.8)
        for known in told:
            low, high = mean_interval(wrong, weights, persons=np.arange(150) if known else None)
            told[known] += low <= truth <= high
    assert told[True] >= 0.93 * 400
    assert told[False] < 0.8 * 400


def test_the_design_effect_is_that_of_kish() -> None:
    table = table_of([(0, 0)] * 4, [1, 1], {1}).with_survey_weights(np.array([1.0, 1.0, 1.0, 5.0]))
    assert table.effective_people == pytest.approx(8**2 / 28)
    together = replace(table, persons=np.array([0, 0, 1, 1]))
    assert together.effective_people == pytest.approx(8**2 / 40), "by person, where some have several"


def test_people_are_counted_as_records() -> None:
    rng = np.random.default_rng(0)
    plain = table_of(rng.integers(0, 4, (300, 3)), [4, 4, 4], {2})
    weighted = plain.with_survey_weights(rng.integers(1, 30, 300).astype(float))
    g = grouping(plain, [[0, 1, 2, 3], [0, 1, 2, 3], [0, 0, 0, 0]])
    one, other = (certify(g, each, held_out=True) for each in (weighted, plain))
    assert replace(one, weighted=False) == other
    assert "counts each record once, without its survey weight" in str(one)
    assert "survey" not in str(other)
    for adversary in (SinglingOut(0), Linkability(("a",), ("b",), records=50, draws=3)):
        found = [adversary.attack(Breach.of(g, population(each))) for each in (weighted, plain)]
        assert found[0].adversary_error == found[1].adversary_error
    assert at_least(g, weighted, joint=3) == at_least(g, plain, joint=3)


def test_parts_have_weights_of_1_on_average() -> None:
    table = Table.from_frame(people(), SCHEMA, survey_weights="PWGTP")
    for part in table.split(0):
        assert part.survey
        assert part.counts.mean() == pytest.approx(1)
    assert len({*table.weights.round(9).tolist()}) > 10  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([-1, 2, 3, 4], "1 of 4 in 'w' are missing, negative or no numbers"),
        ([None, 2, 3, 4], "1 of 4"),
        (["a", "2", "3", "4"], "1 of 4"),
        ([float("nan"), float("inf"), 3.0, 4.0], "2 of 4"),
        ([0, 0, 0, 0], "must not all be 0"),
    ],
)
def test_what_is_no_weight_is_refused_in_one_line(weights: list[Any], says: str) -> None:
    frame = people(4).with_columns(w=pl.Series(weights))
    with pytest.raises(DataError, match=says) as told:
        Table.from_frame(frame, SCHEMA, survey_weights="w")
    assert "\n" not in str(told.value)


def test_weights_are_a_column_of_their_own() -> None:
    frame = people()
    with pytest.raises(DataError, match="no column 'PWGPT'; did you mean 'PWGTP'"):
        Table.from_frame(frame, SCHEMA, survey_weights="PWGPT")
    for name in ("age", "rich"):
        with pytest.raises(SchemaError, match="no attribute"):
            Table.from_frame(frame, SCHEMA, survey_weights=name)
    with pytest.raises(SchemaError, match="cannot tell both"):
        Table.from_frame(frame, SCHEMA, "PWGTP", "PWGTP")
    with pytest.raises(ParameterError, match="no survey_weights="):
        leastwise.minimize(frame.lazy(), schema=SCHEMA, survey_weights="PWGTP")


def test_weights_of_the_command_line_count_and_are_nowhere_written(tmp_path: Path) -> None:
    frame = people()
    frame.write_csv(tmp_path / "people.csv")
    frame.with_columns(PWGTP=pl.lit(3)).write_csv(tmp_path / "equal.csv")
    artefacts = {}
    weighed = ["--survey-weights", "PWGTP"]
    for name, more in {"people": weighed, "equal": weighed, "plain": []}.items():
        data = str(tmp_path / ("people.csv" if name == "people" else "equal.csv"))
        drop = [] if more else ["--set", "drop=PWGTP"]
        words = ["minimize", data, "--label", "rich", "--personal", "sex", *more, *drop, "-m", "pat"]
        result = CliRunner().invoke(app, [*words, "-o", str(tmp_path / f"{name}.json")])
        assert result.exit_code == 0, result.output
        assert not more or "PWGTP" not in result.output
        artefacts[name] = (tmp_path / f"{name}.json").read_bytes()
        assert b"PWGTP" not in artefacts[name]
    assert artefacts["equal"] == artefacts["plain"], "byte for byte"
    judged, words = tmp_path / "e.json", ["-a", "A1,A8", "--quick", "--predicates", "0"]
    given = ["evaluate", str(tmp_path / "people.json"), str(tmp_path / "people.csv"), *weighed, *words]
    result = CliRunner().invoke(app, [*given, "-o", str(judged)])
    assert result.exit_code == 0, result.output
    found = Evaluation.load(judged)
    assert found.certificate is not None
    assert found.certificate.weighted
    assert found.certificate.people == 180
    assert found.utility is not None
    alike = binomial_interval(found.utility.error * 180, 180)
    assert found.utility.interval.high - found.utility.interval.low > (alike.high - alike.low)


def test_a_policy_names_them(tmp_path: Path) -> None:
    path = tmp_path / "leastwise.yaml"
    path.write_text("format: leastwise-policy\nversion: 1\nlabel: rich\nsurvey_weights: PWGTP\n", encoding="utf-8")
    assert Policy.load(path).task.options()["survey_weights"] == "PWGTP"
    assert Generalization.suppressed(SCHEMA).schema.names == SCHEMA.names
