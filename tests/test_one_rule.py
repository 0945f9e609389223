"""Law: what a raw value is does not depend on the road it takes, nor on the type of column that holds it.

The roads are those of a table (all minimizing and judging), a partition, a record, every kind of frame, a file, a
query and a browser. They agree if they give the same bucket, or all refuse.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from leastwise import Attribute, DataError, Generalization, Groups, Intervals, Schema, Table
from leastwise.apply import apply_file
from leastwise.checks.use import strange_values
from leastwise.partition import Partition, keep
from leastwise.records.files import read_frame
from leastwise.records.sources import Source
from leastwise.schema.values import as_number, text_of
from tests.apply.test_frames import KINDS
from tests.exports import engines
from tests.exports.node import Node, node  # noqa: F401  (a fixture)
from tests.exports.test_sql import connection  # noqa: F401  (a fixture)
from tests.records.sources.engines import IN_PROCESS, engine_of

TEXTS = [
    "1", "1.0", "1.", "+1", "1e0", "10E-1", " 1", "1 ", "1\n", "01", "1_000", "0x1", "１", "١", "--1", "1,0", "1d",
    "0", "-0", "-0.0", ".5", "0.5", "5e-1", "2", "2.50", "True", "TRUE", "true", "false", "tRuE", "yes", "unknown",
    "NaN", "nan", "-nan", " nan", "inf", "Infinity", "-inf", "+INF", "1e400", "-1e400", "1e-400", "", " ", ".",
    "e1", "9007199254740992", "9007199254740993", "10000000000000000", "+10000000000000000", "1e16", "1e+16",
    "1" * 25, "9" * 400, "123456789012345.0", "1234567890123456.0", "1.00000000000000000000000", "missing", "None",
]  # fmt: skip
NUMBERS = [0, 1, 2, -1, 10**16, 2**53 + 1, 2**63 - 1, 0.0, -0.0, 0.5, 1.0, 2.5, 1e16, 1e300, math.inf, -math.inf]
SCALARS = [np.int8(1), np.uint64(2**64 - 1), np.float32(0.5), np.float64(1), np.bool_(True), np.str_("1.0")]
OBJECTS = [True, False, Decimal("1"), Decimal("1.00"), Decimal("0.5"), Decimal("NaN"), Decimal("1E+16"), *SCALARS]
MISSING = [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT")]
DECLARED = [
    "1",
    "2",
    "0",
    "0.5",
    "true",
    "False",
    "01",
    " 1",
    "inf",
    "1e16",
    "9007199254740993",
    "1.50",
    "2.5",
    "yes",
]

texts = st.sampled_from(TEXTS) | st.text("0123456789+-.eE _infaNty\t", max_size=6)
far = st.from_regex(
    r"[+-]?(0|[1-9][0-9]{0,2})(\.[0-9]{1,20})?[eE][+-]?0?(30[5-9]|32[0-9]|[1-9][0-9]{3,8})", fullmatch=True
)
anything = texts | st.sampled_from(NUMBERS) | st.sampled_from(OBJECTS) | st.sampled_from(MISSING)
quick = settings(
    max_examples=150, deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)  # fmt: skip


@st.composite
def partitions(draw: st.DrawFn) -> Partition:
    """Draw an attribute of any kind, every value of it or a few intervals in buckets of their own."""
    flags = {flag: draw(st.booleans()) for flag in ("missing", "other")}
    kind: Any = draw(st.sampled_from(["discrete", "ordinal", "continuous"]))
    if kind != "continuous":
        values = draw(st.lists(st.sampled_from(DECLARED), min_size=2, max_size=10, unique=True))
        return keep(Attribute("a", kind, values=tuple(values), **flags))
    integer = draw(st.booleans())
    lower, upper = draw(st.sampled_from([(None, None), (0, None), (None, 2), (0, 2)]))
    attribute = Attribute("a", kind, lower=lower, upper=upper, integer=integer, **flags)
    return Intervals(attribute, (0, 1) if integer else (0, 0.5, 1))


def bucket(partition: Partition, value: Any) -> int | None:
    """Return the bucket that a partition names, None if it refuses."""
    try:
        return partition.bucket(value)
    except DataError:
        return None


def told(road: Callable[[], Any]) -> int | None:
    """Return the one bucket at the end of a road, None if it refuses."""
    try:
        [found] = road()
    except DataError:
        return None
    return int(found)


def table_codes(partition: Partition, frame: Any) -> list[int]:
    table = Table.from_frame(frame, Schema((partition.attribute,)))
    return table.generalize(Generalization((partition,)))[:, 0].tolist()


def transformed(partition: Partition, frame: Any, rows: Callable[[Any], Any]) -> list[int]:
    done = Generalization((partition,)).transform(frame, "codes")
    return [row["a"] for row in rows(done)]


def beyond_whole(partition: Partition, value: Any) -> bool:
    """A table has no levels for whole numbers that doubles skip; it says so, and there is no bucket to compare."""
    number = pl.Series([text_of(value)], dtype=pl.String).cast(pl.Float64, strict=False)[0]
    return partition.attribute.integer and number is not None and 2**53 < abs(number) < math.inf


def series_of(value: Any) -> pl.Series | None:
    """Return the value in a typed Polars column; None where Polars has no type for it."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is pd.NA or value is pd.NaT or (isinstance(value, Decimal) and value.is_nan()):
        value = None
    try:
        return pl.Series("a", [value], dtype=pl.String if value is None else None)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return None


