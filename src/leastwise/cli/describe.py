"""Generalizations in words: ``leastwise describe`` one, ``leastwise compare`` two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastwise.cli.app import Artefact, AsJson, app, load
from leastwise.cli.output import print_json, print_lines

if TYPE_CHECKING:
    from leastwise.generalization import Generalization
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
    asked = load(generalization)
    if not as_json:
        print_lines(asked.describe(markdown))
        return
    print_json(
        {
            "label": None if asked.label is None else asked.label.name,
            "collected": list(asked.collected),
            "not_collected": list(asked.not_collected),
            "total_buckets": asked.total_buckets,
            "attributes": [*map(_facts, asked.partitions)],
        }
    )


def _facts(partition: Partition) -> dict[str, Any]:
    from leastwise.generalization.describe import bucket_texts

    texts = [] if partition.suppressed else bucket_texts(partition)
    has = [bool(partition.labels) and bool(partition.name(b)) for b in range(len(texts))]
    named = {text: [*partition.behind(b)] for b, text in enumerate(texts) if has[b]}
    return {
        "name": partition.attribute.name,
        "personal": partition.attribute.personal,
        "suppressed": partition.suppressed,
        "untouched": partition.untouched,
        "buckets": texts,
        **({"names": named} if named else {}),
    }


@app.command()
def compare(first: Artefact, second: Artefact, as_json: AsJson = False) -> None:
    """Say what the second generalization asks more finely or more coarsely than the first.

    Example: `leastwise compare last-year.json run/`
    """
    before, after = load(first), load(second)
    comparison = before.compare(_described_like(after, before))
    if not as_json:
        print_lines(str(comparison))
        return
    rows = zip(comparison.names, comparison.changes, comparison.before, comparison.after, strict=True)
    keys = ("name", "change", "before", "after")
    print_json({"overall": comparison.overall, "attributes": [dict(zip(keys, row, strict=True)) for row in rows]})


def _described_like(generalization: Generalization, other: Generalization) -> Generalization:
    """Return it with the roles, units and questions of the other, which say nothing about the buckets."""
    if generalization.schema.names != other.schema.names:
        return generalization
    described = []
    pairs = zip(generalization.partitions, other.schema.attributes, strict=True)
    for partition, like in pairs:
        words: dict[str, Any] = {"personal": like.personal, "unit": like.unit, "question": like.question}
        described.append(partition.of_attribute(replace(partition.attribute, **words)))
    return replace(generalization, partitions=tuple(described), label=None)
