"""A network whose targets become known in an order."""

from __future__ import annotations

import numpy as np

from leastwise.predictors.prefix import PrefixNetwork
from tests.predictors.populations import samples_of


def test_what_is_known_is_used_and_what_is_not_is_not_seen() -> None:
    """The first target is the input for four in five, the second is the first, the third is the second turned."""
    rng = np.random.default_rng(0)
    told = rng.integers(0, 3, 4000)
    first = np.where(rng.random(4000) < 0.8, told, rng.integers(0, 3, 4000))
    targets = np.column_stack([first, first, (first + 1) % 3, rng.integers(0, 2, 4000)])
    rows = samples_of(told[:, None], targets, (3,), (3, 3, 3, 2))
    network = PrefixNetwork(most=3).fit(rows, rows)
    every = np.arange(3)
    for known, turned in ((0, 0), (1, 0), (2, 1)):
        inputs = np.tile(every, 3)[:, None]
        seen = np.repeat(every, 3)[:, None].repeat(known, axis=1)
        found = network.predict_next(inputs, seen)
        right = (inputs[:, 0] if known == 0 else seen[:, 0] + turned) % 3
        assert (found.argmax(axis=1) == right).all(), known
        assert (found.max(axis=1) > (0.75 if known == 0 else 0.95)).all()
    free = network.predict_next(np.zeros((1, 1), dtype=int), np.array([[0, 0, 1]]))
    assert free.shape == (1, 2)
    assert abs(free[0, 0] - 0.5) < 0.1
