"""Numba's decorator; what it leaves on the disk is right even where several processes write it, or one is stopped.

Numba chooses the file of a compiled signature by an index that it read before, and names it there before it is
written. So two processes that compile two signatures of one kernel give both the same file, and one is then taken
for the other: whoever loads it crashes, or counts wrongly. And one that is stopped in between leaves an index that
may name what was compiled of an older source.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import numba
from numba.core.caching import IndexDataCacheFile

if sys.platform != "win32":
    import fcntl


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a kernel when it is first called, and keeps it on the disk.

    A division by zero is no error there, as in NumPy: looking for it keeps loops from being vectorised.
    """

    def decorated(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
        kept = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
        if type(kept) is IndexDataCacheFile:
            kept.__class__ = _Files
        return kernel

    return decorated


class _Files(IndexDataCacheFile):  # type: ignore[misc]
    """The files of one kernel: one process at a time adds to them, and an index names what is there."""

    def save(self, key: Any, data: Any) -> None:
        with _alone_in(self._cache_path):
            index = self._load_index()
            if key not in index:
                taken = {*index.values()}
                index[key] = next(name for i in count(1) if (name := self._data_name(i)) not in taken)
            self._save_data(index[key], data)
            self._save_index(index)


@contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Wait for other processes that write into a folder; where folders cannot be locked, do not."""
    if sys.platform == "win32":  # pragma: no cover
        yield
    else:
        opened = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # some file systems of networks lock no folder
                fcntl.flock(opened, fcntl.LOCK_EX)
            yield
        finally:
            os.close(opened)  # which unlocks it
