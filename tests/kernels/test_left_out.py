"""Leave-one-out guesses beside a slow oracle that really leaves each person out."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leastwise.kernels import backoff, left_out, numbering


def slowly(
    inputs: list[tuple[int, ...]], values: list[int], size: int, pseudo: float, prior: list[float]
) -> list[bool]:
    """Return about whom the guess is wrong: everybody else is counted anew for each person."""
    wrong = []
    for i, (own, value) in enumerate(zip(inputs, values, strict=True)):
        others = [j for j in range(len(inputs)) if j != i]
        shares, before = list(prior), len(inputs) + 1
        for depth in range(1, len(own) + 1):
            alike = [values[j] for j in others if inputs[j][:depth] == own[:depth]]
            if len(alike) != before:  # the same people again tell no more
                counts = Counter(alike)
                shares = [(counts[v] + pseudo * shares[v]) / (len(alike) + pseudo) for v in range(size)]
            before = len(alike)
        first = next(v for v in range(size) if shares[v] > max(shares) - 1e-11)
        wrong.append(first != value)
    return wrong


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(0, 2)), min_size=2, max_size=30),
    st.sampled_from([0.5, 3.0]),
)
def test_it_is_what_leaving_each_person_out_gives(people: list[tuple[int, int, int]], pseudo: float) -> None:
    inputs, values = [each[:2] for each in people], [each[2] for each in people]
    z = np.array([a * 2 + b for a, b in inputs])
    first, starts, row_z, row_v, row_w, row_of = left_out.distinct_rows(
        *numbering.number_keys(z), np.array(values), 3, np.ones(len(z))
    )
    prior = [0.5, 0.3, 0.2]
    distinct, each = np.array(inputs)[first], np.arange(3)
    _, _, _, node_of = backoff.grow(distinct, np.array([0, 1]), np.array([3, 2]))
    counted = left_out.count_nodes(node_of, row_z, row_v, row_w, 3, int(node_of.max()) + 1)
    found, _ = left_out.guesses(node_of, counted, starts, row_v, np.array(prior), each, each, pseudo)
    # A node whose people all have the same inputs is not divided further: so is the chain of the oracle.
    assert found[row_of].tolist() == slowly(_shortened(inputs), values, 3, pseudo, prior)


def _shortened(inputs: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    return [one[:1] if len({each for each in inputs if each[0] == one[0]}) == 1 else one for one in inputs]


def test_a_window_tells_all_within_it() -> None:
    # Numbers 0 to 3, guesses of two neighbours: of {0, 1, 1, 3} the window 0-1 tells three, whoever is left out.
    z, values = np.zeros(4, dtype=np.int64), np.array([0, 1, 1, 3])
    _, starts, row_z, row_v, row_w, row_of = left_out.distinct_rows(z, 1, values, 4, np.ones(4))
    node_of = np.array([[1]])
    counted = left_out.count_nodes(node_of, row_z, row_v, row_w, 4, 2)
    prior, begin, end = np.full(4, 0.25), np.arange(3), np.arange(1, 4)
    wrong, _ = left_out.guesses(node_of, counted, starts, row_v, prior, begin, end, 0.1)
    assert wrong[row_of].tolist() == [False, False, False, True]


def test_the_fullest_value_of_each_joint_bucket() -> None:
    found = left_out.fullest_values(
        np.array([0, 0, 0, 1]), 2, np.array([5, 5, 6, 5]), 7, np.ones(4, dtype=np.int64)
    )
    assert found == 3.0
