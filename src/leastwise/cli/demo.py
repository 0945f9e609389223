"""``leastwise demo``: the whole job on the bundled Adult data, without network and without arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from leastwise.cli.app import app
from leastwise.cli.run import Backend, Jobs, make

SEED = 0
MOST = 8


@app.command()
def demo(
    to: Annotated[Path, typer.Option("--to", "--output", "-o", help="The folder of the run.")] = Path("demo"),
    jobs: Jobs = -1,
    backend: Backend = "loky",
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, whatever run the folder holds.")] = False,
) -> None:
    """Do the whole job on the bundled Adult data, quickly: sweep, frontier, choice and report.

    Example: `leastwise demo --to demo`
    """
    from leastwise.cli.task import Records
    from leastwise.datasets import load_adult
    from leastwise.records.table import Table
    from leastwise.runs import Options, Workers

    adult = load_adult()
    records = Records(Table.from_frame(adult.frame, adult.schema))
    options = Options(seed=SEED, quick=True, most=MOST)
    make(records, to, options, Workers(jobs, backend), "adult.parquet", fresh)
