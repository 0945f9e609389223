"""Law: the transform of a frame is the transform of each of its records, for every kind of frame."""

from __future__ import annotations

from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leastwise import (
    Attribute,
    DataError,
    Generalization,
    Groups,
    Intervals,
    ParameterError,
    UnknownValueError,
    Untouched,
)
from leastwise.apply import Output
from leastwise.partition import keep, suppress
from tests.apply.cases import comparable, generalized_columns, outcome

outputs = st.sampled_from(["labels", "codes", "representative"])
CONNECTION = duckdb.connect()


def as_duckdb(frame: pl.DataFrame) -> duckdb.DuckDBPyRelation:
    return CONNECTION.from_arrow(frame.to_arrow())


KINDS: dict[str, tuple[Any, Any]] = {
    "polars": (lambda frame: frame, lambda done: done.to_dicts()),
    "lazy": (lambda frame: frame.lazy(), lambda done: done.collect().to_dicts()),
    "pandas": (lambda frame: frame.to_pandas(), lambda done: done.to_dict("records")),
    "pyarrow": (lambda frame: frame.to_arrow(), lambda done: done.to_pylist()),
    "duckdb": (as_duckdb, lambda done: done.to_arrow_table().to_pylist()),
}
TYPES = {"polars": pl.DataFrame, "lazy": pl.LazyFrame, "pandas": pd.DataFrame, "pyarrow": pa.Table,
         "duckdb": duckdb.DuckDBPyRelation}  # fmt: skip
quick = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=generalized_columns(), output=outputs)
def test_a_frame_is_its_records(kind: str, data: tuple[Generalization, pl.DataFrame], output: Output) -> None:
    g, frame = data
    make, rows = KINDS[kind]
    done = g.transform(make(frame), output)
    assert isinstance(done, TYPES[kind])
    assert comparable(rows(done)) == comparable([g.transform(record, output) for record in frame.to_dicts()])


@pytest.mark.parametrize("kind", KINDS)
@quick
@given(data=generalized_columns(strange=True), output=outputs, unknown=st.sampled_from(["error", "other"]))
def test_strange_values_are_treated_as_in_records(
    kind: str, data: tuple[Generalization, pl.DataFrame], output: Output, unknown: Any
) -> None:
    g, frame = data
    make, rows = KINDS[kind]
    expected = outcome(lambda: [g.transform(r, output, unknown=unknown) for r in frame.to_dicts()])
    assert outcome(lambda: rows(g.transform(make(frame), output, unknown=unknown))) == expected


@quick
@given(data=generalized_columns(), suppressed=st.booleans(), output=outputs)
def test_all_kinds_have_the_same_columns(
    data: tuple[Generalization, pl.DataFrame], suppressed: bool, output: Output
) -> None:
    g, frame = data
    frame = frame.drop(g.not_collected[:1])  # it may be absent
    record = g.transform(frame.row(0, named=True), output, suppressed=suppressed)
    for make, _ in KINDS.values():
        done = g.transform(make(frame), output, suppressed=suppressed)
        names = done.collect_schema().names() if isinstance(done, pl.LazyFrame) else _names(done)
        assert names == list(record)


def _names(done: Any) -> list[str]:
    return list(done.column_names if isinstance(done, pa.Table) else done.columns)


AGE = Attribute("age", "continuous", lower=0, upper=120, integer=True)
SEX = Attribute("sex", values=("Female", "Male"))
CODE = Attribute("code", values=("1", "2", "10"), missing=True)
G = Generalization(
    (Intervals(AGE, (19, 63)), suppress(SEX), Groups.of(CODE, [["1", "2"], ["10"]])),
    Attribute("y", values=("no", "yes")),
)


@pytest.mark.parametrize(
    "column",
    [
        pl.Series([1, 10, None]),
        pl.Series([1.0, 10.0, None]),
        pl.Series([1.0, 10.0, float("nan")]),
        pl.Series(["1", "10", None]),
        pl.Series(["1.0", "1e1", ""]),
        pl.Series(["1", "10", None], dtype=pl.Categorical),
        pl.Series(["1", "10", None], dtype=pl.Enum(["10", "1", "7"])),
        pl.Series([1, 10, None], dtype=pl.Int8),
        pl.Series([1, 10, None], dtype=pl.UInt64),
        pl.Series([1, 10, None], dtype=pl.Float32),
        pl.Series([1, 10, None], dtype=pl.Decimal(10, 2)),
    ],
    ids=lambda column: str(column.dtype),
)
@pytest.mark.parametrize("kind", ["polars", "lazy", "pandas", "pyarrow", "duckdb"])
def test_one_value_is_the_same_in_every_type(kind: str, column: pl.Series) -> None:
    make, rows = KINDS[kind]
    frame = pl.DataFrame({"age": [19, 20, 120], "code": column})
    done = rows(G.transform(make(frame)))
    assert done == [
        {"age": "0 to 19", "code": "1 or 2"},
        {"age": "20 to 63", "code": "10"},
        {"age": "64 to 120", "code": "missing"},
    ]


