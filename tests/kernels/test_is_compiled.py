"""Whether a kernel is on the disk is what Numba says of it, not what clocks say of files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ASKED = "from leastwise.kernels import is_compiled; print(is_compiled('numbering', 'slot'))"
USED = "import numpy as np; from leastwise.kernels.numbering import slot; slot(np.full(4, -1), 3, 4)"


def told(code: str, folder: Path) -> str:
    there = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", code], env=there, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_index_older_than_the_source_it_was_made_of_serves_as_well(tmp_path: Path) -> None:
    """A checkout gives every source the time of the day."""
    assert told(ASKED, tmp_path) == "False"
    told(USED, tmp_path)
    assert told(ASKED, tmp_path) == "True"
    for index in tmp_path.rglob("*.nbi"):
        os.utime(index, (0, 0))
    assert told(ASKED, tmp_path) == "True"


def test_no_test_needs_a_kernel_to_be_found(compiled_while_collecting: list[str]) -> None:
    assert compiled_while_collecting == []
