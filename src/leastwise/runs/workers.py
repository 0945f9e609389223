"""Where the work is done: on this machine's processes or threads, or on a cluster that the user names."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import Any, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.errors import MissingExtraError, ParameterError, shorten
from leastwise.runs.sharing import Packed, Shared, can_share
from leastwise.validation import check_choice

BACKENDS = ("loky", "threading", "dask", "ray")
WAIT = 20  # seconds until a cluster counts as not there
_PATIENCE = 3600  # seconds that a worker waits for the next task
T = TypeVar("T")


@dataclass(frozen=True)
class Workers:
    """How tasks are run; results come in the order of the tasks, whatever finishes first.

    Parameters
    ----------
    jobs
        How many tasks at once; -1 for one per core.
    backend
        ``loky`` (processes), ``threading``, ``dask`` or ``ray``.
    cluster
        The address of a running Dask or Ray cluster; None starts a local one.
    """

    jobs: int = 1
    backend: str = "loky"
    cluster: str | None = None
    # By process, what its tasks have used so far.
    _used: dict[int, float] = field(default_factory=dict, repr=False, compare=False)
    _shared: Shared = field(default_factory=Shared, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("backend", self.backend, BACKENDS)
        if self.jobs == 0 or self.jobs < -1:
            raise ParameterError(f"jobs must be at least 1, or -1 for one per core; got {self.jobs}")
        if self.cluster is not None and self.backend not in ("dask", "ray"):
            raise ParameterError(f"a cluster needs the backend dask or ray; got {self.backend}")
        needed = {"dask": "distributed", "ray": "ray"}.get(self.backend)
        if needed is not None and find_spec(needed) is None:
            raise MissingExtraError(needed, "cluster")

    @property
    def processor_seconds(self) -> float:
        """Processor seconds that other processes have used for the tasks that are done."""
        return sum(used for process, used in self._used.items() if process != os.getpid())

    @property
    def at_once(self) -> int:
        """How many tasks run at once."""
        return int(effective_n_jobs(self.jobs))

    @contextmanager
    def ready(self) -> Iterator[None]:
        """Hold the cluster open while tasks are mapped."""
        with ExitStack() as stack:
            if self.backend == "dask":
                stack.enter_context(_dask(self.jobs, self.cluster))
            elif self.backend == "ray":
                stack.enter_context(_ray(self.jobs, self.cluster))
            # No array goes the way of joblib, which puts them into files that stay there when the run is killed. A
            # worker that has nothing to do in a long step is needed in the next one: it must not leave meanwhile.
            patient = {"idle_worker_timeout": _PATIENCE} if self.backend == "loky" else {}
            stack.enter_context(
                parallel_config(backend=self.backend, n_jobs=self.jobs, max_nbytes=None, **patient)
            )
            stack.callback(self._shared.close)
            stack.enter_context(warnings.catch_warnings())
            # A worker whose memory has grown by 300 MB is replaced by a new one: that is no news to anybody.
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            yield

    def map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[T]:
        """Yield the result of each task in order, as soon as it and all before it are there."""
        for result, process, used in self._map(function, tasks):
            self._used[process] = max(used, self._used.get(process, 0.0))
            yield result

    def _map(self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]) -> Iterator[tuple[T, int, float]]:
        if self.backend == "loky" and self.at_once > 1 and can_share():
            yield from self._map_shared(function, tasks)
            return
        todo = [delayed(_alone)(os.getpid(), function, *task) for task in tasks]
        if not todo:
            return
        # One task a batch: whatever is finished is handed over and written down at once.
        if self.backend != "ray":
            yield from Parallel(self.jobs, return_as="generator", batch_size=1)(todo)
            return
        # Ray hands over nothing until all is done: a few tasks for each worker at a time.
        step = 2 * effective_n_jobs()
        with Parallel(self.jobs, batch_size=1) as together:
            for start in range(0, len(todo), step):
                yield from together(todo[start : start + step])

    def _map_shared(
        self, function: Callable[..., T], tasks: Iterable[Sequence[Any]]
    ) -> Iterator[tuple[T, int, float]]:
        """Hand the arrays of the tasks over as one copy in memory."""
        todo = [delayed(_unpacked)(os.getpid(), self._shared.packed(function, task)) for task in tasks]
        if todo:
            yield from Parallel(self.jobs, return_as="generator", batch_size=1)(todo)


def _unpacked(parent: int, packed: Packed) -> tuple[Any, int, float]:
    function, task = packed.unpacked()
    return _alone(parent, function, *task)


def _alone(parent: int, function: Callable[..., T], *task: Any) -> tuple[T, int, float]:
    """Run a task with one thread: sums of several threads differ in the last digit from run to run.

    Returns its result, and which process has used how many seconds so far.
    """
    if os.getppid() == parent:
        _die_with(parent)
    with threadpool_limits(1):
        return function(*task), os.getpid(), time.process_time()


@cache
def _die_with(parent: int) -> None:
    """End this worker soon after its parent, however that was ended: it holds records.

    Ctrl-C reaches workers too; it is the parent that answers it, and their complaints would only hide its words.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _dask(jobs: int, address: str | None) -> Iterator[None]:
    from distributed import Client, LocalCluster

    if address is not None:
        try:
            client = Client(address, timeout=WAIT)
        except (OSError, ValueError):
            raise ParameterError(
                f"no Dask cluster answers at {shorten(address)}; start one, or correct it"
            ) from None
        with client:
            yield
        return
    workers = None if jobs == -1 else jobs
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster,
        Client(cluster),
    ):
        yield


@contextmanager
def _ray(jobs: int, address: str | None) -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    register_ray()
    started = not ray.is_initialized()
    if started:
        ray.init(address=address, num_cpus=None if address or jobs == -1 else jobs, include_dashboard=False)
    try:
        yield
    finally:
        if started:
            ray.shutdown()
