"""A proposed schema: the kinds, their reasons, and what a person is told to look at."""

from __future__ import annotations

import datetime
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.errors import DataError, ParameterError, PrivacyLeakWarning, SchemaError
from leastwise.records.table import Table
from leastwise.schema.attribute import Attribute
from leastwise.schema.inference import Finding, infer_schema
from leastwise.schema.patterns import is_pattern

N = 200


def finding(values: Any, **wishes: Any) -> Finding:
    return infer_schema(pl.DataFrame({"x": values}), **wishes).findings[0]


def kind_of(values: Any) -> str:
    return finding(values).kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (list(range(17, 91)) * 3, "continuous"),
        ([1, 2, 9] * 60, "discrete"),  # codes with a gap
        ([1, 2, 3, 4, 5, 6, 7, 8, 9] * 20, "discrete"),  # nine codes
        (list(range(1, 17)) * 10, "continuous"),  # 16 in a row: years of schooling
        ([*range(1, 16), 99] * 10, "discrete"),  # 16 with a gap: codes
        ([0.5, 1.5] * 100, "continuous"),
        ([0.0, 1.0] * 100, "discrete"),
        ([31, 45, 18, 62], "continuous"),  # too few to recur
        (["a", "b"] * 100, "discrete"),
        (["1", "2", "9"] * 60, "discrete"),
        ([f"{i % 70}.5" for i in range(N)], "continuous"),  # numbers written as text
        (["01", "02", "11"] * 60, "discrete"),  # leading zeros make codes
        ([True, False] * 50, "discrete"),
        ([None] * N, "empty column"),
        ([7] * N, "constant"),
        (["same"] * N, "constant"),
        (list(range(N)), "identifier"),
        ([1000 + 37 * i for i in range(N)], "identifier"),
        ([f"user-{i}" for i in range(N)], "identifier"),
        ([f"person {i} has a long story to tell" for i in range(N)], "free text"),
        ([f"job {i % 120}" for i in range(N)], "free text"),  # short, but mostly distinct
        ([f"2024-01-{i % 28 + 1:02}" for i in range(N)], "date"),
        ([f"{i % 28 + 1}.3.1990" for i in range(N)], "date"),
        ([datetime.date(2024, 1, i % 28 + 1) for i in range(N)], "date"),
        ([datetime.datetime(2024, 1, 1, i % 24) for i in range(N)], "date"),
        ([[1, 2]] * N, "nested column"),
        ([{"a": 1}] * N, "nested column"),
        ([b"ab"] * N, "nested column"),
    ],
)
def test_kinds(values: list[Any], kind: str) -> None:
    assert kind_of(values) == kind


def test_an_ordered_type_is_ordinal_with_all_its_categories() -> None:
    sizes = ["S", "M", "L", "XL"]
    frame = pl.DataFrame({"x": pl.Series(["M", "S", None], dtype=pl.Enum(sizes))})
    expected = infer_schema(frame).schema["x"]
    assert (expected.kind, expected.values, expected.missing) == ("ordinal", tuple(sizes), True)
    ordered = pd.DataFrame({"x": pd.Categorical(["M", "S", None], categories=sizes, ordered=True)})
    assert infer_schema(ordered).schema["x"] == expected
    loose = pd.DataFrame({"x": pd.Categorical(["M", "S", "M"], categories=sizes)})
    assert infer_schema(loose).schema["x"].kind == "discrete"


def test_the_smallest_and_largest_number_are_not_in_the_schema() -> None:
    found = infer_schema(pl.DataFrame({"age": list(range(17, 91)) * 3}))
    age = found.schema["age"]
    assert (age.lower, age.upper, age.integer) == (None, None, True)
    assert found.findings[0].bounds == (0, 100)
    assert found.findings[0].reason == "whole numbers, 74 distinct"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=20))
def test_suggested_bounds_enclose_everything(numbers: list[float]) -> None:
    bounds = finding([x + 0.0 for x in numbers], kinds={"x": "continuous"}).bounds
    if bounds is not None:
        assert bounds[0] <= min(numbers)
        assert max(numbers) <= bounds[1]


def test_values_are_in_an_order_that_tells_nothing_about_the_records() -> None:
    frame = pl.DataFrame({"x": [9, 10, 1, 9] * 10, "y": ["b", "a", "c", "b"] * 10})
    schema = infer_schema(frame).schema
    assert schema["x"].values == ("1", "9", "10")
    assert schema["y"].values == ("a", "b", "c")
    assert infer_schema(frame.reverse()).schema == schema


