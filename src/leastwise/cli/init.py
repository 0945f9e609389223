"""``leastwise init``: a commented policy to begin with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Force, app
from leastwise.cli.check import save_promise
from leastwise.cli.output import check_output
from leastwise.cli.task import AT_SOURCE, Label, Missing, Personal, names
from leastwise.documents import write_whole
from leastwise.errors import ParameterError

if TYPE_CHECKING:
    from leastwise.runs.task import SourceUsed


@app.command()
def init(
    data: Annotated[
        str | None, typer.Argument(help="The sample; the policy names it from its own folder. Default: the run's.")
    ] = None,
    label: Label = None,
    personal: Personal = None,
    missing: Missing = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="Take task, budget and choice from the folder of a run.")
    ] = None,
    generalization: Annotated[
        Path | None, typer.Option("--generalization", "-g", help="The generalization that was chosen.")
    ] = None,
    promise: Annotated[Path | None, typer.Option("--promise", help="What the sample promised of it.")] = None,
    write_promise: Annotated[
        Path | None,
        typer.Option(
            "--write-promise", help="With --run: write here what its sample promises, but for label rates."
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the policy here.")] = Path(
        "leastwise.yaml"
    ),
    force: Force = False,
) -> None:
    """Write a policy to edit: the task, what must be kept, and what counts as drift.

    Examples:

    `leastwise init --run run/ --promise promise.json` (after leastwise run and choose)

    `leastwise init people.csv --label income --personal sex,race -g g.json`
    """
    from leastwise.policy import policy_text

    check_output(output, force, (".yaml", ".yml"))
    if write_promise is not None:
        _write_promise(write_promise, run, force)
    said: dict[str, Any] = {} if run is None else _from_run(run)
    given: dict[str, Any] = {
        "data": data,
        "label": label[0] if label and len(label) == 1 else label,
        "personal": names(personal, ()) or None,
        "missing": missing,
    }
    given |= {"generalization": generalization, "promise": promise or write_promise}
    if data is not None:  # which may be elsewhere than those of the run
        said = {name: value for name, value in said.items() if name not in AT_SOURCE}
    said |= {name: value for name, value in given.items() if value is not None}
    if "data" in said:
        said["data"] = _located(said["data"], run, output.parent)
    # The policy names files from its own folder.
    paths = {name: value for name, value in said.items() if isinstance(value, Path)}
    files = {name: Path(os.path.relpath(path, output.parent)).as_posix() for name, path in paths.items()}
    write_whole(output, policy_text(**{**said, **files}))
    typer.echo(f"wrote {output}; {_what_next(output, said)}", err=True)


def _what_next(output: Path, said: dict[str, Any]) -> str:
    """Say what to do with a policy: a check needs what was chosen."""
    then = f"leastwise check {output} --data new.csv"
    if said.get("generalization") is not None:
        return f"edit it, then: {then}"
    return f"nothing is chosen yet: edit it, name what is chosen as its generalization, then: {then}"


def _located(address: str, run: Path | None, project: Path) -> str:
    """Return where the records lie, as the policy in its folder names it.

    A file is looked for here and beside the run, which may know its name only; what is not found stays as named.
    """
    from leastwise.records.sources.opening import moved

    def place(name: str) -> str:
        beside = [] if run is None else [run / name, run.parent / name]
        existing = next((path for path in (Path(name), *beside) if _is_there(path)), None)
        if existing is None and run is not None:
            typer.echo(f"{name} is neither here nor beside the run: correct 'data' in the policy", err=True)
        return name if existing is None else Path(os.path.relpath(existing, project)).as_posix()

    return moved(address, place)


def _is_there(path: Path) -> bool:
    """Return whether there is such a file, such a folder, or a file of such a pattern."""
    from glob import glob

    return path.exists() or bool(glob(str(path), recursive=True))


def _write_promise(path: Path, run: Path | None, force: bool) -> None:
    from leastwise.checks.promise import promise_of_run
    from leastwise.runs import Run

    check_output(path, force, (".json",))
    if run is None:
        raise ParameterError("--write-promise reads a run; give --run, or use: leastwise check --write-promise")
    save_promise(promise_of_run(Run.load(run)), path)


def _from_run(folder: Path) -> dict[str, Any]:
    from leastwise.runs import Run

    run, chosen, decided = Run.load(folder), folder / "recommended.json", folder / "decision.json"
    source = run.task.source
    return _where(source) | {
        "data": source.address if source and source.address else run.task.data,
        "label": run.task.label if len(run.schema.labels) < 2 else [e.name for e in run.schema.labels],
        "personal": run.task.personal,
        "schema": folder / "schema.yaml",
        "budget": run.choice.budget,
        "seed": run.task.seed,
        "quick": run.task.quick,
        "generalization": chosen if chosen.exists() else None,
        "decision": decided if decided.exists() else None,
        "person": run.task.person,
        "survey_weights": run.task.survey_weights,
    }


def _where(source: SourceUsed | None) -> dict[str, Any]:
    """Return what a policy says of records that stayed where they are; nothing where they were read."""
    if source is None:
        return {}
    if source.address is None:
        typer.echo("the run was given a frame, which has no address: correct 'data' in the policy", err=True)
    counted = {"min_count": source.min_count} if source.min_count > 1 else {}
    return {"table": source.table, "key": source.key, "sample": source.drawn, **counted}
