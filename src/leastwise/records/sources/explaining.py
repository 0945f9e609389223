"""What will be asked of an engine, before anything is: the queries, and what each reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from leastwise.apply.steps import keys_of
from leastwise.generalization import Generalization
from leastwise.records.sources.domain import Domain
from leastwise.records.sources.plan import Places
from leastwise.records.sources.source import Source
from leastwise.records.sources.sql import SqlEngine
from leastwise.schema import Attribute


def explained(source: Source, generalizations: Sequence[Generalization] | None, sampled: int) -> Iterator[str]:
    """Yield each query as text; the buckets are those of the declared values: nobody has looked at any other.

    Parameters
    ----------
    generalizations
        That will be counted; an empty list where they are not known yet, None where nothing will be counted.
    sampled
        How many records will be drawn.
    """
    everyone = _everyone(source)
    yield from source.engine.explain(source.marginals_plan(), source.seed)
    yield f"-- drawing a sample: about {sampled:,} records with {', '.join(each.name for each in everyone)}"
    yield from explained_counts(source, generalizations or (), source.tested)
    if generalizations is not None and not generalizations:
        if isinstance(source.engine, SqlEngine) and source.engine.keeps:
            yield "-- one query like this for all candidates, kept until each of them is counted from there:"
        else:
            yield "-- one like this for each candidate of the frontier, with its own columns and buckets:"
        yield from explained_counts(source, [Generalization.suppressed(source.schema)], source.tested)


def explained_counts(
    source: Source, generalizations: Sequence[Generalization], places: Places | None
) -> Iterator[str]:
    """Yield the queries that count generalizations."""
    blind = replace(source)
    blind.__dict__["domains"] = {each.name: _declared(each, source) for each in _everyone(source)}
    for generalization in generalizations:
        yield from source.engine.explain(blind.plan(generalization.within(source.schema), places), source.seed)


def _everyone(source: Source) -> list[Attribute]:
    return [*source.schema.attributes] + ([source.schema.label] if source.schema.label else [])


def _declared(attribute: Attribute, source: Source) -> Domain:
    """Return a domain as the schema declares it."""
    family = source.engine.family(attribute.name)
    keys = {} if attribute.continuous else keys_of(attribute, "other" if family == "nested" else family)
    values = pl.DataFrame({"value": list(keys), "n": [0] * len(keys), "code": list(keys.values())}, strict=False)
    return Domain(attribute, family, values, np.asarray(attribute.values, dtype=object))
