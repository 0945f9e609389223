"""``leastwise history``: all decisions of a project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import AsJson, app
from leastwise.cli.output import print_json, print_lines, print_table


@app.command()
def history(
    folder: Annotated[Path, typer.Argument(help="The project: decisions in it and in the folders below.")] = Path(
        "."
    ),
    as_json: AsJson = False,
) -> None:
    """Show all decisions of a project, the oldest first, and what each asked more or less than the one before.

    Example: `leastwise history`
    """
    from leastwise.decisions import History
    from leastwise.documents import to_plain

    found = History.of(folder)
    if as_json:
        print_json(
            [
                {"file": str(each.path), "changes": list(each.changes), "decision": to_plain(each.decision)}
                for each in found.entries
            ]
        )
        return
    if not found.entries:
        print_lines(f"No decision in {folder}; make one with: leastwise decide")
        return
    listing = found.listing()
    print_table("Decisions", listing.columns, listing.rows, listing.columns[3:7])
    typer.echo("")
    print_lines("\n".join(found.sentences()))
