from __future__ import annotations

import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

import leastwise
from leastwise import (
    Attribute,
    DataError,
    Generalization,
    ParameterError,
    PrivacyLeakWarning,
    Schema,
    SchemaError,
    Table,
    UnknownValueError,
)
from leastwise.minimizers import MINIMIZERS, FeatureSelectionMinimizer, Minimizer, UniformMinimizer
from leastwise.minimizers.base import held_out
from leastwise.partition import keep, suppress
from tests.strategies import tables

AGE = Attribute("age", "continuous", lower=0, upper=99, integer=True, missing=True)
SEX = Attribute("sex", values=("f", "m"), personal=True)
SIZE = Attribute("size", "ordinal", values=("S", "M", "L"))
SCHEMA = Schema([AGE, SEX, SIZE], Attribute("buys", values=("no", "yes")))
COLUMNS: dict[str, list[Any]] = {
    "age": [10, 15, None, 40, 45, 80, None, 85],
    "sex": ["f", "m", "f", "m", "f", "m", "f", "m"],
    "size": ["S", "S", "M", "M", "M", "L", "L", "S"],
}
BUYS = ["no", "no", "no", "yes", "no", "yes", "yes", "yes"]


def pandas_frame(columns: dict[str, list[Any]] = COLUMNS) -> pd.DataFrame:
    return pd.DataFrame(columns)


FRAMES = {
    "pandas": pandas_frame(),
    "polars": pl.DataFrame(COLUMNS),
    "lazy": pl.LazyFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
}


class KeepFirst(Minimizer):
    """Keep the first attribute."""

    name = "keep-first"

    def minimize(self, table: Table) -> Generalization:
        first, *others = table.schema.attributes
        return table.generalization([keep(first), *map(suppress, others)])


# Every check that scikit-learn has for a transformer of these tags holds; a check that may fail would be named
# here with the reason why.
EXPECTED_FAILURES: dict[str, str] = {}


@pytest.mark.filterwarnings("ignore::leastwise.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize(
    "minimizer",
    [
        UniformMinimizer(),
        UniformMinimizer(k=1),
        *(FeatureSelectionMinimizer(2, method) for method in ("anova", "mutual_info", "chi2", "iterative")),
        KeepFirst(),
    ],
    ids=repr,
)
def test_the_scikit_learn_contract_holds(minimizer: Minimizer) -> None:
    results = check_estimator(minimizer, expected_failed_checks=EXPECTED_FAILURES, on_fail="raise")
    assert sum(result["status"] == "passed" for result in results) > 40


def test_tags() -> None:
    tags = UniformMinimizer().__sklearn_tags__()
    assert tags.input_tags.allow_nan
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert not tags.target_tags.required
    assert FeatureSelectionMinimizer().__sklearn_tags__().target_tags.required


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_gives_the_same(kind: str) -> None:
    minimizer = UniformMinimizer(3, schema=SCHEMA, random_state=0).fit(FRAMES[kind], BUYS)
    codes = minimizer.transform(FRAMES[kind])
    assert codes.dtype == np.int64
    assert codes[:, 0].tolist() == [0, 0, 3, 1, 1, 2, 3, 2]
    assert codes[:, 2].tolist() == [0, 0, 1, 1, 1, 2, 2, 0]
    assert minimizer.n_features_in_ == 3
    assert list(minimizer.feature_names_in_) == list(SCHEMA.names)
    assert minimizer.generalization_.label == SCHEMA.label


def test_buckets_are_those_of_the_artefact_for_each_record() -> None:
    minimizer = UniformMinimizer(2, schema=SCHEMA, random_state=0).fit(FRAMES["polars"])
    again = Generalization.from_json(minimizer.generalization_.to_json())
    expected = [
        [p.bucket(record[p.attribute.name]) for p in again.partitions]
        for record in pl.DataFrame(COLUMNS).to_dicts()
    ]
    assert minimizer.transform(FRAMES["polars"]).tolist() == expected


def test_unseen_numbers_fall_into_intervals() -> None:
    minimizer = UniformMinimizer(3, schema=SCHEMA).fit(FRAMES["pandas"])
    unseen = pandas_frame({"age": [0, 33, 34, 99], "sex": ["f"] * 4, "size": ["S"] * 4})
    assert minimizer.transform(unseen)[:, 0].tolist() == [0, 0, 1, 2]


def test_a_value_outside_the_domain_is_named() -> None:
    minimizer = UniformMinimizer(2, schema=SCHEMA).fit(FRAMES["pandas"])
    with pytest.raises(UnknownValueError, match="sex: 'x' in record 1"):
        minimizer.transform(pandas_frame({"age": [1], "sex": ["x"], "size": ["S"]}))


