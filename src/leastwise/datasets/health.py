"""Heritage Health Prize: records are a member's year, predicting a Charlson index above 0.

Read from the official tables (Claims, DrugCount, LabCount and Members of HHP_release3.zip), or from the well-known
table of member-years that was made of them with the columns pcg1, sp1, pg1, ps1 and so on.
"""

from __future__ import annotations

import zipfile
from dataclasses import replace
from functools import reduce
from pathlib import Path

import polars as pl

from leastwise.datasets.base import Declaration, check_columns, coded, number, reading
from leastwise.errors import DataError, shorten
from leastwise.schema import Attribute

ARCHIVE = "HHP_release3.zip"
TARGET = "Charlson>0"
YEAR = ["MemberID", "Year"]

# In the order of the member-year table: its column pcg17 counts COPD. "missing" counts claims that name none.
GROUPS = {
    "PCG": [
        "MSC2a3", "METAB3", "ARTHSPIN", "NEUMENT", "RESPR4", "MISCHRT", "SKNAUT", "GIBLEED", "INFEC4", "TRAUMA",
        "HEART2", "RENAL3", "ROAMI", "MISCL5", "ODaBNCA", "UTI", "COPD", "GYNEC1", "CANCRB", "FXDISLC", "AMI",
        "PRGNCY", "HEMTOL", "HEART4", "SEIZURE", "APPCHOL", "CHF", "GYNECA", "missing", "PNEUM", "RENAL2",
        "GIOBSENT", "STROKE", "CANCRA", "FLaELEC", "MISCL1", "HIPFX", "METAB1", "PERVALV", "LIVERDZ", "CATAST",
        "CANCRM", "PERINTL", "PNCRDZ", "RENAL1", "SEPSIS",
    ],
    "Specialty": [
        "Internal", "Laboratory", "General Practice", "Surgery", "Diagnostic Imaging", "Emergency", "Other",
        "Pediatrics", "Rehabilitation", "Obstetrics and Gynecology", "Anesthesiology", "Pathology", "missing",
    ],
    "PG": [
        "EM", "PL", "MED", "SCS", "RAD", "SDS", "SIS", "SMS", "ANES", "SGS", "SEOA", "SRS", "SNS", "SAS", "SUS",
        "missing", "SMCD", "SO",
    ],
    "PlaceSvc": [
        "Office", "Independent Lab", "Urgent Care", "Outpatient Hospital", "Inpatient Hospital", "Ambulance",
        "Other", "Home", "missing",
    ],
}  # fmt: skip
IN_CLAIMS = {
    "PCG": "PrimaryConditionGroup",
    "Specialty": "Specialty",
    "PG": "ProcedureGroup",
    "PlaceSvc": "PlaceSvc",
}
IN_MEMBER_YEARS = {"PCG": "pcg", "Specialty": "sp", "PG": "pg", "PlaceSvc": "ps"}
PARTIES = (("ProviderID", "Providers"), ("Vendor", "Vendors"), ("PCP", "PCPs"))
CLAIMS = [*YEAR, "PayDelay", "CharlsonIndex", *IN_CLAIMS.values(), "ProviderID", "Vendor", "PCP"]
OLD = ("60-69", "70-79", "80+")

COUNTS = (
    "LabCount_total", "LabCount_months", "DrugCount_total", "DrugCount_months", "no_Claims", "no_Providers",
    "no_Vendors", "no_PCPs", "PayDelay_total", "PayDelay_max", "PayDelay_min",
)  # fmt: skip
PRUNED = (
    "DrugCount_total", "DrugCount_months", "no_Claims", "no_Providers", "PayDelay_total", "PCG=COPD", "PCG=METAB3",
    "Specialty=Internal", "PG=EM", "PG=SCS", "PlaceSvc=Office", "AGE>60",
)  # fmt: skip
PERSONAL = (
    "PCG=CANCRM", "PCG=COPD", "PCG=METAB3", "PCG=PRGNCY", "Specialty=Internal", "PG=EM", "PG=SCS",
    "PlaceSvc=Office",
)  # fmt: skip
BOUNDS = {"LabCount_months": 12, "DrugCount_months": 12, "PayDelay_max": 162, "PayDelay_min": 162}


