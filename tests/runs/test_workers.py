"""Whoever works, the results are the same and in order; where the time goes."""

from __future__ import annotations

import math
import os
import pickle
import signal
import socket
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from leastwise import MissingExtraError, ParameterError
from leastwise.progress import Silent
from leastwise.runs import Stage, Stages, Workers, run, stage_table, workers
from leastwise.runs.workers import MOST_SHARED, SMALLEST_SHARED, Shared, can_share
from tests.runs.small import OPTIONS, content, records


def twice(number: int) -> int:
    return 2 * number


def hears_ctrl_c() -> bool:
    return signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def test_ctrl_c_is_answered_here_and_not_by_the_workers() -> None:
    workers = Workers(2)
    with workers.ready():
        assert not any(workers.map(hears_ctrl_c, [(), (), ()]))
    assert hears_ctrl_c()


@pytest.mark.parametrize("workers", [Workers(), Workers(2, "threading"), Workers(-1, "threading")])
def test_results_come_in_order(workers: Workers) -> None:
    with workers.ready():
        assert [*workers.map(twice, [(i,) for i in range(7)])] == [0, 2, 4, 6, 8, 10, 12]
        assert [*workers.map(twice, [])] == []


def test_what_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="did you mean 'threading'"):
        Workers(1, "threads")
    with pytest.raises(ParameterError, match="jobs must be at least 1"):
        Workers(-2)
    with pytest.raises(ParameterError, match="a cluster needs the backend dask or ray"):
        Workers(1, "loky", "tcp://127.0.0.1:1")
    monkeypatch.setattr(workers, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="this needs distributed"):
        Workers(1, "dask")


def same_as_alone(workers: Workers, tmp_path: Path) -> None:
    run(records(), tmp_path / "alone", OPTIONS)
    run(records(), tmp_path / "many", OPTIONS, workers=workers)
    assert content(tmp_path / "many") == content(tmp_path / "alone")


@pytest.mark.slow
def test_processes_give_the_same_bytes(tmp_path: Path) -> None:
    same_as_alone(Workers(2, "loky"), tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_dask_cluster_gives_the_same_bytes(tmp_path: Path) -> None:
    same_as_alone(Workers(2, "dask"), tmp_path)
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        run(records(), tmp_path / "address", OPTIONS, workers=Workers(1, "dask", cluster.scheduler_address))
    assert content(tmp_path / "address") == content(tmp_path / "alone")


@pytest.mark.slow
@pytest.mark.skipif(find_spec("distributed") is None, reason="distributed is not installed")
def test_a_cluster_that_does_not_answer_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import default_client

    monkeypatch.setattr(workers, "WAIT", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.monotonic()
    with (
        pytest.raises(ParameterError, match=rf"no Dask cluster answers at 'tcp://127.0.0.1:{port}'; start one"),
        Workers(1, "dask", f"tcp://127.0.0.1:{port}").ready(),
    ):
        pytest.fail("nobody is there to work")
    assert time.monotonic() - start < 15, "it must be told after the time that is waited, not after the default"
    with pytest.raises(ValueError, match="No clients found"):  # nothing is left that later work would be sent to
        default_client()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning")
def test_ray_gives_the_same_bytes(tmp_path: Path) -> None:
    same_as_alone(Workers(2, "ray"), tmp_path)


def test_who_works_alone_works_here_whoever_else_is_ready() -> None:
    with Workers(2).ready():
        assert {*Workers().map(os.getpid, [(), ()])} == {os.getpid()}


HELD: list[bytes] = []


def holding_on(number: int) -> int:
    """Grow by 200 MB, as a worker does that keeps what it learned, and take as long as it takes to be noticed."""
    HELD.append(os.urandom(1) * 200_000_000)
    time.sleep(1.1)
    return number


def test_a_worker_that_grew_is_replaced_without_a_word() -> None:
    workers = Workers(2)
    with workers.ready():  # a warning would be an error here
        assert [*workers.map(holding_on, [(i,) for i in range(8)])] == [*range(8)]


shares = pytest.mark.skipif(not can_share(), reason="no files in memory on this system")


def double(numbers: np.ndarray, by: int) -> tuple[int, float, bool]:
    before = float(numbers.sum())
    numbers *= by  # a worker's changes stay its own
    return os.getpid(), before, numbers.flags.f_contiguous


@shares
def test_a_task_is_small_and_comes_back_whole() -> None:
    shared, large = Shared(), np.asfortranarray(np.random.default_rng(0).integers(0, 9, (50_000, 4)))
    packed = shared.packed(double, (large, 2))
    assert len(pickle.dumps(packed)) < SMALLEST_SHARED < large.nbytes
    function, (found, by) = packed.unpacked()
    assert (function, by) == (double, 2)
    assert np.array_equal(found, large)
    found[0, 0] += 1
    assert not np.array_equal(found, large)
    assert shared.packed(double, (large, 3)).places == packed.places  # one copy for all tasks
    shared.close()


@shares
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


@shares
def test_too_many_arrays_go_with_the_bytes() -> None:
    shared = Shared()
    arrays = [np.full(SMALLEST_SHARED, i) for i in range(MOST_SHARED + 3)]
    packed = [shared.packed(double, (each, 1)) for each in arrays]
    assert [len(each.places) for each in packed] == [1] * MOST_SHARED + [0] * 3
    assert np.array_equal(packed[-1].unpacked()[1][0], arrays[-1])
    shared.close()


def burn(seconds: float) -> float:
    end = time.process_time() + seconds
    while time.process_time() < end:
        math.sqrt(2)
    return seconds


def test_each_stage_is_told_once_and_in_order() -> None:
    stages = Stages(Silent(), Workers())
    for words in ("screening", "judging", "screening"):
        stages.begin(words, 1)
        burn(0.01)
        stages.advance()
    found = stages.ended()
    assert [each.words for each in found] == ["beginning", "screening", "judging"]
    assert found[1].processor > found[2].processor >= 0.01


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_workers_use_is_counted_wherever_they_work(jobs: int) -> None:
    workers = Workers(jobs)
    with workers.ready():
        stages = Stages(Silent(), workers)
        stages.begin("working", 4)
        assert [*workers.map(burn, [(0.1,)] * 4)] == [0.1] * 4
        (_, work) = stages.ended()
    assert work.processor >= 0.4
    assert (workers.processor_seconds >= 0.4) == (jobs == 2)


def test_the_table_ends_with_the_sum() -> None:
    rows = stage_table([Stage("a", 3.0, 2.0), Stage("b", 1.0, 2.0)], 2)
    assert [row["stage"] for row in rows] == ["a", "b", "all"]
    assert rows[-1] == {"stage": "all", "CPU s": "4.0", "share": "100 %", "seconds": "4.0", "utilisation": "50 %"}
