"""The measuring files: real records in the folder LEASTWISE_DATA, each with its declared schema.

Personal attributes, dropped columns and domains are written down here once, for every benchmark. Numbers have
the bounds of their codebook or none, never those of the records.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from leastwise.datasets import Dataset, load_adult
from leastwise.datasets.acs import ACS_EMPLOYMENT, ACS_INCOME, ACS_PUBLIC_COVERAGE
from leastwise.datasets.base import Declaration, coded
from leastwise.schema import Attribute

BINARY = ("0", "1")


def folder() -> Path:
    """Return the folder of the measuring files; without one, say so and end in peace."""
    named = os.environ.get("LEASTWISE_DATA")
    if not named:
        print("skipped: set LEASTWISE_DATA to the folder with the measuring files")
        sys.exit(0)
    return Path(named)


def read(name: str) -> pl.DataFrame:
    return pl.read_parquet(folder() / f"{name}.parquet")


def declared(name: str, like: Declaration, label: str, *more: Attribute, **changed: Attribute) -> Dataset:
    """Return a file declared like a data set of the package, its label under another name."""
    attributes = (*(changed.get(attribute.name, attribute) for attribute in like.attributes), *more)
    task = replace(like, attributes=attributes, label=replace(like.label, name=label))
    # These files write -1 for "not applicable".
    codes = pl.col(pl.Int8, pl.Int16, pl.Int32, pl.Int64).exclude("PINCP", label)
    return task.dataset(read(name).with_columns(codes.replace(-1, None), pl.col(label).cast(pl.Int8)), name)


def adult() -> Dataset:
    return replace(load_adult(), frame=read("adult"))


def acs_income_co_2018() -> Dataset:
    return declared("acs_income_co_2018", ACS_INCOME, "PINCP")


def acs_income_ny_2024() -> Dataset:
    return declared("acs_income_ny_2024", ACS_INCOME, "label")


def acs_employment_ny_2024() -> Dataset:
    return declared("acs_employment_ny_2024", ACS_EMPLOYMENT, "label", coded("MIG_PROXY", BINARY))


def acs_coverage_ny_2024() -> Dataset:
    return declared("acs_coverage_ny_2024", ACS_PUBLIC_COVERAGE, "label", coded("MIG_PROXY", BINARY))


def acs_income_51states_2018_coarse() -> Dataset:
    # MAR and RAC1P are coarse here, and nobody wrote down what their codes mean. The state is not personal.
    return declared(
        "acs_income_51states_2018_coarse",
        ACS_INCOME,
        "PINCP",
        Attribute("STATE", other=True),
        MAR=coded("MAR", ("1", "2")),
        RAC1P=coded("RAC1P", map(str, range(1, 6))),
    )


LOADERS: dict[str, Callable[[], Dataset]] = {
    loader.__name__: loader
    for loader in (
        adult,
        acs_income_co_2018,
        acs_income_ny_2024,
        acs_employment_ny_2024,
        acs_coverage_ny_2024,
        acs_income_51states_2018_coarse,
    )
}


def load(name: str) -> Dataset:
    """Return a measuring file by name."""
    if name not in LOADERS:
        raise SystemExit(f"there is no measuring file {name!r}; there are: {', '.join(LOADERS)}")
    return LOADERS[name]()


if __name__ == "__main__":
    for measured in LOADERS:
        print(load(measured))
