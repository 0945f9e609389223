from __future__ import annotations

import dataclasses
import itertools
import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif

from leastwise import Attribute, DataError, Generalization, ParameterError, Schema, SchemaError, Table
from leastwise.errors import PrivacyLeakWarning
from leastwise.minimizers import FeatureSelectionMinimizer
from leastwise.minimizers.feature_selection import (
    METHODS,
    RUNS,
    anova_score,
    chi_squared_score,
    kept_after_removal,
    mutual_information_score,
    runs_of,
)
from tests import strategies
from tests.samples import coded, named, one_column

methods = pytest.mark.parametrize("method", METHODS)
labelled = strategies.tables(classes=3).filter(lambda table: len(np.unique(table.y)) > 1)


def table_of(columns: dict[str, list[object]], y: list[str], *attributes: Attribute) -> Table:
    classes = Attribute("y", values=tuple(sorted(set(y))))
    return Table.from_frame(pl.DataFrame({**columns, "y": y}), Schema(attributes, classes))


@methods
@given(table=labelled, k=st.integers(1, 5))
def test_k_attributes_are_untouched_and_the_others_suppressed(method: str, table: Table, k: int) -> None:
    g = FeatureSelectionMinimizer(k, method).minimize(table)  # type: ignore[arg-type]
    assert len(g.collected) == min(k, len(table.schema))
    assert all(partition.untouched or partition.suppressed for partition in g.partitions)
    assert Generalization.from_json(g.to_json()) == g


@methods
@given(table=labelled, data=st.data())
def test_the_order_of_the_records_does_not_matter(method: str, table: Table, data: st.DataObject) -> None:
    order = np.array(data.draw(st.permutations(range(len(table)))))
    minimizer = FeatureSelectionMinimizer(1, method)  # type: ignore[arg-type]
    assert minimizer.minimize(table) == minimizer.minimize(table.take(order))


@methods
@given(table=strategies.tables(weights=True, max_rows=12))
def test_a_row_of_three_people_is_three_rows(method: str, table: Table) -> None:
    assume(len(np.unique(table.y)) > 1)
    assert table.weights is not None
    rows = np.repeat(np.arange(len(table)), table.weights.astype(int))
    repeated = dataclasses.replace(table.take(rows), weights=None)
    minimizer = FeatureSelectionMinimizer(1, method)  # type: ignore[arg-type]
    assert minimizer.minimize(table) == minimizer.minimize(repeated) == minimizer.minimize(table.distinct())


def records(n: int, classes: int, seed: int) -> Table:
    """Ten attributes, of which a1 tells most, then a0; the others are noise."""
    random = np.random.default_rng(seed)
    y = random.integers(classes, size=n)
    numbers, a0 = np.unique(y + random.normal(0, 2.0, n), return_inverse=True)
    told = np.where(random.random(n) < 0.7, y, random.integers(classes, size=n))
    noise = [random.integers(6, size=n) for _ in range(8)]
    schema = Schema(
        [Attribute("a0", "continuous"), *(named(f"a{j}", 6) for j in range(1, 10))], named("y", classes)
    )
    return coded(schema, a0, told, *noise, labels=y, numbers={"a0": numbers})


@methods
@pytest.mark.parametrize("classes", [2, 3])
def test_what_tells_the_label_is_found_among_noise(method: str, classes: int) -> None:
    table = records(1500, classes, 1)
    best = FeatureSelectionMinimizer(1, method).minimize(table)  # type: ignore[arg-type]
    assert best.collected == ("a1",)
    if (
        method != "iterative"
    ):  # that one asks who is misjudged, which a weak hint beside a strong one hardly changes
        assert FeatureSelectionMinimizer(2, method).minimize(table).collected == ("a0", "a1")  # type: ignore[arg-type]


@pytest.mark.parametrize("classes", [2, 4])
def test_f_values_of_numbers_are_scikit_learns(classes: int) -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(10.0, 3.0, 200), random.integers(classes, size=200)
    table = table_of({"x": x.tolist()}, [str(c) for c in y], Attribute("x", "continuous"))
    assert anova_score(table, 0) == pytest.approx(f_classif(x[:, None], y)[0][0])


@pytest.mark.parametrize("classes", [2, 4])
def test_the_f_value_of_values_is_that_of_the_best_one_hot_column(classes: int) -> None:
    random = np.random.default_rng(1)
    x, y = random.integers(5, size=300), random.integers(classes, size=300)
    table = table_of({"x": x.tolist()}, [str(c) for c in y], Attribute("x", values=tuple("01234")))
    one_hot = (x[:, None] == np.arange(5)).astype(float)
    assert anova_score(table, 0) == pytest.approx(f_classif(one_hot, y)[0].max())


