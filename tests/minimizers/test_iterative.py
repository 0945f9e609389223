"""Iterative: its start, its order, its path, and the scikit-learn contract."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from leastwise import Attribute, DataError, ParameterError, Schema, SchemaError, Table
from leastwise.minimizers import MINIMIZERS, IterativeMinimizer, iterative_path
from leastwise.minimizers.iterative import Judge, bucket_series, impacts, quantile_runs
from tests.samples import coded, unlabelled
from tests.strategies import tables

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
JOB = Attribute("job", values=tuple("abcdef"), personal=True)
TOWN = Attribute("town", values=("n", "s", "w"), personal=True)
SIZE = Attribute("size", "ordinal", values=("S", "M", "L"))
SCHEMA = Schema([AGE, JOB, TOWN, SIZE], Attribute("pays", values=("no", "yes")))


def people(count: int = 1500, seed: int = 0) -> Table:
    """Jobs a, b, c pay seldom and d, e, f often, the old pay less; town and size have nothing to do with it."""
    random = np.random.default_rng(seed)
    job = random.integers(0, 6, count)
    age = random.integers(0, 100, count)
    chance = np.where(job < 3, 0.1, 0.9) - np.where(age > 70, 0.3, 0.0)
    age[::20] = 100  # missing
    town, size = random.integers(3, size=count), random.integers(3, size=count)
    table = coded(SCHEMA, age, job, town, size, labels=random.random(count) < chance)
    return table.with_own_levels()


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_scikit_learn_contract_holds() -> None:
    results = check_estimator(IterativeMinimizer(k=2, random_state=0), on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40


def test_the_start_has_k_buckets_grouped_by_weight() -> None:
    table = people()
    series = bucket_series(table, 4)
    assert [len(maps) for maps in series] == [4, 4, 3, 3]
    two = series[1][1]
    assert len(set(two[:3])) == 1
    assert len(set(two[3:])) == 1
    assert two[0] != two[3]
    edges = table.generalization([maps[-1] for maps in series])["age"]
    assert edges.size == 5  # four quantiles, and those whose age is missing
    use = np.bincount(edges.bucket_map(table.levels[0]), weights=table.use(0))
    assert use[:4] == pytest.approx(use[:4].mean(), rel=0.1)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=12), st.integers(1, 5))
def test_quantile_runs_are_those_of_the_people_one_by_one(use: list[int], k: int) -> None:
    runs = quantile_runs(np.array(use, dtype=float), k)
    assert np.all(np.diff(runs) >= 0)
    rows = np.repeat(np.arange(len(use)), use)
    if not len(rows):
        return
    # The i-th quantile is the smallest value with at least a share i/k of the people at or below it.
    quantiles = [rows[int(np.ceil(i * len(rows) / k - 1e-9)) - 1] for i in range(1, k)]
    marks = [sum(value > quantile for quantile in quantiles) for value in range(len(use))]
    assert [a == b for a, b in itertools.pairwise(runs)] == [a == b for a, b in itertools.pairwise(marks)]


def test_what_hurts_the_adversary_and_not_the_classifier_goes_first() -> None:
    minimizer = IterativeMinimizer(random_state=0)
    minimizer.minimize(people())
    assert minimizer.order_[0] == "town"
    assert minimizer.order_.index("size") < minimizer.order_.index("age") or minimizer.order_[-1] == "size"


def test_impacts_equal_their_definition() -> None:
    """A label that is one attribute, and a personal attribute that nothing tells."""
    random = np.random.default_rng(1)
    town, job = random.integers(0, 3, 900), random.integers(0, 6, 900)
    frame = pl.DataFrame(
        {
            "job": [JOB.values[j] for j in job],
            "town": [TOWN.values[t] for t in town],
            "pays": np.where(job < 3, "no", "yes"),
        }
    )
    table = Table.from_frame(frame, Schema([JOB, TOWN], SCHEMA.label))
    judge = Judge.of(table, 0)
    job_impact, town_impact = impacts(judge)
    # Without job the classifier guesses one half wrong and the adversary five sixths of the jobs; |P| = 2.
    assert job_impact == pytest.approx(0.5 - 5 / 6 / 2, abs=0.08)
    assert town_impact == pytest.approx(-2 / 3 / 2, abs=0.06)


def test_the_path_goes_down_to_nothing() -> None:
    path = iterative_path(people(), threshold=1.0)
    sizes = [step.generalization.total_buckets for step in path]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == len(sizes)
    assert path[-1].generalization.collected == ()
    assert path[0].error < path[-1].error


def test_every_step_keeps_below_the_threshold_and_one_more_would_not() -> None:
    table = people()
    minimizer = IterativeMinimizer(0.3, random_state=0)
    found = minimizer.minimize(table)
    assert all(step.error <= 0.3 for step in minimizer.path_)
    assert found == minimizer.path_[-1].generalization
    assert found.collected
    judge = Judge.of(table, 0)
    series = bucket_series(judge.train, 4)
    maps, final = [attribute[-1] for attribute in series], table.bucket_maps(found)
    stopped = 0
    for j in map(table.schema.position, minimizer.order_):
        maps[j] = final[j]
        coarser = [map_ for map_ in series[j] if map_.max() < final[j].max()]
        if coarser:
            stopped += 1
            assert judge.classifier_error([*maps[:j], coarser[-1], *maps[j + 1 :]]) > 0.3
    assert stopped


def test_without_a_threshold_a_point_may_be_lost() -> None:
    minimizer = IterativeMinimizer(random_state=0)
    minimizer.minimize(people(5000))
    start = minimizer.path_[0].error
    assert all(step.error <= start + 0.01 for step in minimizer.path_)
    assert minimizer.path_[-1].generalization["town"].suppressed


def test_a_threshold_that_the_start_misses_leaves_the_start() -> None:
    minimizer = IterativeMinimizer(0.0, random_state=0)
    minimizer.minimize(people())
    assert len(minimizer.path_) == 1
    assert minimizer.path_[0].error > 0


def test_a_row_for_three_people_is_three_rows() -> None:
    table = people(300)
    series = bucket_series(table, 3)
    thrice = bucket_series(table.take(np.repeat(np.arange(300), 3)).distinct(), 3)
    for one, other in zip(series[0] + series[3], thrice[0] + thrice[3], strict=True):
        assert one.tolist() == other.tolist()


def test_three_classes() -> None:
    table = people()
    three = Schema(SCHEMA.attributes, Attribute("pays", values=("no", "yes", "late")))
    labels = np.where(table.codes[:, 3] == 2, 2, table.y)
    found = iterative_path(replace(table, schema=three, labels=labels), threshold=0.2)[-1].generalization
    assert {"size", "job"} <= set(found.collected)


@settings(deadline=None, max_examples=25)
@given(tables(weights=True))
def test_any_small_table_gives_a_strict_generalization(table: Table) -> None:
    if len(np.unique(table.y)) < 2:
        with pytest.raises(DataError, match="two classes"):
            iterative_path(table, 1.0, 3)
        return
    path = iterative_path(table, 1.0, 3)
    assert path[-1].generalization.collected == ()
    assert all(partition.size <= 3 for step in path for partition in step.generalization.partitions)


def test_same_seed_same_bytes() -> None:
    one, two = (IterativeMinimizer(0.3, random_state=3).minimize(people()).to_json() for _ in range(2))
    assert one == two


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"k": 0}, "k must be"), ({"k": 2.5}, "k must be"), ({"threshold": 2}, "threshold must be between 0"),
     ({"threshold": "low"}, "threshold must be")],
)  # fmt: skip
def test_bad_parameters(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        IterativeMinimizer(**parameters).minimize(people(50))  # type: ignore[arg-type]


def test_a_label_is_needed() -> None:
    table = people(50)
    with pytest.raises(SchemaError, match="label"):
        IterativeMinimizer().minimize(unlabelled(table))


def test_it_is_registered() -> None:
    assert MINIMIZERS["iterative"] is IterativeMinimizer
