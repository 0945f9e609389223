"""One text per value, whatever type it arrives in."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise.schema.values import is_missing, number_of, number_text, text_of


@pytest.mark.parametrize("value", [None, "", math.nan, np.nan, pd.NaT, pd.NA, np.datetime64("NaT")])
def test_no_answer_is_missing(value: object) -> None:
    assert is_missing(value)
    assert text_of(value) is None


@pytest.mark.parametrize("value", [0, False, "0", " ", "nan", np.False_])
def test_an_answer_is_not_missing(value: object) -> None:
    assert not is_missing(value)


@given(st.floats(allow_nan=False))
def test_the_text_of_a_number_reads_back(number: float) -> None:
    assert float(number_text(number)) == number
    assert number_of(number_text(number)) == number


@given(st.integers(-(10**15), 10**15))
def test_a_whole_number_has_one_text(number: int) -> None:
    assert text_of(number) == text_of(float(number)) == text_of(np.int64(number)) == str(number)
