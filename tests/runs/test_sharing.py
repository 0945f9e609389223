"""Records go to worker processes as one copy in memory."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from leastwise.runs import Workers
from leastwise.runs.sharing import MOST, SMALLEST, Shared, can_share

pytestmark = pytest.mark.skipif(not can_share(), reason="no files in memory on this system")


def double(numbers: np.ndarray, by: int) -> tuple[int, float, bool]:
    before = float(numbers.sum())
    numbers *= by  # a worker's changes stay its own
    return os.getpid(), before, numbers.flags.f_contiguous


def test_a_task_is_small_and_comes_back_whole() -> None:
    shared, large = Shared(), np.asfortranarray(np.random.default_rng(0).integers(0, 9, (50_000, 4)))
    packed = shared.packed(double, (large, 2))
    assert len(pickle.dumps(packed)) < SMALLEST < large.nbytes
    function, (found, by) = packed.unpacked()
    assert (function, by) == (double, 2)
    assert np.array_equal(found, large)
    found[0, 0] += 1
    assert not np.array_equal(found, large)
    assert shared.packed(double, (large, 3)).places == packed.places  # one copy for all tasks
    shared.close()


def test_workers_see_the_same_numbers_and_leave_nothing() -> None:
    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    large, workers = np.ones((50_000, 4), order="F"), Workers(2)
    with workers.ready():
        assert [*workers.map(double, [(large, 2)])] != []  # the workers and their pipes are there
        before = open_files()
        found = [*workers.map(double, [(large, by) for by in range(2, 8)])]
        assert open_files() == before
    assert open_files() == before - 1
    assert {each[1:] for each in found} == {(200_000.0, True)}
    assert all(process != os.getpid() for process, *_ in found)
    assert large.sum() == 200_000


def test_too_many_arrays_go_with_the_bytes() -> None:
    shared = Shared()
    arrays = [np.full(SMALLEST, i) for i in range(MOST + 3)]
    packed = [shared.packed(double, (each, 1)) for each in arrays]
    assert [len(each.places) for each in packed] == [1] * MOST + [0] * 3
    assert np.array_equal(packed[-1].unpacked()[1][0], arrays[-1])
    shared.close()
