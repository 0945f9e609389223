"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file so that it is there whole or not at all: beside it first, then renamed.

    A file that is replaced keeps its mode, a link stays one, and what is no file (a pipe) is written as it is.
    One that tells of single people is ``private``: readable by its owner only.
    """
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    target = target.resolve()
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    try:
        with open(
            beside, "wb", opener=lambda name, flags: os.open(name, flags, 0o600 if private else 0o666)
        ) as file:
            if target.exists() and not private:
                shutil.copymode(target, beside)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):  # it was renamed, or could not be made
            beside.unlink()
    sync_folder(target.parent)


@contextmanager
def unnamed_file() -> Iterator[Path]:
    """Give the place of a temporary file that is gone when the process is, whatever ends it.

    Where the system has no ``/proc`` it has a name, and is removed at the end.
    """
    unnamed = Path("/proc/self/fd").is_dir()
    with (tempfile.TemporaryFile if unnamed else tempfile.NamedTemporaryFile)(prefix="leastwise-") as file:
        yield Path(f"/proc/self/fd/{file.fileno()}" if unnamed else file.name)


def is_leftover(path: Path) -> bool:
    """Return whether a killed ``write_whole`` left this file behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed ``write_whole`` left behind."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Put the names of a folder on the disk; a system that cannot is left alone."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
