"""The course of a training, as the paper's appendix states it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from leastwise.minimizers.neural.minimizers import Schedule, watched, watcher
from tests.samples import Heard


def test_the_rate_falls_every_five_epochs_not_batches() -> None:
    rates = [Schedule().rate_of(epoch) for epoch in range(20)]
    assert rates == pytest.approx([0.01] * 5 + [0.001] * 5 + [1e-4] * 5 + [1e-5] * 5)


def test_the_temperature_falls_from_2_to_a_half() -> None:
    temperatures = [Schedule().temperature(epoch) for epoch in range(20)]
    assert temperatures[0] == 2.0
    assert temperatures[-1] == 0.5
    assert all(after < before for before, after in itertools.pairwise(temperatures))
    assert Schedule(epochs=1).temperature(0) == 2.0


def test_buckets_wait_for_a_share_of_the_epochs_but_never_for_all() -> None:
    assert [Schedule().first_epochs(share) for share in (0.0, 0.05, Schedule().classifier_first)] == [0, 1, 5]
    assert [Schedule(epochs=epochs).first_epochs(0.25) for epochs in (1, 2, 3, 6)] == [0, 1, 1, 2]


@pytest.mark.parametrize("rows", [1, 255, 256, 257, 10_000])
def test_an_epoch_passes_all_rows_equally_often_in_batches_of_at_most_256(rows: int) -> None:
    batches = list(Schedule().batches(rows, np.random.default_rng(0)))
    seen = np.bincount(np.concatenate(batches), minlength=rows)
    assert seen.min() == seen.max() >= 1
    assert max(map(len, batches)) <= 256
    assert len(batches) >= Schedule().least_steps


def test_batches_are_shuffled_anew_in_each_epoch() -> None:
    random, course = np.random.default_rng(0), Schedule()
    first, second = (np.concatenate(list(course.batches(6000, random))) for _ in range(2))
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, np.sort(first))


def test_only_the_innermost_listener_hears_and_only_while_it_listens() -> None:
    outer, inner = Heard(), Heard()
    with watched(outer):
        watcher().begin("first", 3)
        with watched(inner):
            watcher().begin("second", 3)
        watcher().advance()
    watcher().begin("third", 3)
    assert (outer.words, inner.words) == (["first"], ["second"])
    assert (outer.steps, inner.steps) == ([(1, 3)], [])
