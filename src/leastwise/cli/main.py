"""The whole command line: the commands, in the order of the help, and how what goes wrong is told."""

from __future__ import annotations

import os
import shlex
import sys
import warnings
from dataclasses import fields
from pathlib import Path
from typing import Any

import typer

from leastwise.cli import (  # noqa: F401  each registers its command
    apply,
    check,
    collect,
    datasets,
    decide,
    describe,
    evaluate,
    experiment,
    export,
    init,
    inspect,
    minimize,
    necessity,
    report,
    run,
    studio,
    task,
    train,
)
from leastwise.cli.app import Command, app
from leastwise.errors import LeastwiseError, PrivacyLeakWarning

# Typer brings its own copy of click in some releases and needs click in others; the class is the same by name.
_ClickError: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
USER_ERROR, INTERRUPTED = 2, 130
# Arguments as errors name them for Python, and what they are called here.
_CALLED_HERE = {"fresh=True": "--fresh", "later=[(name, table)]": "--later FILE"}


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    privacy = issubclass(category, PrivacyLeakWarning)
    text = " ".join(str(message).split())
    typer.secho(f"{'privacy' if privacy else 'warning'}: {text}", err=True, fg=typer.colors.YELLOW)


def main() -> None:
    """Run the command line; a mistake of the user is one line and exit code 2."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", PrivacyLeakWarning)
        sys.exit(_run())


def _run() -> int:
    try:
        code = app(prog_name="leastwise", standalone_mode=False)
        sys.stdout.flush()  # a closed pipe shows here, not while the interpreter shuts down
        return code if isinstance(code, int) else 0
    except LeastwiseError as error:
        return _complain(_said_here(str(error)))
    except _ClickError as error:
        text, context = " ".join(error.format_message().split()), getattr(error, "ctx", None)
        if not text:  # it has shown the help
            return USER_ERROR
        if again := _to_be_named_again(error):
            return _complain(again)
        if meant := _meant(error):
            text = text.partition(" (")[0] + meant  # and not what looks like it
        return _complain(f"{text} See: {context.command_path} --help" if context else text)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except KeyboardInterrupt:
        typer.secho("leastwise: stopped", err=True)
        return INTERRUPTED


def _said_here(text: str) -> str:
    for python, option in _CALLED_HERE.items():
        text = text.replace(python, option)
    return text


def _to_be_named_again(error: Any) -> str:
    """Say what to type where a command was given a run without its records: of these a run keeps the name only."""
    context: Any = getattr(error, "ctx", None)
    folder = context.params.get("generalization") if context else None
    if getattr(getattr(error, "param", None), "name", "") != "data" or not isinstance(folder, Path):
        return ""
    from leastwise.runs.folder import TASK, read_task

    try:
        name = read_task(folder).data if (folder / TASK).is_file() else ""
    except (LeastwiseError, OSError):  # that is told when the records are named
        return ""
    if not name:
        return ""
    where = f"{context.command_path} {shlex.quote(str(folder))} {shlex.quote(name)}"
    return f"a run keeps the name of its records, {name}, and not where they lie; say where: {where}"


def _meant(error: Any) -> str:
    """Say how an option that a command does not have is meant: an argument, another option, or a setting."""
    name = (getattr(error, "option_name", None) or "").lstrip("-").replace("-", "_")
    if not name or error.ctx is None:  # it is told of no command where an option lacks its value
        return ""
    parameters = error.ctx.command.params
    if name in {each.name for each in parameters if each.param_type_name == "argument"}:
        words = [each.name.upper() for each in parameters if each.param_type_name == "argument"]
        return f". It is an argument: {error.ctx.command_path} {' '.join(words)}."
    if name == "format" and any("--to" in each.opts for each in parameters):
        return ". It is called --to."
    if name not in {*task.SETTINGS, *(each.name for each in fields(run.MoreLimits))}:
        return ""
    settable = any("--set" in each.opts for each in parameters)
    return f". It is a setting: --set {name}=VALUE." if settable else ""


def _complain(text: str) -> int:
    typer.secho(f"leastwise: {text}", err=True, fg=typer.colors.RED)
    return USER_ERROR


# The order in which the help shows them: as the work goes on.
_PANELS = {
    "From records to a decision": ("demo", "run", "choose", "necessity", "report", "studio", "decide", "dpia"),
    "Put it to work": ("describe", "export", "apply", "collect", "keys", "records", "audit", "train", "predict"),
    "Keep to it": ("init", "check", "monitor", "history"),
    "Step by step": ("inspect", "minimize", "evaluate", "compare", "minimizers", "minimum-sample"),
    "Research": ("experiment", "datasets"),
}


def _name(command: Any) -> str:
    return str(command.name or command.callback.__name__.replace("_", "-"))


def _arrange() -> None:
    panel_of = {name: panel for panel, listed in _PANELS.items() for name in listed}
    order = list(panel_of)
    registered: list[Any] = [*app.registered_commands, *app.registered_groups]
    for command in registered:
        command.rich_help_panel = panel_of[_name(command)]
    for command in (*app.registered_commands, *datasets.commands.registered_commands):
        command.cls = Command
    app.registered_commands.sort(key=lambda command: order.index(_name(command)))


_arrange()