@quick
@given(partitions(), anything)
@example(keep(Attribute("a", values=("1", "2"), other=True)), "1.0")
@example(keep(Attribute("a", values=("1", "2"))), "1.0")
@example(keep(Attribute("a", values=("1", "true"))), True)
@example(Intervals(Attribute("a", "continuous", other=True), (0, 1)), None)
def test_every_frame_and_table(partition: Partition, value: Any) -> None:
    expected = bucket(partition, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about what it makes of single values
        objects = pd.DataFrame({"a": pd.Series([value], dtype=object)})
    record = {"a": value}
    generalization = Generalization((partition,))
    assert told(lambda: [generalization.transform(record, "codes")["a"]]) == expected
    assert told(lambda: transformed(partition, objects, lambda done: done.to_dict("records"))) == expected
    if not beyond_whole(partition, value):
        assert told(lambda: table_codes(partition, objects)) == expected
    series = series_of(value)
    if series is None:
        return
    frame = series.to_frame()
    for name, (make, rows) in KINDS.items():
        assert told(lambda: transformed(partition, make(frame), rows)) == expected, name  # noqa: B023
    if not beyond_whole(partition, value):
        for make in (pl.DataFrame.clone, pl.DataFrame.to_pandas, pl.DataFrame.to_arrow, pl.DataFrame.lazy):
            assert told(lambda: table_codes(partition, make(frame))) == expected, make  # noqa: B023
    assert bool(strange_values(frame, partition.attribute)[0]) == (expected is None)


@quick
@given(partitions(), st.lists(anything, min_size=2, max_size=5))
@example(keep(Attribute("a", values=("1", "true"))), [1, True])
@example(keep(Attribute("a", values=("1", "true"))), [True, 1.0])
def test_neighbours_do_not_change_a_value(partition: Partition, values: list[Any]) -> None:
    expected = [bucket(partition, value) for value in values]
    assume(not any(beyond_whole(partition, value) for value in values))
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    for road in (table_codes, lambda p, f: transformed(p, f, lambda done: done.to_dict("records"))):
        if None in expected:
            with pytest.raises(DataError):
                road(partition, frame)
        else:
            assert road(partition, frame) == expected


@settings(quick, max_examples=100)
@given(partitions(), st.lists(texts, min_size=1, max_size=4))
@example(keep(Attribute("a", values=("1", "2"), other=True)), ["1", "1.0", "unknown", "2"])
@example(keep(Attribute("a", values=("1", "2"), other=True)), ["1", "1.0", "2"])
def test_a_file_is_its_texts(tmp_path_factory: pytest.TempPathFactory, partition: Any, values: list[str]) -> None:
    """The table reads a CSV column with types where it has them, the stream reads texts."""
    expected = [bucket(partition, value) for value in values]
    assume(not any(beyond_whole(partition, value) for value in values))
    folder = tmp_path_factory.mktemp("files")
    frame = pl.DataFrame({"a": values, "b": ["x"] * len(values)})
    frame.write_csv(folder / "in.csv", quote_style="non_numeric")
    frame.write_parquet(folder / "in.parquet")
    frame.write_ndjson(folder / "in.ndjson")
    for name in ("in.csv", "in.parquet", "in.ndjson"):
        roads: list[Callable[[], list[int]]] = [
            lambda name=name: table_codes(partition, read_frame(folder / name)),
            lambda name=name: streamed(partition, folder / name),
        ]
        for road in roads:
            if None in expected:
                with pytest.raises(DataError):
                    road()
            else:
                assert road() == expected


def streamed(partition: Partition, source: Path) -> list[int]:
    target = source.with_name("out.parquet")
    apply_file(Generalization((partition,)), source, target, output="codes", overwrite=True)
    return pl.read_parquet(target)["a"].to_list()


def sql_value(value: Any) -> Any:
    """Return a value as a database holds it: none has NaT, numpy's types or Python's decimals."""
    series = series_of(value)
    assume(series is not None and not series.dtype.is_decimal())
    return series


@quick
@given(partitions(), anything)
@example(keep(Attribute("a", values=("1", "2"), other=True)), "1.0")
def test_a_query_is_its_records(partition: Partition, value: Any) -> None:
    check_query("duckdb", engines.duckdb_rows, partition, value)
    if sqlite_has(sql_value(value)[0]):
        check_query("sqlite", engines.sqlite_rows, partition, value)


@quick
@given(partitions(), anything | far)
@example(Intervals(Attribute("a", "continuous"), (0, 1)), "-1e400")
@example(Intervals(Attribute("a", "continuous"), (0, 1)), "9" * 400 + "e-10")
@example(Intervals(Attribute("a", "continuous"), (-1, 0)), "1e-99999")
@example(keep(Attribute("a", values=("inf", "0"))), "1e400")
def test_a_query_of_postgresql_is_its_records(connection: Any, partition: Partition, value: Any) -> None:  # noqa: F811
    """Its casts refuse numbers that no double is near, and tell them."""
    assume(not beyond_63_bits(sql_value(value)[0]))
    check_query("postgresql", partial(engines.postgres_rows, connection), partition, value)


OF_SPARK = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"
)
SPELT = [
    keep(Attribute("a", values=("1", "0", "true", "inf", "1e+16", "01"), missing=True, other=True)),
    Intervals(Attribute("a", "continuous", missing=True, other=True), (0, 1)),
]


