"""The numbered examples run as they are."""

from __future__ import annotations

import ast
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


@pytest.mark.slow
def test_policy_and_check() -> None:
    printed = run("05_policy_and_check.py")
    assert "the same people: fine" in printed
    assert "40 or older: broken" in printed


@pytest.mark.slow
def test_re_release() -> None:
    nested, crossed = run("06_re_release.py").split("Another one")
    assert "adopting it adds nothing" in nested
    assert "The budget is kept." in nested
    assert "are not nested" in crossed
    assert "A6 is wrong on average" in crossed


def test_your_own_minimizer() -> None:
    assert lines_of_class("07_your_own_minimizer.py") <= 30
    printed = run("07_your_own_minimizer.py")
    assert "Ask 3 of 12 attributes, 6 answers in all." in printed
    assert "transform gives 12 columns" in printed


def test_your_own_adversary() -> None:
    assert lines_of_class("08_your_own_adversary.py") <= 30
    ours, theirs = (float(text.split()[0]) for text in run("08_your_own_adversary.py").split("wrong ")[1:])
    assert ours > theirs > 0.3  # A1 chooses the strongest of several predictors


def lines_of_class(name: str) -> int:
    """Count what has to be written: the lines of the class that are not empty."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    (found,) = (node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))
    return sum(bool(line.strip()) for line in text.splitlines()[found.lineno - 1 : found.end_lineno])