def read(place: Path) -> pl.DataFrame:
    """Read the official archive, a folder with its tables, or the table of member-years (csv or Parquet)."""
    if place.is_dir() or zipfile.is_zipfile(place):
        with reading(place, "must hold the tables of the Heritage Health Prize, with whole numbers"):
            return _member_years(place)
    if not place.is_file():
        raise DataError(
            f"there is no file {shorten(str(place))}; give HHP_release3.zip or the folder it unpacks to"
        )
    return _from_member_years(place)


def _from_member_years(place: Path) -> pl.DataFrame:
    with reading(place, "must be a table of member-years, csv or Parquet"):
        frame = pl.read_parquet(place) if place.suffix == ".parquet" else pl.read_csv(place)
    check_columns(frame.columns, ["CharlsonIndexI_max", "drugCount_ave", "pcg1", "sp1", "pg1", "ps1"], place)
    names = {
        f"{IN_MEMBER_YEARS[group]}{i}": f"{group}={value}"
        for group, values in GROUPS.items()
        for i, value in enumerate(values, start=1)
    }
    return frame.select(
        # The table has averages in place of totals; that of the payment delay was cut to a whole number.
        _total("labCount_ave", "labcount_months").alias("LabCount_total"),
        pl.col("labcount_months").alias("LabCount_months"),
        _total("drugCount_ave", "drugcount_months").alias("DrugCount_total"),
        pl.col("drugcount_months").alias("DrugCount_months"),
        pl.col("no_Claims", "no_Providers", "no_Vendors", "no_PCPs"),
        _total("PayDelay_ave", "no_Claims").alias("PayDelay_total"),
        pl.col("PayDelay_max", "PayDelay_min"),
        *(pl.col(old).alias(new) for old, new in names.items()),
        pl.max_horizontal("age_65", "age_75", "age_85").alias("AGE>60"),
        pl.col("sexFEMALE").alias("Sex=F"),
        pl.col("sexMALE").alias("Sex=M"),
        pl.col("sexMISS").alias("Sex=missing"),
        (pl.col("CharlsonIndexI_max") > 0).cast(pl.Int8).alias(TARGET),
    )


def _total(average: str, times: str) -> pl.Expr:
    return (pl.col(average) * pl.col(times)).round().cast(pl.Int64)


def _member_years(place: Path) -> pl.DataFrame:
    claims = _claims(_table(place, "Claims.csv", CLAIMS))
    drugs = _monthly(_table(place, "DrugCount.csv", [*YEAR, "DrugCount"]), "DrugCount")
    labs = _monthly(_table(place, "LabCount.csv", [*YEAR, "LabCount"]), "LabCount")
    years = reduce(lambda a, b: a.join(b, on=YEAR, how="full", coalesce=True), (labs, drugs, claims))
    sex = pl.col("Sex").fill_null("missing")
    members = _table(place, "Members.csv", ["MemberID", "AgeAtFirstClaim", "Sex"]).select(
        "MemberID",
        pl.col("AgeAtFirstClaim").is_in(OLD).fill_null(False).cast(pl.Int8).alias("AGE>60"),
        *(sex.eq(value).cast(pl.Int8).alias(f"Sex={value}") for value in ("F", "M", "missing")),
    )
    frame = years.join(members, on="MemberID", how="full", coalesce=True)
    # Sorted, because a join promises no order; then who it was is forgotten.
    return frame.sort(YEAR, nulls_last=True).drop(YEAR).fill_null(0)


