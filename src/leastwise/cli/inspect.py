"""``leastwise inspect``: what is in the data, and which schema is proposed for it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leastwise.cli.app import AsJson, Force, app, grouped
from leastwise.cli.output import check_output, print_json, print_table, visible, width
from leastwise.cli.task import Data, Inference, Task, TaskOptions
from leastwise.documents.wording import counted

if TYPE_CHECKING:
    from leastwise.schema.inference import Finding, Inspection

COLUMNS = ("attribute", "kind", "domain", "missing", "distinct", "role", "warnings", "because")
ROOM_FOR_REASONS = 110  # columns of the terminal
NAME_WIDTH = 30
MOST_LISTED = 500  # columns; a terminal holds no more


@app.command()
@grouped
def inspect(
    data: Data,
    task: TaskOptions,
    inference: Inference,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the proposed schema here (YAML), to be edited.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what is in a data file and propose a schema.

    Examples: `leastwise inspect adult.csv --label income --missing '?' -o schema.yaml`,
    `leastwise inspect acs.parquet --label PINCP --discrete OCCP,POBP`
    """
    from leastwise.schema.file import save_schema

    check_output(output, force)
    described = Task.of(data, task, inference=vars(inference))
    inspection = described.inspect(described.read())
    if output is not None:
        notes = [f"left out: {visible(f.name, NAME_WIDTH)} ({f.kind}: {f.reason})" for f in inspection.left_out]
        save_schema(inspection.schema, output, notes)
        inspection.warn()
    if as_json:
        print_json(inspection.to_dict())
    else:
        _show(inspection, data)
        _say_how_read(data)
        _hint(inspection, described, output)


def _show(inspection: Inspection, data: str) -> None:
    title = f"{data}: {counted(inspection.records, 'record')}, {counted(len(inspection.findings), 'column')}"
    shown = len(COLUMNS) if width() >= ROOM_FOR_REASONS else COLUMNS.index("because")
    listed = inspection.findings[:MOST_LISTED]
    rows = [_row(finding)[:shown] for finding in listed]
    print_table(title, COLUMNS[:shown], rows, right=("missing", "distinct"))
    if unlisted := len(inspection.findings) - len(listed):
        typer.echo(f"and {counted(unlisted, 'more column')}; --json or -o schema.yaml tells all")
    for finding in listed:
        for warning in finding.warnings:
            name = visible(finding.name, NAME_WIDTH)
            typer.secho(f"  {name}: {visible(warning)}", fg=typer.colors.YELLOW)


def _say_how_read(data: str) -> None:
    from leastwise.records.files import STANDARD_STREAM, RecordFile

    for said in () if data == STANDARD_STREAM else RecordFile.open(data).said:
        typer.echo(f"Read as: {said}")


def _row(finding: Finding) -> tuple[str, ...]:
    return (
        visible(finding.name, NAME_WIDTH),
        finding.kind,
        finding.domain.removesuffix(", open at both ends"),
        f"{finding.missing:,}" if finding.missing else "",
        f"{finding.distinct:,}",
        finding.role,
        f"{len(finding.warnings)} below" if finding.warnings else "",
        finding.reason + (f"; asked: {finding.derive}" if finding.derive else ""),
    )


def _hint(inspection: Inspection, task: Task, saved: Path | None) -> None:
    lines = ["", *_bounds_hint(inspection)]
    lines += [
        f"Left out: {visible(f.name, NAME_WIDTH)} ({f.kind}: {f.reason}); --keep makes it an attribute"
        if f.name
        else f"Left out: a column without a name; {f.reason}"
        for f in inspection.left_out
    ]
    if saved is None:
        lines.append(f"To edit this proposal: {_typed('inspect', task.data, *task.words())} -o schema.yaml")
        next_words = task.words(by_set=True)
    else:
        marks = [part for mark in task.missing or () for part in ("--missing", mark)]
        lines.append(f"Wrote {saved}, to be edited.")
        next_words = ["--schema", str(saved), *marks]
    typer.echo("\n".join([*lines, _next(inspection, task.data, next_words)]))


def _next(inspection: Inspection, data: str, words: list[str]) -> str:
    from leastwise.records.splitting import FEWEST_OF_A_RUN

    if inspection.records < FEWEST_OF_A_RUN:
        return (
            f"Next: more records. A run needs at least {FEWEST_OF_A_RUN}, and {data} has {inspection.records:,}."
        )
    return f"Next: {_typed('run', data, *words)} -o run"


def _typed(*words: str) -> str:
    return visible(shlex.join(["leastwise", *words]))


def _bounds_hint(inspection: Inspection) -> list[str]:
    from leastwise.schema.values import number_text

    for finding in inspection.findings:
        if finding.bounds and finding.role != "left out":
            low, high = map(number_text, finding.bounds)
            name = visible(finding.name, NAME_WIDTH)
            return [f"Open ends can be closed in the schema by round numbers; {name}: lower: {low}, upper: {high}"]
    return []
