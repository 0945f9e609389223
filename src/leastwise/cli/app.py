"""The application that every command registers with.

Whatever is slow to import (polars, scikit-learn) is imported inside a command, so that the help answers at once.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from leastwise import __version__


class _PlainFlags:
    """Shows an option that takes no value without the name of a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in found:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return found


class Command(_PlainFlags, TyperCommand):
    """A command as its help shows it."""


class Group(_PlainFlags, TyperGroup):
    """A group of commands as its help shows it."""


app = typer.Typer(
    name="leastwise",
    cls=Group,
    help="Collect the least data that still predicts.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    epilog="Start with: `leastwise demo`, then `leastwise run people.csv --label income --output run`",
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"leastwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Collect the least data that still predicts."""
