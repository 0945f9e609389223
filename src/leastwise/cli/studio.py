"""``leastwise studio``: a person draws the buckets and sees at once what they cost and what they tell."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import PolicyFile, app, grouped
from leastwise.cli.sources import SourceOptions, name_of, sampled, stays
from leastwise.cli.task import Drop, Task, TaskOptions, constraints_of, policy_of
from leastwise.errors import ParameterError
from leastwise.progress import Lines

if TYPE_CHECKING:
    from leastwise.studio import Ground

OUTPUT = Path("studio-run")
ADULT = "adult.parquet"


@app.command()
@grouped
def studio(
    task: TaskOptions,
    at: SourceOptions,
    run: Annotated[
        str | None,
        typer.Argument(
            help="The folder of a run; or a file of records, or their address, for a quick run of them."
        ),
    ] = None,
    data: Annotated[
        str | None, typer.Argument(help="The records of the run. Default: by their name, beside it or here.")
    ] = None,
    drop: Drop = None,
    policy: PolicyFile = None,
    demo: Annotated[bool, typer.Option("--demo", help="On the bundled Adult data, with a short tour.")] = False,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Default: a free one.")] = 0,
    quiet: Annotated[bool, typer.Option("--no-browser", help="Print the address, open nothing.")] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder of a quick run of records.")] = OUTPUT,
) -> None:
    """Draw the buckets by hand, with what they cost and what they tell in sight; decide together.

    The studio listens on this machine only. Everything that is done is kept in the run's folder at once. Of
    records that stay where they are, drafts are judged on the sample of the run.

    Example: `leastwise studio run/ adult.csv`, or `leastwise studio --demo`
    """
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise ParameterError("the studio needs a web server; install it with: pip install 'leastwise[studio]'")
    from leastwise.studio import Room, serve

    typer.echo("opening the studio", err=True)
    ground = _ground(run, data, task, at, drop, output, demo)
    known = policy_of(policy)
    if known is not None:
        ground.limits, ground.rules = known.budget or None, constraints_of(known)
        ground.names = known.names
    room = Room(ground)

    def ready(address: str) -> None:
        typer.echo(f"the studio is at {address} (stop with Ctrl-C)", err=True)
        if not quiet:
            typer.launch(address)

    serve(room, ready, port, tour=demo)
    typer.echo(f"\nyour work is kept in {room.book.folder}; the same command goes on with it", err=True)


def _ground(
    run: str | None,
    data: str | None,
    task: TaskOptions,
    at: SourceOptions,
    drop: list[str] | None,
    output: Path,
    demo: bool,
) -> Ground:
    """Return the records and the run, which is begun where there is none."""
    if demo == (run is not None):
        raise ParameterError("name the folder of a run, or a file of records, or give --demo")
    if demo:
        return _begun_demo(output if output != OUTPUT else Path("studio-demo"))
    assert run is not None
    if Path(run).is_dir() and not _holds_records(Path(run)):
        return _of_run(Path(run), data, task, at)
    return _begun(Task.of(run, task, inference={"drop": drop}), at, output)


def _holds_records(folder: Path) -> bool:
    """Return whether a folder is one of record files, not of a run."""
    from leastwise.runs.folder import TASK

    return not (folder / TASK).is_file() and any(
        each.suffix in (".parquet", ".csv", ".ndjson") for each in folder.rglob("*")
    )


def _of_run(folder: Path, data: str | None, task: TaskOptions, at: SourceOptions) -> Ground:
    from leastwise.datasets import load_adult
    from leastwise.records.files import read_frame
    from leastwise.records.table import Table
    from leastwise.runs.folder import SCHEMA
    from leastwise.studio import Ground
    from leastwise.studio.opening import find_records, read_run

    known, schema = read_run(folder)
    if data is None and known.source is not None:
        raise ParameterError(f"the records of this run stayed in {known.source.engine}; say where, after the run")
    if data is not None and (known.source is not None or stays(data, at)):
        asked = Task.of(data, task, folder / SCHEMA)
        return Ground.of(folder, known, sampled(asked, at, known.seed, Lines()).table)
    if data is None and known.data == ADULT and schema == load_adult().schema:
        frame = load_adult().frame
    else:
        frame = read_frame(find_records(folder, known.data, data), tuple(task.missing or ()))
    return Ground.of(folder, known, Table.from_frame(frame, schema, task.person, task.survey_weights))


def _begun(described: Task, at: SourceOptions, folder: Path) -> Ground:
    """Return the ground of a file of records, with a quick run of it in the background."""
    from leastwise.studio import Ground

    records = sampled(described, at, 0, Lines())
    records.tell_left_out()
    arguments = ["run", described.data, "--quick", *described.words(by_set=True), *at.words]
    name = name_of(described.data, at) if at.given else Path(described.data).name
    return Ground.begin(folder, records.table, name, arguments)


def _begun_demo(folder: Path) -> Ground:
    from leastwise.datasets import load_adult
    from leastwise.records.table import Table
    from leastwise.studio import Ground

    adult = load_adult()
    return Ground.begin(folder, Table.from_frame(adult.frame, adult.schema), ADULT, ["demo"])
