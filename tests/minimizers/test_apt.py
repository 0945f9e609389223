"""Apt: the tree's law, the target, any model, and the scikit-learn contract."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from leastwise import Attribute, DataError, Generalization, ParameterError, Schema, Table
from leastwise.generalization.information_loss import gcp
from leastwise.minimizers import MINIMIZERS, AptMinimizer
from leastwise.minimizers.apt import (
    Agreement,
    buckets_between,
    gathered,
    model_for,
    representatives,
    represented,
    tree_cuts,
)
from leastwise.minimizers.base import held_out
from leastwise.minimizers.orders import ranked, value_ranks
from tests.strategies import tables

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
JOB = Attribute("job", values=tuple("abcdef"), personal=True)
TOWN = Attribute("town", values=("1", "2", "3"), personal=True)
SIZE = Attribute("size", "ordinal", values=("S", "M", "L"))
SCHEMA = Schema([AGE, JOB, TOWN, SIZE], Attribute("pays", values=("no", "yes")))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Boosting of small samples is slower with threads that wait for each other."""
    with threadpool_limits(1):
        yield


def frame(count: int = 1200, seed: int = 0) -> pd.DataFrame:
    """Jobs d, e, f pay unless old; town and size have nothing to do with it."""
    random = np.random.default_rng(seed)
    job, age = random.integers(0, 6, count), random.integers(0, 100, count)
    chance = np.where((job >= 3) & (age <= 60), 0.95, 0.05)
    return pd.DataFrame(
        {
            "age": np.where(np.arange(count) % 25 == 0, np.nan, age),
            "job": np.array(JOB.values)[job],
            "town": random.integers(1, 4, count),
            "size": random.choice(SIZE.values, count),
            "pays": np.where(random.random(count) < chance, "yes", "no"),
        }
    )


def table(count: int = 1200, seed: int = 0) -> Table:
    return Table.from_frame(frame(count, seed), SCHEMA)


def pipeline(classifier: Any) -> Any:
    """A pipeline as users have them: texts and numbers in, by name."""
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "size", "town"]),
        (make_pipeline(_Fill()), ["age"]),
    )
    return make_pipeline(columns, classifier)


