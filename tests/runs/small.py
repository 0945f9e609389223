"""A small task: six hundred records whose label depends on age and job, and a grid that takes a moment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from leastwise import Attribute, Schema, Table
from leastwise.random import generator
from leastwise.runs import Entry, Grid, Options
from tests.samples import coded

SCHEMA = Schema(
    (
        Attribute("age", "continuous", lower=0, upper=99, integer=True),
        Attribute("job", values=("a", "b", "c", "d", "e"), personal=True),
        Attribute("sex", values=("f", "m"), personal=True),
        Attribute("town", values=("n", "s", "w")),
    ),
    Attribute("rich", values=("no", "yes")),
)
GRID = Grid(
    entries=(
        Entry(minimizer="pat", parameters={"alpha": [0.3, 0.8], "max_leaves": [2, 4, 8], "min_leaf": 20}),
        Entry(minimizer="uniform", parameters={"k": [2, 3]}),
        Entry(minimizer="feature-selection", parameters={"k": [1, 2]}),
    )
)
OPTIONS = Options(grid=GRID, quick=True, most=3)


def records(count: int = 600, seed: int = 0) -> Table:
    """Return records in which older people with certain jobs are rich, and men have certain jobs."""
    random = generator(seed, "small records")
    age, sex = random.integers(18, 80, count), random.integers(2, size=count)
    job = (random.integers(5, size=count) + 2 * sex) % 5
    town = random.integers(3, size=count)
    rich = (age > 40) ^ (job == 2) ^ (random.random(count) < 0.1)
    return coded(SCHEMA, age, job, sex, town, labels=rich).with_own_levels()


def content(folder: Path) -> dict[str, bytes]:
    """Return every file of a run but the one that may differ."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(files.items()) if name != "timing.jsonl"}


def write_csv(path: Path, table: Table | None = None) -> Path:
    """Write the records as a CSV file."""
    table = table or records()
    rows = [[*_values(table, i), ("no", "yes")[int(table.y[i])]] for i in range(len(table))]
    lines = [",".join([*table.schema.names, "rich"]), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _values(table: Table, row: int) -> list[Any]:
    values = [level[table.codes[row, j]] for j, level in enumerate(table.levels)]
    return [int(values[0]), *values[1:]]
