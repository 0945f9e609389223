"""The interval program against every partition there is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from leastwise.kernels.interval_program import (
    Buckets,
    best_partition,
    lower_bound,
    revealed,
    run_sums,
    spread,
    variance_runs,
)


def run_partitions(items: int) -> Iterator[tuple[int, ...]]:
    """Every way to cut a row: the ends of the runs."""
    for cuts in itertools.product([False, True], repeat=max(items - 1, 0)):
        yield (*(i + 1 for i, cut in enumerate(cuts) if cut), items)


def set_partitions(free: list[int]) -> Iterator[list[int]]:
    """Every way to put free items into buckets of their own, as bit masks."""
    if not free:
        yield []
        return
    for rest in set_partitions(free[1:]):
        yield [1 << free[0], *rest]
        for i in range(len(rest)):
            yield [*rest[:i], rest[i] | 1 << free[0], *rest[i + 1 :]]


def all_partitions(items: int, free: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    for ends in run_partitions(items):
        for homes in itertools.product(range(-1, len(ends)), repeat=free):
            joined = tuple(sum(1 << f for f, home in enumerate(homes) if home == run) for run in range(len(ends)))
            for alone in set_partitions([f for f, home in enumerate(homes) if home < 0]):
                yield ends, joined, tuple(alone)


def cost_of(ends: tuple[int, ...], joined: tuple[int, ...], alone: tuple[int, ...], cost, alone_cost) -> float:
    runs = zip(joined, (0, *ends), ends, strict=False)
    return sum(cost[m, b, e - 1] for m, b, e in runs) + sum(alone_cost[mask] for mask in alone)


@st.composite
def costs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    items, free = draw(st.integers(1, 5)), draw(st.integers(0, 2))
    numbers = st.integers(0, 20).map(float) | st.just(np.inf)
    flat = draw(st.lists(numbers, min_size=2**free * items**2, max_size=2**free * items**2))
    alone = draw(st.lists(numbers, min_size=2**free, max_size=2**free))
    return np.array(flat).reshape(2**free, items, items), np.array(alone)


@settings(deadline=None)
@given(costs())
def test_the_program_equals_brute_force(problem):
    cost, alone = problem
    free = int(np.log2(len(alone)))
    every = [(cost_of(*p, cost, alone), len(p[0]) + len(p[2])) for p in all_partitions(cost.shape[1], free)]
    cheapest = min(every)
    found = best_partition(cost, alone)
    if not np.isfinite(cheapest[0]):
        assert found == []
        return
    assert cost_of(*found[0][:3], cost, alone) == pytest.approx(found[0].cost)
    assert (found[0].cost, found[0].size) == (pytest.approx(cheapest[0]), cheapest[1])


@settings(deadline=None)
@given(costs(), st.integers(1, 5))
def test_with_a_limit_every_number_of_buckets_has_its_best(problem, limit):
    cost, alone = problem
    best: dict[int, float] = {}
    for partition in all_partitions(cost.shape[1], int(np.log2(len(alone)))):
        size, value = len(partition[0]) + len(partition[2]), cost_of(*partition, cost, alone)
        if size <= limit and np.isfinite(value):
            best[size] = min(best.get(size, np.inf), value)
    found = {buckets.size: buckets for buckets in best_partition(cost, alone, limit)}
    assert {size: b.cost for size, b in found.items()} == pytest.approx(best)
    for buckets in found.values():
        assert cost_of(*buckets[:3], cost, alone) == pytest.approx(buckets.cost)


def test_of_equal_costs_the_fewest_buckets_win():
    assert best_partition(np.zeros((1, 4, 4)), np.zeros(1)) == [Buckets((4,), (0,), (), 0.0)]


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_what_runs_reveal_equals_counting_them(table):
    counts = np.array(table, dtype=float)  # items x (two targets of two values)
    target_of, weights = np.array([0, 0, 1, 1]), np.array([1.0, 0.5])
    items = len(counts) - 1
    starts = np.arange(len(counts) + 1) * 4
    for first in ([], [items]):
        found = revealed(
            starts,
            np.tile(np.arange(4), len(counts)),
            counts.ravel(),
            target_of,
            weights,
            np.array(first, int),
            items,
        )
        for left, right in itertools.combinations_with_replacement(range(items), 2):
            total = counts[[*range(left, right + 1), *first]].sum(axis=0)
            assert found[left, right] == total[:2].max() + 0.5 * total[2:].max()


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 1), st.integers(0, 2**32 - 1))
def test_spread_is_the_sum_of_squared_distances(items, classes, free, seed):
    random = np.random.default_rng(seed)
    weights, effects = (
        random.integers(0, 4, items + free).astype(float),
        random.normal(size=(items + free, classes)),
    )
    found = spread(weights[:items], effects[:items], weights[items:], effects[items:])
    for left, right in itertools.combinations_with_replacement(range(items), 2):
        rows = [*range(left, right + 1), *range(items, items + free)]
        total = weights[rows].sum()
        mean = weights[rows] @ effects[rows] / total if total else 0.0
        assert_allclose(found[left, right], weights[rows] @ ((effects[rows] - mean) ** 2).sum(axis=1), atol=1e-9)


def test_run_sums_are_zero_for_runs_that_are_none():
    assert run_sums(np.array([1.0, 2.0, 4.0])).tolist() == [[1, 3, 7], [0, 2, 6], [0, 0, 4]]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.sampled_from([0.0, 0.1, 0.5, 3.0]), st.integers(0, 2**32 - 1))
def test_the_bound_holds_for_partitions_that_cut_items(parts, lam, seed):
    """Items of two or three values each; the bound is never above the best partition of the values themselves."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 4, parts)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    counts = random.integers(0, 5, (ends[-1], 3)).astype(float)
    people, effects = counts.sum(axis=1), random.normal(size=(ends[-1], 1))
    held = np.arange(len(people) + 1) * 3, np.tile(np.arange(3), len(people)), counts.ravel()
    told = revealed(*held, np.zeros(3, int), np.ones(1), np.zeros(0, int), len(people))
    none = np.zeros(0), np.zeros((0, 1))
    fine = spread(people, effects, *none) + lam * told
    first, last = ends[:-1], ends[1:] - 1
    coarse = fine[np.ix_(first, last)]
    bound = lower_bound(coarse, lam * told[first, last])
    assert bound <= best_partition(fine[None], np.zeros(1))[0].cost + 1e-9


