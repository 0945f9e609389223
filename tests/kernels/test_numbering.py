"""Keys are numbered and counted as dictionaries number and count them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from leastwise.kernels.numbering import count_keys, distinct_pairs, number_keys

near, far = st.integers(-2, 40), st.integers(-2, 2**63 - 1)  # an array of all there are, or a hash table


@settings(deadline=None)
@given(st.lists(near, max_size=30) | st.lists(far, max_size=30))
def test_keys_have_the_numbers_of_their_first_appearance(keys: list[int]) -> None:
    number_of: dict[int, int] = {}
    expected = [number_of.setdefault(key, len(number_of)) if key >= 0 else -1 for key in keys]
    numbers, found = number_keys(np.array(keys, dtype=np.int64))
    assert (numbers.tolist(), found) == (expected, len(number_of))


@settings(deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.data())
def test_people_are_counted_by_node_and_value(each: int, values: int, data: st.DataObject) -> None:
    nodes, rows = 5, data.draw(st.integers(0, 8))
    keys = data.draw(st.lists(st.integers(-1, nodes * values - 1), min_size=rows * each, max_size=rows * each))
    people = data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    expected: Counter[tuple[int, int]] = Counter()
    for i, key in enumerate(keys):
        if key >= 0:
            expected[divmod(key, values)] += people[i // each]
    codes, weights = np.array(keys, dtype=np.int64), np.array(people, dtype=float)
    lengths, found, counts, total = count_keys(codes, weights, each, nodes, values)
    node_of = np.repeat(np.arange(nodes), lengths).tolist()
    assert [*zip(node_of, found.tolist(), strict=True)] == sorted(
        expected, key=lambda pair: (pair[0], keys.index(pair[0] * values + pair[1]))
    )
    assert dict(zip(zip(node_of, found.tolist(), strict=True), counts.tolist(), strict=True)) == expected
    assert total.tolist() == [sum(n for (node, _), n in expected.items() if node == own) for own in range(nodes)]


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_pairs_come_once_each_in_the_order_of_their_appearance(drawn: list[tuple[int, int, int]]) -> None:
    expected: dict[tuple[int, int], float] = {}
    for bucket, value, people in drawn:
        expected[bucket, value] = expected.get((bucket, value), 0.0) + people
    buckets, values, people = np.array(drawn, dtype=np.int64).reshape(-1, 3).T
    found = distinct_pairs(buckets, values, people.astype(float), 4)
    assert [*zip(*(each.tolist() for each in found), strict=True)] == [(*pair, n) for pair, n in expected.items()]
