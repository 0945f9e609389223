"""An append-only file that survives a crash: every line is on the disk before the next begins."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leastwise.documents.writing import sync_folder
from leastwise.errors import ParameterError


class Journal:
    """Lines of JSON, each written and synced at once.

    A process that is killed leaves at most its last line torn: it has no line end, and ``lines`` cuts it off.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[str]:
        """Return the whole lines; a torn one at the end is cut off the file."""
        if not self.path.exists():
            return []
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            with self.path.open("r+b") as file:
                file.truncate(len(whole))
                os.fsync(file.fileno())
        # Not splitlines: a value may hold a line break of Unicode.
        return [line.decode("utf-8") + "\n" for line in whole.split(b"\n")[:-1]]

    def append(self, line: str) -> None:
        """Write one line, and return when it is on the disk."""
        assert line.endswith("\n")
        assert line.count("\n") == 1
        new = not self.path.exists()
        with self.path.open("ab") as file:
            file.write(line.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        if new:
            sync_folder(self.path.parent)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder meanwhile; the lock of a killed process is gone with it."""
    try:
        import fcntl
    except ImportError:  # not on this system
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise ParameterError(
            f"another process is working in {folder}; wait for it, or name another folder"
        ) from None
    try:
        yield
    finally:
        os.close(descriptor)