def test_truth_values_match_either_spelling() -> None:
    frame = pl.DataFrame({"b": [True, False, None]})
    for spelled in (("false", "true"), ("False", "True")):
        g = Generalization((keep(Attribute("b", values=spelled, missing=True)),))
        for make, rows in KINDS.values():
            assert [row["b"] for row in rows(g.transform(make(frame)))] == [spelled[1], spelled[0], "missing"]
            members = [row["b"] for row in rows(g.transform(make(frame), "representative"))]
            assert members[:2] == [True, False]


def test_leading_zeros_are_part_of_a_code() -> None:
    g = Generalization((keep(Attribute("zip", values=("1", "01"))),))
    assert g.transform(pl.DataFrame({"zip": ["01", "1"]}), "codes")["zip"].to_list() == [1, 0]
    with pytest.raises(UnknownValueError):
        g.transform(pl.DataFrame({"zip": ["001"]}))


def test_representatives_keep_the_type_of_the_column() -> None:
    frame = pl.DataFrame({"age": pl.Series([5, 70], dtype=pl.UInt8), "code": [1, 10], "sex": ["Male", "Male"]})
    done = G.transform(frame, "representative")
    assert done.schema == {"age": pl.UInt8, "code": pl.Int64, "sex": pl.String}
    assert done.rows() == [(9, 1, "Female"), (91, 10, "Female")]
    assert (
        G.transform(frame.with_columns(pl.col("age").cast(pl.Float32)), "representative")["age"].dtype
        == pl.Float32
    )
    assert G.transform(frame.to_pandas(), "representative")["age"].dtype == "uint8"


def test_the_values_of_a_suppressed_attribute_are_never_looked_at() -> None:
    frame = pl.DataFrame({"age": [5], "sex": [["anything", "at all"]], "code": [1], "y": ["no"]})
    for make, rows in KINDS.values():
        assert rows(G.transform(make(frame))) == [{"age": "0 to 19", "code": "1 or 2", "y": "no"}]
        done = rows(G.transform(make(frame), suppressed=True))
        assert done == [{"age": "0 to 19", "sex": "any", "code": "1 or 2", "y": "no"}]


@pytest.mark.parametrize("kind", KINDS)
def test_only_attributes_the_label_and_what_is_kept_by_name_leave(kind: str) -> None:
    make, rows = KINDS[kind]
    frame = make(pl.DataFrame({"id": [7], "age": [5], "age in days": [1900], "code": [1], "y": ["no"]}))
    answers = {"age": "0 to 19", "code": "1 or 2", "y": "no"}
    assert rows(G.transform(frame)) == [answers]
    assert rows(G.transform(frame, keep=["id"])) == [{"id": 7, **answers}]
    with pytest.raises(DataError, match="no column 'idd'; did you mean 'id'"):
        G.transform(frame, keep=["idd"])
    nothing = Generalization((suppress(AGE),))
    with pytest.raises(ParameterError, match="nothing would be left"):
        nothing.transform(frame)
    assert rows(nothing.transform(frame, suppressed=True)) == [{"age": "any"}]


@pytest.mark.parametrize("kind", KINDS)
def test_an_exact_number_cannot_leave_as_the_label(kind: str) -> None:
    frame = pl.DataFrame({"age": [5], "code": [1], "y": [76243.17]})
    with pytest.raises(UnknownValueError, match=r"y: 76243\.17"):
        G.transform(KINDS[kind][0](frame))
    with pytest.raises(UnknownValueError, match=r"y: 76243\.17"):
        G.transform(frame.row(0, named=True))


@pytest.mark.parametrize("kind", KINDS)
def test_truth_is_no_number(kind: str) -> None:
    with pytest.raises(DataError, match="age"):
        G.transform(KINDS[kind][0](pl.DataFrame({"age": [True], "code": [1]})))
    with pytest.raises(DataError, match="age: True"):
        G.transform({"age": True, "code": 1})


def test_an_empty_frame_needs_no_types() -> None:
    assert G.transform(pl.DataFrame({"age": [], "code": [], "y": []})).shape == (0, 3)


