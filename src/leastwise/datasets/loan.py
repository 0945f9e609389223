"""Lending Club: loans of one year that have come to an end, predicting whether they were paid back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from leastwise.datasets.acs_codes import STATE_CODES
from leastwise.datasets.base import Declaration, check_columns, check_file, coded, number, reading
from leastwise.schema import Attribute
from leastwise.validation import check_between

FILES = ("accepted_2007_to_2018Q4.csv.gz", "accepted_2007_to_2018Q4.csv")
STATUS = {"Fully Paid": "0", "Charged Off": "1", "Default": "1"}

GRADES = "ABCDEFG"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
EMPLOYED = ("< 1 year", "1 year", *(f"{years} years" for years in range(2, 10)), "10+ years")
STATES = [state for state in STATE_CODES if state != "PR"]
HOMES = {name: name.lower() for name in ("RENT", "OWN", "MORTGAGE", "ANY", "OTHER", "NONE")}
PURPOSES = [
    "car", "credit_card", "debt_consolidation", "educational", "home_improvement", "house", "major_purchase",
    "medical", "moving", "other", "renewable_energy", "small_business", "vacation", "wedding",
]  # fmt: skip


def _ordered(name: str, values: Any, question: str, **rest: Any) -> Attribute:
    return coded(name, values, question, kind="ordinal", **rest)


def _amount(name: str, question: str = "", **rest: Any) -> Attribute:
    return number(name, question, **{"integer": False, "lower": 0, "missing": True, "unit": "dollars", **rest})


def _percent(name: str, question: str = "", **rest: Any) -> Attribute:
    return _amount(name, question, **{"unit": "percent", **rest})


def _count(name: str, question: str = "", **rest: Any) -> Attribute:
    return number(name, question, **{"lower": 0, "missing": True, **rest})


ATTRIBUTES = (
    _ordered("term", {"36 months": "36 months", "60 months": "60 months"}, "How long shall the loan run?"),
    _ordered("grade", GRADES, "Which grade has the loan?"),
    _ordered("sub_grade", [f"{grade}{i}" for grade in GRADES for i in range(1, 6)], "Which grade, exactly?"),
    _ordered("emp_length", EMPLOYED, "How long have you been employed?", missing=True),
    coded("home_ownership", HOMES, "Do you own your home?"),
    coded("verification_status", ("Not Verified", "Source Verified", "Verified"), "Was the income verified?"),
    coded("pymnt_plan", {"n": "no", "y": "yes"}, "Is there a payment plan?"),
    coded("purpose", PURPOSES, "What is the loan for?"),
    coded("initial_list_status", {"f": "fractional", "w": "whole"}, "How was the loan listed?"),
    coded("application_type", {"Individual": "alone", "Joint App": "jointly"}, "Do you apply alone or jointly?"),
    coded("hardship_flag", {"N": "no", "Y": "yes"}, "Is the borrower on a hardship plan?"),
    coded("disbursement_method", ("Cash", "DirectPay"), "How is the loan paid out?"),
    _ordered("issue_d", MONTHS, "In which month was the loan issued?"),
    coded("addr_state", STATES, "In which state do you live?"),
    _amount("loan_amnt", "How much do you want to borrow?", missing=False),
    _percent("int_rate", "What is the interest rate?", missing=False),
    _amount("installment", "What is the monthly payment?", missing=False),
    _amount("annual_inc", "What is your yearly income?"),
    _percent("dti", "What part of your income goes into debts?", lower=None),
    _count("delinq_2yrs", "How often were you 30 days late in the last 2 years?"),
    _count("fico_range_low", "What is your FICO score?", lower=300, upper=850),
    _count("inq_last_6mths", "How many credit inquiries were there in the last 6 months?"),
    _count("mths_since_last_delinq", "How long ago were you last late?", unit="months"),
    _count("open_acc", "How many credit lines are open?"),
    _count("pub_rec", "How many derogatory public records are there?"),
    _amount("revol_bal", "What is the revolving balance?"),
    _percent("revol_util", "How much of the revolving credit is used?"),
    _count("total_acc", "How many credit lines have there been?"),
    _count("collections_12_mths_ex_med", "How many collections in the last 12 months, without medical ones?"),
    _count("acc_now_delinq", "How many accounts are late now?"),
    _amount("tot_coll_amt", "How much was ever in collection?"),
    _amount("tot_cur_bal", "What is the balance of all accounts?"),
    _amount("total_rev_hi_lim", "What is the limit of all revolving credit?"),
    _count("acc_open_past_24mths", "How many accounts were opened in the last 24 months?"),
    _amount("avg_cur_bal", "What is the average balance of the accounts?"),
    _amount("bc_open_to_buy", "How much is left on the bank cards?"),
    _percent("bc_util", "How much of the bank cards' limit is used?"),
    _count("mort_acc", "How many mortgages are there?"),
    _count("num_actv_bc_tl", "How many bank cards are in use?"),
    _percent("pct_tl_nvr_dlq", "Which part of the accounts was never late?", upper=100),
    _count("pub_rec_bankruptcies", "How many bankruptcies are on record?"),
    _count("tax_liens", "How many tax liens are there?"),
)
LABEL = Attribute("loan_status", values=("0", "1"), labels=("fully paid", "charged off or in default"))


def read(place: Path, year: int = 2015) -> pl.DataFrame:
    """Read the ended loans that were issued in a year from the file of accepted loans (csv or csv.gz)."""
    check_between("year", year, 2007, 2018)
    file = check_file(place, FILES)
    names = [attribute.name for attribute in ATTRIBUTES]
    with reading(file, "is not the file of accepted loans"):
        table = pl.scan_csv(file, infer_schema=False, truncate_ragged_lines=True, glob=False)
        check_columns(table.collect_schema().names(), [*names, LABEL.name], file)
        ended = pl.col("issue_d").str.ends_with(f"-{year}") & pl.col("loan_status").is_in(list(STATUS))
        return table.filter(ended).select(_columns()).collect()


def _columns() -> list[pl.Expr]:
    numbers = [attribute.name for attribute in ATTRIBUTES if attribute.continuous]
    others = [attribute.name for attribute in ATTRIBUTES if not attribute.continuous]
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
    attributes=ATTRIBUTES,
    label=LABEL,
    read=read,
    family="loan",
    source="download accepted_2007_to_2018Q4.csv.gz from kaggle.com/datasets/wordsforthewise/lending-club (it "
    "needs an account)",
)
