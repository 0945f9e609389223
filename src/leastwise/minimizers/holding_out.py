"""Training records of which some are held out: a minimizer's own validation."""

from __future__ import annotations

from leastwise.random import generator
from leastwise.records.splitting import protocol_rows
from leastwise.records.table import Table


def held_out(table: Table, share: float, seed: int) -> tuple[Table, Table]:
    """Return (what models learn from, what they are measured on); both are all records where there are too few.

    Every named value is in the first. A row that stands for several people stays whole.
    """
    named = [table.codes[:, j] for j, a in enumerate(table.schema.attributes) if not a.continuous]
    columns = named if table.labels is None else [*named, table.labels]
    (learned, measured, _), _ = protocol_rows(
        columns, len(table), (1 - share, share, 0.0), generator(seed, "split")
    )
    train = table.take(learned)
    return train, table.take(measured) if len(measured) else train
