"""Where results go: what is there already is not lost without a word, and nothing is half written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leastwise.errors import DataError, ParameterError, shorten


def check_output(path: str | Path | None, force: bool, suffixes: tuple[str, ...] = ()) -> None:
    """Complain before the work begins if its result could not be written, or would replace something."""
    if path is None or str(path) == "-":
        return
    target = Path(path)
    if suffixes and target.suffix.lower() not in suffixes:
        raise ParameterError(f"{path}: the name must end in {', '.join(suffixes)}")
    if target.is_dir():
        raise ParameterError(f"{shorten(str(path))} is a folder; name a file in it")
    if not target.parent.is_dir():
        raise ParameterError(f"{shorten(str(target.parent))} is no folder; make it first")
    if target.exists() and not force:
        raise DataError(f"{path}: it exists already; choose another name, or overwrite it with --force")


def write_frame(frame: Any, path: Path) -> None:
    """Write records as .csv, .parquet or .ndjson, as the name tells; the file appears only when it is complete."""
    part = path.with_name(f".{path.name}.part")
    try:
        getattr(frame, f"write_{path.suffix.lower()[1:]}")(part)
        part.replace(path)
    except OSError as error:
        raise DataError(f"could not write {path}: {error.strerror or error}") from None
    finally:
        part.unlink(missing_ok=True)
