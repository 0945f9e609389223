"""``leastwise datasets``: what data sets there are, what is in them, and how to get them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from leastwise.cli.app import AsJson, Group, app
from leastwise.cli.output import check_output, print_json, print_table, write_frame
from leastwise.cli.progress import downloading
from leastwise.documents.wording import counted

commands = typer.Typer(cls=Group, help="The data sets that leastwise can read: list, show, get, export.")
app.add_typer(commands, name="datasets")

Name = Annotated[str, typer.Argument(help="A data set, as `leastwise datasets` lists it.", show_default=False)]
State = Annotated[str | None, typer.Option(help="The US state of an ACS file, such as CA.", show_default=False)]
Year = Annotated[int | None, typer.Option(help="The year of the records.", show_default=False)]


@commands.callback(invoke_without_command=True)
def list_datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the data sets that leastwise can read.

    Example: `leastwise datasets`
    """
    if context.invoked_subcommand is not None:
        return
    from leastwise.datasets import DECLARATIONS

    rows = [
        {
            "name": declared.name,
            "title": declared.title,
            "label": declared.label.name if declared.label else "",
            "how": declared.source,
        }
        for declared in DECLARATIONS.values()
    ]
    if as_json:
        print_json(rows)
        return
    table = [[row["name"], row["title"], row["how"]] for row in rows]
    print_table("Data sets", ("name", "what it is, and what is predicted", "how to get it"), table)


@commands.command()
def show(name: Name) -> None:
    """Print the datasheet of a data set.

    Example: `leastwise datasets show acs-income`
    """
    from leastwise.datasets import describe

    typer.echo(describe(name), nl=False)


@commands.command()
def get(
    name: Name,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to store the files in.")] = Path(),
    state: State = None,
    year: Year = None,
) -> None:
    """Download the official files of a data set from their public address.

    Example: `leastwise datasets get acs-income --state CA --year 2018 -o data`
    """
    from leastwise.datasets import download

    with downloading(name) as progress:
        paths = download(name, output, progress, **_given(state, year))
    for path in paths:
        typer.echo(path)


def _given(state: str | None, year: int | None) -> dict[str, Any]:
    options = {"state": state, "year": year}
    return {name: value for name, value in options.items() if value is not None}


@commands.command()
def export(
    name: Name,
    output: Annotated[Path, typer.Option("--output", "-o", help="The records: .parquet or .csv.")],
    schema: Annotated[
        Path | None, typer.Option(help="Where to write the schema (YAML).", show_default=False)
    ] = None,
    path: Annotated[
        Path | None, typer.Option(help="The official file, or the folder that holds it.", show_default=False)
    ] = None,
    state: State = None,
    year: Year = None,
) -> None:
    """Write a data set as one table, and its schema, for the other commands.

    Example: `leastwise datasets export adult -o adult.parquet --schema adult.yaml`
    """
    from leastwise.datasets import load
    from leastwise.schema.file import save_schema

    check_output(output, True, (".parquet", ".csv"))
    check_output(schema, True)
    dataset = load(name, path, **_given(state, year))
    wanted = [*dataset.schema.names, *([dataset.schema.label.name] if dataset.schema.label else [])]
    write_frame(dataset.frame.select(wanted), output)
    if schema is not None:
        save_schema(dataset.schema, schema)
    typer.echo(f"{counted(dataset.frame.height, 'record')} to {output}")
