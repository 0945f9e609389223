"""The exported query on Spark; it needs Java."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from leastwise import Generalization, ParameterError
from leastwise.exports import to_sql
from tests.apply.cases import generalized_columns
from tests.exports import engines
from tests.exports.engines import expected, query_for, same
from tests.exports.test_sql import CASES, HOSTILE, OUTPUTS, UNKNOWN, G, check, hostile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"),
]


@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(generalized_columns(strange=True) | generalized_columns(), OUTPUTS, UNKNOWN)
def test_hypothesis_made_records(spark: Any, drawn: Any, output: str, unknown: str) -> None:
    check(drawn, "spark", output, unknown, lambda query, frame: engines.spark_rows(spark, query, frame))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_conformance(spark: Any, case: dict[str, Any]) -> None:
    g = Generalization.from_json(json.dumps(case["generalization"]))
    for record in case["records"]:
        if set(g.collected) <= set(record):
            frame = pl.DataFrame([record])
            query = query_for(g, "spark", frame, unknown=case["unknown"])
            found = engines.spark_rows(spark, query, frame)
            assert same(found) == expected(g, frame, "labels", case["unknown"]), record


def test_hostile_names_and_values_stay_what_they_are(spark: Any) -> None:
    names = [name for name in HOSTILE if "${" not in name]
    g = Generalization(tuple(hostile()[name] for name in names))
    frame = pl.DataFrame(dict.fromkeys(names, HOSTILE))
    found = engines.spark_rows(spark, query_for(g, "spark", frame), frame)
    assert same(found) == expected(g, frame, "labels", "error")


def test_a_name_that_spark_would_replace_is_refused() -> None:
    with pytest.raises(ParameterError, match="rename"):
        to_sql(hostile(), "spark")


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_text_in_a_column_of_numbers_is_never_missing_by_chance(spark: Any, ansi: str) -> None:
    """Outside ANSI mode Spark makes what it cannot read null, and null would be a missing answer."""
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        frame = pl.DataFrame({"age": ["abc"], "job": ["cook"]})
        assert engines.spark_rows(spark, to_sql(G, "spark", unknown="error"), frame) == "strange"
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