def test_ordinal_values_are_scored_by_their_place() -> None:
    x, y = [0, 1, 2, 3, 3, 0], ["n", "n", "p", "p", "n", "p"]
    size = Attribute("x", "ordinal", values=tuple("0123"))
    expected = f_classif(np.array(x, dtype=float)[:, None], y)[0][0]
    assert anova_score(table_of({"x": x}, y, size), 0) == pytest.approx(expected)


def test_whether_a_number_is_missing_may_be_what_tells() -> None:
    random = np.random.default_rng(2)
    y = random.integers(2, size=100)
    x = [None if c and random.random() < 0.9 else float(random.normal()) for c in y]
    table = table_of({"x": x}, [str(c) for c in y], Attribute("x", "continuous", missing=True))
    missing = np.array([[float(v is None)] for v in x])
    assert anova_score(table, 0) == pytest.approx(f_classif(missing, y)[0][0])


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_f_values_do_not_depend_on_the_unit(scale: float) -> None:
    y = ["n", "n", "p", "p", "p"]
    number = Attribute("x", "continuous")
    scores = [anova_score(table_of({"x": [v * s for v in (1, 3, 2, 5, 7)]}, y, number), 0) for s in (1.0, scale)]
    assert scores[0] == pytest.approx(scores[1])


def test_infinite_numbers_have_a_score() -> None:
    table = table_of({"x": [-math.inf, 0.0, 1.0, math.inf]}, list("npnp"), Attribute("x", "continuous"))
    clipped = table_of({"x": [0.0, 0.0, 1.0, 1.0]}, list("npnp"), Attribute("x", "continuous"))
    assert anova_score(table, 0) == anova_score(clipped, 0) == 0.0
    only = table_of({"x": [-math.inf, -math.inf, math.inf, math.inf]}, list("nnpp"), Attribute("x", "continuous"))
    assert anova_score(only, 0) == math.inf


def test_a_constant_scores_nothing_and_a_copy_of_the_label_everything() -> None:
    columns: dict[str, list[object]] = {"constant": ["x"] * 4, "copy": ["n", "n", "p", "p"]}
    declared = [Attribute("constant", values=("x", "z")), Attribute("copy", values=("n", "p"))]
    table = table_of(columns, list("nnpp"), *declared)
    assert [anova_score(table, j) for j in (0, 1)] == [0.0, math.inf]
    assert [chi_squared_score(table, j) for j in (0, 1)] == [0.0, 3.0]
    assert mutual_information_score(table, 0) == 0.0
    assert mutual_information_score(table, 1) == pytest.approx(math.log(2) - 1 / 8)


@given(st.lists(st.lists(st.integers(0, 20), min_size=3, max_size=3), min_size=2, max_size=6))
def test_statistics_are_those_of_the_textbook(rows: list[list[int]]) -> None:
    counts = np.array(rows, dtype=float)
    assume((counts.sum(axis=0) > 0).all() and counts.sum() > 0)
    values, classes = np.indices(counts.shape)
    repeats = counts.astype(int).ravel()
    x, y = np.repeat(values.ravel(), repeats), np.repeat(classes.ravel(), repeats)
    attribute = Attribute("x", values=tuple(map(str, range(len(rows)))))
    table = table_of({"x": [str(v) for v in x]}, [str(c) for c in y], attribute)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    seen, freedom = counts > 0, 2 * (np.count_nonzero(counts.sum(axis=1)) - 1)
    information = (counts[seen] / counts.sum() * np.log(counts[seen] / expected[seen])).sum()
    chance = freedom / 2 / counts.sum()
    assert mutual_information_score(table, 0) == pytest.approx(information - chance, abs=1e-9)
    off = (counts - expected)[expected > 0] ** 2 / expected[expected > 0]
    assert chi_squared_score(table, 0) == pytest.approx(off.sum() - freedom, abs=1e-6)


@pytest.mark.parametrize("score", [mutual_information_score, chi_squared_score])
def test_many_values_are_not_preferred_for_being_many(score: object) -> None:
    random = np.random.default_rng(3)
    y = random.integers(2, size=2000)
    columns: dict[str, list[object]] = {
        "many": [str(v) for v in random.integers(400, size=2000)],
        "number": random.normal(size=2000).tolist(),
        "telling": [str(c if random.random() < 0.6 else 1 - c) for c in y],
    }
    many = Attribute("many", values=tuple(map(str, range(400))))
    telling = Attribute("telling", values=("0", "1"))
    table = table_of(columns, [str(c) for c in y], many, Attribute("number", "continuous"), telling)
    scores = [score(table, j) for j in range(3)]  # type: ignore[operator]
    assert scores[2] > max(scores[:2])


