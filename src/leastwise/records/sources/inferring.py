"""A schema for records in an engine: proposed from a sample, its domains completed from everything."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import polars as pl

from leastwise.errors import DataError
from leastwise.records.files import without_markers
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.plan import Plan
from leastwise.schema import Attribute, Schema
from leastwise.schema.inference import AT_LEAST
from leastwise.schema.values import text_of


def records_in(engine: Engine) -> int:
    """Return how many records there are; none are refused."""
    people = engine.count(Plan("counting records"), 0).people
    if not people:
        raise DataError(f"{engine.name} finds no records; check how they were made")
    return people


def infer_at_source(
    engine: Engine, proposed: Schema, missing: Sequence[str] = (), at_least: int | None = None
) -> Schema:
    """Complete the domains that a sample showed: what it did not show is there all the same.

    A value that fewer than ``at_least`` records have is accepted as "other" and not listed.
    """
    proposed.check_counted()
    engine.derive(proposed, missing)
    everyone = [*proposed.attributes] + ([proposed.label] if proposed.label else [])
    marginals = engine.count(Plan("completing the domains", values=tuple(a.name for a in everyone)), 0).beside
    least = AT_LEAST if at_least is None else at_least
    complete = [_completed(a, marginal, missing, least) for a, marginal in zip(everyone, marginals, strict=True)]
    if proposed.label is None:
        return replace(proposed, attributes=tuple(complete))
    return replace(
        proposed, attributes=tuple(complete[:-1]), label=replace(complete[-1], missing=False, other=False)
    )


def completed(engine: Engine, schema: Schema, names: Container[str], missing: Sequence[str] = ()) -> Schema:
    """Complete the domains of some attributes, which nobody has declared."""
    unsaid = Schema(tuple(each for each in schema.attributes if each.name in names))
    if not unsaid.attributes:
        return schema
    known = {each.name: each for each in infer_at_source(engine, unsaid, missing).attributes}
    return replace(schema, attributes=tuple(known.get(each.name, each) for each in schema.attributes))


def _completed(attribute: Attribute, marginal: pl.DataFrame, missing: Sequence[str], at_least: int) -> Attribute:
    raw = pl.DataFrame({"value": marginal["value"]})
    values = raw.with_columns(without_markers(raw.schema, () if attribute.derive else missing))["value"].to_list()
    counts: dict[str, int] = {}
    absent = False
    for value, people in zip(values, marginal["n"].to_list(), strict=True):
        text = text_of(value)
        absent |= text is None
        if text is not None:
            counts[text] = counts.get(text, 0) + people
    if attribute.continuous:
        return replace(attribute, missing=attribute.missing or absent)
    new = sorted(text for text, people in counts.items() if people >= at_least and text not in attribute.code_of)
    rare = any(people < at_least and text not in attribute.code_of for text, people in counts.items())
    if not new:
        return replace(attribute, missing=attribute.missing or absent, other=attribute.other or rare)
    listed = sorted({*attribute.values, *new}) if attribute.kind == "discrete" else [*attribute.values, *new]
    return replace(
        attribute,
        values=tuple(listed),
        missing=attribute.missing or absent,
        other=attribute.other or rare,
        labels=(),
    )