class _Fill(OneHotEncoder):  # type: ignore[misc]
    """Missing as 0: enough for a test."""

    def fit(self, X: Any, y: Any = None) -> Any:
        self.n_features_in_ = X.shape[1]
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).transform(X)

    def transform(self, X: Any) -> Any:
        return np.nan_to_num(np.asarray(X, dtype=float)) / 100


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("model", [None, DecisionTreeClassifier(random_state=0)])
def test_the_scikit_learn_contract_holds(model: Any) -> None:
    results = check_estimator(AptMinimizer(0.9, model, random_state=0), on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40


@pytest.mark.parametrize("target", [0.0, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("retrain", [False, True])
def test_the_target_is_reached(target: float, retrain: bool) -> None:
    minimizer = AptMinimizer(target, retrain=retrain, random_state=0)
    found = minimizer.minimize(table(600))
    assert minimizer.relative_accuracy_ >= target
    if target == 0:
        assert found.collected == ()


def test_what_does_not_matter_is_not_asked() -> None:
    found = AptMinimizer(0.97, random_state=0).minimize(table(3000))
    assert found.collected == ("age", "job")
    assert found["job"].size == 2
    assert found["job"].bucket("a") != found["job"].bucket("f")


def test_a_higher_target_loses_less_information() -> None:
    records = table()
    losses = [gcp(AptMinimizer(t, random_state=0).minimize(records), records) for t in (0.0, 0.9, 0.99, 1.0)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(gcp(Generalization.suppressed(SCHEMA), records))


@settings(deadline=None, max_examples=40)
@given(tables(weights=True), st.integers(1, 4))
def test_the_tree_answers_the_same_for_a_record_and_its_generalized_record(records: Table, depth: int) -> None:
    """The law that makes leaves into ranges: everybody in a joint bucket is in one leaf."""
    said = records.y.astype(np.intp)
    ranks = value_ranks(records, said)
    places = ranked(records.codes, ranks)
    cuts = tree_cuts(places, said, records.counts, max_depth=depth, min_leaf=1, seed=0)
    tree = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=1, random_state=0)
    leaves = tree.fit(places, said, sample_weight=records.counts).apply(places)
    maps = [buckets_between(ranks[j], c) for j, c in enumerate(gathered(cuts, len(ranks)))]
    leaf_of: dict[tuple[int, ...], int] = {}
    for row, leaf in zip(records.codes, leaves, strict=True):
        bucket = tuple(int(map_[code]) for map_, code in zip(maps, row, strict=True))
        assert leaf_of.setdefault(bucket, leaf) == leaf


@settings(deadline=None, max_examples=40)
@given(tables())
def test_first_cuts_come_first_in_a_smaller_tree(records: Table) -> None:
    """The first cuts are those of the best-first tree of so few leaves."""
    said = records.y.astype(np.intp)
    places = ranked(records.codes, value_ranks(records, said))
    cuts = tree_cuts(places, said, records.counts, max_depth=5, min_leaf=1, seed=0)
    assert len(set(cuts)) == len(cuts)
    if cuts:
        stump = DecisionTreeClassifier(max_depth=1, random_state=0).fit(places, said).tree_
        assert (stump.feature[0], int(np.floor(stump.threshold[0]))) == cuts[0]


def test_no_single_cut_can_be_dropped() -> None:
    """The result is as coarse as the target allows, cut by cut."""
    records = table()
    minimizer = AptMinimizer(0.97, random_state=0)
    found = minimizer.minimize(records)
    train, held = held_out(records, 0.25, 0)
    agreement = Agreement(model_for(records, train, None, None, 0), records, held)
    maps = records.bucket_maps(found)
    assert agreement(maps) == minimizer.relative_accuracy_
    for name, partition in zip(SCHEMA.names, found.partitions, strict=True):
        if partition.size != 2:
            continue
        j = SCHEMA.position(name)
        assert agreement([*maps[:j], np.zeros_like(maps[j]), *maps[j + 1 :]]) < 0.97


def test_agreement_remembers_nothing_that_matters() -> None:
    records = table(400)
    train, held = held_out(records, 0.25, 0)
    model = model_for(records, train, None, None, 0)
    random = np.random.default_rng(0)
    used = Agreement(model, records, held)
    for _ in range(8):
        maps = [random.integers(0, random.integers(1, 4), size) for size in records.sizes]
        maps = [np.unique(map_, return_inverse=True)[1] for map_ in maps]
        direct = model.predict(represented(held.codes, maps, records)) == model.predict(held.codes)
        assert used(maps) == pytest.approx(direct.mean())
        assert Agreement(model, records, held)(maps) == used(maps)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=8), st.booleans())
def test_representatives_against_the_people_one_by_one(codes: list[tuple[int, int]], ordered: bool) -> None:
    map_ = np.unique([bucket for bucket, _ in codes], return_inverse=True)[1]
    use = np.array([people for _, people in codes], dtype=float)
    found = representatives(map_, use, ordered, len(codes))
    for bucket, code in enumerate(found):
        members = [c for c in range(len(codes)) if map_[c] == bucket]
        people = [c for c in members for _ in range(int(use[c]))]
        assert code in members
        if people:
            assert code == (people[(len(people) - 1) // 2] if ordered else min(members, key=lambda c: -use[c]))


def test_missing_represents_only_those_without_a_number() -> None:
    assert representatives(np.array([0, 0, 1]), np.array([1.0, 1.0, 9.0]), True, 2).tolist() == [0, 2]
    assert representatives(np.array([0, 1, 0]), np.array([1.0, 1.0, 99.0]), True, 2).tolist() == [0, 1]


@pytest.mark.parametrize(
    "classifier", [LogisticRegression(), RandomForestClassifier(20, random_state=0), LinearSVC()]
)
@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
def test_any_fitted_pipeline(classifier: Any) -> None:
    records = frame()
    X, y = records.drop(columns="pays"), records["pays"]
    model = pipeline(classifier).fit(X, y)
    minimizer = AptMinimizer(0.95, model, schema=Schema(SCHEMA.attributes), random_state=0).fit(X, y)
    assert minimizer.relative_accuracy_ >= 0.95
    assert "job" in minimizer.generalization_.collected
    assert minimizer.generalization_.origin["model"] == "Pipeline"
    # As a user would deploy it: the old model sees the representative of each answer.
    buckets = minimizer.transform(X)
    shown = pd.DataFrame(
        {n: [minimizer.representatives_[n][b] for b in buckets[:, j]] for j, n in enumerate(SCHEMA.names)}
    )
    assert (model.predict(shown.astype({"age": float, "town": int})) == model.predict(X)).mean() >= 0.93


def test_a_table_is_shown_as_a_csv_reader_would() -> None:
    records = frame()
    model = pipeline(LogisticRegression()).fit(records.drop(columns="pays"), records["pays"])
    minimizer = AptMinimizer(0.9, model, random_state=0)
    minimizer.minimize(table())
    assert minimizer.relative_accuracy_ >= 0.9


def test_columns_are_shown_in_the_order_of_the_model() -> None:
    X, y = frame().drop(columns=["pays", "job", "size"]).fillna(0), frame()["pays"]
    model = DecisionTreeClassifier(max_depth=3).fit(X[["town", "age"]], y)
    schema = Schema([Attribute("age", "continuous", lower=0, upper=99, integer=True), TOWN])
    minimizer = AptMinimizer(1.0, model, schema=schema, random_state=0).fit(X, y)
    assert minimizer.generalization_.collected == ("age",)


def test_arrays_and_polars() -> None:
    records = frame().fillna({"age": 0})
    X = records[["age", "town"]].to_numpy(dtype=float)
    model = DecisionTreeClassifier(max_depth=3).fit(X, records["pays"])
    from_array = AptMinimizer(0.9, model, random_state=0).fit(X, records["pays"])
    assert from_array.relative_accuracy_ >= 0.9
    polars = pl.DataFrame({"age": X[:, 0], "town": X[:, 1]})
    named = DecisionTreeClassifier(max_depth=3).fit(polars, records["pays"])
    schema = Schema([Attribute("age", "continuous", lower=0), Attribute("town", "continuous", lower=0)])
    assert (
        AptMinimizer(0.9, named, schema=schema, random_state=0).fit(polars, records["pays"]).relative_accuracy_
        >= 0.9
    )


def test_a_model_that_is_not_fitted_is_fitted_and_a_frozen_one_survives_clone() -> None:
    X, y = frame().drop(columns="pays"), frame()["pays"]
    schema = Schema(SCHEMA.attributes)
    fresh = pipeline(LogisticRegression())
    AptMinimizer(0.9, fresh, schema=schema, random_state=0).fit(X, y)
    assert not hasattr(fresh[-1], "coef_")  # a clone was fitted
    frozen = FrozenEstimator(pipeline(LogisticRegression()).fit(X, y))
    copy = clone(AptMinimizer(0.9, frozen, schema=schema, random_state=0)).fit(X, y)
    assert copy.relative_accuracy_ >= 0.9


def test_three_classes() -> None:
    records = frame()
    records["pays"] = np.where(records["size"] == "L", "late", records["pays"])
    schema = Schema(SCHEMA.attributes, Attribute("pays", values=("no", "yes", "late")))
    found = AptMinimizer(0.95, random_state=0).minimize(Table.from_frame(records, schema))
    assert {"size", "job"} <= set(found.collected)


@settings(deadline=None, max_examples=15)
@given(tables(weights=True), st.sampled_from([0.5, 0.9, 1.0]))
def test_any_small_table(records: Table, target: float) -> None:
    minimizer = AptMinimizer(target, random_state=0)
    if len(np.unique(records.y)) < 2:
        with pytest.raises(DataError, match="two classes"):
            minimizer.minimize(records)
        return
    minimizer.minimize(records)
    assert minimizer.relative_accuracy_ >= target - 1e-9


def test_same_seed_same_bytes() -> None:
    one, two = (AptMinimizer(0.95, random_state=5).minimize(table()).to_json() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_accuracy": 1.5}, "target_accuracy must be between 0"),
        ({"target_accuracy": "high"}, "target_accuracy must be"),
        ({"model": "forest"}, "must be a scikit-learn classifier"),
        ({"max_depth": 0}, "max_depth must be a whole number, at least 1"),
        ({"max_depth": 2.5}, "max_depth must be a whole number"),
        ({"min_leaf": 0}, "min_leaf must be a whole number, at least 1"),
    ],
)
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AptMinimizer(**parameters).minimize(table(50))  # type: ignore[arg-type]


def test_a_model_that_wants_more_than_the_schema_has() -> None:
    X, y = frame()[["age", "town"]].fillna(0), frame()["pays"]
    model = DecisionTreeClassifier().fit(X, y)
    schema = Schema([Attribute("age", "continuous", lower=0, upper=99)])
    with pytest.raises(ParameterError, match="the model wants 'town', which is no attribute"):
        AptMinimizer(0.9, model, schema=schema).fit(X, y)


def test_it_is_registered() -> None:
    assert MINIMIZERS["apt"] is AptMinimizer
