from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.kernels.orderings import ascending, interleaved, label_scores, natural, principal_direction


def test_two_classes_are_scored_by_the_share_of_the_second() -> None:
    assert label_scores(np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([4.0, 2.0])).tolist() == [0.25, 0.5]


@pytest.mark.parametrize("seed", range(5))
def test_more_classes_are_projected_on_the_first_eigenvector(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 50, (9, 4)).astype(float)
    people = counts.sum(axis=1)
    shares = counts / people[:, None]
    centred = shares - np.average(shares, axis=0, weights=people)
    truth = np.linalg.eigh(centred.T @ (people[:, None] * centred))[1][:, -1]
    found = principal_direction(counts, people)
    assert abs(found @ truth) == pytest.approx(1, abs=1e-4)
    assert label_scores(counts, people) == pytest.approx(shares @ found)


def test_values_that_do_not_differ_have_no_direction() -> None:
    assert principal_direction(np.ones((3, 3)), np.full(3, 3.0)).tolist() == [0, 0, 0]


@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0]), min_size=1, max_size=20))
@settings(deadline=None)  # the first call may compile
def test_sorting_is_stable(keys: list[float]) -> None:
    order = np.arange(len(keys))[::-1].copy()
    expected = sorted(order.tolist(), key=keys.__getitem__)
    ascending(np.array(keys), order)
    assert order.tolist() == expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=9), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_halves_take_turns_and_keep_the_order_of_the_label(shares: list[float], random: object) -> None:
    m = len(shares)
    by_label = np.arange(m)
    random.shuffle(by_label)  # type: ignore[attr-defined]
    order = np.empty(m, dtype=np.int64)
    interleaved(by_label, np.array(shares), order)
    assert sorted(order.tolist()) == list(range(m))
    place = {int(v): k for k, v in enumerate(by_label)}
    upper, lower = order[::2].tolist(), order[1::2].tolist()
    assert upper == sorted(upper, key=place.__getitem__)
    assert lower == sorted(lower, key=place.__getitem__)
    assert min(shares[v] for v in upper) >= max(shares[v] for v in lower)


def test_the_values_beside_the_numbers_come_first_or_last() -> None:
    orders = np.empty((4, 5), dtype=np.int64)
    for variant in range(4):
        natural(3, 5, variant, orders[variant])
    assert orders.tolist() == [[0, 1, 2, 3, 4], [3, 0, 1, 2, 4], [4, 0, 1, 2, 3], [3, 4, 0, 1, 2]]
