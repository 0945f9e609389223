"""Means of values with few people: leave-one-out errors by definition, neighbours that are alike or are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Schema, Table
from leastwise.minimizers.optimal.smoothing import Smoothing, sums_by_code
from tests.samples import LABEL, coded, named


def a_table(values: list[int], labels: list[int], size: int) -> Table:
    return coded(Schema((named("job", size),), LABEL), np.array(values), labels=np.array(labels))


def prior_by_definition(use: list[float], sums: list[float], code: int, reach: float | None) -> float:
    """Return what others tell of a code, pair by pair."""
    everybody = sum(sums) / sum(use)
    if reach is None:
        return everybody
    told, people = everybody, 1.0
    for other in range(len(use)):
        if other != code:
            low, high = sorted((code, other))
            between = (use[low] + use[high]) / 2 + sum(use[low + 1 : high])
            weight = np.exp(-between / reach)
            told, people = told + weight * sums[other], people + weight * use[other]
    return float(told / people)


@given(
    records=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=2, max_size=30),
    pseudo_count=st.sampled_from([2.0, 8.0]),
    reach=st.sampled_from([None, 5.0, 20.0]),
)
def test_the_left_out_error_is_that_of_guessing_everybody_from_the_others(
    records: list[tuple[int, int]], pseudo_count: float, reach: float | None
) -> None:
    table = a_table([v for v, _ in records], [y for _, y in records], 6)
    use, told = table.use(0).astype(float), sums_by_code(table, 0)
    smoothing = Smoothing(use, 6, reach, pseudo_count)
    sums = told[:, 1].tolist()
    error = 0.0
    for value, label in records:
        prior = prior_by_definition(use.tolist(), sums, value, reach)
        guess = (sums[value] - label + pseudo_count * prior) / (use[value] - 1 + pseudo_count)
        error += (label - guess) ** 2
    assert smoothing._left_out(told[:, 1:], told[:, 1:]) == pytest.approx(error)
    expected = [
        (s + pseudo_count * prior_by_definition(use.tolist(), sums, c, reach)) / (use[c] + pseudo_count)
        for c, s in enumerate(sums)
    ]
    assert smoothing.means(told)[:, 1] == pytest.approx(np.array(expected))


def jobs(seed: int, shuffled: bool, rows: int = 1500, size: int = 300) -> tuple[Table, np.ndarray]:
    """Jobs whose label changes slowly along their codes; shuffled, the codes are names. Returns the truth too."""
    random = np.random.default_rng(seed)
    truth = 0.5 + 0.4 * np.sin(np.arange(size) / 25)
    if shuffled:
        truth = random.permutation(truth)
    values = random.integers(0, size, rows)
    return a_table(values.tolist(), (random.random(rows) < truth[values]).astype(int).tolist(), size), truth


@pytest.mark.parametrize("seed", range(5))
def test_neighbours_that_are_alike_tell_of_each_other(seed: int) -> None:
    table, truth = jobs(seed, shuffled=False)
    smoothing = Smoothing.of(table, 0)
    sums = sums_by_code(table, 0)
    alone = Smoothing(smoothing.use, smoothing.inner, None)
    off, off_alone = (np.abs(each.means(sums)[:, 1] - truth).mean() for each in (smoothing, alone))
    assert smoothing.reach is not None
    assert off < 0.6 * off_alone


def test_names_have_no_neighbours() -> None:
    reaches = [Smoothing.of(jobs(seed, shuffled=True)[0], 0).reach for seed in range(40)]
    assert sum(reach is not None for reach in reaches) <= 1  # one of forty may be lucky


def test_many_people_speak_for_themselves() -> None:
    table = a_table(
        [0] * 5000 + [1] * 5000 + [2] * 3, [1] * 4000 + [0] * 1000 + [1] * 500 + [0] * 4500 + [1] * 3, 3
    )
    means = Smoothing.of(table, 0).means(sums_by_code(table, 0))[:, 1]
    assert means[:2] == pytest.approx([0.8, 0.1], abs=0.01)
    assert 0.1 < means[2] < 0.9  # three people are no proof


def test_missing_answers_have_no_neighbours() -> None:
    smoothing = Smoothing(np.array([5.0, 5.0, 5.0]), 2, 10.0, pseudo_count=4.0)
    sums = np.array([[5.0], [5.0], [0.0]])
    assert smoothing.means(sums)[2] == pytest.approx((0 + 4 * 10 / 15) / 9)


def test_a_group_of_many_rare_values_counts_as_one_value() -> None:
    """Sixty codes of five people each, nine in ten of whom have the label: together that is no chance."""
    random = np.random.default_rng(0)
    values = np.repeat(np.arange(60), 5)
    table = a_table(values.tolist(), (random.random(300) < 0.9).astype(int).tolist(), 61)
    smoothing, sums = Smoothing(table.use(0).astype(float), 61, None), sums_by_code(table, 0)
    people, means = smoothing.means_of_groups(sums, np.array([0] * 30 + [1] * 30 + [2]), 3)
    assert people.tolist() == [150, 150, 0]
    shares = np.array([sums[:30].sum(axis=0) / 150, sums[30:60].sum(axis=0) / 150])
    assert means[:2] == pytest.approx(shares, abs=0.02)
    assert means[2] == pytest.approx(sums.sum(axis=0) / 300)
    each = smoothing.means_of_groups(sums, np.arange(61), 61)[1]
    assert each[:60] == pytest.approx(smoothing.means(sums)[:60])  # a group of one code is the code
