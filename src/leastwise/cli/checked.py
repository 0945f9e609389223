"""How a check is handed over: printed for people, as JSON for machines, as a report to a file, as an exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.printing import print_json, print_table, visible
from leastwise.documents import write_whole

if TYPE_CHECKING:
    from leastwise.checks import Check

BROKEN = 1  # the exit code, for CI and cron
SUFFIXES = (".html", ".md", ".json")
LONG = 12  # rows; of a longer table only what is not fine is printed

Report = Annotated[Path | None, typer.Option("--output", "-o", help="Write the report here: .html, .md or .json.")]


def hand_over(found: Check, title: str, output: Path | None, as_json: bool) -> None:
    """Write and print what was found; a broken check exits with 1."""
    from leastwise.checks import check_facts

    facts = check_facts(found, title)
    if output is not None:
        write_whole(output, rendered(facts, output.suffix.lower()))
    if as_json:
        print_json(facts)
    else:
        show(facts)
    if output is not None:
        typer.echo(f"wrote {output}", err=True)
    if found.broken:
        raise typer.Exit(BROKEN)


def rendered(facts: dict[str, Any], suffix: str) -> str:
    """Return the report in the format that a file name's ending promises."""
    from leastwise.checks import facts_as_markdown

    if suffix == ".json":
        return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    if suffix == ".md":
        return facts_as_markdown(facts)
    from leastwise.report import render_check

    return render_check(facts)


def show(facts: dict[str, Any]) -> None:
    """Print the facts of a check for people: the verdict last, where it is read."""
    from leastwise.checks.facts import paragraphs

    for section in facts["sections"][:-1]:
        if section["table"] is not None:
            _show_table(section)
    for sentence in paragraphs(facts["sections"][0]):
        typer.echo(visible(sentence))
    good = facts["verdict"] == "fine"
    typer.secho(f"{visible(facts['title'])}: {facts['verdict']}", fg=None if good else typer.colors.RED)
    for reason in facts["reasons"]:
        typer.echo(f"  - {visible(reason)}")


def _show_table(section: dict[str, Any]) -> None:
    columns, rows = section["table"]["columns"], section["table"]["rows"]
    shown = rows if len(rows) <= LONG else [row for row in rows if row[-1] != "fine"]
    if shown:
        print_table(section["title"], columns, shown, columns[1:-1])
        typer.echo("")
    if len(shown) < len(rows):
        typer.echo(
            f"{section['title']}: {len(rows) - len(shown)} {'more ' if shown else ''}questions, all fine.\n"
        )
