"""One record: the rule that frames are held to agrees with the partitions themselves."""

from __future__ import annotations

import math

import pytest

from leastwise import Attribute, Generalization, Groups, Intervals, UnknownValueError, Untouched
from leastwise.apply.record import answer
from leastwise.partition import keep, suppress

AGE = Attribute("age", "continuous", lower=0, integer=True, other=True)
CODE = Attribute("code", values=("1", "2"))


def test_outputs_by_hand() -> None:
    g = Generalization((Intervals(AGE, (19, 63)), keep(CODE), suppress(Attribute("sex", values=("f", "m")))))
    record = {"id": 7, "age": 63, "code": "1.0", "sex": "m"}
    assert g.transform(record) == {"age": "20 to 63", "code": "1"}
    assert g.transform(record, keep=["id"]) == {"id": 7, "age": "20 to 63", "code": "1"}
    assert g.transform(record, "codes") == {"age": 1, "code": 0}
    assert g.transform(record, "representative") == {"age": 41, "code": "1", "sex": "f"}
    assert g.transform(record, "codes", suppressed=True) == {"age": 1, "code": 0, "sex": 0}
    assert g.transform({"age": -1, "code": 2}) == {"age": "other", "code": "2"}


def test_strange_values_are_named() -> None:
    g = Generalization((Intervals(AGE, (19,)), keep(CODE)))
    with pytest.raises(UnknownValueError, match="code: 3"):
        g.transform({"age": 1, "code": 3})
    with pytest.raises(UnknownValueError, match=r"age: 1\.5"):
        g.transform({"age": 1.5, "code": 1}, unknown="error")
    with pytest.raises(UnknownValueError, match="code: a missing value"):
        g.transform({"age": 1, "code": None})
    with pytest.raises(ValueError, match="no column 'code'"):
        g.transform({"age": 1})


def test_untouched_numbers() -> None:
    partition = Untouched(Attribute("n", "continuous", missing=True))
    numbers = [1, 0.1, "2.50", math.inf, 1e308, None, math.nan, ""]
    labels = ["1", "0.1", "2.5", "inf", "1e+308", "missing", "missing", "missing"]
    assert [answer(partition, number, "labels") for number in numbers] == labels
    codes = [1, 0.1, 2.5, math.inf, 1e308, None, None, None]
    assert [answer(partition, number, "codes") for number in numbers] == codes
    bounded = Untouched(Attribute("n", "continuous", lower=0, upper=9, integer=True))
    assert type(answer(bounded, "7", "representative")) is int
    with pytest.raises(UnknownValueError, match="to 9"):
        answer(bounded, 10, "labels", unknown="other")


def test_groups_of_an_ordinal_attribute_show_their_middle() -> None:
    size = Attribute("size", "ordinal", values=("S", "M", "L"))
    g = Generalization((Groups(size, (0, 0, 1)),))
    assert g.transform({"size": "M"}, "representative") == {"size": "S"}
