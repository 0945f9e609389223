"""Runs the real command line, in this process or in one of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from leastwise.cli import main as cli


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def complaint(self) -> str:
        """The one line that a mistake of the user is answered with."""
        lines = self.err.splitlines()
        assert (self.code, self.out, len(lines)) == (2, "", 1), self
        assert lines[0].startswith("leastwise: ")
        return lines[0].removeprefix("leastwise: ")


Run = Callable[..., Answer]


def runner(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: object) -> Answer:
        monkeypatch.setattr(sys, "argv", ["leastwise", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            cli.main()
        text = capsys.readouterr()
        return Answer(int(stop.value.code or 0), text.out, text.err)

    return run


def run_once(*words: object) -> int:
    """Run it for a fixture that outlives one test; what is said goes where the tests' output goes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["leastwise", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
    return int(stop.value.code or 0)


def run_process(*words: object, **rest: Any) -> Answer:
    command = [sys.executable, "-m", "leastwise", *map(str, words)]
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=120, **rest)
    return Answer(result.returncode, result.stdout, result.stderr)
