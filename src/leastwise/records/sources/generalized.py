"""Generalized records in an engine: each distinct one, and how many people have it. No other record leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from leastwise.apply.record import MISSING_LABEL
from leastwise.errors import DataError, ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.plan import Plan
from leastwise.records.sources.source import Source
from leastwise.records.table import Table
from leastwise.schema.values import number_text


class Distinct(NamedTuple):
    """Distinct generalized records as ``transform`` writes them, with the label where there is one.

    Attributes
    ----------
    counts
        How many people have each.
    withheld
        How many people have a record that is too rare to leave the engine.
    """

    records: pl.DataFrame
    counts: pl.Series
    withheld: int = 0


def plan_of(generalization: Generalization, engine: Engine, labels: Sequence[str], at_least: int = 1) -> Plan:
    """Return the question for generalized records that an engine holds."""
    strange = next((name for name in generalization.not_collected if name in engine.families), None)
    if strange is not None:
        raise DataError(
            f"the records have a column {shorten(strange)}, which this generalization does not collect; name a "
            "table or view of generalized records, or say that they are full ones (train --full, or check)"
        )
    names = [*generalization.collected, *(label for label in labels if label in engine.families)]
    if not names:
        raise ParameterError("this generalization asks nothing, so there is nothing to count")
    return Plan("counting generalized records", exact=tuple(names), at_least=at_least)


def distinct_records(
    generalization: Generalization, engine: Engine, labels: Sequence[str] = (), at_least: int = 1
) -> Distinct:
    """Count generalized records that lie in an engine under the labels of their buckets."""
    plan = plan_of(generalization, engine, labels, at_least)
    counts = engine.count(plan, 0).alone
    everybody = engine.count(Plan("counting records"), 0).people
    counts = counts.sort(*(f"e{i}" for i in range(len(plan.exact))), nulls_last=True)
    records = counts.select(pl.col(f"e{i}").alias(name) for i, name in enumerate(plan.exact))
    return Distinct(records, counts["n"].cast(pl.Int64), everybody - int(counts["n"].sum()))


def distinct_generalized(
    generalization: Generalization, engine: Engine, missing: Sequence[str] = (), at_least: int = 1
) -> Distinct:
    """Generalize full records where they lie, and count them."""
    plain, source = asked_of(generalization, engine, missing, at_least)
    counted, asked = source.counted(plain, None), plain.partitions
    columns = {p.attribute.name: _answers(p, counted.truth, j) for j, p in enumerate(asked)}
    label = plain.label
    if label is not None:
        columns[label.name] = pl.Series(np.array(label.values, dtype=object)[counted.truth.y], dtype=pl.String)
    return Distinct(pl.DataFrame(columns), pl.Series(counted.truth.counts.astype(np.int64)), counted.withheld)


def asked_of(
    generalization: Generalization, engine: Engine, missing: Sequence[str] = (), at_least: int = 1
) -> tuple[Generalization, Source]:
    """Return what is asked and nothing else, and full records as its source."""
    asked = tuple(p for p in generalization.partitions if not p.suppressed)
    plain = replace(generalization, partitions=asked).with_personal(())
    return plain, Source(engine, plain.schema, missing=tuple(missing), at_least=at_least)


def _answers(partition: Partition, table: Table, position: int) -> pl.Series:
    """Return what people would have answered."""
    codes = table.codes[:, position].astype(np.intp)
    if isinstance(partition, Untouched):
        answers = [*map(number_text, table.levels[position].tolist()), MISSING_LABEL]
        return pl.Series(np.array(answers, dtype=object)[codes], dtype=pl.String)
    bucket_of = partition.bucket_map(table.levels[position])
    return pl.Series(np.array(partition.labels, dtype=object)[bucket_of[codes]], dtype=pl.String)
