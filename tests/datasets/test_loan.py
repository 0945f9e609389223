from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from leastwise import DataError, ParameterError, Table
from leastwise.datasets import load
from leastwise.datasets.loan import SCHEMA
from tests.datasets.official import delimited

LOAN = dict.fromkeys(SCHEMA.names, "1.0") | {
    "id": "68407277", "term": " 36 months", "grade": "C", "sub_grade": "C4", "emp_length": "10+ years",
    "home_ownership": "MORTGAGE", "verification_status": "Not Verified", "pymnt_plan": "n",
    "purpose": "debt_consolidation", "initial_list_status": "w", "application_type": "Individual",
    "hardship_flag": "N", "disbursement_method": "Cash", "issue_d": "Dec-2015", "addr_state": "PA",
    "int_rate": "13.99", "fico_range_low": "675.0", "loan_status": "Fully Paid", "total_pymnt": "4421.7",
}  # fmt: skip
FOOTER = ["Total amount funded in policy code 1: 0"] + [""] * (len(LOAN) - 1)


def loans(path: Path, *changes: dict[str, str]) -> Path:
    order = ["id", *(name for name in LOAN if name != "id")]
    rows = [[(LOAN | change)[name] for name in order] for change in changes]
    return delimited(path, [order, *rows, FOOTER])


def test_ended_loans_of_the_year(tmp_path: Path) -> None:
    file = loans(
        tmp_path / "accepted_2007_to_2018Q4.csv",
        {},
        {"loan_status": "Charged Off", "emp_length": "", "dti": "-1.0", "mths_since_last_delinq": ""},
        {"loan_status": "Default", "int_rate": " 13.99%", "emp_length": "n/a"},
        {"loan_status": "Current"},
        {"issue_d": "Jan-2016"},
    )
    loan = load("loan", file)
    assert loan.frame["loan_status"].to_list() == [0, 1, 1]
    assert loan.frame["int_rate"].to_list() == [13.99] * 3
    assert loan.frame["emp_length"].to_list() == ["10+ years", None, None]
    assert loan.frame["issue_d"].to_list() == ["Dec"] * 3
    assert len(Table.from_frame(loan.frame, loan.schema)) == 3
    assert load("loan", tmp_path, year=2016).frame["issue_d"].to_list() == ["Jan"]


def test_42_attributes_14_personal(tmp_path: Path) -> None:
    loan = load("loan", loans(tmp_path / "a.csv", {}))
    assert (len(loan.schema), len(loan.schema.personal)) == (42, 14)
    assert set(loan.schema.personal) == {
        "term", "grade", "sub_grade", "emp_length", "home_ownership", "verification_status", "pymnt_plan",
        "purpose", "initial_list_status", "application_type", "hardship_flag", "disbursement_method", "issue_d",
        "addr_state",
    }  # fmt: skip
    assert "total_pymnt" not in loan.frame.columns


def test_packed_file(tmp_path: Path) -> None:
    plain = loans(tmp_path / "a.csv", {}, {})
    packed = tmp_path / "accepted_2007_to_2018Q4.csv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert load("loan", packed).frame.height == 2


def test_problems_are_answered(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"kaggle.com/datasets/wordsforthewise"):
        load("loan")
    with pytest.raises(ParameterError, match="year must be between 2007 and 2018"):
        load("loan", tmp_path, year=1999)
    with pytest.raises(DataError, match="has no column 'term'"):
        load("loan", delimited(tmp_path / "x.csv", [["a", "b"], [1, 2]]))
    with pytest.raises(DataError, match="not the file of accepted loans"):
        load("loan", loans(tmp_path / "y.csv", {"annual_inc": "much"}))
