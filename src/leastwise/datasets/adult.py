"""UCI Adult: a census sample of 1994, predicting an income above 50,000 dollars. Comes with the package."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from leastwise.datasets.base import Dataset, Declaration, check_file, declared_schema, reading
from leastwise.errors import DataError

BUNDLED = Path(__file__).parent / "files" / "adult.parquet"
ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
SCHEMA = declared_schema("adult")


def read(place: Path) -> pl.DataFrame:
    """Read the bundled Parquet file, adult.data, adult.test, or a folder with both."""
    if place.suffix == ".parquet":
        return pl.read_parquet(place)
    if place.is_dir():
        parts = [place / name for name in ("adult.data", "adult.test") if (place / name).is_file()]
        return pl.concat([_read_part(part) for part in parts or [check_file(place, ["adult.data"])]])
    return _read_part(check_file(place))


def _read_part(place: Path) -> pl.DataFrame:
    # Fields are separated by ", "; adult.test opens with a comment line and ends its labels with a full stop.
    lines = place.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [
        [field.strip() for field in line.split(",")] for line in lines if line.strip() and not line.startswith("|")
    ]
    for i, row in enumerate(rows, start=1):
        if len(row) != len(COLUMNS):
            raise DataError(f"{place.name}: record {i} must have {len(COLUMNS)} fields; got {len(row)}")
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    known = pl.all().exclude("income").replace("?", None)
    with reading(place, "must hold whole numbers where adult.names says so"):
        frame = frame.with_columns(known, pl.col("income").str.strip_suffix("."))
        return frame.with_columns(pl.col(NUMBERS).cast(pl.Int64))


ADULT = Declaration(
    name="adult",
    title="UCI Adult: income above 50,000 dollars, US 1994",
    attributes=SCHEMA.attributes,
    label=SCHEMA.label,
    read=read,
    family="adult",
    source="comes with leastwise (the original: leastwise datasets get adult -o FOLDER)",
    addresses=lambda: {name: ADDRESS + name for name in ("adult.data", "adult.test")},
    bundled=BUNDLED,
)


def load_adult() -> Dataset:
    """Return UCI Adult, from the copy that comes with the package.

    Examples
    --------
    >>> adult = load_adult()
    >>> adult
    Dataset('adult', 48,842 records, 12 attributes, 8 personal)
    >>> adult.schema["education"].values[-1]
    'Doctorate'
    """
    return ADULT.load()
