"""Boosted trees from counts of distinct rows."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leastwise.kernels import boosted_trees
from leastwise.predictors.boosting import Boosting
from tests.predictors.populations import samples_of


def rows_of(seed: int, people: int = 400) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([rng.integers(0, size, people) for size in (3, 5, 2)])
    told = (inputs[:, 0] == 1).astype(int) + (inputs[:, 1] > 2)
    targets = np.where(rng.random(people) < 0.2, rng.integers(0, 3, people), told)
    return inputs, targets[:, None]


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_rows_and_how_many_people_have_them_are_the_same(seed: int) -> None:
    inputs, targets = rows_of(seed)
    people = samples_of(inputs, targets, (3, 5, 2), (3,))
    model, same = Boosting(rounds=8).fit(people, people), Boosting(rounds=8).fit(people.distinct(), people)
    assert len(people.distinct()) < len(people)
    assert np.allclose(model.predict(inputs)[0], same.predict(inputs)[0], atol=1e-9)


def gains_of(codes: np.ndarray, y: np.ndarray, size: int, penalty: float) -> dict[int, float]:
    """Return the gain of every cut of one ordered column, by its place."""
    g, h = y.mean() - y, np.full(len(y), y.mean() * (1 - y.mean()))

    def worth(some: np.ndarray) -> float:
        return float(g[some].sum() ** 2 / (h[some].sum() + penalty))

    return {
        c: worth(codes <= c) + worth(codes > c) - worth(codes >= 0)
        for c in range(size - 1)
        if (codes <= c).any() and (codes > c).any()
    }


@settings(max_examples=20)
@given(st.integers(0, 2**32))
@example(156)
def test_the_first_split_is_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = np.column_stack([rng.integers(0, size, 60) for size in (4, 6)]).astype(np.int32)
    y = (rng.random(60) < 0.2 + 0.1 * inputs[:, 0]).astype(float)
    y[:2] = 0, 1
    counts = np.column_stack([1 - y, y])
    share = np.array([np.log(y.mean() / (1 - y.mean()))])
    starts, ordered = np.array([0, 4, 10]), np.array([1, 1])
    column, cut, *_ = boosted_trees.boost(
        inputs, starts, ordered, counts, np.zeros_like(counts), share, 1, 2, 0.1, 5.0, 5
    )
    gains = [gains_of(inputs[:, j], y, size, 5.0) for j, size in enumerate((4, 6))]
    best = max(max(each.values()) for each in gains)
    if best > 1e-9:  # two cuts may gain the same, but for the last digit
        assert np.isclose(gains[int(column[0, 0])][int(cut[0, 0])], best)


def test_it_comes_to_the_frequencies_of_well_filled_buckets() -> None:
    inputs, targets = rows_of(0, 20_000)
    people = samples_of(inputs, targets, (3, 5, 2), (3,))
    found = Boosting(rounds=200, rate=0.3).fit(people, people).predict(np.array([[1, 4, 0], [0, 0, 0]]))[0]
    assert np.allclose(found[0], [0.2 / 3, 0.2 / 3, 0.8 + 0.2 / 3], atol=0.05)
    assert np.allclose(found[1], [0.8 + 0.2 / 3, 0.2 / 3, 0.2 / 3], atol=0.05)


def test_a_code_that_nobody_had_goes_with_the_larger_part() -> None:
    inputs = np.array([[0]] * 60 + [[1]] * 30)
    targets = np.array([[0]] * 60 + [[1]] * 30)
    people = samples_of(inputs, targets, (3,), (2,))
    found = Boosting().fit(people, people).predict(np.array([[0], [1], [2]]))[0]
    assert found[0, 0] > 0.8
    assert found[1, 1] > 0.8
    assert np.allclose(found[2], found[0])


@settings(max_examples=5)
@given(st.integers(0, 2**32), st.sampled_from([16, 1]))
def test_a_column_whose_codes_change_places_is_predicted_as_any_other_input(seed: int, most: int) -> None:
    inputs, targets = rows_of(seed)
    people = samples_of(inputs, targets, (3, 5, 2), (3,))
    model = Boosting(rounds=4, most_values=most).fit(people, people)  # with one value by name counting has a part
    found = model.predict_permuted(inputs, np.random.default_rng(seed))
    again = np.random.default_rng(seed)
    for j, own in enumerate(found):
        changed = inputs.copy()
        changed[:, j] = again.permutation(inputs[:, j])
        assert np.allclose(own, model.predict(changed)[0], atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(2, 16), st.integers(1, 60))
@example(0, 1, 17, 60)  # more nodes than bits: rows are walked
def test_bits_lead_to_the_leaf_that_branches_lead_to(seed: int, classes: int, leaves: int, asked: int) -> None:
    rng, sizes = np.random.default_rng(seed), (3, 7, 2, 5)
    starts, ordered = np.array([0, 3, 10, 12, 17]), np.array([1, 0, 0, 1])
    inputs = np.column_stack([rng.integers(0, size, 300) for size in sizes]).astype(np.int32)
    told = (inputs[:, 0] + (inputs[:, 1] % 3) + rng.integers(0, 2, 300)) % max(classes, 2)
    counts, first = np.eye(max(classes, 2))[told], np.zeros(1 if classes <= 2 else classes)
    trees = boosted_trees.boost(
        inputs, starts, ordered, counts, np.zeros_like(counts), first, 4, leaves, 0.3, 1.0, 5
    )
    rows = inputs[:asked]
    walked = boosted_trees.add_up(first, boosted_trees.contributions(rows, ordered, *trees))
    assert np.array_equal(boosted_trees.predict(rows, starts, ordered, first, *trees), walked)
