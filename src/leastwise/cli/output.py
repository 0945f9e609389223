"""Where results go: a file that is there already is not lost without a word."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.errors import DataError, ParameterError, shorten

Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output if it exists.")]


def check_output(path: str | Path | None, force: bool) -> None:
    """Complain before the work begins if its result could not be written, or would replace something."""
    if path is None or str(path) == "-":
        return
    target = Path(path)
    if target.is_dir():
        raise ParameterError(f"{shorten(str(path))} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise ParameterError(f"{shorten(str(target.parent))} is no folder; make it first")
    if target.exists() and not force:
        raise DataError(f"{path}: it exists already; choose another name, or overwrite it with --force")
