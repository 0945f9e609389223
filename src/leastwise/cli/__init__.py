"""The command line: one module per command, each a plain function with typed options."""

from __future__ import annotations

import sys
import warnings

import typer

from leastwise import __version__
from leastwise.errors import LeastwiseError, PrivacyLeakWarning

app = typer.Typer(
    name="leastwise",
    help="Collect the least data that still predicts.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"leastwise {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_print_version, is_eager=True, help="Print the version."),
) -> None:
    """Collect the least data that still predicts."""


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, PrivacyLeakWarning):
        typer.secho(f"privacy: {message}", err=True, fg=typer.colors.YELLOW)


def main() -> None:
    """Run the command line; a mistake of the user is one line and exit code 2."""
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    try:
        app()
    except LeastwiseError as error:
        typer.secho(f"leastwise: {error}", err=True, fg=typer.colors.RED)
        sys.exit(2)
