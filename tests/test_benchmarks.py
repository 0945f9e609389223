"""Every benchmark can be asked what it measures, the way the README calls it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "benchmarks"
SCRIPTS = [
    "adversaries",
    "apply",
    "apt_toolkit",
    "collector",
    "experiments",
    "frontier",
    "minimizers",
    "pat",
    "run",
    "sql",
]


@pytest.mark.parametrize("name", SCRIPTS)
def test_it_explains_itself(name: str) -> None:
    command = [sys.executable, str(FOLDER / f"{name}.py"), "--help"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "--json" in done.stdout
