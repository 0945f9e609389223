"""The principal direction against the singular vectors of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise.minimizers.orders import principal_direction


@pytest.mark.parametrize("seed", range(5))
def test_it_is_the_first_singular_vector_with_its_sign_fixed(seed: int) -> None:
    random = np.random.default_rng(seed)
    rows, people = random.normal(size=(12, 4)), random.integers(1, 9, 12).astype(float)
    truth = np.linalg.svd(rows * np.sqrt(people)[:, None], full_matrices=False)[2][0]
    found = principal_direction(rows, people)
    assert abs(found @ truth) == pytest.approx(1)
    assert found[np.abs(found).argmax()] > 0
    assert principal_direction(rows) == pytest.approx(principal_direction(rows, np.ones(12)))


def test_one_column_has_one_direction() -> None:
    assert principal_direction(np.array([[-2.0], [1.0]])).tolist() == [1.0]
