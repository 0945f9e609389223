"""How right guesses of a number are: the kernels against the definition, and against counting right or wrong."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from leastwise.kernels.joint_partition import run_label_hits
from leastwise.kernels.right_guesses import near_guesses
from leastwise.minimizers.descent import Rest, rests_of
from tests.kernels.test_joint_partition import started
from tests.strategies import tables

counts = st.lists(st.integers(0, 6).map(float), min_size=4, max_size=4).map(np.array)
LEVELS = np.array([0.0, 1.0, 4.0, 5.0])
RIGHT = 1 - np.abs(LEVELS[:, None] - LEVELS[None, :]) / 2.5


@given(counts, counts)
def test_each_person_is_guessed_by_all_others(held: np.ndarray, odds: np.ndarray) -> None:
    total = 0.0
    for c in range(4):
        without = held + odds - np.eye(4)[c]
        worth = [sum(RIGHT[guess, k] * without[k] for k in range(4)) for guess in range(4)]
        best = next(guess for guess in range(4) if worth[guess] >= max(worth) - 1e-9)
        total += held[c] * RIGHT[best, c]
    assert_allclose(near_guesses(held, odds, RIGHT), total, atol=1e-9)


@settings(deadline=None, max_examples=15)
@given(tables(max_rows=14, weights=False), st.data())
def test_right_or_wrong_is_the_loss_of_the_identity(table, data):
    descent = started(table, data)
    for j in descent.base.open:
        rest = Rest.by(descent._keys(without=j))
        given_ = rests_of(descent.base.records, descent.columns, rest, descent.base.item(j), descent.model, 1.7)
        identity = given_._replace(right=np.eye(given_.scores.shape[1]))
        assert_array_equal(run_label_hits(identity), run_label_hits(given_))
