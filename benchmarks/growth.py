"""How the whole default job grows: with records, attributes, values and personal attributes.

Each series does the job on ever larger tables, and a straight line through the logarithms of size and processor
seconds has the power as its slope: 1 is proportional, 2 is quadratic. Stages that take less than half a second
somewhere are not told, as that is noise.

    python benchmarks/growth.py [--json] [--series NAME ...] [--sizes N ...] [--records N] [--quick]

Series
------
records
    acs_income_51states_2018_coarse: 10,000, 50,000, 174,000 and all of its 1,434,805.
attributes
    health: its 8 personal attributes and others, 13, 50 and all of its 101 (142 columns of the file).
values
    acs_income_co_2018 beside a column of 500, 5,000 and 50,000 values, some of which tell the label.
personal
    acs_coverage_ny_2024, of whose attributes 1, 7 and 14 are personal.

All but the first are of at most ``--records`` records.

Figures
-------
growth_in_records, growth_in_attributes, growth_in_values, growth_in_personal
    By which power the processor seconds of the whole job grow.
by_series
    The same by stage, with sizes and processor seconds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from common import parser, report
from run import compile_kernels, do_job, opened

from leastwise import Attribute, Schema, Table
from leastwise.runs import Workers

LEAST = 0.5  # seconds of a stage, below which it is not told
TELLING = 0.3  # the share of people whose value, in the series of values, hangs on the label


def with_records(size: int, records: int) -> Table:
    return opened("acs_income_51states_2018_coarse", size)


def with_attributes(size: int, records: int) -> Table:
    table = opened("health", records)
    others = [j for j in range(len(table.schema)) if j not in table.personal]
    kept = sorted([*table.personal, *others][:size])
    attributes = tuple(table.schema.attributes[j] for j in kept)
    levels = tuple(table.levels[j] for j in kept)
    return replace(
        table, schema=replace(table.schema, attributes=attributes), codes=table.codes[:, kept], levels=levels
    )


def with_values(size: int, records: int) -> Table:
    table, random = opened("acs_income_co_2018", records), np.random.default_rng(0)
    shares = 1 / (np.arange(size) + 10.0)  # a few are common, most are rare
    codes = random.choice(size, len(table), p=shares / shares.sum())
    telling = random.random(len(table)) < TELLING
    codes[telling] = codes[telling] // 2 * 2 + table.y[telling]  # an odd one, where the label is 1
    values = tuple(f"v{i}" for i in range(size))
    attribute = Attribute("code", values=values)
    return replace(
        table,
        schema=replace(table.schema, attributes=(*table.schema.attributes, attribute)),
        codes=np.asfortranarray(np.column_stack([table.codes, np.minimum(codes, size - 1)])),
        levels=(*table.levels, values),
    )


def with_personal(size: int, records: int) -> Table:
    table = opened("acs_coverage_ny_2024", records)
    attributes = tuple(replace(each, personal=j < size) for j, each in enumerate(table.schema.attributes))
    return replace(table, schema=Schema(attributes, table.schema.label))


class Series(NamedTuple):
    """The sizes of a series, and how its tables are made."""

    sizes: tuple[int, ...]
    table: Callable[[int, int], Table]


SERIES = {
    "records": Series((10_000, 50_000, 174_000, 1_434_805), with_records),
    "attributes": Series((13, 50, 101), with_attributes),
    "values": Series((500, 5_000, 50_000), with_values),
    "personal": Series((1, 7, 14), with_personal),
}


def grown(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Do the job on ever larger tables; return by what power each stage grows."""
    took: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for size in arguments.sizes or SERIES[name].sizes:
        table = SERIES[name].table(size, arguments.records)
        with tempfile.TemporaryDirectory() as folder:
            job = do_job(table, name, Path(folder), Workers(arguments.jobs), arguments)
        for words, processor in [("all", job.processor), *((each.words, each.processor) for each in job.stages)]:
            took[words.partition(" (")[0]].append((size, processor))
    exponents = {stage: power_of(points) for stage, points in took.items() if stage == "all" or told(points)}
    report(
        [{"growth in": name, "stage": stage, "exponent": power} for stage, power in exponents.items()], {}, False
    )
    return {"cpu_seconds": took["all"], "exponent": exponents["all"], "by_stage": exponents}


def told(points: Sequence[tuple[int, float]]) -> bool:
    return len(points) > 1 and min(processor for _, processor in points) > LEAST


def power_of(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope of a straight line through the logarithms."""
    return float(np.polyfit(*np.log(points).T, 1)[0])


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--series", nargs="+", choices=SERIES, default=[*SERIES], help="which of them")
    made.add_argument("--sizes", nargs="+", type=int, help="other sizes, for one series")
    made.add_argument("--records", type=int, default=20_000, help="at most so many, of all series but the first")
    made.add_argument("--jobs", type=int, default=1, help="workers")
    made.add_argument("--seed", type=int, default=0, help="of the split and of everything drawn")
    made.add_argument("--quick", action="store_true", help="the smaller grid of a quick run, shorter training")
    arguments = made.parse_args()
    compile_kernels()
    found = {name: grown(name, arguments) for name in arguments.series}
    figures = {f"growth_in_{name}": each["exponent"] for name, each in found.items()}
    report([], {**figures, "by_series": found}, arguments.json)


if __name__ == "__main__":
    main()
