"""Runs a script of this repository as a person does: in this process, which has imported it all, or in its own."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest


def printed(script: Path, *arguments: object, **environment: str | None) -> str:
    """Return what a script prints; a variable that is None is not set."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(said):
        for name, value in environment.items():
            patch.delenv(name, raising=False) if value is None else patch.setenv(name, value)
        patch.setattr(sys, "argv", [str(script), *map(str, arguments)])
        patch.setattr(sys, "path", [str(script.parent), *sys.path])
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as stop:
            if stop.code:
                raise
        finally:  # its neighbours are nobody else's modules
            for name, module in [*sys.modules.items()]:
                if Path(getattr(module, "__file__", None) or "").parent == script.parent:
                    del sys.modules[name]
    return said.getvalue()


def printed_alone(script: Path, *arguments: object, **environment: str) -> str:
    """Return what a script prints in a process of its own, as one needs that starts workers from its functions."""
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout
