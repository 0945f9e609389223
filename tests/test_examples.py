"""The numbered examples run as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout


def test_getting_started() -> None:
    printed = run("01_getting_started.py")
    assert "of 12 attributes" in printed
    assert "With 95 % confidence nobody" in printed


@pytest.mark.slow
def test_frontier(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs matplotlib")
    assert "PAT" in run("02_frontier.py", str(tmp_path / "frontier.svg"))
    assert (tmp_path / "frontier.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")


@pytest.mark.slow
def test_qualitative_study() -> None:
    assert "buckets" in run("03_pat_qualitative_study.py")
