"""``leastwise demo``: the whole job on the bundled Adult data, without network and without arguments."""

from __future__ import annotations

from pathlib import Path

from leastwise.cli.app import app
from leastwise.cli.options import Fresh
from leastwise.cli.run import Jobs, Output, make

SEED = 0
MOST = 8


@app.command()
def demo(
    output: Output = Path("demo"),
    jobs: Jobs = -1,
    fresh: Fresh = False,
) -> None:
    """Do the whole job on the bundled Adult data, quickly: sweep, frontier, choice and report.

    Example: `leastwise demo -o demo`
    """
    from leastwise.cli.task import Records
    from leastwise.datasets import load_adult
    from leastwise.records.table import Table
    from leastwise.runs import Options, Workers

    adult = load_adult()
    records = Records(Table.from_frame(adult.frame, adult.schema))
    options = Options(seed=SEED, quick=True, most=MOST)
    make(records, output, options, Workers(jobs), "adult.parquet", fresh)
