"""Generalizations on the command line: a file, or the folder of a run, which stands for its recommended one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.errors import ArtefactError, ParameterError
from leastwise.generalization import Generalization

Artefact = Annotated[
    Path, typer.Argument(help="A generalization (JSON), or the folder of a run: its recommended one.")
]


def load(path: Path) -> Generalization:
    """Read a generalization; a complaint begins with the name of the file."""
    file = recommended(path) if path.is_dir() else path
    try:
        return Generalization.load(file)
    except ArtefactError as error:
        text = str(error)
        raise ArtefactError(text if text.startswith(str(file)) else f"{file}: {text}") from None


def recommended(folder: Path) -> Path:
    """Return the file of a finished run's recommended generalization."""
    from leastwise.runs import Run

    if Run.load(folder).choice.candidate is None:
        raise ParameterError(
            f"{folder}: no candidate of the run keeps its limits; state others with: leastwise choose {folder}"
        )
    return folder / "recommended.json"
