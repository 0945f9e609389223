"""A studio that listens, in a process of its own: what a person would start by hand."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAM = """
import importlib
import sys
from pathlib import Path
from leastwise.studio import Room, serve
ground = importlib.import_module(sys.argv[2]).ground
room = Room(ground(Path(sys.argv[1])))
serve(room, lambda address: print(address, flush=True), tour=False)
print("ended", flush=True)
"""


@contextmanager
def serving(folder: Path, module: str = "tests.studio.conftest") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve the hand-made run in a folder; give the address and the process."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder), module], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+", address), address
        yield address, process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(20)
        process.stdout.close()  # type: ignore[union-attr]


@contextmanager
def serving_demo(folder: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Serve ``leastwise studio --demo`` as a person starts it; its run goes on in the background."""
    command = [sys.executable, "-m", "leastwise", "studio", "--demo", "--no-browser", "-o", str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = (re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line) for line in process.stderr)
        address = next(each for each in found if each)
        yield address.group(), process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(60)
        process.stderr.close()