def test_runs_are_of_about_equal_use() -> None:
    numbers = np.random.default_rng(4).normal(size=1000)
    table = table_of(
        {"x": [*numbers.tolist(), None]}, ["n", "p"] * 500 + ["n"], Attribute("x", "continuous", missing=True)
    )
    runs = runs_of(table, 0)
    people = np.bincount(runs[table.codes[:, 0]])
    assert people.tolist() == [1000 // RUNS] * RUNS + [1]
    assert list(runs) == sorted(runs)


def naive_removal(table: Table, k: int) -> list[int]:
    """Leave-one-out naive Bayes, person by person."""

    def judged(kept: list[int]) -> tuple[float, float]:
        wrong, surprise = 0.0, 0.0
        for i in range(len(table)):
            rest = np.delete(np.arange(len(table)), i)
            scores = []
            for c in range(table.classes):
                members = rest[table.y[rest] == c]
                score = math.log(len(members) + 1)
                for j in kept:
                    same = int((table.codes[members, j] == table.codes[i, j]).sum())
                    score += math.log((same + 1) / (len(members) + table.sizes[j]))
                scores.append(score)
            wrong += int(np.argmax(scores)) != table.y[i]
            surprise += np.logaddexp.reduce(scores) - scores[int(table.y[i])]
        return wrong, round(surprise / len(table), 10)

    kept = list(range(len(table.schema)))
    while len(kept) > k:
        kept.remove(min(kept, key=lambda j: (*judged([i for i in kept if i != j]), -j)))
    return kept


@pytest.mark.parametrize("seed", range(5))
def test_iterative_removal_is_that_of_person_by_person_counting(seed: int) -> None:
    random = np.random.default_rng(seed)
    codes = random.integers(3, size=(25, 4))
    columns: dict[str, list[object]] = {f"a{j}": [str(v) for v in codes[:, j]] for j in range(4)}
    declared = [Attribute(f"a{j}", values=("0", "1", "2")) for j in range(4)]
    y = [str(int(row.sum() + random.integers(2) > 4)) for row in codes]
    table = table_of(columns, y, *declared)
    for k in (1, 2, 3):
        assert kept_after_removal(table, k) == naive_removal(table, k)


def test_iterative_removal_drops_the_second_copy() -> None:
    y = ["n", "p"] * 40
    random = np.random.default_rng(5)
    first = [c if random.random() < 0.9 else "x" for c in y]
    second = [c if random.random() < 0.8 else "x" for c in y]
    columns: dict[str, list[object]] = {"first": first, "copy": first, "second": second}
    values = ("n", "p", "x")
    table = table_of(columns, y, *(Attribute(name, values=values) for name in columns))
    assert set(FeatureSelectionMinimizer(2, "iterative").minimize(table).collected) == {"first", "second"}
    assert set(FeatureSelectionMinimizer(2, "anova").minimize(table).collected) == {"first", "copy"}


@methods
def test_all_keeps_all(method: str) -> None:
    table = records(60, 2, 0)
    g = FeatureSelectionMinimizer("all", method).minimize(table)  # type: ignore[arg-type]
    assert g.collected == table.schema.names


@methods
def test_fewer_kept_are_among_more_kept(method: str) -> None:
    table = records(400, 2, 6)
    chosen = [set(FeatureSelectionMinimizer(k, method).minimize(table).collected) for k in (1, 3, 5, 10)]  # type: ignore[arg-type]
    assert all(fewer <= more for fewer, more in itertools.pairwise(chosen))


def test_no_label_is_a_clear_error() -> None:
    with pytest.raises(SchemaError, match="requires y to be passed"):
        FeatureSelectionMinimizer().fit([[1.0], [2.0]])
    unlabelled = one_column(Attribute("a", values=("x",)), ["x"])
    with pytest.raises(SchemaError, match="needs a label"):
        FeatureSelectionMinimizer().minimize(unlabelled)


@methods
def test_a_constant_label_is_a_clear_error(method: str) -> None:
    with pytest.raises(DataError, match="at least two classes"):
        FeatureSelectionMinimizer(1, method).fit([["a", "u"], ["b", "v"]], ["yes", "yes"])  # type: ignore[arg-type]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "every", None])
def test_a_wrong_k_is_refused(k: object) -> None:
    with pytest.raises(ParameterError, match="k must be a whole number"):
        FeatureSelectionMinimizer(k).fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]


def test_a_misspelt_method_gets_the_near_miss() -> None:
    with pytest.raises(ParameterError, match="did you mean 'anova'"):
        FeatureSelectionMinimizer(1, "anove").fit([[1.0], [2.0]], [0, 1])  # type: ignore[arg-type]


def test_adult(data_folder: object) -> None:
    frame = pl.read_parquet(f"{data_folder}/adult.parquet").drop("fnlwgt", "education-num")
    minimizer = FeatureSelectionMinimizer(4)
    with warnings.catch_warnings():  # what one person alone has is not in the inferred domain
        warnings.simplefilter("error", PrivacyLeakWarning)
        minimizer.fit(frame.drop("income"), frame["income"])
    assert {"marital-status", "relationship", "age"} <= set(minimizer.generalization_.collected)
