"""What commands hand over: tables for people, JSON for machines, and files that replace nothing without a word."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer

from leastwise.documents import whole_file
from leastwise.documents.wording import NO_BREAK
from leastwise.errors import DataError, ParameterError, shorten

WIDE = 150  # columns, where the output is a file or a pipe
NARROW_SCREEN = 100
NARROW = 14  # characters; a column no wider than this is not wrapped on a small terminal


def width() -> int:
    """Return how many columns there are to print on."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE


def visible(text: str, longest: int = 10_000) -> str:
    """Return a text of the data so that it can be printed: in one line, not too long, without control characters.

    >>> visible("a\\nb\\x1b[2J", 8)
    'a\\\\nb\\\\x1…'
    >>> visible("26\u00a0%")  # no control character, though Python does not print it either
    '26 %'
    """
    plain = text.replace(NO_BREAK, " ")
    safe = "".join(char if char.isprintable() else repr(char)[1:-1] for char in plain)
    return safe if len(safe) <= longest else f"{safe[: longest - 1]}…"


def print_lines(text: str) -> None:
    """Print a text of several lines that holds names and values of the data."""
    typer.echo("\n".join(visible(line) for line in text.split("\n")))


def print_json(document: Any) -> None:
    """Print a document for machines."""
    typer.echo(json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False))


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    """Print a table; texts are shown as they are, never read as markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    gap = (0, 1, 0, 0) if width() > NARROW_SCREEN else 0
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=SIMPLE_HEAD, padding=gap)
    table.show_edge = False
    for j, name in enumerate(columns):
        longest = max([len(name), *(len(visible(row[j])) for row in rows)])
        column = partial(table.add_column, name, overflow="fold", no_wrap=longest <= NARROW)
        column(justify="right") if name in right else column()
    for row in rows:
        table.add_row(*(Text(visible(text)) for text in row))
    Console(width=width()).print(table)


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
    """Write records as .csv, .parquet or .ndjson, as the name tells, for their owner only.

    The file appears only when it is complete.
    """
    try:
        with whole_file(path, private=True) as place:
            getattr(frame, f"write_{path.suffix.lower()[1:]}")(place)
    except OSError as error:
        raise DataError(f"could not write {path}: {error.strerror or error}") from None
