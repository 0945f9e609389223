"""How options are declared once: a group of them is a dataclass, which a command takes as one argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite the output if it exists.")]
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
            options += [(each.name, each.default, kinds[each.name]) for each in fields(groups[name])]
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
