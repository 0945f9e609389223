"""Records are handed to worker processes as one copy in memory, which has no name and ends with the processes.

A task is pickled without its large arrays. Each of these lies, once, in an anonymous file in memory that the
parent holds open; a worker, its child, maps it by the parent's descriptor. Nothing is on a disk or in a shared
folder, so nothing stays behind, however the processes end. What a worker changes stays its own (copy on write).
"""

from __future__ import annotations

import mmap
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

try:
    import cloudpickle  # type: ignore[import-untyped]  # joblib needs it
except ImportError:  # an earlier release of joblib, which has it inside
    from joblib.externals import cloudpickle

SMALLEST = 1 << 16  # bytes; less than that is quicker to send than to map
MOST = 256  # arrays held at once, each an open file


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
        if view.nbytes < SMALLEST or (key not in self._held and len(self._held) >= MOST):
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
        found: tuple[Callable[..., Any], tuple[Any, ...]] = pickle.loads(self.content, buffers=buffers)  # noqa: S301
        return found


def _mapped(place: Place) -> mmap.mmap:
    """Map an array, for one task: what that changes the next does not see."""
    with Path(f"/proc/{place.process}/fd/{place.descriptor}").open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)


def can_share() -> bool:
    """Return whether this system has files in memory that another process can map."""
    return hasattr(os, "memfd_create") and Path(f"/proc/{os.getpid()}/fd").is_dir()
