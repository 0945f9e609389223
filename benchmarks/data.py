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
from leastwise.datasets.acs import ACS_EMPLOYMENT, ACS_INCOME, ACS_PUBLIC_COVERAGE, CODEBOOK
from leastwise.datasets.base import Declaration, coded, number, with_domain
from leastwise.datasets.crime import CRIME
from leastwise.datasets.health import HEALTH, HEALTH_PRUNED
from leastwise.datasets.loan import SCHEMA as LOAN
from leastwise.schema import Attribute, Schema

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


def health() -> Dataset:
    return replace(HEALTH.load(folder() / "health.parquet"), name="health")


def health_pruned() -> Dataset:
    return replace(HEALTH_PRUNED.load(folder() / "health.parquet"), name="health_pruned")


def communities() -> Dataset:
    """The four race percentages and the state are personal."""
    return replace(CRIME.load(folder() / "communities.data", race="percentages"), name="communities")


def communities_majority() -> Dataset:
    """As in the paper: one attribute in place of the four percentages."""
    return replace(CRIME.load(folder() / "communities.data"), name="communities_majority")


# What is known when the loan is made. Left out: emp_title (free text); balance and paid_* (they tell the outcome);
# the joint applicant's figures (missing for most) and num_accounts_120d_past_due (always 0).
LENDING_PERSONAL = (
    Attribute(
        "emp_length",
        "ordinal",
        [str(i) for i in range(11)],
        labels=LOAN["emp_length"].values,
        missing=True,
        personal=True,
    ),
    coded("state", LOAN["addr_state"].values),
    coded("homeownership", ("MORTGAGE", "RENT", "OWN")),
    coded("verified_income", ("Not Verified", "Source Verified", "Verified")),
    coded("loan_purpose", (), other=True),
    coded("application_type", ("individual", "joint")),
    Attribute("term", "ordinal", ("36", "60"), personal=True, unit="months"),
    Attribute("grade", "ordinal", LOAN["grade"].values, personal=True),
    Attribute("sub_grade", "ordinal", LOAN["sub_grade"].values, personal=True),
    Attribute("issue_month", "ordinal", ("Jan-2018", "Feb-2018", "Mar-2018"), personal=True),
    coded("initial_listing_status", ("whole", "fractional")),
    coded("disbursement_method", ("Cash", "DirectPay")),
)
LENDING_COUNTS = [
    "delinq_2y", "earliest_credit_line", "inquiries_last_12m", "total_credit_lines", "open_credit_lines",
    "num_collections_last_12m", "num_historical_failed_to_pay", "current_accounts_delinq",
    "current_installment_accounts", "accounts_opened_24m", "num_satisfactory_accounts",
    "num_accounts_30d_past_due", "num_active_debit_accounts", "num_total_cc_accounts", "num_open_cc_accounts",
    "num_cc_carrying_balance", "num_mort_accounts", "tax_liens", "public_record_bankrupt",
]  # fmt: skip
LENDING_AMOUNTS = [
    "annual_income", "debt_to_income", "total_credit_limit", "total_credit_utilized",
    "total_collection_amount_ever", "total_debit_limit", "account_never_delinq_percent", "loan_amount",
    "interest_rate", "installment",
]  # fmt: skip
LENDING_SPARSE = ("months_since_last_delinq", "months_since_90d_late", "months_since_last_credit_inquiry")
LENDING_OUTCOMES = ("balance", "paid_total", "paid_principal", "paid_interest", "paid_late_fees")
LENDING_STATUS = (
    "Current", "Fully Paid", "In Grace Period", "Late (16-30 days)", "Late (31-120 days)", "Charged Off",
)  # fmt: skip


def lending_club_2018() -> Dataset:
    """The label has six classes, of which one holds 94 % of the records: a hard one."""
    frame = read("lending_club_2018")
    attributes = (
        *(with_domain(attribute, frame) for attribute in LENDING_PERSONAL),
        *(number(name, lower=0) for name in LENDING_COUNTS),
        *(number(name, integer=False, lower=0, missing=name == "debt_to_income") for name in LENDING_AMOUNTS),
        *(number(name, lower=0, missing=True) for name in LENDING_SPARSE),
    )
    schema = Schema(attributes, Attribute("loan_status", values=LENDING_STATUS))
    return Dataset("lending_club_2018", frame, schema, "Lending Club, first quarter of 2018: 10,000 loans.")


def lending_club_2018_outcomes() -> Dataset:
    """With what became of the loan, which tells the label: no use to a lender, but minimizers can be compared."""
    plain = lending_club_2018()
    outcomes = [number(name, integer=False, lower=0) for name in LENDING_OUTCOMES]
    schema = replace(plain.schema, attributes=(*plain.schema.attributes, *outcomes))
    return replace(plain, name="lending_club_2018_outcomes", schema=schema)


# Left out: PINCP_DECILE and POVPIP (income again), PWGTP and WGTP (weights), INDP_CAT (a function of INDP).
NIST = (
    coded("PUMA", other=True),
    replace(CODEBOOK["AGEP"], lower=0),
    CODEBOOK["SEX"],
    coded("MSP", range(1, 7), missing=True),
    coded("HISP", range(5)),
    replace(CODEBOOK["RAC1P"], question=""),
    number("NOC", lower=0, missing=True),
    number("NPF", lower=0, missing=True),
    coded("HOUSING_TYPE", range(1, 4)),
    coded("OWN_RENT", range(3)),
    number("DENSITY", integer=False, lower=0),
    coded("INDP", missing=True),
    Attribute("EDU", "ordinal", [str(i) for i in range(1, 13)], missing=True),
    coded("DVET", range(1, 7), missing=True),
    *(
        coded(name, {1: "yes", 2: "no"}, missing=name in ("DREM", "DPHY"))
        for name in ("DREM", "DPHY", "DEYE", "DEAR")
    ),
)


def nist(year: int) -> Dataset:
    """People with an income; both years have one schema, so that a generalization of one fits the other."""
    name = f"nist_acs_national_{year}"
    label = Attribute("PINCP", values=BINARY, labels=("up to 50,000 dollars", "above 50,000 dollars"))
    frames = {y: read(f"nist_acs_national_{y}").drop_nulls("PINCP") for y in (2018, 2019)}
    schema = Schema(tuple(with_domain(attribute, *frames.values()) for attribute in NIST), label)
    frame = frames[year].with_columns((pl.col("PINCP") > 50_000).cast(pl.Int8))
    return Dataset(name, frame, schema, f"NIST excerpt of the American Community Survey, {year}.")


def nist_acs_national_2018() -> Dataset:
    return nist(2018)


def nist_acs_national_2019() -> Dataset:
    return nist(2019)


LOADERS: dict[str, Callable[[], Dataset]] = {
    loader.__name__: loader
    for loader in (
        adult,
        acs_income_co_2018,
        acs_income_ny_2024,
        acs_employment_ny_2024,
        acs_coverage_ny_2024,
        acs_income_51states_2018_coarse,
        health,
        health_pruned,
        communities,
        communities_majority,
        lending_club_2018,
        lending_club_2018_outcomes,
        nist_acs_national_2018,
        nist_acs_national_2019,
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
