"""Several labels at once: one form serves several predictions, and every one of them is held to the limit."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import leastwise
from leastwise import (
    Attribute,
    CoarseningMinimizer,
    Generalization,
    Groups,
    Intervals,
    OptimalMinimizer,
    PATMinimizer,
    Schema,
    Split,
    Table,
)
from leastwise.collector.records import InvalidRecordsError, RecordFormat
from leastwise.errors import ParameterError, SchemaError, UnknownValueError
from leastwise.evaluation import evaluate, necessity_of
from leastwise.evaluation.label_guesses import label_guesses
from leastwise.evaluation.worth import Estimate, Worth, left_out
from leastwise.exports import record_schema, to_sql
from leastwise.predictors import JointBuckets
from leastwise.predictors.held_out import Difference, told_labels
from leastwise.records.several import Several
from leastwise.report import summarize
from leastwise.runs import Budget, Run
from leastwise.runs.folder import prepare
from leastwise.runs.judging import Asked
from leastwise.runs.proposals import limit_points
from leastwise.runs.task import SHARES
from leastwise.schema.file import from_yaml, to_yaml
from leastwise.schema.inference import infer_schema
from leastwise.schema.labels import JointLabel, joint_label
from tests.cli.running import run_once, runner

YES = ("no", "yes")
PAID, WELL = Attribute("paid", values=YES), Attribute("well", values=YES)
BOTH = ["paid", "well"]


def people(rows: int = 900, seed: int = 100, sure: float = 0.85) -> pl.DataFrame:
    """Make people of whom age alone tells who is paid, and work alone who is well."""
    random = np.random.default_rng(seed)
    age, town = random.integers(18, 90, rows), random.choice([*"abcdef"], rows)
    work, sex = random.choice(["clerk", "farmer", "nurse", "smith"], rows), random.choice(["f", "m"], rows)
    paid = random.random(rows) < np.where(age > 45, sure, 1 - sure)
    well = random.random(rows) < np.where(np.isin(work, ["nurse", "smith"]), sure, 1 - sure)
    told = {name: np.where(each, "yes", "no") for name, each in (("paid", paid), ("well", well))}
    return pl.DataFrame({"age": age, "work": work, "sex": sex, "town": town, **told})


def run_of(frame: pl.DataFrame, folder: Path, label: str | list[str], **rest: object) -> Run:
    same = {"personal": ["sex", "town"], "quick": True, "jobs": 1, "progress": None}
    return leastwise.minimize(frame, label, folder=folder, **{**same, **rest})


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(people(), tmp_path_factory.mktemp("several") / "run", BOTH)


# What a guess is -------------------------------------------------------------------------------------------------


def test_the_error_is_the_weighted_mean_of_the_errors_about_each_label() -> None:
    random = np.random.default_rng(100)
    truth, guessed = Several.of(random.integers(0, 3, (200, 3)), (0.5, 0.25, 0.25)), random.integers(0, 20, 200)
    each = truth.wrong(guessed).mean(axis=0)
    assert truth.off(guessed).mean() == pytest.approx(each @ [0.5, 0.25, 0.25])


def test_the_best_guess_is_never_beaten_by_another_level() -> None:
    random = np.random.default_rng(101)
    label = Several.of(random.integers(0, 2, (50, 3)), (0.6, 0.3, 0.1))
    chances = random.dirichlet(np.ones(len(label.levels)), 40)
    for row, guess in zip(chances, label.guess(chances), strict=True):
        expected = [
            sum(p * sum(w for w, g, t in zip(label.weights, level, truth, strict=True) if g != t)
                for p, truth in zip(row, label.levels, strict=True))
            for level in label.levels
        ]  # fmt: skip
        assert expected[guess] == pytest.approx(min(expected))


def test_a_combination_that_training_never_showed_is_judged_by_what_it_is() -> None:
    settled = Several.of(np.array([[0, 0], [1, 1]]), (0.5, 0.5))
    new = Several(np.array([[0, 1]]), settled.levels, settled.weights)
    assert new.off(np.array([0])).tolist() == [0.5]
    assert new.wrong(np.array([0])).tolist() == [[False, True]]


def test_copies_of_a_label_are_judged_as_the_label_is() -> None:
    column = np.array([0, 1, 2, 1, 0])
    copies = Several.of(np.stack([column] * 3, axis=1), (1 / 3, 1 / 3, 1 / 3))
    assert copies.plain
    assert copies.codes.tolist() == column.tolist()
    assert copies.off(np.array([0, 0, 2, 1, 2])).tolist() == [0, 1, 0, 0, 1]


# What is declared ------------------------------------------------------------------------------------------------


def test_a_schema_and_an_artefact_with_several_labels_are_read_back() -> None:
    label = joint_label([PAID, WELL], {"well": 3})
    age = Attribute("age", "continuous", lower=0, integer=True)
    schema = Schema((age,), label)
    assert from_yaml(to_yaml(schema)) == schema
    found = Generalization((Intervals(age, (45,)),), label)
    again = Generalization.from_json(found.to_json())
    assert again.label == label
    assert isinstance(again.label, JointLabel)
    assert again.label.weights == (0.25, 0.75)
    assert again.fingerprint == found.fingerprint


@pytest.mark.parametrize(
    ("parts", "weights", "says"),
    [
        ([PAID, WELL], {"paid": 0}, "the weight of 'paid' must be a number above 0; got 0: leave a label out"),
        ([PAID, PAID], {}, "label 'paid' is named twice"),
        ([PAID, Attribute("pay", "continuous")], {}, "'pay' is a number to predict, and several labels"),
        ([PAID, replace(WELL, missing=True)], {}, "label 'well' may be no answer"),
        ([PAID, WELL], {"sex": 1}, "a weight must be one of several labels; 'sex' is none of them"),
        ([Attribute(name, values=tuple("abcde")) for name in "xyz"], {}, "5 x 5 x 5 = 125 combinations"),
    ],
)
def test_what_cannot_be_predicted_together_is_one_clear_line(
    parts: list[Attribute], weights: dict[str, float], says: str
) -> None:
    with pytest.raises(SchemaError, match=r"^[^\n]+$") as error:
        joint_label(parts, weights)
    assert says in str(error.value)


def test_a_label_among_the_attributes_is_refused() -> None:
    with pytest.raises(SchemaError, match="'well' is the label and an attribute"):
        Schema((WELL,), joint_label([PAID, WELL]))
    with pytest.raises(SchemaError, match="'well' is a label; it cannot be an attribute as well"):
        infer_schema(people(50), BOTH, ["well"])


def test_a_missing_label_says_which_one() -> None:
    frame = people(60).with_columns(
        pl.when(pl.int_range(60) < 2).then(None).otherwise(pl.col("well")).alias("well")
    )
    with pytest.raises(SchemaError, match=r"the label 'well' cannot be predicted.*missing in 2 of 60"):
        infer_schema(frame, BOTH)


# From records to a choice ----------------------------------------------------------------------------------------


def test_each_label_needs_its_question_and_the_form_asks_both(finished: Run) -> None:
    assert finished.recommended is not None
    assert finished.recommended.collected == ("age", "work")
    assert finished.necessity is not None
    serves = {each.attribute: each.serves for each in finished.necessity.asked}
    assert serves == {"age": ("paid",), "work": ("well",)}
    told = "\n".join(finished.necessity.sentences())
    assert "Needed for paid." in told
    assert "Needed for well." in told
    reasons = finished.necessity.reasons()
    assert "wrong prediction of paid" in reasons["age"]
    assert "well" not in reasons["age"]


def test_the_answer_tells_every_label(finished: Run) -> None:
    text = str(finished)
    assert "about paid and" in text
    assert "about well" in text
    assert "about each of 2 labels" in finished.choice.sentence
    assert re.search(r"is estimated to err -?\d\.\d points more about (paid|well) than", finished.choice.sentence)
    # Of one label it may err more where the mean says that it does not.
    assert "On average over the labels the model errs " in str(finished)
    assert "On average over the labels the model errs " in str(summarize(finished)["answer"]["sentences"])
    chosen = finished.frontier[finished.choice.candidate or ""]
    figures = chosen.test
    assert [each.label for each in figures.labels] == BOTH
    assert figures.utility_risk == pytest.approx(np.mean([each.error for each in figures.labels]))
    report = (finished.folder / "report.md").read_text()
    assert "To predict: paid and well (paid: no or yes; well: no or yes)." in report


def test_a_run_is_read_back(finished: Run) -> None:
    again = Run.load(finished.folder)
    assert again.frontier.to_json() == finished.frontier.to_json()
    assert again.choice == finished.choice


def test_a_label_that_nothing_tells_makes_a_run_ask_no_more(tmp_path: Path) -> None:
    frame = people(1500, 102).drop("well")
    random = np.random.default_rng(109)
    noisy = frame.with_columns(noise=pl.Series(random.choice(["no", "yes"], 1500)))
    found = run_of(noisy, tmp_path / "run", ["paid", "noise"], personal=["sex", "town", "work"])
    assert found.recommended is not None
    assert found.recommended.collected == ("age",)
    assert {each.label: each.untold for each in found.frontier.untouched.labels} == {"paid": False, "noise": True}
    assert "not what is lost about noise, which not even all answers tell" in found.choice.sentence


def test_a_search_about_one_of_two_labels_finds_what_it_finds_where_there_is_one() -> None:
    frame = people(900, 104)
    both, one = Table.from_frame(frame, infer_schema(frame, BOTH).schema), frame.drop("well")
    about = Split(both, both, both).about_labels([0]).train
    alone = Table.from_frame(one, infer_schema(one, "paid").schema)
    assert about.classes == alone.classes == 2
    assert about.y.tolist() == alone.y.tolist()
    for minimizer in (OptimalMinimizer(), PATMinimizer()):
        found, expected = (minimizer.minimize(part) for part in (about, alone))
        assert found.partitions == expected.partitions


CLASSES = st.integers(0, 2)


@given(st.lists(st.tuples(CLASSES, CLASSES, CLASSES), min_size=1, max_size=30), st.sets(CLASSES, min_size=1))
def test_what_is_believed_of_fewer_labels_is_the_sum_of_what_is_believed_of_all(
    rows: list[tuple[int, int, int]], labels: set[int]
) -> None:
    several = Several.of(np.array(rows), (0.2, 0.3, 0.5))
    fewer = several.about(sorted(labels))
    beliefs = np.random.default_rng(100).dirichlet(np.ones(len(several.levels)), 5)
    projected = beliefs @ several.projection(fewer)
    assert projected.sum(axis=1) == pytest.approx(np.ones(5))
    for label in labels:
        for value in range(3):
            before = beliefs[:, several.levels[:, label] == value].sum(axis=1)
            assert projected[:, fewer.levels[:, label] == value].sum(axis=1) == pytest.approx(before)
    assert fewer.codes.tolist() == several.projection(fewer).argmax(axis=1)[several.codes].tolist()


def test_all_labels_decide_where_none_is_told() -> None:
    random = np.random.default_rng(100)
    several = Several.of(random.integers(0, 2, (400, 2)), (0.5, 0.5))
    guessed = random.integers(0, 4, 400)
    assert told_labels(several, guessed, np.ones(400), None) == (0, 1)
    first = np.searchsorted([0, 1], several.exact[:, 0]) * 2  # right about the first label
    assert told_labels(several, first, np.ones(400), None) == (0,)


def test_a_stopped_run_is_not_resumed_by_another_way_to_put_labels_together(finished: Run, tmp_path: Path) -> None:
    weighted = replace(finished.task, budget=Budget(labels_by="weighted"))
    prepare(finished.folder, finished.task, fresh=False)
    stopped = tmp_path / "run"
    stopped.mkdir()
    prepare(stopped, finished.task, fresh=False)
    with pytest.raises(ParameterError, match=r"another task \(labels by differs\)"):
        prepare(stopped, weighted, fresh=False)
    prepare(stopped, replace(finished.task, budget=Budget(max_asked=3)), fresh=False)


def test_the_worst_label_is_of_the_people_who_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = people(900, 107)
    split = Table.from_frame(frame, infer_schema(frame, BOTH, ["sex", "town"]).schema).split(100, SHARES)
    some = np.arange(0, len(split.validation), 2)
    monkeypatch.setattr("leastwise.runs.judging.searched", lambda people: some)
    nothing = limit_points(split.train)
    guesses = tuple(label_guesses(each, split, (JointBuckets(),)) for each in nothing)
    found = Asked(nothing, guesses, worst=True).risk_of_everything(split)
    people_searched = split.validation.take(some)
    wrong = people_searched.several.wrong(guesses[0].guessed("validation", split.validation)[some])
    assert [each.error for each in found.labels] == pytest.approx(wrong.mean(axis=0).tolist())
    assert found.error == pytest.approx(wrong.mean())


def test_what_a_question_is_needed_for_is_corrected_for_so_many_labels() -> None:
    sure, lucky = Difference(0.02, 0.004), Difference(0.02, 0.0098)
    assert Estimate.of(lucky).interval.low > 0
    rest = {"attribute": "age", "personal": False, "asked_as": "", "adversary_error": None, "own": None}
    nothing = Estimate.of(Difference(0.0, 0.01))
    one = Worth(error=Estimate.of(lucky), log_loss=nothing, **rest)
    assert one.buys == "accuracy"
    many = {name: Estimate.of(lucky) if name == "a" else nothing for name in "abcdef"}
    assert Worth(error=nothing, log_loss=nothing, by_label=many, **rest).buys == "nothing"
    # What seems to cost accuracy is not said to make the model surer only: its interval stands beside.
    seems = Worth(error=Estimate.of(lucky), log_loss=Estimate.of(sure), by_label=many, **rest)
    assert seems.buys == "perhaps"
    assert left_out(seems, None).endswith("Perhaps needed: with so many labels chance can explain it.")
    told = {"a": Estimate.of(sure), "b": nothing}
    assert Worth(error=nothing, log_loss=nothing, by_label=told, **rest).serves == ("a",)


def test_two_copies_of_a_label_are_recommended_what_one_is(tmp_path: Path) -> None:
    frame = people(700).drop("well")
    one = run_of(frame, tmp_path / "one", "paid")
    two = run_of(frame.with_columns(copy=pl.col("paid")), tmp_path / "two", ["paid", "copy"])
    assert one.recommended is not None
    assert two.recommended is not None
    assert one.recommended.partitions == two.recommended.partitions
    first, second = (run.frontier[run.choice.candidate or ""].test for run in (one, two))
    assert first.utility_risk == pytest.approx(second.utility_risk)
    assert first.adversary_error == pytest.approx(second.adversary_error)


def test_the_worst_label_is_held_to_the_limit_where_the_mean_would_pass(finished: Run) -> None:
    nothing = finished.frontier.suppressed_validation
    budget = Budget(max_error_increase=0.5)
    only_age = replace(
        nothing, labels=tuple(
            replace(each, increase=Difference(more, 0.001))
            for each, more in zip(nothing.labels, (0.0, 0.6), strict=True)
        ), increase=Difference(0.3, 0.001),
    )  # fmt: skip
    (problem,) = budget.problems(only_age, 0.1)
    assert "60.0 points more about well than with everything asked" in problem
    assert not replace(budget, labels_by="weighted").problems(only_age, 0.1)


def test_an_unknown_way_to_put_labels_together_is_refused() -> None:
    with pytest.raises(ParameterError, match="labels_by must be one of worst, weighted"):
        Budget(labels_by="best")


def test_one_call_of_a_minimizer_holds_every_label_to_the_limit() -> None:
    frame = people(900, 102)
    table = Table.from_frame(frame, infer_schema(frame, BOTH, ["sex", "town"]).schema)
    train = table.split(100).train
    found = CoarseningMinimizer(max_error_increase=0.03).propose(train)
    assert {"age", "work"} <= {*found.collected}


# A breach --------------------------------------------------------------------------------------------------------


def test_all_labels_are_stolen_with_the_records() -> None:
    frame = people(1200, 103).with_columns(
        sex=pl.when(pl.col("well") == "yes").then(pl.lit("f")).otherwise(pl.lit("m"))
    )
    schema = infer_schema(frame, BOTH, ["sex"]).schema
    table = Table.from_frame(frame, schema)
    asked = Generalization.of([Intervals(schema["age"], (45,))], schema.attributes, label=schema.label)
    found = evaluate(asked, table.split(100, SHARES), ["A1", "A8"], 100, True)
    assert found["A1"].adversary_error < 0.02  # the second label tells the sex
    assert found.certificate is not None
    assert found.deployment is not None
    assert found.certificate.mean.adversary_error_at_least < 0.02 < found.deployment.mean.adversary_error_at_least


# Put to work -----------------------------------------------------------------------------------------------------


def small() -> Generalization:
    age, sex = Attribute("age", "continuous", lower=0, integer=True), Attribute("sex", values=("f", "m"))
    return Generalization((Intervals(age, (45,)), Groups(sex, (0, 0))), joint_label([PAID, WELL]))


def test_apply_writes_all_labels_and_refuses_what_is_none() -> None:
    frame = pl.DataFrame({"age": [30, 60], "sex": ["f", "m"], "paid": ["no", "yes"], "well": ["yes", "no"]})
    found = small().transform(frame)
    assert found.columns == ["age", "paid", "well"]
    assert small().transform(frame.to_pandas()).columns.tolist() == ["age", "paid", "well"]
    assert small().transform(frame.row(0, named=True)) == {"age": "0 to 45", "paid": "no", "well": "yes"}
    assert small().transform(frame.lazy()).collect().equals(found)
    with pytest.raises(UnknownValueError, match="well"):
        small().transform(frame.with_columns(well=pl.lit("rather")))


def test_sql_carries_all_labels() -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pl.DataFrame({"age": [30, 60], "sex": ["f", "m"], "paid": ["no", "yes"], "well": ["yes", "no"]})
    query = to_sql(small(), "duckdb", table="frame", label=True)
    found = duckdb.sql(query).pl()
    assert found.equals(small().transform(frame))


def test_a_collector_keeps_all_labels_or_some_of_them() -> None:
    form = RecordFormat(small(), with_label=True)
    sent = [
        {"age": "0 to 45", "paid": "no", "well": "yes"},
        {"age": "46 or more", "well": "no"},
        {"age": "46 or more", "paid": "yes", "well": None},
        {"age": "0 to 45"},
    ]
    rows = form.read_many(sent)
    frame = form.frame([row.answers for row in rows], [row.label for row in rows])
    assert frame["paid"].to_list() == ["no", None, "yes", None]
    assert frame["well"].to_list() == ["yes", "no", None, None]
    with pytest.raises(InvalidRecordsError) as error:
        form.read({"age": "0 to 45", "paid": "no", "well": "rather"})
    assert [problem.field for problem in error.value.problems] == ["well"]
    assert {*record_schema(small())["properties"]} == {"age", "paid", "well"}


def test_a_model_for_each_label(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("skops")
    run = runner(monkeypatch, capsys)
    frame, artefact, coarse = people(400), tmp_path / "g.json", tmp_path / "coarse.csv"
    small().save(artefact)
    small().transform(frame).write_csv(coarse)
    said = run("train", artefact, coarse, "-o", tmp_path / "model.skops")
    assert "paid: wrong on" in said.out
    assert "well: wrong on" in said.out
    assert run("predict", artefact, tmp_path / "model-paid.skops", coarse, "-o", tmp_path / "p.csv").code == 0
    assert {*pl.read_csv(tmp_path / "p.csv")["prediction"]} == {"no", "yes"}


# On the command line ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typed")
    people(700, 104).write_csv(folder / "people.csv")
    people(700, 105).write_csv(folder / "new.csv")
    words = ["run", folder / "people.csv", "--label", "paid", "--label", "well", "-p", "sex,town", "--quick"]
    words += ["-j", 1, "-o", folder / "run", "--set", "labels_by=weighted", "--set", "label_weight=well=2"]
    assert run_once(*words) == 0
    return folder


def test_weights_and_how_labels_are_put_together_are_kept(typed: Path) -> None:
    task = json.loads((typed / "run" / "task.json").read_text())
    assert task["label"] == "paid and well"
    assert task["budget"]["labels_by"] == "weighted"
    schema = from_yaml((typed / "run" / "schema.yaml").read_text())
    assert isinstance(schema.label, JointLabel)
    assert schema.label.weights == pytest.approx((1 / 3, 2 / 3))


def test_choose_evaluate_init_and_check_speak_of_every_label(
    typed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(typed)
    run = runner(monkeypatch, capsys)
    said = run("choose", "run", "--max-error-increase", 0.05, "--labels-by", "worst")
    assert "about each of 2 labels" in " ".join(said.out.split())
    assert "about well" in run("evaluate", "run", "people.csv", "--adversaries", "A8", "--quick").out
    assert run("init", "--run", "run", "--write-promise", "promise.json").code == 0
    assert "label: [paid, well]" in (typed / "leastwise.yaml").read_text()
    said = run("check", "--data", "new.csv", "--json")
    told = json.loads(said.out)
    compared = {row[0] for section in told["sections"] for row in (section.get("table") or {"rows": ()})["rows"]}
    assert {"error of the model about paid", "error of the model about well"} <= compared
    assert (said.code, told["verdict"]) == (0, "fine")  # the same kind of people, drawn anew


def test_another_label_than_the_schema_is_refused(
    typed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", typed / "people.csv", "--schema", typed / "run" / "schema.yaml", "--label", "paid"]
    said = runner(monkeypatch, capsys)(*words, "-o", typed / "other")
    assert "--label says 'paid'" in said.complaint


def test_records_in_an_engine_are_refused_in_one_line(
    typed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    people(700, 104).with_row_index("number").write_parquet(typed / "people.parquet")
    words = ["run", typed / "people.parquet", "--key", "number", "--label", "paid", "--label", "well", "-p", "sex"]
    said = runner(monkeypatch, capsys)(*words, "-o", typed / "engine")
    assert said.code == 2
    assert "several labels are judged record by record" in said.err


def test_the_studio_says_that_it_counts_one_label(finished: Run) -> None:
    from leastwise.evaluation.live import Live

    frame = people()
    split = Table.from_frame(frame, finished.schema).split(0, SHARES)
    with pytest.raises(ParameterError, match="count classes of one label, and there are several"):
        Live(split)


def test_necessity_by_itself_tells_each_label() -> None:
    frame = people(700, 106)
    schema = infer_schema(frame, BOTH, ["sex"]).schema
    asked = Generalization.of([Intervals(schema["age"], (45,))], schema.attributes, label=schema.label)
    found = necessity_of(asked, Table.from_frame(frame, schema).split(100), held_out=True, boundaries=False)
    beside = {each.attribute: each.serves for each in found.not_asked}
    assert beside["work"] == ("well",)