def _table(place: Path, name: str, columns: list[str]) -> pl.DataFrame:
    try:
        if place.is_dir():
            frame = pl.read_csv(place / name, infer_schema=False)
        else:
            with zipfile.ZipFile(place) as archive:
                inside = next((n for n in archive.namelist() if Path(n).name == name), name)
                frame = pl.read_csv(archive.read(inside), infer_schema=False)
    except (OSError, KeyError, pl.exceptions.PolarsError):
        raise DataError(
            f"{shorten(str(place))} must hold {name} of the Heritage Health Prize; it does not"
        ) from None
    check_columns(frame.columns, columns, Path(name))
    return frame


def _claims(claims: pl.DataFrame) -> pl.DataFrame:
    _check_groups(claims)
    delay = _whole("PayDelay")
    counts = [
        pl.col(IN_CLAIMS[group]).fill_null("missing").eq(value).sum().cast(pl.Int64).alias(f"{group}={value}")
        for group, values in GROUPS.items()
        for value in values
    ]
    return claims.group_by(YEAR).agg(
        pl.len().cast(pl.Int64).alias("no_Claims"),
        *(pl.col(name).drop_nulls().n_unique().cast(pl.Int64).alias(f"no_{plural}") for name, plural in PARTIES),
        delay.sum().alias("PayDelay_total"),
        delay.max().alias("PayDelay_max"),
        delay.min().alias("PayDelay_min"),
        *counts,
        pl.col("CharlsonIndex").ne("0").any().cast(pl.Int8).alias(TARGET),
    )


def _check_groups(claims: pl.DataFrame) -> None:
    for group, column in IN_CLAIMS.items():
        unknown = set(claims[column].drop_nulls().unique()) - set(GROUPS[group])
        if unknown:
            raise DataError(f"Claims.csv: {column} {shorten(min(unknown))} is not known; is it release 3?")


def _whole(column: str) -> pl.Expr:
    """Read "162+" as 162: the top code of a count."""
    return pl.col(column).str.strip_suffix("+").cast(pl.Int64)


def _monthly(table: pl.DataFrame, name: str) -> pl.DataFrame:
    months = pl.len().cast(pl.Int64).alias(f"{name}_months")
    return table.group_by(YEAR).agg(_whole(name).sum().alias(f"{name}_total"), months)


def _attributes() -> tuple[Attribute, ...]:
    counts = [number(name, lower=0, upper=BOUNDS.get(name)) for name in COUNTS]
    groups = [
        number(name, f"How many claims of the year had {name}?", lower=0, personal=name in PERSONAL)
        for name in (f"{group}={value}" for group, values in GROUPS.items() for value in values)
    ]
    yes_no = {"0": "no", "1": "yes"}
    age = coded("AGE>60", yes_no, "Are you 60 or older?", personal=False)
    sexes = [
        coded(f"Sex={value}", yes_no, f"Is your sex {value}?", personal=False) for value in ("F", "M", "missing")
    ]
    return (*counts, *groups, age, *sexes)


def _declare(name: str, title: str, attributes: tuple[Attribute, ...]) -> Declaration:
    return Declaration(
        name=name,
        title=title,
        attributes=attributes,
        label=Attribute(TARGET, values=("0", "1"), labels=("index 0", "index above 0")),
        read=read,
        family="health",
        source=f"leastwise datasets get {name} -o FOLDER",
        addresses=lambda: {ARCHIVE: f"https://foreverdata.org/1015/content/{ARCHIVE}"},
    )


def _pruned() -> tuple[Attribute, ...]:
    known = {attribute.name: attribute for attribute in _attributes()}
    return tuple(replace(known[name], personal=name in PRUNED[-6:]) for name in PRUNED)


HEALTH = _declare("health", "Heritage Health Prize, 101 attributes: Charlson index above 0", _attributes())
HEALTH_PRUNED = _declare(
    "health-pruned", "Heritage Health Prize, 12 attributes: Charlson index above 0", _pruned()
)
