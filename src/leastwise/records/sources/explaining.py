"""What will be asked of an engine, before anything is: the queries, and what each reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from leastwise.apply.steps import keys_of
from leastwise.generalization import Generalization
from leastwise.records.sources.source import Domain, Source
from leastwise.schema import Attribute


def explained(source: Source, generalizations: Sequence[Generalization], sampled: int) -> Iterator[str]:
    """Yield each query as text; the buckets are those of the declared values: nobody has looked at any other.

    Parameters
    ----------
    generalizations
        That will be counted; where they are not known yet, none.
    sampled
        How many records will be drawn.
    """
    blind = replace(source)
    everyone = [*source.schema.attributes] + ([source.schema.label] if source.schema.label else [])
    blind.__dict__["domains"] = {each.name: _declared(each, source) for each in everyone}
    engine = source.engine
    yield from engine.explain(source.marginals_plan(), source.seed)
    yield f"-- drawing a sample: about {sampled:,} records with {', '.join(each.name for each in everyone)}"
    for generalization in generalizations:
        within = generalization.within(source.schema)
        yield from engine.explain(blind.plan(within, source.tested), source.seed)
    if not generalizations:
        nothing = Generalization.suppressed(source.schema)
        yield "-- one like this for each candidate of the frontier, with its own columns and buckets:"
        yield from engine.explain(blind.plan(nothing, source.tested), source.seed)


def _declared(attribute: Attribute, source: Source) -> Domain:
    """Return a domain as the schema declares it."""
    family = source.engine.family(attribute.name)
    keys = {} if attribute.continuous else keys_of(attribute, "other" if family == "nested" else family)
    values = pl.DataFrame({"value": list(keys), "n": [0] * len(keys), "code": list(keys.values())}, strict=False)
    return Domain(attribute, family, values, np.asarray(attribute.values, dtype=object))
