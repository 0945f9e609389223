from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Attribute, ParameterError, Schema, Table
from leastwise.minimizers.pgini import Criterion, gini
from tests import oracles
from tests.minimizers.pat.samples import random_table
from tests.samples import LABEL, coded, unlabelled


def counts_of(table: Table) -> tuple[np.ndarray, list[np.ndarray]]:
    classes = np.bincount(table.y, weights=table.weights, minlength=table.classes)
    return classes, [table.use(p) for p in table.personal]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
def test_it_is_the_paper_s_formula(classes: int, alpha: float) -> None:
    table = random_table(1, classes=classes, weights="whole")
    weights = {"sex": 3.0, "job": 0.5}
    found = Criterion.of(table, weights).impurity(alpha, *counts_of(table))
    assert found == pytest.approx(oracles.pgini(table, range(len(table)), alpha, weights))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.integers(1, 50), st.floats(0, 1))
def test_with_one_binary_personal_attribute_it_is_twice_fare_s_fair_gini(
    a: int, b: int, c: int, d: int, alpha: float
) -> None:
    criterion = Criterion(2.0, (0,), (2.0,))
    label, sex = np.array([a + b, c + d]), np.array([a + c, b + d])
    share_y, share_s = label[1] / label.sum(), sex[1] / sex.sum()
    # FARE: (1 - gamma) Gini_y + gamma (1/2 - Gini_s), with Gini = 2 p (1 - p).
    fair = (1 - alpha) * 2 * share_y * (1 - share_y) + alpha * (0.5 - 2 * share_s * (1 - share_s))
    assert criterion.impurity(alpha, label, [sex]) == pytest.approx(2 * fair)


def test_all_values_count_so_that_a_uniform_group_protects_and_a_pure_one_exposes() -> None:
    criterion = Criterion(2.0, (0,), (2.0,))
    nobody_knows, all_the_same = np.array([5, 5]), np.array([0, 10])
    # Summed over all values but the last, the group of ten alike would pass as protected.
    assert criterion.impurity(1.0, np.array([5, 5]), [nobody_knows]) == 0
    assert criterion.impurity(1.0, np.array([5, 5]), [all_the_same]) == 1
    assert criterion.impurity(1.0, np.array([5, 5]), [all_the_same[::-1]]) == 1


def test_both_terms_are_scaled_to_one() -> None:
    for size in (2, 3, 7):
        even = np.full(size, 4)
        assert size / (size - 1) * gini(even) == pytest.approx(1)


def test_weights_are_relative_and_a_zero_takes_an_attribute_out() -> None:
    table = random_table(2)
    only_sex = Criterion.of(table, {"size": 0, "job": 0, "sex": 7}).personal_scale
    assert only_sex == pytest.approx((0, 0, 2))
    assert Criterion.of(table).personal_scale[-1] == pytest.approx(2 / 3)
    assert Criterion.of(table, {"size": 0, "job": 0, "sex": 0}).personal_scale == (0, 0, 0)


@pytest.mark.parametrize(
    ("weights", "said"), [({"sx": 1}, "did you mean 'sex'"), ({"sex": -1}, "a number from 0")]
)
def test_wrong_weights_are_named(weights: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Criterion.of(random_table(0), weights)


def test_a_personal_attribute_of_one_value_tells_nothing() -> None:
    schema = Schema((Attribute("only", values=("a",), personal=True),), LABEL)
    table = coded(schema, np.zeros(4), labels=[0, 1, 0, 1])
    assert Criterion.of(table).personal_scale == (0.0,)
    assert Criterion.of(unlabelled(table)).label_scale == 0
