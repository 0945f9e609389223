"""Three prediction tasks on the American Community Survey, with the columns and filters of folktables.

The records are the person files of the Public Use Microdata Sample (PUMS): csv_pca.zip, or psam_p06.csv inside it
(ss14pca.csv until 2016).
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from leastwise.datasets.base import Declaration, check_columns, check_file, declared_schema, reading
from leastwise.datasets.download import copy_limited
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.schema import Attribute
from leastwise.validation import check_between, check_choice

ADDRESS = "https://www2.census.gov/programs-surveys/acs/data/pums"
SOURCE = "leastwise datasets get {name} --state CA --year 2018 -o FOLDER"
RENAMED = {"RELP": "RELSHIPP", "ST": "STATE"}
LARGEST_FILE = 16 * 1024**3

CODEBOOK = {attribute.name: attribute for attribute in declared_schema("acs").attributes}
STATE_CODES = {state: int(code) for code, state in zip(CODEBOOK["ST"].values, CODEBOOK["ST"].labels, strict=True)}

INCOME = ("AGEP", "COW", "SCHL", "MAR", "OCCP", "POBP", "RELP", "WKHP", "SEX", "RAC1P")
EMPLOYMENT = (
    "AGEP", "SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM",
    "SEX", "RAC1P",
)  # fmt: skip
PUBLIC_COVERAGE = (
    "AGEP", "SCHL", "MAR", "SEX", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM",
    "PINCP", "ESR", "ST", "FER", "RAC1P",
)  # fmt: skip


def find_file(place: Path, state: str | None, year: int | None) -> Path:
    """Return the person file at a path; in a folder, that of a state and year (folktables' layout)."""
    if place.is_file():
        return place
    if not place.is_dir():
        raise DataError(f"there is no file {shorten(str(place))}; get it so: {SOURCE.format(name='acs-income')}")
    code, short_year = _state(state), _year(year) % 100
    names = [f"csv_p{code}.zip", f"psam_p{STATE_CODES[code.upper()]:02}.csv", f"ss{short_year:02}p{code}.csv"]
    inner = place / str(year) / "1-Year"
    return check_file(inner if inner.is_dir() else place, names)


def _state(state: str | None) -> str:
    if state is None:
        raise ParameterError("say which state: --state CA, or state='CA'")
    return check_choice("state", state.upper(), STATE_CODES).lower()


def _year(year: int | None) -> int:
    if year is None:
        raise ParameterError("say which year: --year 2018, or year=2018")
    return check_between("year", year, 2014, 2100)


def read_persons(place: Path, columns: Sequence[str]) -> pl.DataFrame:
    """Read columns of a person file, csv or zip, as whole numbers; blanks are null."""
    with ExitStack() as stack:
        tables = [place]
        if zipfile.is_zipfile(place):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="leastwise-")))
            tables = _unpack(place, folder)
        return pl.concat([_read_table(table, columns) for table in tables])


