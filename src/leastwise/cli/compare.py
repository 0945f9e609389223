"""``leastwise compare``: what a second generalization asks more or less finely than a first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.options import AsJson
from leastwise.cli.printing import print_json, print_lines
from leastwise.generalization import Generalization
from leastwise.schema import Attribute


@app.command()
def compare(first: Artefact, second: Artefact, as_json: AsJson = False) -> None:
    """Say what the second generalization asks more finely or more coarsely than the first.

    Example: `leastwise compare last-year.json run/`
    """
    before, after = load(first), load(second)
    found = before.compare(_described_like(after, before))
    if not as_json:
        print_lines(str(found))
        return
    rows = zip(found.names, found.changes, found.before, found.after, strict=True)
    keys = ("name", "change", "before", "after")
    print_json({"overall": found.overall, "attributes": [dict(zip(keys, row, strict=True)) for row in rows]})


def _described_like(generalization: Generalization, other: Generalization) -> Generalization:
    """Return it with the roles, units and questions of the other, which say nothing about the buckets."""
    if generalization.schema.names != other.schema.names:
        return generalization
    pairs = zip(generalization.partitions, other.schema.attributes, strict=True)
    return Generalization(tuple(_described(partition, attribute) for partition, attribute in pairs))


def _described(partition: Any, attribute: Attribute) -> Any:
    words = {"personal": attribute.personal, "unit": attribute.unit, "question": attribute.question}
    return replace(partition, attribute=replace(partition.attribute, **words))
