"""Numbers to predict, from a file to a model: what is planted is found, told in its unit, and trained on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeRegressor

from leastwise import Attribute, Generalization, ParameterError, PATMinimizer, Schema, SchemaError, Table
from leastwise.evaluation import necessity_of
from leastwise.evaluation.risk import NumberErrors
from leastwise.evaluation.utility import judged_by, utility_limits, utility_risk
from leastwise.minimizers import AptMinimizer, CoarseningMinimizer, OptimalMinimizer
from leastwise.minimizers.pgini import Criterion
from leastwise.models import load_model, train
from leastwise.partition import Intervals, keep, suppress
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.regression import linear
from leastwise.report import summarize
from leastwise.report.answer import answer_facts
from leastwise.runs import Entry, Grid, Options, Run, run
from leastwise.runs.showing import answer
from leastwise.schema.inference import infer_schema

SCHEMA = Schema(
    (
        Attribute("hours", "continuous", lower=0, upper=80, integer=True),
        Attribute("grade", "continuous", lower=0, upper=20, integer=True, personal=True),
        Attribute("sex", values=("f", "m"), personal=True),
    ),
    Attribute("pay", "continuous", unit="euros"),
)
NOISE = 50.0


def frame(count: int = 600, seed: int = 0) -> pl.DataFrame:
    """Pay is 1,000 more above grade 9, and 400 more from 40 hours on; sex tells nothing."""
    random = np.random.default_rng(seed)
    hours, grade = random.integers(0, 80, count), random.integers(0, 20, count)
    pay = 1000.0 * (grade > 9) + 400.0 * (hours >= 40) + random.normal(0, NOISE, count)
    return pl.DataFrame({"hours": hours, "grade": grade, "sex": random.choice(["f", "m"], count), "pay": pay})


def table(count: int = 600, seed: int = 0) -> Table:
    return Table.from_frame(frame(count, seed), SCHEMA)


def cut(name: str, *edges: float) -> Intervals:
    return Intervals(SCHEMA[name], edges, ())


TRUTH = Generalization((cut("hours", 39.0), cut("grade", 9.0), suppress(SCHEMA["sex"])), SCHEMA.label)
QUICK = (JointBuckets(), linear())


def test_the_planted_buckets_leave_the_noise_only_and_the_errors_are_in_the_unit() -> None:
    found = utility_risk(TRUTH, table(2000), QUICK)
    assert found.number is not None
    assert found.number.unit == "euros"
    # Levels are quantiles of the pay, and a guess is a level: a little is lost by rounding.
    assert found.number.absolute == pytest.approx(NOISE * (2 / np.pi) ** 0.5, rel=0.12)
    assert found.number.squared == pytest.approx(NOISE, rel=0.12)
    assert found.number.r2 > 0.98
    assert found.error == pytest.approx(found.number.absolute / found.number.scale)
    assert found.interval.low < found.error < found.interval.high < 0.2
    assert found.baseline == pytest.approx(1.0, abs=0.1), "guessing is off by the error of guessing"
    limits = utility_limits(table(2000), QUICK)
    # Who guesses has learned from validation too, and between 400 and 1,000 any number is a median.
    assert limits.suppressed.error == pytest.approx(limits.suppressed.baseline, abs=0.1)
    assert limits.suppressed.increase is not None
    assert limits.suppressed.increase.mean == pytest.approx(
        limits.suppressed.error - limits.untouched.error, abs=1e-9
    )


def test_a_regressor_judges_too_and_must_fit_the_label() -> None:
    records = table(1500)
    mine, ours = judged_by(Ridge(), TRUTH, records, frame="codes"), utility_risk(TRUTH, records, QUICK)
    assert mine.number is not None
    assert mine.error == pytest.approx(ours.error, rel=0.15)
    from leastwise.evaluation.utility import Judges

    classes = Schema(SCHEMA.attributes, Attribute("pay", values=("up to 500", "above 500"), derive="above 500"))
    rich = Table.from_frame(frame(), classes)
    with pytest.raises(ParameterError, match="Ridge is a regressor, and the label has classes"):
        utility_risk(TRUTH, rich, Judges(quick=True, estimator=Ridge()).classifiers())


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_first_split_of_pat_is_that_of_a_regression_tree(seed: int) -> None:
    random = np.random.default_rng(seed)
    schema = Schema((Attribute("a", "continuous"), Attribute("b", "continuous", personal=True)), SCHEMA.label)
    x = random.integers(0, 12, (150, 2)).astype(float)
    y = np.round(x[:, 0] ** 2 / 30 + 3 * (x[:, 1] > 4) + random.normal(0, 1, 150))  # few values: levels are exact
    records = Table.from_frame(pl.DataFrame({"a": x[:, 0], "b": x[:, 1], "pay": np.clip(y, 0, 7)}), schema)
    found = PATMinimizer(alpha=0.0, max_leaves=2, min_leaf=1).minimize(records.with_own_levels())
    stump = DecisionTreeRegressor(max_depth=1).fit(x, np.clip(y, 0, 7)).tree_
    partition = found.partitions[int(stump.feature[0])]
    assert isinstance(partition, Intervals)
    assert np.floor(stump.threshold[0]) <= partition.edges[0] < np.ceil(stump.threshold[0] + 1e-9)
    assert found.partitions[1 - int(stump.feature[0])].suppressed


def test_a_group_of_one_number_is_pure_and_everybody_has_the_variance_one() -> None:
    own = table().with_own_levels()
    criterion = Criterion.of(own)
    everyone = np.bincount(own.y, minlength=own.classes).astype(float)
    assert criterion.label_impurity(everyone) == pytest.approx(1.0)
    assert criterion.label_impurity(np.eye(own.classes)[2] * 5) == pytest.approx(0.0)


@pytest.mark.parametrize(
    "make", [lambda: OptimalMinimizer(lam=0.02), lambda: CoarseningMinimizer(max_error_increase=0.05)]
)
def test_minimizers_find_the_planted_edges(make: Callable[[], Any]) -> None:
    found = make().propose(table(900).split(0).train)
    assert found["sex"].suppressed
    for name, edge in (("hours", 39), ("grade", 9)):
        assert any(abs(each - edge) <= 1 for each in found[name].edges), found


def test_those_that_part_classes_only_say_so() -> None:
    with pytest.raises(SchemaError, match="apt needs a label of classes, and 'pay' is a number; use recommended"):
        AptMinimizer().propose(table())


def test_fractions_as_y_are_a_number() -> None:
    x, y = frame().select("hours", "grade").to_numpy(), frame()["pay"].to_numpy()
    found = PATMinimizer(alpha=0.0, max_leaves=4, min_leaf=20).fit(x, y).generalization_
    assert found.label == Attribute("label", "continuous")
    assert found.total_buckets == 4


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    grid = Grid(entries=(Entry(minimizer="pat", parameters={"alpha": [0.0, 0.5], "max_leaves": [2, 4, 6]}),))
    return run(table(900), tmp_path_factory.mktemp("numbers") / "run", Options(grid=grid, quick=True, most=3))


def test_no_share_of_the_variance_is_no_minus() -> None:
    errors = {"absolute": 9.0, "squared": 12, "r2": -0.001, "within": 0.2, "tolerance": 3, "scale": 14.6}
    assert "(R2 0.00; " in NumberErrors(**errors).words()


def test_a_run_asks_what_is_planted_and_speaks_of_euros(finished: Run) -> None:
    chosen = finished.frontier[finished.choice.candidate or ""]
    assert chosen.generalization["sex"].suppressed
    assert {*chosen.generalization.collected} == {"hours", "grade"}
    assert chosen.test.number is not None
    assert chosen.test.number.r2 > 0.95
    said = " ".join(answer(finished))
    assert "The model is off by" in said
    assert "euros on average (R2 0.9" in said
    assert "A point is a hundredth of the error of guessing" in said
    alone = chosen.test.unique_people
    why = "the number to predict is stored as it is beside the answers; without it, nobody would be"
    assert f"{alone} people are alone with theirs, of {finished.task.tested} tested: {why}." in said
    assert alone > 0.9 * finished.task.tested
    (sentence,) = (each for each in summarize(finished)["answer"]["sentences"] if "alone" in each)
    assert sentence.endswith(f"{why}.")
    assert Run.load(finished.folder) == finished
    assert finished.necessity is not None
    sentences = " ".join(finished.necessity.sentences())
    assert "Leaving out grade costs" in sentences
    assert "euros" in sentences
    assert "wrong prediction" not in " ".join(finished.necessity.reasons().values())


def test_guessing_beside_those_tested_is_of_those_tested(finished: Run) -> None:
    """The unit is the error of guessing among others: whoever reads of those tested compares with theirs."""
    judged = finished.evaluation(finished.choice.candidate or "")
    assert judged.nothing is not None
    assert judged.utility is not None
    assert judged.utility.number is not None
    of_those_tested = replace(judged, nothing=replace(judged.nothing, error=0.5))
    said = " ".join(answer_facts(finished.recommended, of_those_tested)["sentences"])  # type: ignore[arg-type]
    assert f"tested. Guessing is off by {judged.utility.number.in_its_unit(0.5)}." in said
    untold = answer_facts(finished.recommended, replace(judged, nothing=None))["sentences"]  # type: ignore[arg-type]
    assert "Guessing is off" not in " ".join(untold)


def test_the_report_tells_the_unit(finished: Run) -> None:
    from leastwise.report.writing import render_html

    facts = summarize(finished)
    assert facts["task"]["number"]["unit"] == "euros"
    page = render_html(facts)
    assert "a number; errors are shares of what guessing is off among those learned from: " in page
    assert json.loads(json.dumps(facts)) == facts


def test_a_model_is_trained_saved_and_predicts_numbers(tmp_path: Path) -> None:
    model = train(TRUTH, frame(800), full=True)
    assert model.facts.error == pytest.approx(NOISE * (2 / np.pi) ** 0.5, rel=0.1)
    assert model.facts.r2 is not None
    assert model.facts.r2 > 0.98
    assert model.facts.baseline > 5 * model.facts.error
    written = model.save(tmp_path / "m.skops")
    assert "always answering the median" in written[1].read_text(encoding="utf-8")
    again = load_model(written[0])
    told = again.predict(TRUTH.transform(frame(20, seed=3)))
    assert np.abs(told["prediction"].to_numpy() - frame(20, seed=3)["pay"].to_numpy()).max() < 5 * NOISE
    with pytest.raises(ParameterError, match="must be a regressor, because the label is a number"):
        train(TRUTH, frame(), full=True, estimator=LogisticRegression())


def test_the_interest_of_a_loan_needs_its_term_and_necessity_speaks_of_points_of_interest(
    data_folder: Path,
) -> None:
    """A public file: what a loan costs, by what an applicant is asked."""
    names = ["annual_income", "verified_income", "term", "homeownership", "interest_rate"]
    frame = pl.read_parquet(data_folder / "lending_club_2018.parquet", columns=names).drop_nulls()
    frame = frame.sample(2500, seed=100, shuffle=True)
    kinds: dict[str, Any] = {"term": "discrete"}
    found = infer_schema(frame, "interest_rate", ["homeownership"], keep=["term"], kinds=kinds).schema
    assert found.label is not None
    schema = replace(found, label=replace(found.label, unit="% a year"))
    parts = [
        Intervals(schema["annual_income"], (45_000, 80_000)),
        keep(schema["term"]),
        keep(schema["verified_income"]),
    ]
    asked = Generalization.of(parts, schema.attributes, label=schema.label)
    split = Table.from_frame(frame, schema).split(100)
    told = necessity_of(asked, split, held_out=True, boundaries=False)
    assert {each.attribute: each.buys for each in told.asked}["term"] == "accuracy"
    assert re.search(r"Leaving out term costs 0\.\d+ % a year \(0\.\d+ % a year to", "\n".join(told.sentences()))
    assert "% a year more on average" in told.reasons()["term"]
