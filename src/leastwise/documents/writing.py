"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROCESS = Path("/proc/self/fd")  # where the system lets a process name what it has open


def write_whole(path: str | Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file as ``whole_file`` does; what is no file (a pipe) is written as it is."""
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    if target.exists() and not target.is_file():
        target.write_bytes(data)
        return
    with whole_file(path, private=private) as place:
        place.write_bytes(data)


@contextmanager
def whole_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Give a place to write a file that is there whole, when the block has ended well, or not at all.

    It has no name until then: whatever ends the process, a kill too, leaves nothing behind. (Where the system
    cannot do that it lies beside, under a name that ``remove_leftovers`` knows.) A file that is replaced keeps its
    mode, a link stays one. One that tells of single people is ``private``: readable by its owner only.
    """
    target = Path(path).resolve()
    beside = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    try:
        with _opened(beside, 0o600 if private else 0o666) as (descriptor, place):
            if target.exists() and not private:
                shutil.copymode(target, place)
            yield place
            os.fsync(descriptor)
            if place != beside:
                os.link(place, beside, src_dir_fd=descriptor)  # with a folder it follows the link that place is
            beside.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):  # it was renamed, or could not be made
            beside.unlink()
    sync_folder(target.parent)


@contextmanager
def _opened(beside: Path, mode: int) -> Iterator[tuple[int, Path]]:
    """Open a new file in the folder, without a name where there can be such; give where it can be written."""
    descriptor = -1
    if _PROCESS.is_dir() and hasattr(os, "O_TMPFILE"):
        with suppress(OSError):  # not every file system can; what else is wrong shows below
            descriptor = os.open(beside.parent, os.O_TMPFILE | os.O_RDWR, mode)
    place = _PROCESS / str(descriptor) if descriptor >= 0 else beside
    if descriptor < 0:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_TRUNC, mode)
    try:
        yield descriptor, place
    finally:
        os.close(descriptor)


@contextmanager
def unnamed_file() -> Iterator[Path]:
    """Give the place of a temporary file that is gone when the process is, whatever ends it.

    Where the system has no ``/proc`` it has a name, and is removed at the end.
    """
    unnamed = _PROCESS.is_dir()
    with (tempfile.TemporaryFile if unnamed else tempfile.NamedTemporaryFile)(prefix="leastwise-") as file:
        yield _PROCESS / str(file.fileno()) if unnamed else Path(file.name)


def private_folder(kind: str) -> tuple[Path, Callable[[], None]]:
    """Make a temporary folder for its owner only; return it, and what removes it.

    A killed process cannot remove its own: whoever makes the next one of the kind removes those that nobody has
    open any more.
    """
    prefix = f"leastwise-{kind}-"
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if (held := _held(left)) is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(held)
    made = Path(tempfile.mkdtemp(prefix=".leastwise-"))
    held = _held(made)  # under another name, or somebody might find it before it is held
    place = made.rename(made.with_name(prefix + made.name.removeprefix(".leastwise-")))

    def remove() -> None:
        shutil.rmtree(place, ignore_errors=True)
        if held is not None:
            os.close(held)

    return place, remove


def _held(folder: Path) -> int | None:
    """Hold a folder of one's own, until the process has gone or it is closed; None if somebody else does."""
    try:
        import fcntl
    except ImportError:  # not on this system: nothing is held, and nothing of others is removed
        return None
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        if os.fstat(descriptor).st_uid == os.getuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except OSError:  # held, gone, or no folder
        pass
    if descriptor >= 0:
        os.close(descriptor)
    return None


def is_leftover(path: Path) -> bool:
    """Return whether a killed ``whole_file`` left this file behind."""
    return path.name.startswith(".") and path.name.endswith(".tmp")


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed ``whole_file`` left behind."""
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