def test_a_suppressed_attribute_is_zero_and_not_looked_at() -> None:
    minimizer = FeatureSelectionMinimizer(1, schema=SCHEMA).fit(FRAMES["pandas"], BUYS)
    assert minimizer.generalization_.collected == ("age",)
    odd = pandas_frame({"age": [40, None], "sex": ["x", "y"], "size": ["XXL", None]})
    result = minimizer.transform(odd)
    assert result[:, 1:].tolist() == [[0, 0], [0, 0]]


def test_untouched_numbers_stay_numbers() -> None:
    minimizer = FeatureSelectionMinimizer("all", schema=SCHEMA).fit(FRAMES["pandas"], BUYS)
    result = minimizer.transform(FRAMES["pandas"])
    assert result.dtype == np.float64
    np.testing.assert_array_equal(result[:, 0], [math.nan if a is None else a for a in COLUMNS["age"]])
    assert result[:, 1].tolist() == [0, 1] * 4


def test_with_a_schema_columns_are_found_by_name() -> None:
    minimizer = UniformMinimizer(3, schema=SCHEMA, random_state=0).fit(FRAMES["pandas"])
    shuffled = FRAMES["pandas"][["size", "sex", "age"]].assign(more=1)
    np.testing.assert_array_equal(minimizer.transform(shuffled), minimizer.transform(FRAMES["pandas"]))


def test_an_array_is_read_by_position_whatever_the_names() -> None:
    swapped = Schema([Attribute("x1", "continuous", lower=0, upper=10), Attribute("x0", values=("a", "b"))])
    minimizer = UniformMinimizer(2, schema=swapped, random_state=0)
    array = np.array([[1, "a"], [9, "b"], [2, "b"], [8, "a"]], dtype=object)
    assert minimizer.fit_transform(array)[:, 0].tolist() == [0, 1, 0, 1]
    assert list(minimizer.get_feature_names_out()) == ["x1", "x0"]


def test_columns_of_a_plain_array_are_numbers() -> None:
    X = np.column_stack([np.arange(20.0), np.arange(20) % 2])
    minimizer = UniformMinimizer(2).fit(np.repeat(X, 2, axis=0))
    attributes = minimizer.generalization_.schema.attributes
    assert [(a.name, a.kind, a.missing, a.lower) for a in attributes] == [
        ("x0", "continuous", False, None),
        ("x1", "continuous", False, None),
    ]
    assert minimizer.transform([[1e9, -1e9]]).tolist() == [[1, 0]]
    with pytest.raises(UnknownValueError, match="missing: true"):
        minimizer.transform([[math.nan, 0]])


def test_infinity_and_missing_numbers_in_an_array() -> None:
    X = np.array([[1.0], [2.0], [math.nan], [math.inf], [-math.inf]] * 2)
    assert UniformMinimizer(2).fit_transform(X)[:5, 0].tolist() == [0, 1, 2, 1, 0]


def test_a_frame_without_a_schema_is_inspected() -> None:
    n = 40
    frame = pd.DataFrame(
        {"pay": np.repeat(np.arange(n / 2) * 1.5, 2), "sex": ["f", "m"] * (n // 2), "id": range(1000, 1000 + n)}
    )
    minimizer = UniformMinimizer(2, personal=["sex"], random_state=0).fit(frame)
    schema = minimizer.generalization_.schema
    assert schema.personal == ("sex",)
    assert "id" not in schema.names  # one per record: an identifier
    assert minimizer.n_features_in_ == 3
    assert minimizer.transform(frame).shape == (n, 2)
    assert list(minimizer.get_feature_names_out()) == ["pay", "sex"]


def test_columns_without_names_are_numbered() -> None:
    frame = pd.DataFrame([["a", 1.5], ["b", 2.5]] * 5)
    minimizer = UniformMinimizer(2, random_state=0).fit(frame)
    assert minimizer.generalization_.schema.names == ("x0", "x1")
    assert minimizer.transform(frame).shape == (10, 2)


def test_personal_overrides_the_schema() -> None:
    minimizer = UniformMinimizer(2, schema=SCHEMA, personal=["age", "size"]).fit(FRAMES["polars"])
    assert minimizer.generalization_.schema.personal == ("age", "size")
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        UniformMinimizer(2, schema=SCHEMA, personal=["aged"]).fit(FRAMES["polars"])


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        (["no", "yes"] * 4, ("no", "yes")),
        ([10, 9, 2, 2] * 2, ("2", "9", "10")),
        ([True, False] * 4, ("false", "true")),
        (np.array([0.0, 1.0] * 4), ("0", "1")),
        (pd.Series(["b", "a"] * 4, dtype="category"), ("a", "b")),
        (pl.Series(["b", "a"] * 4), ("a", "b")),
        (pa.chunked_array([["b", "a"] * 4]), ("a", "b")),
    ],
)
def test_any_labels(y: Any, classes: tuple[str, ...]) -> None:
    schema = Schema(SCHEMA.attributes)
    label = UniformMinimizer(1, schema=schema).fit(FRAMES["pandas"], y).generalization_.label
    assert label is not None
    assert (label.name, label.values) == ("label", classes)


