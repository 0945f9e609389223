"""Where the work is done: on this machine's processes or threads, or on a cluster that the user names.

Records are handed to worker processes as one copy in memory, which has no name and ends with the processes. A task
is pickled without its large arrays. Each of these lies, once, in an anonymous file in memory that the parent holds
open; a worker, its child, maps it by the parent's descriptor. Nothing is on a disk or in a shared folder, so
nothing stays behind, however the processes end. What a worker changes stays its own (copy on write).
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from joblib import Parallel, delayed, effective_n_jobs, parallel_config

from leastwise.errors import MissingExtraError, ParameterError, shorten
from leastwise.predictors.base import few_threads
from leastwise.progress import Progress
from leastwise.validation import check_choice

try:
    import cloudpickle  # type: ignore[import-untyped]  # joblib needs it
except ImportError:  # an earlier release of joblib, which has it inside
    from joblib.externals import cloudpickle

BACKENDS = ("loky", "threading", "dask", "ray")
WAIT = 20  # seconds until a cluster counts as not there
_PATIENCE = 3600  # seconds that a worker waits for the next task
T = TypeVar("T")
SMALLEST_SHARED = 1 << 16  # bytes; less than that is quicker to send than to map
MOST_SHARED = 256  # arrays held at once, each an open file


# One copy in memory ----------------------------------------------------------------------------------------------


class _Held(NamedTuple):
    descriptor: int
    buffer: pickle.PickleBuffer  # keeps the array, and with it its address


@dataclass
class Shared:
    """The arrays that tasks have in common, held in memory until it is closed."""

    _held: dict[tuple[int, int], _Held] = field(default_factory=dict)

    def packed(self, function: Callable[..., Any], task: Sequence[Any]) -> Packed:
        """Return a task as bytes, and where its large arrays are."""
        places: list[Place] = []

        def kept_apart(buffer: pickle.PickleBuffer) -> bool:
            place = self._place(buffer)
            if place is None:
                return True  # goes with the bytes
            places.append(place)
            return False

        content = cloudpickle.dumps((function, tuple(task)), protocol=5, buffer_callback=kept_apart)
        return Packed(content, tuple(places))

    def close(self) -> None:
        """Let go of all arrays."""
        while self._held:
            os.close(self._held.popitem()[1].descriptor)

    def _place(self, buffer: pickle.PickleBuffer) -> Place | None:
        import numpy as np

        view = buffer.raw()
        key = (np.frombuffer(view, dtype=np.uint8).ctypes.data, view.nbytes) if view.nbytes else (0, 0)
        if view.nbytes < SMALLEST_SHARED or (key not in self._held and len(self._held) >= MOST_SHARED):
            return None
        if key not in self._held:
            descriptor = os.memfd_create("leastwise", os.MFD_CLOEXEC)
            with open(descriptor, "wb", closefd=False) as file:
                file.write(view)
            self._held[key] = _Held(descriptor, buffer)
        return Place(os.getpid(), self._held[key].descriptor)


class Place(NamedTuple):
    """Which process holds an array, and by which descriptor."""

    process: int
    descriptor: int


class Packed(NamedTuple):
    """A task as bytes, without its large arrays."""

    content: bytes
    places: tuple[Place, ...]

    def unpacked(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        """Return the function and its arguments, in a process of the same user."""
        buffers = [_mapped(place) for place in self.places]
        # What the parent itself packed and sent through its own pipe.
        call: tuple[Callable[..., Any], tuple[Any, ...]] = pickle.loads(self.content, buffers=buffers)  # noqa: S301
        return call


def _mapped(place: Place) -> mmap.mmap:
    """Map an array, for one task: what that changes the next does not see."""
    with Path(f"/proc/{place.process}/fd/{place.descriptor}").open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def can_share() -> bool:
    """Return whether this system has files in memory that another process can map."""
    return hasattr(os, "memfd_create") and Path(f"/proc/{os.getpid()}/fd").is_dir()


# Workers ---------------------------------------------------------------------------------------------------------


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

    def forget(self) -> None:
        """Let go of the arrays that were shared so far: what comes next has others."""
        self._shared.close()

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
    with few_threads(1):
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


# Where the time goes ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Attributes
    ----------
    words
        What was done.
    processor
        Processor seconds of this process and of its workers.
    clock
        Seconds that it took.
    """

    words: str
    processor: float
    clock: float

    def utilisation(self, workers: int) -> float:
        """Return the share of the time in which so many workers worked."""
        return self.processor / max(self.clock * workers, 1e-9)


class Stages:
    """Is told of each stage, measures it, and passes on what it is told.

    Parameters
    ----------
    progress
        Who else is told.
    workers
        Who works: what their processes use is counted when a task of theirs is done.
    """

    def __init__(self, progress: Progress, workers: Workers) -> None:
        self._progress, self._workers = progress, workers
        self._words, self._from = "beginning", self._now()
        self._spent: dict[str, tuple[float, float]] = {}

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        """Note what the stage before took, and begin the next."""
        self._close(words)
        self._progress.begin(words, total, done)

    def advance(self, steps: int = 1) -> None:
        """Pass it on."""
        self._progress.advance(steps)

    def ended(self) -> list[Stage]:
        """Return all stages, each once, in the order in which they began."""
        self._close("beginning")
        return [Stage(words, *spent) for words, spent in self._spent.items()]

    def _close(self, words: str) -> None:
        now, before = self._now(), self._spent.get(self._words, (0.0, 0.0))
        self._spent[self._words] = before[0] + now[0] - self._from[0], before[1] + now[1] - self._from[1]
        self._words, self._from = words, now

    def _now(self) -> tuple[float, float]:
        return time.process_time() + self._workers.processor_seconds, time.perf_counter()


def stage_table(stages: Sequence[Stage], workers: int) -> list[dict[str, str]]:
    """Return a row for each stage, and one for all of them, as people read it.

    >>> stage_table([Stage("screening", 3.0, 2.0), Stage("judging", 1.0, 2.0)], 2)[0]
    {'stage': 'screening', 'CPU s': '3.0', 'share': '75 %', 'seconds': '2.0', 'utilisation': '75 %'}
    """
    total = Stage("all", sum(each.processor for each in stages), sum(each.clock for each in stages))
    return [
        {
            "stage": each.words,
            "CPU s": f"{each.processor:.1f}",
            "share": f"{each.processor / max(total.processor, 1e-9):.0%}".replace("%", " %"),
            "seconds": f"{each.clock:.1f}",
            "utilisation": f"{each.utilisation(workers):.0%}".replace("%", " %"),
        }
        for each in (*stages, total)
    ]
