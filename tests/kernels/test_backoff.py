"""Counting along a chain: scoring many settings at once is scoring each by itself."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from leastwise.kernels import backoff, path_scores
from leastwise.predictors import JointBuckets
from leastwise.predictors.joint_buckets import _rows
from tests.predictors.populations import masked_population, population


@pytest.mark.parametrize("make", [population, masked_population])
def test_all_settings_at_once_are_each_by_itself(make) -> None:
    train, asked = make(700, 0), make(300, 1)
    settings = np.array([*product((0.0, 0.5, 20.0), (0.0, 0.5))])
    chain = JointBuckets().fit(train, asked).chains_[0]
    first, place = asked.buckets
    inputs = np.ascontiguousarray(asked.inputs[first], dtype=np.int64)
    rows = _rows(place, asked.targets[:, 0], asked.weights, asked.target_sizes[0])
    order = np.argsort(rows.z, kind="stable")
    ends = np.searchsorted(rows.z[order], np.arange(len(inputs) + 1))
    depths = np.array([1, len(chain.order)])
    same = *chain.counts, *chain._base(inputs)
    found = path_scores.score_posteriors(
        chain._path(inputs), *same, settings, depths, ends, rows.v[order], rows.w[order]
    )
    for (d, depth), (s, setting) in product(enumerate(depths), enumerate(settings)):
        alone = backoff.posteriors(chain._path(inputs, depth), *same, *setting)
        wrong = rows.w @ (alone.argmax(axis=1)[rows.z] != rows.v)
        lost = -rows.w @ np.log(np.maximum(alone[rows.z, rows.v], 1e-12))
        assert found[d, s, 0] == wrong
        assert found[d, s, 1] == pytest.approx(lost, rel=1e-4)


def test_the_values_of_each_node_are_those_of_its_rows() -> None:
    random = np.random.default_rng(3)
    sizes = np.array([3, 4, 2, 5])
    inputs = np.unique(random.integers(0, sizes, (60, 4)), axis=0).astype(np.int64)
    row_z, row_v = np.divmod(np.unique(random.integers(0, 6 * len(inputs), 150)), 6)
    row_w = random.integers(1, 5, len(row_z)).astype(float)
    *_, node_of = backoff.grow(inputs, np.array([2, 0, 3, 1]), sizes)
    ends, values, counts, people = backoff.count_nodes(node_of, row_z, row_v, row_w, 6)
    expected: Counter[tuple[int, int]] = Counter()
    for z, v, w in zip(row_z, row_v, row_w, strict=True):
        expected.update({(int(node), int(v)): w for node in node_of[z] if node >= 0})
    nodes = np.repeat(np.arange(len(people)), np.diff(ends)).tolist()
    assert dict(zip(zip(nodes, values.tolist(), strict=True), counts.tolist(), strict=True)) == dict(expected)
    assert people.tolist() == np.bincount(nodes, weights=counts, minlength=len(people)).tolist()
    assert people[0] == 0