def test_the_label_keeps_its_name_unless_an_attribute_has_it() -> None:
    minimizer = UniformMinimizer(1, schema=Schema(SCHEMA.attributes))
    assert minimizer.fit(FRAMES["pandas"], pd.Series(BUYS, name="buys")).generalization_.label.name == "buys"
    assert minimizer.fit(FRAMES["pandas"], pd.Series(BUYS, name="age")).generalization_.label.name == "age_"


def test_the_label_may_be_a_column_that_the_schema_names() -> None:
    frame = FRAMES["pandas"].assign(buys=BUYS)
    inside = FeatureSelectionMinimizer(1, schema=SCHEMA).fit(frame)
    beside = FeatureSelectionMinimizer(1, schema=SCHEMA).fit(FRAMES["pandas"], BUYS)
    assert inside.generalization_ == beside.generalization_


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["no", "perhaps"] * 4, "perhaps"),
        (["no", None] * 4, "missing in 4 records"),
        ([0.5, 1.0] * 4, "the declared label has classes; found fractions"),
        (["no"] * 7, "inconsistent numbers of samples"),
    ],
)
def test_labels_that_cannot_be(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UniformMinimizer(2, schema=SCHEMA).fit(FRAMES["pandas"], y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pd.DataFrame({"a": []}), "rows and columns"),
        (pd.DataFrame(index=[0, 1]), "rows and columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "same name"),
        (pd.DataFrame({"a": ["x"] * 9}), "no column can be an attribute"),
        ([1.0, 2.0], "Reshape your data"),
        (np.zeros((0, 2)), "0 sample"),
    ],
)
def test_records_that_cannot_be(X: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        UniformMinimizer(2).fit(X)


def test_an_absent_column_is_named() -> None:
    with pytest.raises(DataError, match="no column 'sex'"):
        UniformMinimizer(2, schema=SCHEMA).fit(FRAMES["pandas"].drop(columns="sex"))
    with pytest.raises(DataError, match="must have 3 columns; found 1"):
        UniformMinimizer(2, schema=SCHEMA).fit([[1.0]])


def test_a_schema_of_the_wrong_type_is_refused_in_fit() -> None:
    minimizer = UniformMinimizer(2, schema="schema.yaml")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="must be a leastwise Schema or None; got str"):
        minimizer.fit([[1.0]])


def test_before_fit() -> None:
    with pytest.raises(NotFittedError):
        UniformMinimizer().transform([[1.0]])
    with pytest.raises(NotFittedError):
        UniformMinimizer().get_feature_names_out()


def test_the_artefact_says_where_it_comes_from() -> None:
    minimizer = UniformMinimizer(np.int64(2), schema=SCHEMA, personal=["sex"], random_state=7)  # type: ignore[arg-type]
    g = minimizer.fit(FRAMES["pandas"], BUYS).generalization_
    settings = {"k": 2, "random_state": 7, "chosen_on": "all"}
    assert g.origin == {"minimizer": "uniform", "leastwise": leastwise.__version__, **settings}
    assert json.loads(g.to_json())["origin"] == g.origin
    assert Generalization.from_json(g.to_json()) == g


def test_same_seed_same_bytes() -> None:
    texts = [
        UniformMinimizer(2, schema=SCHEMA, random_state=3).fit(FRAMES[kind]).generalization_.to_json()
        for kind in FRAMES
    ]
    assert len(set(texts)) == 1


def test_without_a_seed_results_differ() -> None:
    wide = Schema([Attribute("a", values=tuple(map(str, range(30))))])
    table = Table.from_frame(pl.DataFrame({"a": ["1", "1"]}), wide)
    assert UniformMinimizer(3).minimize(table) != UniformMinimizer(3).minimize(table)
    shared = np.random.RandomState(0)
    again = np.random.RandomState(0)
    assert UniformMinimizer(3, random_state=shared).minimize(table) == UniformMinimizer(
        3, random_state=again
    ).minimize(table)