def test_roles() -> None:
    frame = pl.DataFrame({"age": range(17, 91), "sex": ["f", "m"] * 37, "job": ["a", "b"] * 37})
    assert infer_schema(frame, drop=["age"]).schema.personal == ("sex", "job")
    assert infer_schema(frame, personal=["sex"]).schema.personal == ("sex",)
    assert infer_schema(frame, personal=["age"]).schema.personal == ("age",)
    assert infer_schema(frame, personal=[]).schema.personal == ()


def test_a_column_without_a_name_is_left_out() -> None:
    numbered = pl.DataFrame({"": [0, 1, 2] * 10, "age": [*range(10)] * 3, "y": ["a", "b"] * 15})
    found = infer_schema(numbered, "y")
    assert found.schema.names == ("age",)
    assert [(each.name, each.kind) for each in found.left_out] == [("", "no name")]


def test_the_user_decides_about_columns_that_are_left_out() -> None:
    frame = pl.DataFrame({"id": [f"u{i}" for i in range(N)], "day": ["2024-01-01", "2024-01-02"] * (N // 2)})
    assert len(infer_schema(frame).schema) == 0
    kept = infer_schema(frame, keep=["day"])
    assert kept.schema["day"].values == ("2024-01-01", "2024-01-02")
    assert kept.findings[1].warnings[0] == "looks like: date"
    assert infer_schema(frame, personal=["id"]).schema.names == ("id",)
    assert [f.name for f in kept.left_out] == ["id"]


def test_the_user_decides_about_kinds() -> None:
    frame = pl.DataFrame({"occp": [10 * (i % 90) ** 2 for i in range(N * 2)]})
    assert "if they are codes" in infer_schema(frame).findings[0].warnings[0]
    found = infer_schema(frame, kinds={"occp": "discrete"})
    assert found.schema["occp"].kind == "discrete"
    assert len(found.schema["occp"].values) == 90
    with pytest.raises(SchemaError, match="cannot be continuous"):
        infer_schema(pl.DataFrame({"x": ["a", "b"]}), kinds={"x": "continuous"})
    with pytest.raises(ParameterError, match="did you mean 'discrete'"):
        infer_schema(frame, kinds={"occp": "discreet"})  # type: ignore[dict-item]


def test_missing_values_are_counted_and_declared() -> None:
    found = finding([1.5, None, math.nan, 2.5] * 10)
    assert (found.missing, found.distinct) == (20, 2)
    texts = infer_schema(pl.DataFrame({"x": ["a", "", None, "b", "a", "b"]}))
    assert texts.findings[0].missing == 2
    assert texts.schema["x"].missing
    assert texts.schema["x"].values == ("a", "b")


@pytest.mark.parametrize("mark", ["?", "NA", "n/a", "-", "NULL"])
def test_missing_marks_are_recognised(mark: str) -> None:
    assert f"--missing '{mark}'" in " ".join(finding(["a", "b", mark] * 20).warnings)
    assert "numbers but for" in " ".join(finding([*map(str, range(50)), mark] * 2).warnings)


def test_a_value_that_one_person_has_is_a_privacy_leak() -> None:
    found = infer_schema(pl.DataFrame({"x": ["a", "a", "b", "b", "rare"]}), at_least=1)
    assert "1 value occurs once ('rare')" in found.findings[0].warnings[0]
    with pytest.warns(PrivacyLeakWarning, match="'x'"):
        found.warn()
    infer_schema(pl.DataFrame({"x": ["a", "a", "b", "b"]})).warn()


def test_extreme_numbers() -> None:
    found = finding([1e308, -1e308, math.inf, -math.inf, math.nan, 0.5])
    assert (found.kind, found.missing, found.bounds) == ("continuous", 1, None)
    assert "has infinite numbers" in found.warnings


def test_a_copy_of_the_label_is_named() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    noise = rng.integers(0, 2, 400)
    frame = pl.DataFrame({"copy": np.where(y, "yes", "no"), "noise": noise, "y": y})
    copy, other, label = infer_schema(frame, "y").findings
    assert "tells the label for 100 %" in copy.warnings[0]
    assert other.warnings == ()
    assert (label.role, label.domain) == ("label", "0, 1")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1] * 40, "two classes or more; found 1"),
        ([None] * 40, "two classes or more; found 0"),
        ([None, *range(39)], "missing in 1 of 40 records"),
        ([float("inf"), *range(39)], "every number must be finite"),
        (["a", "b"] * 19 + ["a", None], "missing in 1 of 40 records"),
        (["a"] * 39 + ["b"], r"1 class has one \('b'\): leave these records out, or count them to"),
        ([f"c{i}" for i in range(40)], "40 classes have one"),
        ([datetime.date(2024, 1, 1)] * 40, "dates"),
        ([[1]] * 40, "nested"),
    ],
)
def test_unfit_labels(labels: list[Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        infer_schema(pl.DataFrame({"x": ["a", "b"] * 20, "y": labels}), "y")


def test_many_numbers_are_a_number_to_predict_and_few_are_when_said() -> None:
    frame = pl.DataFrame({"x": ["a", "b"] * 20, "many": [*range(40)], "few": [1, 2, 3, 4] * 10})
    found = infer_schema(frame, "many")
    assert found.schema.label == Attribute("many", "continuous", lower=0, integer=True)
    assert [f.reason for f in found.findings if f.role == "label"] == ["a number to predict, 40 distinct"]
    assert infer_schema(frame, "few").schema.label == Attribute("few", values=("1", "2", "3", "4"))
    said = infer_schema(frame, "few", kinds={"few": "continuous"}).schema.label
    assert said == Attribute("few", "continuous", integer=True)
    with pytest.raises(SchemaError, match="at most 20 classes; it has 40 distinct values: leave it a number"):
        infer_schema(frame, "many", kinds={"many": "discrete"})
    with pytest.raises(SchemaError, match="must have numbers only"):
        infer_schema(frame, "x", kinds={"x": "continuous"})


def test_names_that_are_not_there() -> None:
    frame = pl.DataFrame({"age": [1, 2], "income": ["a", "b"]})
    with pytest.raises(SchemaError, match="did you mean 'income'"):
        infer_schema(frame, "incom")
    with pytest.raises(SchemaError, match="no column 'sex'; there are: age, income"):
        infer_schema(frame, personal=["sex"])
    with pytest.raises(SchemaError, match="is that the delimiter"):
        infer_schema(pl.DataFrame({"age;income": ["1;a"]}), "income")
    with pytest.raises(SchemaError, match="is the label"):
        infer_schema(pl.DataFrame({"y": ["a", "b"] * 2}), "y", personal=["y"])
    with pytest.raises(SchemaError, match="decide on one"):
        infer_schema(frame, keep=["age"], drop=["age"])


def test_frames_that_are_none() -> None:
    with pytest.raises(DataError, match="no records"):
        infer_schema(pl.DataFrame({"x": []}))
    with pytest.raises(DataError, match="no columns"):
        infer_schema(pl.DataFrame())
    with pytest.raises(DataError, match="the same name"):
        infer_schema(pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_hundred_thousand_categories() -> None:
    values = [f"c{i // 2}" for i in range(200_000)]
    found = finding(values)
    assert (found.role, found.distinct) == ("left out", 100_000)
    attribute = infer_schema(pl.DataFrame({"x": values}), keep=["x"]).schema["x"]
    assert (len(attribute.values), attribute.other) == (200, True)  # the most frequent, and "other"


def test_all_frames_say_the_same() -> None:
    data = {
        "age": [float(i % 40) if i % 7 else None for i in range(120)],
        "job": [["a", "b", None][i % 3] for i in range(120)],
        "old": [i % 2 == 0 for i in range(120)],
        "code": [i % 3 for i in range(120)],
        "id": [f"p{i}" for i in range(120)],
        "y": [i % 2 for i in range(120)],
    }
    polars = infer_schema(pl.DataFrame(data), "y")
    assert infer_schema(pa.table(data), "y") == polars
    assert infer_schema(pd.DataFrame(data), "y") == polars
    assert infer_schema(pl.LazyFrame(data), "y") == polars


def test_python_objects_are_compared_by_their_text() -> None:
    frame = pd.DataFrame({"x": [1, "1", 2.0, "a"] * 5}, dtype=object)
    assert infer_schema(frame).schema["x"].values == ("1", "2", "a")
    nested = pd.DataFrame({"x": [[1], {"a": 1}]})
    assert infer_schema(nested).findings[0].kind == "nested column"


cells = st.one_of(
    st.lists(st.none() | st.text(max_size=4), min_size=30, max_size=30),
    st.lists(st.none() | st.integers(-5, 30), min_size=30, max_size=30),
    st.lists(st.none() | st.floats(), min_size=30, max_size=30),
    st.lists(st.none() | st.booleans(), min_size=30, max_size=30),
    st.lists(st.dates() | st.none(), min_size=30, max_size=30),
)


names = st.text(min_size=1, max_size=5).filter(lambda name: not is_pattern(name))  # those are refused


@settings(max_examples=60)
@given(st.dictionaries(names, cells, min_size=1, max_size=4), st.booleans())
def test_records_fit_the_schema_that_is_inferred_from_them(data: dict[str, list[Any]], keep: bool) -> None:
    frame = pl.DataFrame(data, strict=False)
    found = infer_schema(frame, keep=list(data) if keep else (), at_least=1)
    assert len(Table.from_frame(frame, infer_schema(frame, keep=list(data) if keep else ()).schema)) == 30
    table = Table.from_frame(frame, found.schema)
    assert len(table) == 30
    for name, codes in zip(found.schema.names, table.codes.T, strict=True):
        seen = next(f for f in found.findings if f.name == name)
        kinds = seen.distinct + (seen.missing > 0)
        assert len(np.unique(codes)) <= kinds if seen.derive else len(np.unique(codes)) == kinds


def test_floats_too_large_to_be_whole_by_choice_are_numbers() -> None:
    frame = pl.DataFrame({"x": [2.0**55 + 1e15 * i for i in range(30)]})
    found = infer_schema(frame, keep=["x"])
    assert (found.schema["x"].kind, found.schema["x"].integer) == ("continuous", False)
    assert len(Table.from_frame(frame, found.schema)) == 30


def test_what_one_person_alone_has_is_other() -> None:
    frame = pl.DataFrame({"x": ["a", "a", "b", "b", "rare"]})
    found = infer_schema(frame)
    found.warn()
    assert found.findings[0].domain == "a, b, other"
    assert infer_schema(frame, at_least=1).schema["x"].values == ("a", "b", "rare")
    assert infer_schema(frame, at_least=3).schema["x"].values == ()
    attribute = found.schema["x"]
    assert (attribute.values, attribute.other) == (("a", "b"), True)
    assert found.findings[0].single == 0
    assert Table.from_frame(frame, found.schema).codes[:, 0].tolist() == [0, 0, 1, 1, 2]
    many = pl.DataFrame({"x": [f"c{i}" for i in range(100_000)] + ["a", "b"] * 9})
    assert infer_schema(many, keep=["x"]).schema["x"].values == ("a", "b")
    with pytest.raises(ParameterError, match="at_least"):
        infer_schema(frame, at_least=0)


@pytest.mark.parametrize("name", ["id", "MemberID_t", "customer_id", "patient key", "userID", "UUID"])
def test_names_of_identifiers(name: str) -> None:
    values = [1000 + i % 90 for i in range(N)]
    assert "name is one of identifiers" in infer_schema(pl.DataFrame({name: values})).findings[0].warnings[0]


@pytest.mark.parametrize("name", ["idea", "GRID", "width", "monkey", "keyboard"])
def test_names_of_other_things(name: str) -> None:
    values = [1000 + i % 90 for i in range(N)]
    assert infer_schema(pl.DataFrame({name: values})).findings[0].warnings == ()


def test_the_rules_find_the_papers_attributes(data_folder: Path) -> None:
    """The codes that look like quantities are warned of; once named, the personal ones are the paper's."""
    frame = pl.read_parquet(data_folder / "acs_income_co_2018.parquet")
    doubtful = [f.name for f in infer_schema(frame, "PINCP").findings if "codes" in " ".join(f.warnings)]
    assert doubtful == ["OCCP", "POBP", "RELP"]
    schema = infer_schema(frame, "PINCP", kinds=dict.fromkeys(doubtful, "discrete")).schema
    assert sorted(schema.personal) == sorted(["COW", "MAR", "OCCP", "POBP", "RELP", "SEX", "RAC1P"])
    assert [a.name for a in schema.attributes if a.continuous] == ["AGEP", "SCHL", "WKHP"]
    adult = infer_schema(
        pl.read_parquet(data_folder / "adult.parquet"), "income", drop=["fnlwgt", "education-num"]
    )
    expected = "workclass education marital-status occupation relationship race sex native-country"
    assert adult.schema.personal == tuple(expected.split())
