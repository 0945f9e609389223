"""PySpark data frames; they need Java."""

from __future__ import annotations

import math
from typing import Any

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, UnknownValueError, Untouched
from leastwise.partition import keep, suppress
from tests.apply.cases import comparable

G = Generalization(
    (
        Intervals(Attribute("age", "continuous", lower=0, integer=True, missing=True, other=True), (19, 63)),
        Groups.of(Attribute("code", values=("1", "2", "10"), missing=True), [["1", "2"], ["10", None]]),
        Untouched(Attribute("pay", "continuous", missing=True)),
        suppress(Attribute("sex", values=("f", "m"))),
    )
)
COLUMNS = "age int, code string, pay double, sex string, y long"
ROWS = [
    (0, "1", 0.5, "f", 1),
    (19, "2.0", 1e300, "x", 2),
    (20, "10", math.inf, None, 3),
    (64, None, math.nan, "m", 4),
    (None, "", None, "m", 5),
    (63, "1", 12345678.25, "m", 6),
    (63, "1", -7.0, "m", 7),
    (5, "1e0", -0.0, "m", 8),
    (5, "NaN", 0.1, "m", 9),
]
SPELLED = ["1", "1.0", "+1", "1e0", " 1", "01", "1_000", "0x1", "１", "-0", "TRUE", "NaN", "inf", "1e16",
           "10000000000000000", "9007199254740993", "9" * 30, "", None]  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
def test_a_spark_frame_is_its_records(spark: Any) -> None:
    from pyspark.sql import DataFrame

    frame = spark.createDataFrame(ROWS, COLUMNS)
    records = [row.asDict() for row in frame.collect()]
    for output in ("labels", "codes", "representative"):
        done = G.transform(frame, output)
        assert isinstance(done, DataFrame)
        expected = [G.transform(record, output) for record in records]
        assert comparable([row.asDict() for row in done.collect()]) == comparable(expected)
    for attribute in (
        Attribute("a", values=("1", "0", "true", "inf", "1e+16"), missing=True, other=True),
        Attribute("a", "continuous", missing=True, other=True),
    ):
        partition = keep(attribute) if attribute.values else Intervals(attribute, (0, 1))
        spelled = spark.createDataFrame([(text,) for text in SPELLED], "a string")
        codes = Generalization((partition,)).transform(spelled, "codes", unknown="other").collect()
        assert [row["a"] for row in codes] == [partition.bucket(text, "other") for text in SPELLED]
    strange = spark.createDataFrame([(-1, "1", 1.0, "f", 1)], COLUMNS)
    with pytest.raises(UnknownValueError, match="age: -1 is not in the declared domain"):
        G.transform(strange, unknown="error")
    assert G.transform(strange, unknown="other").collect()[0]["age"] == "other"