def test_what_is_not_collected_cannot_be_kept() -> None:
    with pytest.raises(ParameterError, match="'sex' is not collected"):
        G.transform(pl.DataFrame({"age": [5], "sex": ["Male"], "code": [1]}), keep=["sex"])
    assert Generalization((suppress(AGE),)).transform({"age": 5, "id": 1}) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_a_strange_value_is_named(kind: str) -> None:
    frame = pl.DataFrame({"age": [5, 6, 130], "code": ["1", "1.0", "1"]})
    with pytest.raises(UnknownValueError, match="age: 130") as caught:
        G.transform(KINDS[kind][0](frame))
    assert caught.value.row == (None if kind == "duckdb" else 2)
    with pytest.raises(UnknownValueError, match=r"age: a missing value.*declare 'missing: true'"):
        G.transform(KINDS[kind][0](frame.with_columns(age=pl.lit(None, pl.Int64))))
    with pytest.raises(UnknownValueError, match="declares no 'other'"):
        G.transform(KINDS[kind][0](frame), unknown="other")
    with pytest.raises(DataError, match="no column 'code'"):
        G.transform(KINDS[kind][0](frame.drop("code")))
    with pytest.raises(DataError, match="one text or number"):
        G.transform(KINDS[kind][0](frame.with_columns(age=pl.lit([1, 2]))))


def test_pandas_keeps_its_index_and_mixed_columns_work() -> None:
    frame = pd.DataFrame(
        {"age": [5, "70", 20.0], "code": [1, "10", None], "y": ["no", "yes", None]}, index=["a", "b", "b"]
    )
    done = G.transform(frame)
    assert list(done.index) == ["a", "b", "b"]
    assert list(done["age"]) == ["0 to 19", "64 to 120", "20 to 63"]
    assert list(done["code"]) == ["1 or 2", "10", "missing"]
    assert list(done["y"])[:2] == ["no", "yes"]


def test_an_empty_frame_stays_a_frame() -> None:
    frame = pl.DataFrame(schema={"age": pl.Int64, "code": pl.String})
    for make, rows in KINDS.values():
        done = G.transform(make(frame))
        assert rows(done) == []


def test_a_hundred_thousand_categories() -> None:
    names = tuple(f"category {i}" for i in range(100_000))
    g = Generalization((Groups(Attribute("c", values=names), tuple(i % 7 for i in range(100_000))),))
    frame = pl.DataFrame({"c": names})
    assert g.transform(frame, "codes")["c"].to_list() == [i % 7 for i in range(100_000)]
    assert Generalization((keep(g.schema["c"]),)).transform(frame).equals(frame)
    with pytest.raises(UnknownValueError, match="'category -1' in record 100001"):
        g.transform(pl.concat([frame, pl.DataFrame({"c": ["category -1"]})]))


def test_a_thousand_categories_in_a_query() -> None:
    names = tuple(f"category {i}" for i in range(1000))
    g = Generalization((Groups(Attribute("c", values=names), tuple(i % 7 for i in range(1000))),))
    frame = pl.DataFrame({"c": names})
    codes = [row["c"] for row in KINDS["duckdb"][1](g.transform(as_duckdb(frame), "codes"))]
    assert codes == [i % 7 for i in range(1000)]
    untouched = Generalization((keep(g.schema["c"]),))
    assert KINDS["duckdb"][1](untouched.transform(as_duckdb(frame))) == frame.to_dicts()


def test_many_edges_are_searched() -> None:
    attribute = Attribute("n", "continuous")
    g = Generalization((Intervals(attribute, tuple(i / 2 for i in range(1000))),))
    numbers = [-1.0, 0.0, 0.1, 0.5, 499.5, 499.6, float("inf"), float("-inf"), 1e308]
    done = g.transform(pl.DataFrame({"n": numbers}), "codes")["n"].to_list()
    assert done == [g["n"].bucket(number) for number in numbers]


@given(st.lists(st.floats(allow_nan=False) | st.integers(-(10**18), 10**18).map(float), min_size=1, max_size=20))
@quick
def test_untouched_numbers_are_written_alike(numbers: list[float]) -> None:
    g = Generalization((Untouched(Attribute("n", "continuous")),))
    expected = [g.transform({"n": number})["n"] for number in numbers]
    frame = pl.DataFrame({"n": numbers})
    assert g.transform(frame)["n"].to_list() == expected
    assert [row["n"] for row in KINDS["duckdb"][1](g.transform(as_duckdb(frame)))] == expected


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(DataError, match="must be a dict or a pandas"):
        G.transform([1, 2])
    with pytest.raises(ValueError, match="did you mean 'labels'"):
        G.transform({"age": 1}, "label")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["^a$", "*"])
def test_a_column_called_like_a_pattern_is_refused_in_one_line(name: str) -> None:
    generalization = Generalization((Intervals(Attribute(name, "continuous"), (3,)),))
    frame = pl.DataFrame({name: [1, 5], "a": [2, 3]})
    assert generalization.transform({name: 5}) == {name: "above 3"}
    for records in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        with pytest.raises(DataError, match="must not be called") as error:
            generalization.transform(records)
        assert "\n" not in str(error.value)
