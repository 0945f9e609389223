"""Messages say what must hold, what was found and what to do."""

import pytest

from leastwise import LeastwiseError, MissingExtraError, ParameterError, SchemaError, UnknownValueError
from leastwise.errors import shorten
from leastwise.validation import check_between, check_choice, did_you_mean


def test_one_problem_is_one_line_and_several_are_a_list() -> None:
    assert str(SchemaError("schema", ["a"])) == "schema: a"
    assert str(SchemaError("schema", ["a", "b"])) == "schema: 2 problems\n  - a\n  - b"


def test_an_unknown_value_can_be_given_its_place() -> None:
    error = UnknownValueError("age", "x", "it must be a number", row=4)
    assert "age: 'x' in record 5 is not" in str(error)
    assert "age: 'x' in line 6 of a.csv is not" in str(error.at(" in line 6 of a.csv"))


def test_a_missing_extra_says_what_to_install() -> None:
    with pytest.raises(ImportError, match=r"pip install 'leastwise\[neural\]'"):
        raise MissingExtraError("torch", "neural")
    assert issubclass(MissingExtraError, LeastwiseError)


def test_long_values_do_not_fill_the_screen() -> None:
    assert len(shorten("x" * 10_000)) < 70


@pytest.mark.parametrize("value", [0, 11, float("nan"), "5", None, True])
def test_numbers_out_of_range_are_refused(value: object) -> None:
    with pytest.raises(ParameterError, match="k must be between 1 and 10; got"):
        check_between("k", value, 1, 10)  # type: ignore[type-var]


def test_a_near_miss_is_suggested() -> None:
    with pytest.raises(ParameterError, match="did you mean 'anova'"):
        check_choice("method", "annova", ["anova", "chi2"])
    assert did_you_mean("x", []) == "there are none"
    assert did_you_mean("x", [f"name{i}" for i in range(30)]).endswith("and 18 more")
