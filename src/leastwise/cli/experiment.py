"""``leastwise experiment``: measure a figure or table of the paper again, on one's own records."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import Quick, Seed, app, grouped
from leastwise.cli.output import print_lines, print_table
from leastwise.cli.sources import SourceOptions, sampled, stays
from leastwise.cli.task import Task
from leastwise.errors import DataError, ParameterError
from leastwise.progress import Lines

if TYPE_CHECKING:
    from leastwise.records.table import Table


@app.command()
@grouped
def experiment(
    at: SourceOptions,
    name: Annotated[str | None, typer.Argument(help="Which experiment; without one they are listed.")] = None,
    data: Annotated[
        str, typer.Option("--data", "-d", help="adult (bundled), or a file: with --dataset or --schema.")
    ] = "adult",
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="The file is the official one of this data set: acs-income.")
    ] = None,
    schema: Annotated[Path | None, typer.Option("--schema", "-s", help="The schema of the file.")] = None,
    later: Annotated[
        list[str] | None,
        typer.Option("--later", metavar="FILE", help="The same of a later year, for drift. Can be repeated."),
    ] = None,
    only: Annotated[str, typer.Option("--only", help="The attribute of interest, for one-against-many.")] = "",
    records: Annotated[
        int | None, typer.Option("--records", min=100, help="A random sample of at most so many records.")
    ] = None,
    quick: Quick = False,
    seed: Seed = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder for CSV, picture and page.")] = Path(
        "experiments"
    ),
) -> None:
    """Measure a figure or table of the paper again, and put the paper's numbers beside ours.

    Example: `leastwise experiment tradeoff --quick`

    Example: `leastwise experiment qualitative --data psam_p06.csv --dataset acs-employment`

    Example: `leastwise experiment tradeoff --data 'big/*.parquet' --schema schema.yaml --sample 50000`
    """
    from leastwise.experiments import EXPERIMENTS, run_experiment
    from leastwise.experiments.page import require_matplotlib

    if name is None:
        rows = [(e.name, e.title, e.paper.place.partition(":")[0], e.needs) for e in EXPERIMENTS.values()]
        print_table("Experiments", ("name", "what it asks", "in the paper", "extra"), rows)
        return
    require_matplotlib()  # said before an hour of measuring, not after
    read = partial(_read, dataset=dataset, schema=schema, at=at, seed=seed)
    table = read(data)
    outcome = run_experiment(
        name,
        table,
        data=Path(data).name,
        later=[(Path(place).name, read(place, like=table)) for place in later or ()],
        seed=seed,
        quick=quick,
        most=records,
        only=only,
        progress=Lines(f"{name}: "),
    )
    for path in outcome.save(output):
        typer.echo(f"wrote {path}")
    print_lines("\n".join(outcome.verdict))


def _read(
    data: str, dataset: str | None, schema: Path | None, at: SourceOptions, seed: int, like: Table | None = None
) -> Table:
    from leastwise.datasets import load, load_adult
    from leastwise.records.files import read_frame
    from leastwise.records.table import Table
    from leastwise.schema.file import load_schema

    if dataset and schema:
        raise ParameterError("--dataset and --schema both say what the file holds; give one of them")
    if at.given and schema is None:
        raise ParameterError("records that stay where they are need --schema FILE (leastwise inspect)")
    if schema is not None and stays(data, at):
        return sampled(Task(data=data, schema=schema), at, seed, Lines()).table
    if schema:
        return Table.from_frame(read_frame(data), like.schema if like else load_schema(schema))
    if dataset is None and data != "adult":
        raise DataError(
            f"what does {Path(data).name} hold? say --dataset NAME, or --schema FILE (leastwise inspect)"
        )
    loaded = load(dataset, data) if dataset else load_adult()
    return Table.from_frame(loaded.frame, like.schema if like else loaded.schema)
