"""``leastwise compare``: what a second generalization asks more or less finely than a first."""

from __future__ import annotations

from leastwise.cli import app
from leastwise.cli.describe import Artefact, AsJson, load
from leastwise.cli.printing import print_json, print_lines


@app.command()
def compare(first: Artefact, second: Artefact, as_json: AsJson = False) -> None:
    """Say what the second generalization asks more finely or more coarsely than the first.

    Example: `leastwise compare last-year.json this-year.json`
    """
    found = load(first).compare(load(second))
    if not as_json:
        print_lines(str(found))
        return
    rows = zip(found.names, found.changes, found.before, found.after, strict=True)
    keys = ("name", "change", "before", "after")
    print_json({"overall": found.overall, "attributes": [dict(zip(keys, row, strict=True)) for row in rows]})