@OF_SPARK
@pytest.mark.parametrize("partition", SPELT, ids=["texts", "numbers"])
def test_a_column_of_texts_is_its_records_on_spark(spark: Any, partition: Partition) -> None:
    """What may be another answer is never refused, so that one query and one frame hold every spelling."""
    frame = pl.DataFrame({"a": [*TEXTS, None]})
    expected = [partition.bucket(text, "other") for text in frame["a"]]
    generalization = Generalization((partition,))
    query = engines.query_for(generalization, "spark", frame, output="codes", unknown="other")
    assert [row["a"] for row in engines.spark_rows(spark, query, frame)] == expected
    made = generalization.transform(spark.createDataFrame(frame.rows(), "a string"), "codes", unknown="other")
    assert [row["a"] for row in made.collect()] == expected


@OF_SPARK
@pytest.mark.slow
@settings(quick, max_examples=60)
@given(partitions(), anything)
def test_a_query_of_spark_is_its_records(spark: Any, partition: Partition, value: Any) -> None:
    assume(not beyond_63_bits(sql_value(value)[0]))
    check_query("spark", partial(engines.spark_rows, spark), partition, value)


@pytest.mark.parametrize("partition", SPELT, ids=["texts", "numbers"])
@pytest.mark.parametrize("kind", IN_PROCESS)
def test_a_source_counts_and_draws_its_records(kind: str, partition: Partition, tmp_path: Path) -> None:
    """Records that stay in an engine are read there by the same rule, each spelling as often as it stands."""
    told = [text for text in TEXTS if not (kind == "csv" and text == "")]  # a line that is empty is no record
    frame = pl.DataFrame({"a": [text for i, text in enumerate(told) for _ in range(i % 3 + 1)]})
    g = Generalization((partition,))
    expected = Counter(partition.bucket(text) for text in frame["a"])
    with engine_of(kind, frame, tmp_path) as engine:
        source = Source(engine, g.schema, 0)
        for table in (source.counted(g, None).truth, source.sample(10**6)):
            found: Counter[int] = Counter()
            for code, people in zip(table.generalize(g)[:, 0], table.counts, strict=True):
                found[int(code)] += int(people)
            assert found == expected


