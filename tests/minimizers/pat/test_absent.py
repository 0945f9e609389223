from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise.minimizers.pat.absent import Values, effects, nearest, sides
from leastwise.minimizers.pat.tree import refined

NOTHING = np.array([], dtype=float)


def together(size: int) -> np.ndarray:
    return np.zeros(size, dtype=int)


def codes(*some: int) -> np.ndarray:
    return np.array(some, dtype=int)


def test_an_absent_value_goes_with_its_bucket_when_the_split_does_not_divide_it() -> None:
    # Buckets {0, 1, 2} and {3, 4}; the node has 0, 1 (left) and 3 (right). By effect 2 would go right.
    values = Values(NOTHING, np.array([0.1, 0.2, 0.9, 0.9, 0.1]))
    goes = sides(values, codes(0, 0, 0, 1, 1), codes(0, 1), codes(3))
    assert goes.tolist() == [True, True, True, False, False]


def test_an_absent_value_of_a_divided_bucket_goes_with_the_nearest_by_effect_of_that_bucket() -> None:
    # 3 is nearest to 4, but 4 is in another bucket: of its own bucket 1 is nearest.
    values = Values(NOTHING, np.array([0.1, 0.5, 0.9, 0.7, 0.69]))
    goes = sides(values, codes(0, 0, 0, 0, 1), codes(0, 4), codes(1))
    assert goes.tolist() == [True, False, False, False, True]


def test_a_bucket_absent_as_a_whole_stays_whole() -> None:
    # The bucket {2, 3} has the mean effect 0.6: nearest is 1, though 2 alone would go left.
    values = Values(NOTHING, np.array([0.1, 0.7, 0.2, 1.0]))
    goes = sides(values, codes(0, 0, 1, 1), codes(0), codes(1))
    assert goes.tolist() == [True, False, False, False]


def test_two_values_that_no_split_separated_on_data_share_a_bucket() -> None:
    """Absent is "don't care", not a third side: three nodes that each see two of four values need two buckets."""
    values = Values(NOTHING, np.array([0.1, 0.2, 0.8, 0.9]))
    buckets = together(4)
    for left, right in [((0,), (2,)), ((1,), (2,)), ((0, 1), (3,))]:
        buckets = refined(buckets, sides(values, buckets, codes(*left), codes(*right)))
    assert buckets.tolist() == [0, 0, 1, 1]


def test_a_cut_is_in_the_middle_of_the_gap() -> None:
    values = Values(np.array([0.0, 10, 20, 30, 100]), np.zeros(5))
    assert sides(values, together(5), codes(0), codes(4)).tolist() == [True, True, True, True, False]
    assert sides(values, together(5), codes(0, 1), codes(2)).tolist() == [True, True, False, False, False]


def test_a_cut_that_is_there_already_is_used_again() -> None:
    values = Values(np.array([0.0, 10, 20, 30, 100]), np.zeros(5))
    goes = sides(values, codes(0, 0, 1, 1, 1), codes(0), codes(4))
    assert goes.tolist() == [True, True, False, False, False]
    nearer = sides(values, codes(0, 1, 1, 2, 2), codes(0), codes(4))
    assert nearer.tolist() == [True, True, True, False, False]


def test_missing_goes_with_its_interval_and_by_effect_where_that_is_cut() -> None:
    values = Values(np.array([0.0, 10, 20]), np.array([0.1, 0.2, 0.8, 0.7]))
    assert sides(values, together(4), codes(0), codes(1)).tolist() == [True, False, False, False]
    apart = codes(0, 0, 0, 1)  # missing has a bucket of its own
    assert sides(values, apart, codes(0, 3), codes(1)).tolist() == [True, False, False, True]
    assert sides(values, apart, codes(1), codes(2)).tolist() == [True, True, False, False]


def test_where_nobody_gave_a_number_all_numbers_go_one_way() -> None:
    values = Values(np.array([0.0, 10, 20]), np.array([0.1, 0.2, 0.3, 0.9, 0.15]))
    goes = sides(values, codes(0, 1, 1, 2, 3), codes(3), codes(4))  # missing goes left, other right
    assert goes.tolist() == [False, False, False, True, False]


def test_effects_are_mean_labels_and_the_overall_mean_for_a_value_that_nobody_has() -> None:
    assert effects(np.array([[3, 1], [0, 0], [1, 3]])).tolist() == [0.25, 0.5, 0.75]
    assert effects(np.array([[3], [4]])).tolist() == [0, 0]


def test_effects_of_three_classes_follow_the_direction_in_which_they_vary() -> None:
    found = effects(np.array([[8.0, 1, 1], [1, 8, 1], [0, 0, 0], [4.5, 4.5, 1]]))
    assert found[2] == pytest.approx(found[3])
    assert min(found[:2]) < found[3] < max(found[:2])


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=8),
    st.lists(st.floats(-1, 2), min_size=1, max_size=8),
)
def test_nearest_is_the_nearest(known: list[float], asked: list[float]) -> None:
    effects_, models = np.array(known), np.arange(len(known))[::-1]
    found = nearest(effects_, models, np.array(asked))
    for question, model in zip(asked, found, strict=True):
        assert abs(known[model] - question) == min(abs(k - question) for k in known)


@given(st.data())
def test_present_values_keep_their_side_and_only_divided_buckets_are_divided(data: st.DataObject) -> None:
    size = data.draw(st.integers(2, 8))
    marks = data.draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
    buckets = np.unique(marks, return_inverse=True)[1]
    fate = data.draw(st.lists(st.sampled_from("LRA"), min_size=size, max_size=size))
    left, right = ([v for v in range(size) if fate[v] == side] for side in "LR")
    values = Values(NOTHING, np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))))
    if not left or not right:
        return
    goes = sides(values, buckets, codes(*left), codes(*right))
    assert goes[left].all()
    assert not goes[right].any()
    for bucket in set(buckets.tolist()):
        here = {fate[v] for v in range(size) if buckets[v] == bucket}
        if not {"L", "R"} <= here:
            assert len(set(goes[buckets == bucket].tolist())) == 1