def _unpack(place: Path, folder: Path) -> list[Path]:
    """Unpack the tables of an archive into a folder; only the last part of their names is believed."""
    try:
        with zipfile.ZipFile(place) as archive:
            inside = [info for info in archive.infolist() if info.filename.lower().endswith(".csv")]
            tables = [folder / str(i) / Path(info.filename).name for i, info in enumerate(inside)]
            for info, table in zip(inside, tables, strict=True):
                table.parent.mkdir()
                with archive.open(info) as source, table.open("wb") as target:
                    copy_limited(source, target, LARGEST_FILE)
    except (zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{place.name} is damaged ({error}); download it again") from None
    if not tables:
        raise DataError(f"{place.name} holds no csv file, so it is not a PUMS person file")
    return tables


def _read_table(place: Path, columns: Sequence[str]) -> pl.DataFrame:
    with reading(place, "is not a PUMS person file"):
        table = pl.scan_csv(place, infer_schema=False, glob=False)
        present = table.collect_schema().names()
    names = {name: _name_in_file(name, present) for name in columns}
    check_columns(present, names.values(), place)
    # RELSHIPP has codes of its own and keeps its name; STATE is ST under another name.
    wanted = [pl.col(column).alias("ST" if name == "ST" else column) for name, column in names.items()]
    with reading(place, "must hold whole numbers"):
        numbers = pl.all().str.strip_chars().replace("", None).cast(pl.Int32)
        return table.select(wanted).select(numbers).collect()


def _name_in_file(name: str, present: Sequence[str]) -> str:
    renamed = RENAMED.get(name, name)
    return renamed if name not in present and renamed in present else name


def _declare(
    name: str,
    title: str,
    columns: Sequence[str],
    label: Attribute,
    positive: pl.Expr,
    keep: pl.Expr,
    domains: dict[str, Attribute] | None = None,
) -> Declaration:
    """Declare a task: its columns, when its label is 1, and which records it keeps."""
    needed = dict.fromkeys([*columns, *positive.meta.root_names(), *keep.meta.root_names()])

    def read(place: Path, state: str | None = None, year: int | None = None) -> pl.DataFrame:
        persons = read_persons(find_file(place, state, year), list(needed)).filter(keep)
        present = [name if name in persons.columns else RENAMED[name] for name in columns]
        # Nobody is of the positive class by leaving an answer out.
        return persons.select(*present, positive.fill_null(False).cast(pl.Int8).alias(label.name))

    codebook = CODEBOOK | (domains or {})
    listed = [c for column in columns for c in (column, RENAMED.get(column, column)) if c in codebook]
    return Declaration(
        name=name,
        title=title,
        attributes=tuple(codebook[c] for c in dict.fromkeys(listed)),
        label=label,
        read=read,
        family="acs",
        source=SOURCE.format(name=name),
        addresses=addresses,
    )


def addresses(state: str | None = None, year: int | None = None) -> dict[str, str]:
    """Return where the Census Bureau publishes the person file of a state and year (1-Year sample)."""
    file, inner = f"csv_p{_state(state)}.zip", f"{_year(year)}/1-Year"
    return {f"{inner}/{file}": f"{ADDRESS}/{inner}/{file}"}


ACS_INCOME = _declare(
    "acs-income",
    "ACSIncome (folktables): income above 50,000 dollars",
    INCOME,
    Attribute("PINCP", values=("0", "1"), labels=("up to 50,000 dollars", "above 50,000 dollars")),
    pl.col("PINCP") > 50_000,
    (pl.col("AGEP") > 16) & (pl.col("PINCP") > 100) & (pl.col("WKHP") > 0) & (pl.col("PWGTP") >= 1),
    {"AGEP": replace(CODEBOOK["AGEP"], lower=17), "SCHL": replace(CODEBOOK["SCHL"], missing=False)},
)
ACS_EMPLOYMENT = _declare(
    "acs-employment",
    "ACSEmployment (folktables): employed or not",
    EMPLOYMENT,
    Attribute("ESR", values=("0", "1"), labels=("not employed", "civilian employed, at work")),
    pl.col("ESR") == 1,
    pl.lit(True),
)
ACS_PUBLIC_COVERAGE = _declare(
    "acs-public-coverage",
    "ACSPublicCoverage (folktables): public health insurance",
    PUBLIC_COVERAGE,
    Attribute("PUBCOV", values=("0", "1"), labels=("without public coverage", "with public health coverage")),
    pl.col("PUBCOV") == 1,
    (pl.col("AGEP") < 65) & (pl.col("PINCP") <= 30_000),
    {
        "AGEP": replace(CODEBOOK["AGEP"], upper=64),
        "SCHL": replace(CODEBOOK["SCHL"], missing=False),
        "PINCP": replace(CODEBOOK["PINCP"], upper=30_000),
    },
)