def check_query(dialect: str, run: Callable[..., Any], partition: Partition, value: Any) -> None:
    """A query of one record must give its bucket, or refuse it."""
    frame = sql_value(value).to_frame()
    # A query believes that a column holds what it was told; truth values can be told to be texts, not numbers.
    assume(not (partition.attribute.continuous and frame.schema["a"] == pl.Boolean))
    query = engines.query_for(Generalization((partition,)), dialect, frame, output="codes")
    found = run(query, frame)
    assert (None if found == "strange" else found[0]["a"]) == bucket(partition, value), query


def sqlite_has(value: Any) -> bool:
    """SQLite has no truth values, and no integers beyond 63 bits."""
    return not isinstance(value, bool) and not beyond_63_bits(value)


def beyond_63_bits(value: Any) -> bool:
    """Most databases have no such integers."""
    return isinstance(value, int) and value >= 2**63


@quick
@given(partitions(), texts | st.sampled_from([*NUMBERS, True, False, None, math.nan]))
@example(keep(Attribute("a", values=("1", "2"), other=True)), "1.0")
def test_a_browser_is_python(node: Node, partition: Partition, value: Any) -> None:  # noqa: F811
    assume(not (type(value) is int and int(float(value)) != value))  # JavaScript has no such number
    [found] = node.generalize(Generalization((partition,)), [{"a": value}], output="codes")
    assert found.get("record", {}).get("a") == bucket(partition, value)


@pytest.mark.parametrize("other", [True, False])
def test_the_same_column_on_every_road(tmp_path: Path, node: Node, other: bool) -> None:  # noqa: F811
    """1.0 is the value 1, whatever stands beside it; what is unknown is "other", or refused."""
    values = ["1", "1.0", "unknown", "2"] if other else ["1", "1.0", "1e0", "2"]
    expected = [0, 0, 2, 1] if other else [0, 0, 0, 1]
    attribute = Attribute("a", values=("1", "2"), other=other)
    partition = keep(attribute)
    generalization = Generalization((partition,), Attribute("y", values=("1", "2", "unknown")))
    frame = pl.DataFrame({"a": values})
    frame.write_csv(tmp_path / "in.csv")
    assert [partition.bucket(value) for value in values] == expected
    for made in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow(), read_frame(tmp_path / "in.csv")):
        assert table_codes(partition, made) == expected
    for make, rows in KINDS.values():
        assert transformed(partition, make(frame), rows) == expected
    assert streamed(partition, tmp_path / "in.csv") == expected
    for dialect, run in (("duckdb", engines.duckdb_rows), ("sqlite", engines.sqlite_rows)):
        query = engines.query_for(Generalization((partition,)), dialect, frame, output="codes")
        assert [row["a"] for row in run(query, frame)] == expected
    answers = node.generalize(generalization, frame.to_dicts(), output="codes")
    assert [answer["record"]["a"] for answer in answers] == expected
    labels = Table.from_frame(pl.DataFrame({"a": ["1"] * 4, "y": values}), generalization.schema)
    assert labels.y.tolist() == ([0, 0, 2, 1] if other else [0, 0, 0, 1])


