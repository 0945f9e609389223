"""What a rule makes of a text, held against the calendar and against tables written by hand."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, Intervals, SchemaError
from leastwise.schema.derive import WEEKDAYS, derived, rule_of

DAYS = st.dates(dt.date(1000, 1, 1), dt.date(2999, 12, 31))


@given(DAYS, DAYS)
def test_parts_of_a_date_are_those_of_the_calendar(day: dt.date, reference: dt.date) -> None:
    def of(part: str) -> str:
        return str(derived(f"{part} of YYYY-MM-DD", day))

    had = (reference.month, reference.day) >= (day.month, day.day)
    assert of("year") == str(day.year)
    assert of("month") == str(day.month)
    assert of("quarter") == str((day.month - 1) // 3 + 1)
    assert of("decade") == f"{day.year // 10}0"
    assert of("weekday") == WEEKDAYS[day.weekday()]
    assert of(f"age on {reference}") == str(reference.year - day.year - (not had))


@given(DAYS, st.sampled_from(["%d.%m.%Y|DD.MM.YYYY", "%m/%d/%Y|MM/DD/YYYY", "%Y%m%d|YYYYMMDD", "%Y-%m|YYYY-MM"]))
def test_the_notation_says_where_the_parts_are(day: dt.date, notation: str) -> None:
    written, said = notation.split("|")
    assert derived(f"month of {said}", day.strftime(written)) == str(day.month)


@pytest.mark.parametrize(
    ("rule", "text", "made"),
    [
        ("prefix 3", "94110", "941"),
        ("prefix 3", 94110, "941"),
        ("prefix 3", "1.50", "1.5"),
        ("year of YYYY-MM-DD", "1987-05-11T10:00:00+02:00", "1987"),
        ("year of YYYY-MM-DD", "11.05.1987", "not YYYY-MM-DD"),
        ("year of YYYY-MM-DD", "1987-13-01", "not YYYY-MM-DD"),
        ("year of YYYY-MM-DD", "1987", "not YYYY-MM-DD"),
        ("hour of hh:mm", "23:59", "23"),
        ("minutes of hh:mm", "02:30", "150"),
        ("number of 1.234,5", "1.234,50", "1234.50"),
        ("number of 1.234,5", "-12,5", "-12.5"),
        ("number of 1.234,5", "12.5", "not 1.234,5"),
        ("number of 1.234,5", "1.2345", "not 1.234,5"),
        ("number of 1.234,5 €", "1.234,50 €", "1234.50"),
        ("number of 1.234,5 €", "5€50", "not 1.234,5 €"),
        ("number of 1.234,5 €", "5 $", "not 1.234,5 €"),
        ("number of $1,234.5", "-$1,234,567.5", "-1234567.5"),
        ("number of 1 234,5", "12\u202f345,6", "12345.6"),
        ("number of 1234.5 %", "12.5%", "12.5"),
        ("number of 1'234.5", "1'234", "1234"),
        ("grid 0.1", "52.5163", "52.5"),
        ("grid 0.1", -0.01, "-0.1"),
        ("grid 0.25", "13.3", "13.25"),
        ("grid 10", "-13.38", "-20"),
        ("grid 1", "400", "not a coordinate in degrees"),
        ("grid 1", "52° 30'", "not a coordinate in degrees"),
    ],
)
def test_by_hand(rule: str, text: object, made: str) -> None:
    assert derived(rule, text) == made


@pytest.mark.parametrize("value", [None, "", float("nan")])
def test_no_answer_stays_no_answer(value: object) -> None:
    assert derived("year of YYYY-MM-DD", value) is None


@pytest.mark.parametrize(
    "rule",
    ["prefix 0", "prefix", "year", "year of DD.MM", "age of YYYY-MM-DD", "year of YYYY YYYY", "number of 12",
     "number of 1.234.5", "first letter", "year of YYYY[0-9]", "grid 0.3", "grid 0", "grid 0.0", "grid 1.5"],
)  # fmt: skip
def test_a_rule_that_cannot_be_read_is_one_line(rule: str) -> None:
    with pytest.raises(SchemaError, match="derive") as error:
        rule_of(rule)
    assert "\n" not in str(error.value)


def test_a_bucket_is_found_for_the_raw_value() -> None:
    age = Attribute(
        "age", "continuous", integer=True, lower=0, derive="age on 2025-01-01 of YYYY-MM-DD", source="born"
    )
    buckets = Intervals(age, (39,))
    assert [buckets.bucket(day) for day in ("1985-01-01", "1985-01-02", dt.date(2000, 1, 1))] == [1, 0, 0]