def test_one_warning_per_fit_and_none_from_minimize() -> None:
    columns = {**COLUMNS, "size": ["S"] * 7 + ["L"]}
    frame = pandas_frame(columns)
    minimizer = UniformMinimizer(3, schema=SCHEMA)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        minimizer.fit(frame)
    assert [w.category for w in caught] == [PrivacyLeakWarning]
    assert "size (1 bucket)" in str(caught[0].message)
    table = Table.from_frame(pl.DataFrame(columns), Schema(SCHEMA.attributes))
    minimizer.minimize(table)
    with pytest.warns(PrivacyLeakWarning, match="size"):
        minimizer.propose(table)


def test_no_domain_is_read_off_one_person() -> None:
    frame = pd.DataFrame({"sex": ["f"] * 5 + ["g"] * 4 + ["m"], "city": ["a", "b"] * 5})
    # Groups are drawn: in another draw the one person may be alone in theirs, which is warned of.
    found = UniformMinimizer(2, random_state=1).fit(frame).generalization_.schema["sex"]
    assert (found.values, found.other) == (("f", "g"), True)


def test_clone_keeps_parameters_and_forgets_what_was_learned() -> None:
    minimizer = UniformMinimizer(2, schema=SCHEMA, personal=["sex"], random_state=1).fit(FRAMES["pandas"])
    copy = clone(minimizer)
    assert copy.get_params() == minimizer.get_params()
    assert not hasattr(copy, "generalization_")
    assert copy.fit(FRAMES["pandas"]).generalization_ == minimizer.generalization_


@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_set_output(library: str, kind: type) -> None:
    minimizer = UniformMinimizer(2, schema=SCHEMA).set_output(transform=library)
    result = minimizer.fit(FRAMES["polars"]).transform(FRAMES["polars"])
    assert isinstance(result, kind)
    assert list(result.columns) == ["age", "sex", "size"]


def people(n: int) -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(0, 100, n),
            "sex": random.choice(["f", "m"], n),
            "size": random.choice(["S", "M", "L"], n),
        }
    )
    return frame, np.where((frame["age"] > 50) & (frame["sex"] == "f"), "yes", "no")


def test_pipeline_and_grid_search() -> None:
    frame, y = people(300)
    pipeline = Pipeline(
        [
            ("minimize", UniformMinimizer(schema=SCHEMA, random_state=0)),
            ("encode", OneHotEncoder(handle_unknown="ignore")),
            ("predict", DecisionTreeClassifier(random_state=0)),
        ]
    )
    search = GridSearchCV(pipeline, {"minimize__k": [1, 2, 4]}, cv=3).fit(frame, y)
    errors = dict(
        zip(
            [p["minimize__k"] for p in search.cv_results_["params"]],
            1 - search.cv_results_["mean_test_score"],
            strict=True,
        )
    )
    assert search.best_params_["minimize__k"] > 1
    assert errors[1] == pytest.approx(np.mean(y == "yes"), abs=0.02)
    assert min(errors[2], errors[4]) < 0.05
    assert search.predict(frame.head(3)).shape == (3,)


def test_inside_a_column_transformer() -> None:
    frame, y = people(50)
    columns = ColumnTransformer([("least", UniformMinimizer(2, schema=SCHEMA), ["age", "sex", "size"])])
    columns.fit(frame.assign(rest=1.0), y)
    assert list(columns.get_feature_names_out()) == ["least__age", "least__sex", "least__size"]


def test_the_registry_names_and_explains_each_minimizer() -> None:
    assert {"uniform", "feature-selection"} <= set(MINIMIZERS)
    for name, minimizer in MINIMIZERS.items():
        assert minimizer.name == name
        assert minimizer.reference
        assert (minimizer.__doc__ or "").splitlines()[0].endswith(".")
        assert minimizer().get_params()["schema"] is None


def test_the_examples_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = Path(__file__).parents[2] / "docs" / "minimizers.md"
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), flags=re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(block, names)
    assert Generalization.load("least.json") == names["minimizer"].generalization_
    assert names["RareMinimizer"](m=4, schema=names["schema"]).fit(names["people"]).generalization_.collected == (
        "sex",
    )


@settings(deadline=None)
@given(tables(weights=True), st.integers(0, 5))
def test_people_are_divided(table: Table, seed: int) -> None:
    train, held = held_out(table, 0.25, seed)
    if len(train) < len(table):
        assert train.people + held.people == table.people
    again = held_out(table, 0.25, seed)[1]
    assert again.codes.tolist() == held.codes.tolist()