def test_groups_may_be_named_by_any_spelling() -> None:
    attribute = Attribute("a", values=("1.0", "2", "True"))
    groups = Groups.of(attribute, [[1, "true"], ["2.0"]])  # type: ignore[list-item]
    assert groups.groups == (("1.0", "True"), ("2",))
    assert [groups.bucket(value) for value in (1, "1", "1.0", 2.0, True, "TRUE")] == [0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("1", "1.0"), "'1.0' is the same as '1'"),
        (("true", "TRUE"), "'TRUE' is the same as 'true'"),
        (("a", "NaN"), "'NaN' stands for no answer"),
        (("a", "a"), "'a' is listed twice"),
    ],
)
def test_a_domain_cannot_part_what_no_record_parts(values: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Attribute("a", values=values)


@settings(quick, max_examples=500)
@given(texts)
def test_polars_reads_no_number_that_the_rule_does_not(text: str) -> None:
    """The fast path of frames trusts the cast of Polars, which is not ours."""
    [number] = pl.Series([text]).cast(pl.Float64, strict=False)
    assert number is None or np.array_equal(number, as_number(text), equal_nan=True)


@pytest.mark.parametrize(
    "partition",
    [
        Intervals(Attribute("a", "continuous"), (0.1,)),
        Groups(Attribute("a", values=("0.1", "1"), other=True), (0, 1, 2)),
    ],
)
def test_a_short_float_is_the_number_that_it_is(partition: Partition) -> None:
    """float32(0.1) lies above 0.1: no road may round it to the decimals that it was written with."""
    g = Generalization((partition,))
    short = np.asarray([0.1, 1.0], dtype=np.float32)
    frames = [pl.DataFrame({"a": short}), pl.DataFrame({"a": short}).lazy(), pd.DataFrame({"a": short})]
    frames += [pl.DataFrame({"a": short}).to_arrow(), pd.DataFrame({"a": pd.array(short, dtype="Float32")})]
    expected = Table.from_frame(frames[0], g.schema).generalize(g)[:, 0].tolist()
    for frame in frames:
        found = g.transform(frame, "codes")
        found = found.collect() if isinstance(found, pl.LazyFrame) else found
        assert list(map(int, found["a"].to_pylist() if hasattr(found, "to_pydict") else found["a"])) == expected
    records = [g.transform({"a": value}, "codes")["a"] for value in short]
    assert records == expected


PERIODS = pd.period_range("2020-01", periods=2, freq="M")
MONTH = keep(Attribute("a", values=("2020-01", "2020-02"), other=True))
SEVERAL = {
    "lists": [[1], [2]],
    "tuples": [(1,), (2,)],
    "arrays": [np.array([1]), np.array([2])],
    "mappings": [{"b": 1}, {"b": 2}],
    "bytes": [b"1", b"2"],
}


@pytest.mark.parametrize("values", SEVERAL.values(), ids=SEVERAL.keys())
@pytest.mark.parametrize("attribute", [MONTH.attribute, Attribute("a", "continuous", other=True)], ids=["t", "n"])
def test_what_is_not_one_value_is_refused_on_every_road_and_is_no_other(attribute: Attribute, values: Any) -> None:
    partition = keep(attribute)
    made = pl.Series("a", values)
    frames = [pd.DataFrame({"a": pd.Series(values, dtype=object)}), made.to_frame(), made.to_frame().to_arrow()]
    roads = [lambda: Generalization((partition,)).transform({"a": values[0]})]
    roads += [lambda frame=frame: table_codes(partition, frame) for frame in frames]
    roads += [lambda frame=frame: transformed(partition, frame, lambda done: done) for frame in frames]
    for road in roads:
        with pytest.raises(DataError, match=r"a: .*each value must be one text or number"):
            road()
    labelled = Generalization((MONTH,), Attribute("y", values=("1", "2")))
    with pytest.raises(DataError, match=r"y: .*each value must be one text or number"):
        labelled.transform({"a": "2020-01", "y": values[0]}, keep=["y"])


@pytest.mark.parametrize("values", [PERIODS, pd.Series([*PERIODS], dtype=object)], ids=["typed", "objects"])
def test_a_period_is_its_text_on_every_road(values: Any) -> None:
    frame = pd.DataFrame({"a": values})
    assert table_codes(MONTH, frame) == [0, 1]
    assert Generalization((MONTH,)).transform(frame, "codes")["a"].tolist() == [0, 1]
    assert MONTH.bucket(PERIODS[1]) == 1
