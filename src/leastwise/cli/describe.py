"""``leastwise describe``: a generalization in words."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from leastwise.cli.app import app
from leastwise.cli.artefacts import Artefact, load
from leastwise.cli.options import AsJson
from leastwise.cli.printing import print_json, print_lines
from leastwise.generalization import Generalization
from leastwise.generalization.describe import bucket_texts
from leastwise.partition import Partition


@app.command()
def describe(
    generalization: Artefact,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print a Markdown table.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say in words what a generalization asks.

    Example: `leastwise describe run/ --markdown`
    """
    found = load(generalization)
    if as_json:
        print_json(summary(found))
    else:
        print_lines(found.describe(markdown))


def summary(generalization: Generalization) -> dict[str, Any]:
    """Return what a generalization asks, for machines."""
    label = generalization.label
    return {
        "label": None if label is None else label.name,
        "collected": list(generalization.collected),
        "not_collected": list(generalization.not_collected),
        "total_buckets": generalization.total_buckets,
        "attributes": [_attribute_summary(partition) for partition in generalization.partitions],
    }


def _attribute_summary(partition: Partition) -> dict[str, Any]:
    return {
        "name": partition.attribute.name,
        "personal": partition.attribute.personal,
        "suppressed": partition.suppressed,
        "untouched": partition.untouched,
        "buckets": [] if partition.suppressed else bucket_texts(partition),
    }
