"""Lending Club: loans of one year that have come to an end, predicting whether they were paid back."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from leastwise.datasets.base import Declaration, check_columns, check_file, declared_schema, reading
from leastwise.validation import check_between

FILES = ("accepted_2007_to_2018Q4.csv.gz", "accepted_2007_to_2018Q4.csv")
STATUS = {"Fully Paid": "0", "Charged Off": "1", "Default": "1"}
SCHEMA = declared_schema("loan")


def read(place: Path, year: int = 2015) -> pl.DataFrame:
    """Read the ended loans that were issued in a year from the file of accepted loans (csv or csv.gz)."""
    check_between("year", year, 2007, 2018)
    file = check_file(place, FILES)
    with reading(file, "is not the file of accepted loans"):
        table = pl.scan_csv(file, infer_schema=False, truncate_ragged_lines=True, glob=False)
        check_columns(table.collect_schema().names(), [*SCHEMA.names, "loan_status"], file)
        ended = pl.col("issue_d").str.ends_with(f"-{year}") & pl.col("loan_status").is_in(list(STATUS))
        return table.filter(ended).select(_columns()).collect()


def _columns() -> list[pl.Expr]:
    numbers = [attribute.name for attribute in SCHEMA.attributes if attribute.continuous]
    others = [attribute.name for attribute in SCHEMA.attributes if not attribute.continuous]
    return [
        # "n/a" is how older releases write a missing employment length.
        pl.col(others).exclude("issue_d").str.strip_chars().replace("n/a", None),
        pl.col("issue_d").str.slice(0, 3),
        pl.col(numbers).str.strip_chars(" %").replace("", None).cast(pl.Float64),
        pl.col("loan_status").replace(STATUS).cast(pl.Int8),
    ]


LOAN = Declaration(
    name="loan",
    title="Lending Club 2015: loan paid back or charged off",
    attributes=SCHEMA.attributes,
    label=SCHEMA.label,
    read=read,
    family="loan",
    source="download accepted_2007_to_2018Q4.csv.gz from kaggle.com/datasets/wordsforthewise/lending-club (it "
    "needs an account)",
)