scores = st.lists(st.integers(-9, 9).map(float) | st.floats(-5, 5, width=32), min_size=1, max_size=10)


def variance(groups: list[list[float]]) -> float:
    return sum(float(np.var(group)) for group in groups)


def least(values: list[float], k: int) -> float:
    """The least sum of variances over all partitions of the sorted values into k runs."""
    ordered = sorted(values)
    cuts = itertools.combinations(range(1, len(ordered)), k - 1)
    return min(variance([ordered[b:e] for b, e in itertools.pairwise([0, *cut, len(ordered)])]) for cut in cuts)


@settings(deadline=None, max_examples=200)
@given(scores, st.integers(1, 5))
def test_equals_brute_force(values: list[float], k: int) -> None:
    found = variance_runs(np.array(values), k)
    assert len(found) == min(k, len(set(values)))
    for count, runs in enumerate(found, start=1):
        groups = [[v for v, run in zip(values, runs, strict=True) if run == r] for r in range(count)]
        assert all(groups)
        assert [*itertools.chain.from_iterable(map(sorted, groups))] == sorted(values)  # runs of the sorted scores
        # Equal scores stay together here; where a cut between equals would be better still, it may differ.
        assert variance(groups) == pytest.approx(least_apart(values, count), abs=1e-9)


def least_apart(values: list[float], k: int) -> float:
    """As ``least``, but equal scores are never parted."""
    ordered = sorted(values)
    places = [i for i in range(1, len(ordered)) if ordered[i - 1] != ordered[i]]
    cuts = itertools.combinations(places, k - 1)
    return min(variance([ordered[b:e] for b, e in itertools.pairwise([0, *cut, len(ordered)])]) for cut in cuts)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.integers(-50, 50).map(float), min_size=1, max_size=10, unique=True), st.integers(1, 5))
def test_of_different_scores_no_cut_at_all_is_better(values: list[float], k: int) -> None:
    for count, runs in enumerate(variance_runs(np.array(values), k), start=1):
        groups = [[v for v, run in zip(values, runs, strict=True) if run == r] for r in range(count)]
        assert variance(groups) == pytest.approx(least(values, count), abs=1e-9)


@settings(deadline=None)
@given(scores)
def test_more_runs_never_vary_more(values: list[float]) -> None:
    found = variance_runs(np.array(values), 6)
    sums = [
        variance([[v for v, r in zip(values, runs, strict=True) if r == g] for g in set(runs)]) for runs in found
    ]
    assert all(after <= before + 1e-9 for before, after in itertools.pairwise(sums))


def test_variances_are_averaged_over_groups_not_over_values() -> None:
    # Squared distances, 19 against 8, would put 5 and 9 together; variances, 3.8 against 4, do not.
    runs = variance_runs(np.array([0, 0.1, 0.2, 0.3, 5.0, 9.0]), 2)[1]
    assert runs.tolist() == [0, 0, 0, 0, 0, 1]


def test_large_scores_keep_their_digits() -> None:
    assert variance_runs(1e8 + np.array([0.0, 0.1, 1.0, 1.1]), 2)[1].tolist() == [0, 0, 1, 1]


def test_nothing_has_one_empty_way() -> None:
    assert [runs.tolist() for runs in variance_runs(np.zeros(0), 3)] == [[]]
