"""Training on generalized records, the card, and files that run no code."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import LinearSVC

from leastwise import Attribute, Generalization, Intervals, Untouched
from leastwise.confidence import binomial_interval
from leastwise.errors import ArtefactError, DataError, ParameterError
from leastwise.models import Model, ModelFacts, load_model, train
from leastwise.models.model import card
from leastwise.models.training import estimator_named
from tests.collector.examples import AGE, COLOUR, FINE, G, people

COARSE = G.transform(people(600))
ESTIMATORS = [
    "sklearn.ensemble.HistGradientBoostingClassifier",
    "sklearn.ensemble.RandomForestClassifier",
    "sklearn.linear_model.LogisticRegression",
    "sklearn.tree.DecisionTreeClassifier",
    "sklearn.svm.LinearSVC",
    "sklearn.naive_bayes.GaussianNB",
]


@pytest.fixture(scope="module")
def model() -> Model:
    return train(G, COARSE)


def test_it_learns(model: Model) -> None:
    facts = model.facts
    assert facts.error < 0.25 < facts.baseline
    assert facts.interval == binomial_interval(round(facts.error * facts.tested), facts.tested)
    assert (facts.tested, facts.trained, facts.unlabelled) == (180, 600, 0)
    assert (facts.label, facts.classes, facts.collected) == ("income", ("<=50K", ">50K"), ("age", "school"))
    assert facts.fingerprint == G.fingerprint == model.fingerprint
    assert facts.versions.keys() >= {"leastwise", "scikit-learn", "python"}


@pytest.mark.parametrize("path", ESTIMATORS)
@pytest.mark.parametrize("generalization", [G, FINE], ids=["coarse", "fine"])
def test_any_estimator_survives_its_file(path: str, generalization: Generalization, tmp_path: Path) -> None:
    coarse = generalization.transform(people(200))
    made = train(generalization, coarse, estimator=path)
    made.save(tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops")
    assert again.facts == made.facts
    assert again.generalization == generalization
    assert again.predict(coarse).equals(made.predict(coarse))


def test_predictions_are_classes_with_probabilities(model: Model) -> None:
    found = model.predict(COARSE)
    assert found.columns == ["prediction", "p:<=50K", "p:>50K"]
    chances = found.select(pl.exclude("prediction")).to_numpy()
    assert np.allclose(chances.sum(axis=1), 1)
    best = np.array(["<=50K", ">50K"])[chances.argmax(axis=1)]
    assert found["prediction"].to_list() == best.tolist()
    assert model.predict(COARSE.to_pandas()).equals(found)


def test_without_probabilities() -> None:
    found = train(G, COARSE, estimator=LinearSVC()).predict(COARSE)
    assert found.columns == ["prediction"]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        made = train(G, COARSE, estimator="sklearn.ensemble.RandomForestClassifier", seed=3)
        made.save(tmp_path / f"{name}.skops")
    contents = [(tmp_path / f"{name}.json").read_bytes() for name in ("a", "b")]
    assert contents[0] == contents[1]
    first, second = (load_model(tmp_path / f"{name}.skops").predict(COARSE) for name in ("a", "b"))
    assert first.equals(second)


def test_full_records_are_refused_unless_that_is_said() -> None:
    with pytest.raises(DataError, match="each value must be the label of a bucket") as error:
        train(G, people(300))
    assert "leastwise apply" in str(error.value)
    assert train(G, people(600), full=True).facts == train(G, COARSE).facts


def test_records_without_a_label_are_left_out() -> None:
    some = COARSE.with_columns(pl.when(pl.int_range(pl.len()) % 3 > 0).then("income").alias("income"))
    facts = train(G, some).facts
    assert (facts.trained, facts.unlabelled) == (400, 200)


def test_untouched_numbers(tmp_path: Path) -> None:
    pay = Attribute("pay", "continuous", missing=True)
    g = Generalization((Untouched(pay), Intervals(AGE, (30,))), Attribute("y", values=("a", "b")))
    random = np.random.default_rng(0)
    pays = random.normal(0, 1, 300).round(3)
    frame = pl.DataFrame(
        {
            "pay": [None if i % 10 == 0 else float(p) for i, p in enumerate(pays)],
            "age": random.integers(0, 90, 300),
            "y": np.where(pays > 0, "a", "b"),
        }
    )
    coarse = g.transform(frame)
    for estimator in (ESTIMATORS[0], ESTIMATORS[2]):
        made = train(g, coarse, estimator=estimator)
        assert made.facts.error < 0.2
        made.save(tmp_path / "m.skops", overwrite=True)
        assert load_model(tmp_path / "m.skops").predict(coarse).equals(made.predict(coarse))
    with pytest.raises(DataError, match="pay"):
        train(g, coarse.with_columns(pl.lit("a lot").alias("pay")))


def test_a_label_that_the_artefact_does_not_declare() -> None:
    bare = Generalization(G.partitions)
    with pytest.raises(ParameterError, match="declares no label"):
        train(bare, COARSE)
    assert train(bare, COARSE, "income").facts.classes == ("<=50K", ">50K")
    with pytest.raises(ParameterError, match="'income'"):
        train(G, COARSE, "pay")
    with pytest.raises(ParameterError, match="is an attribute"):
        train(bare, COARSE, "age")
    with pytest.raises(DataError, match="each label must be one of"):
        train(G, COARSE.with_columns(income=pl.lit("60000")))


@pytest.mark.parametrize(
    ("records", "complaint"),
    [
        (COARSE.head(5), "20 records"),
        (COARSE.filter(pl.col("income") == ">50K"), "two classes"),
        (COARSE.drop("age"), "no column 'age'"),
        (COARSE.drop("income"), "no column 'income'"),
        (COARSE.with_columns(age=pl.lit(None, dtype=pl.String)), "age: each value"),
        ("nonsense", "must be a frame"),
    ],
)
def test_records_that_cannot_be_learned_from(records: Any, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        train(G, records)


@pytest.mark.parametrize(
    "path", ["", "x", "no.such.Thing", "sklearn.linear_model.Nothing", "sklearn.cluster.KMeans", "os.system",
             "builtins.dict", "json", "sklearn.ensemble.VotingClassifier", ".", "..a", "sklearn.ensemble."]
)  # fmt: skip
def test_paths_that_name_no_classifier(path: str) -> None:
    with pytest.raises(ParameterError):
        estimator_named(path)
    with pytest.raises(ParameterError):
        train(G, COARSE, estimator=Ridge())


def test_the_card_says_what_was_measured(model: Model, tmp_path: Path) -> None:
    text = card(model.facts)
    for part in (
        model.fingerprint,
        f"{100 * model.facts.error:.2f}\xa0%",
        "<=50K".replace("<", "&lt;"),
        "age, school",
    ):
        assert part in text
    files = model.save(tmp_path / "m.skops")
    assert [file.name for file in files] == ["m.skops", "m.md", "m.json"]
    assert files[1].read_text() == text
    assert json.loads(files[2].read_text())["error"] == model.facts.error
    assert ModelFacts.from_json(files[2].read_text()) == model.facts
    with pytest.raises(DataError, match="exists already"):
        model.save(tmp_path / "m.skops")
    with pytest.raises(DataError, match=r"use \.skops"):
        model.save(tmp_path / "m.json")


@pytest.mark.parametrize(
    "change", [{"error": "x"}, {"format": "y"}, {"version": 2}, {"interval": [1]}, {"classes": [1]}, {"new": 1}]
)
def test_facts_that_cannot_be_trusted(model: Model, change: dict[str, Any]) -> None:
    with pytest.raises(ArtefactError):
        ModelFacts.from_json(json.dumps({**json.loads(model.facts.to_json()), **change}))


def test_a_file_without_a_fitted_classifier_is_refused(model: Model, tmp_path: Path) -> None:
    fewer = replace(model.facts, classes=model.facts.classes[:1])
    wrong = {
        "no fitted classifier": [replace(model, pipeline="x"), replace(model, pipeline=clone(model.pipeline))],
        "other classes": [replace(model, facts=fewer)],
    }
    for words, models in wrong.items():
        for i, each in enumerate(models):
            path = tmp_path / f"{words[:2]}{i}.skops"
            each.save(path)
            with pytest.raises(ArtefactError, match=words):
                load_model(path)


def test_files_that_are_no_models(tmp_path: Path) -> None:
    path = tmp_path / "m.skops"
    with pytest.raises(DataError, match=r"m\.skops"):
        load_model(path)
    for content in (b"", b"nonsense", b"\x80\x04K\x01."):
        path.write_bytes(content)
        with pytest.raises(ArtefactError, match="not a model"):
            load_model(path)


def test_a_file_may_not_bring_other_types(model: Model, tmp_path: Path) -> None:
    """A file that names os.system, or a type of another package, is refused before anything is built."""
    path = tmp_path / "m.skops"
    model.save(path)
    forged = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(forged, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "schema.json":
                text = data.decode()
                assert "sklearn.pipeline" in text
                data = text.replace('"sklearn.pipeline"', '"subprocess"').replace('"Pipeline"', '"Popen"').encode()
            new.writestr(name, data)
    path.write_bytes(forged.getvalue())
    with pytest.raises(ArtefactError, match=r"not trusted: subprocess.Popen"):
        load_model(path)


def test_another_package_must_be_trusted_by_name(tmp_path: Path) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    path = tmp_path / "m.skops"
    train(G, COARSE, estimator=lightgbm.LGBMClassifier(verbose=-1, n_jobs=1, n_estimators=5)).save(path)
    with pytest.raises(ArtefactError, match=r"lightgbm\.sklearn\.LGBMClassifier"):
        load_model(path)
    trusted = ["lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"]
    assert load_model(path, trusted).predict(COARSE).height == COARSE.height


def test_a_model_fits_one_generalization(model: Model) -> None:
    model.check_fits(G)
    with pytest.raises(ParameterError, match=G.fingerprint[:12]):
        model.check_fits(FINE)


def test_an_estimator_made_in_python_is_not_changed() -> None:
    given = LogisticRegression(C=0.5)
    made = train(G, COARSE, estimator=given)
    assert not hasattr(given, "coef_")
    assert given.random_state is None
    assert made.pipeline.steps[-1][1].C == 0.5
    assert train(G, COARSE, estimator=DummyClassifier()).facts.error == pytest.approx(made.facts.baseline)


def test_groups_are_categories(model: Model) -> None:
    made = train(FINE, FINE.transform(people(200)))
    assert made.pipeline.steps[-1][1].categorical_features == [False, True, False]
    assert COLOUR.name in FINE.collected
