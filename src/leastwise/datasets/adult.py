"""UCI Adult: a census sample of 1994, predicting an income above 50,000 dollars. Comes with the package."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from leastwise.datasets.base import Dataset, Declaration, check_file, coded, number, reading
from leastwise.errors import DataError
from leastwise.schema import Attribute

BUNDLED = Path(__file__).parent / "files" / "adult.parquet"
ADDRESS = "https://archive.ics.uci.edu/ml/machine-learning-databases/adult/"

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")

EDUCATION = {
    "Preschool": "preschool",
    "1st-4th": "1st to 4th grade",
    "5th-6th": "5th or 6th grade",
    "7th-8th": "7th or 8th grade",
    "9th": "9th grade",
    "10th": "10th grade",
    "11th": "11th grade",
    "12th": "12th grade, no diploma",
    "HS-grad": "high school graduate",
    "Some-college": "some college",
    "Assoc-voc": "associate degree, vocational",
    "Assoc-acdm": "associate degree, academic",
    "Bachelors": "bachelor's degree",
    "Masters": "master's degree",
    "Prof-school": "professional school degree",
    "Doctorate": "doctorate",
}
WORKCLASS = {
    "Private": "private company",
    "Self-emp-not-inc": "self-employed, not incorporated",
    "Self-emp-inc": "self-employed, incorporated",
    "Federal-gov": "federal government",
    "Local-gov": "local government",
    "State-gov": "state government",
    "Without-pay": "without pay",
    "Never-worked": "never worked",
}
MARITAL_STATUS = {
    "Married-civ-spouse": "married, civilian spouse",
    "Married-AF-spouse": "married, spouse in the armed forces",
    "Married-spouse-absent": "married, spouse absent",
    "Divorced": "divorced",
    "Separated": "separated",
    "Widowed": "widowed",
    "Never-married": "never married",
}
OCCUPATION = {
    "Adm-clerical": "administrative and clerical",
    "Armed-Forces": "armed forces",
    "Craft-repair": "craft and repair",
    "Exec-managerial": "executive and managerial",
    "Farming-fishing": "farming and fishing",
    "Handlers-cleaners": "handlers and cleaners",
    "Machine-op-inspct": "machine operators and inspectors",
    "Other-service": "other services",
    "Priv-house-serv": "private household services",
    "Prof-specialty": "professional specialty",
    "Protective-serv": "protective services",
    "Sales": "sales",
    "Tech-support": "technical support",
    "Transport-moving": "transport and moving",
}
RELATIONSHIP = {
    "Husband": "husband",
    "Wife": "wife",
    "Own-child": "child",
    "Other-relative": "other relative",
    "Not-in-family": "not in a family",
    "Unmarried": "unmarried",
}
RACE = {
    "White": "White",
    "Black": "Black",
    "Asian-Pac-Islander": "Asian or Pacific Islander",
    "Amer-Indian-Eskimo": "American Indian or Eskimo",
    "Other": "another",
}
COUNTRY = {
    "Cambodia": "Cambodia", "Canada": "Canada", "China": "China", "Columbia": "Colombia", "Cuba": "Cuba",
    "Dominican-Republic": "Dominican Republic", "Ecuador": "Ecuador", "El-Salvador": "El Salvador",
    "England": "England", "France": "France", "Germany": "Germany", "Greece": "Greece", "Guatemala": "Guatemala",
    "Haiti": "Haiti", "Holand-Netherlands": "Netherlands", "Honduras": "Honduras", "Hong": "Hong Kong",
    "Hungary": "Hungary", "India": "India", "Iran": "Iran", "Ireland": "Ireland", "Italy": "Italy",
    "Jamaica": "Jamaica", "Japan": "Japan", "Laos": "Laos", "Mexico": "Mexico", "Nicaragua": "Nicaragua",
    "Outlying-US(Guam-USVI-etc)": "outlying US areas", "Peru": "Peru", "Philippines": "Philippines",
    "Poland": "Poland", "Portugal": "Portugal", "Puerto-Rico": "Puerto Rico", "Scotland": "Scotland",
    "South": "South (as recorded)", "Taiwan": "Taiwan", "Thailand": "Thailand",
    "Trinadad&Tobago": "Trinidad and Tobago", "United-States": "United States", "Vietnam": "Vietnam",
    "Yugoslavia": "Yugoslavia",
}  # fmt: skip

ATTRIBUTES = (
    number("age", "How old are you?", lower=0, upper=120, unit="years"),
    coded("workclass", WORKCLASS, "Who do you work for?", missing=True),
    coded("education", EDUCATION, "What is your highest level of education?", kind="ordinal"),
    coded("marital-status", MARITAL_STATUS, "What is your marital status?"),
    coded("occupation", OCCUPATION, "What is your occupation?", missing=True),
    coded("relationship", RELATIONSHIP, "What are you in your household?"),
    coded("race", RACE, "What is your race?"),
    coded("sex", {"Female": "female", "Male": "male"}, "What is your sex?"),
    number("capital-gain", "What did you gain from selling assets last year?", lower=0, unit="dollars"),
    number("capital-loss", "What did you lose by selling assets last year?", lower=0, unit="dollars"),
    number("hours-per-week", "How many hours a week do you work?", lower=0, upper=99, unit="hours"),
    coded("native-country", COUNTRY, "Where were you born?", missing=True),
)
LABEL = Attribute(
    "income",
    values=("<=50K", ">50K"),
    labels=("up to 50,000 dollars", "above 50,000 dollars"),
    question="Is the yearly income above 50,000 dollars?",
)


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


def addresses() -> dict[str, str]:
    """Return where the two official parts are."""
    return {name: ADDRESS + name for name in ("adult.data", "adult.test")}


ADULT = Declaration(
    name="adult",
    title="UCI Adult: income above 50,000 dollars, US 1994",
    attributes=ATTRIBUTES,
    label=LABEL,
    read=read,
    family="adult",
    source="comes with leastwise (the original: leastwise datasets get adult -o FOLDER)",
    addresses=addresses,
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
