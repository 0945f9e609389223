"""The application, and what its commands share: options that are declared once, and groups of them.

Whatever is slow to import (polars, scikit-learn) is imported inside a command, so that the help answers at once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from leastwise import __version__
from leastwise.errors import ArtefactError

if TYPE_CHECKING:
    from leastwise.generalization import Generalization
    from leastwise.runs import Choice


class _PlainFlags:
    """Shows an option that takes no value without the name of a type."""

    def get_params(self, ctx: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


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


Artefact = Annotated[
    Path, typer.Argument(help="A generalization (JSON), or the folder of a run: its recommended one.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Spreadsheet = Annotated[
    bool, typer.Option("--spreadsheet", help="Put an apostrophe before texts of a CSV that would run as formulas.")
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output if it exists.")]
HeldOut = Annotated[
    bool, typer.Option("--held-out", help="These records had no say in choosing the generalization.")
]
Quick = Annotated[bool, typer.Option("--quick", help="Train and draw less, for a first look.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever run the folder holds.")]
Seed = Annotated[int, typer.Option("--seed", min=0, metavar="N", help="Same seed, same result.")]
SeedOrPolicy = Annotated[
    int | None,
    typer.Option("--seed", min=0, metavar="N", help="Same seed, same result. Default: the policy's, or 0."),
]
PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", help="A leastwise.yaml with task, budget and constraints; options win over it."),
]
Minimizer = Annotated[str, typer.Option("--minimizer", "-m", metavar="NAME", help="See: leastwise minimizers.")]
Trust = Annotated[
    list[str] | None,
    typer.Option("--trust", metavar="TYPE", help="A type in the model's file to accept. Can be repeated."),
]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups: each dataclass among its parameters becomes as many options as it has fields."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    options: list[tuple[str, Any, Any]] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name in groups:
            kinds = get_type_hints(groups[name], include_extras=True)
            options += [(each.name, _default(each), kinds[each.name]) for each in fields(groups[name])]
        else:
            options.append((name, parameter.default, hints[name]))

    @wraps(command)
    def called(**given: Any) -> None:
        taken = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **taken)

    # What typer reads instead of the real parameters.
    called.__annotations__ = {name: annotation for name, _, annotation in options}
    by_name = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY)
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [by_name(name, default=default, annotation=annotation) for name, default, annotation in options]
    )
    return called


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default


def load(path: Path) -> Generalization:
    """Read a generalization, that of a run being its recommended one; a complaint begins with the file's name."""
    from leastwise.generalization import Generalization

    file = path
    if path.is_dir():
        from leastwise.runs import Run
        from leastwise.runs.nearest import check_chosen

        file = path / "recommended.json"
        check_chosen(Run.load(path))
    try:
        return Generalization.load(file)
    except ArtefactError as error:
        text = str(error)
        raise ArtefactError(text if text.startswith(str(file)) else f"{file}: {text}") from None


def put_to_use(path: Path) -> None:
    """Say which limits what a run recommends does not keep, and where it is not what was decided for."""
    run = path if path.is_dir() else path.parent
    choice = run / "choice.json"
    if choice.is_file() and (path.is_dir() or path.name == "recommended.json"):
        from leastwise.documents import read_text
        from leastwise.runs import Choice

        chosen = Choice.from_json(read_text(choice), str(choice))
        tell_missed(chosen, run)
        tell_not_decided(chosen, run)


def tell_not_decided(choice: Choice, run: Path) -> None:
    """Say in one line on stderr that what is chosen is not what was decided for; nothing where nobody decided."""
    from leastwise.decisions import DECISION, load_decision

    if choice.candidate is None or not (run / DECISION).is_file():
        return
    decided = load_decision(run).generalization.fingerprint
    if not decided.startswith(choice.candidate):
        other = f"{choice.candidate} is chosen, which is not what was decided for ({decided[:12]})"
        typer.echo(f"{run}: {other}; decide again, or choose that", err=True)


def tell_missed(choice: Choice, run: Path, read: bool = False) -> None:
    """Say in one line on stderr which limits what was chosen does not keep; nothing where it keeps all.

    ``read``: somebody has the answer before their eyes, and what it says of limits is not said again.
    """
    kept = choice.fits and not choice.missed
    noise = bool(choice.missed) and all(verdict.only_noise for verdict in choice.missed)
    # By those who chose no candidate keeps the limit; by those tested this one may.
    default = not choice.fits and not choice.stated and (noise or not choice.missed)
    if kept or choice.candidate is None or (read and (choice.only_nearest or (choice.missed and not default))):
        return
    told = [verdict.finding if noise else verdict.words for verdict in choice.missed]
    what = "; ".join(told) or choice.sentence.rstrip(".")
    missed = f"{'beyond a limit, but noise can explain it' if noise else 'a limit is missed'}: {what}"
    if default:
        missed = f"{choice.sentence} On the test part it is {missed}" if noise and not read else choice.sentence
    typer.echo(f"{run}: {missed}", err=True)
