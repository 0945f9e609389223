"""Applying a generalization beside the Polars expression that a good user would write by hand.

10 million records of 10 attributes, labels out. The hand-written expression places the values and nothing more;
ours also checks that every value lies in its declared domain. Then the records are streamed as a CSV file to
Parquet by the command line in a process of its own, whose peak memory is taken.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from common import best_of, parser, report, run_measured

from leastwise import Attribute, Generalization, Groups, Intervals, Partition
from leastwise.random import generator

CONTINUOUS = {
    # name: (lower, upper, integer, edges)
    "age": (0, 120, True, (19, 29, 44, 63)),
    "hours": (0, 168, True, (19, 34, 40)),
    "weeks": (0, 52, True, (25,)),
    "pay": (0, None, False, (12_000.0, 30_000.0, 55_000.0, 90_000.0, 150_000.0)),
    "score": (None, None, False, (-1.0, 0.0, 1.0)),
}
DISCRETE = {"sex": (2, 2), "state": (50, 5), "job": (500, 8), "school": (24, 4), "origin": (120, 6)}


def generalization() -> Generalization:
    """Return five continuous and five discrete attributes with a few buckets each."""
    partitions: list[Partition] = []
    for name, (lower, upper, integer, edges) in CONTINUOUS.items():
        attribute = Attribute(name, "continuous", lower=lower, upper=upper, integer=integer)
        partitions.append(Intervals(attribute, edges))
    for name, (values, buckets) in DISCRETE.items():
        attribute = Attribute(name, values=tuple(f"{name} {i}" for i in range(values)))
        partitions.append(Groups(attribute, tuple(i % buckets for i in range(values))))
    return Generalization(tuple(partitions))


def records(rows: int) -> pl.DataFrame:
    """Return records at random, the same for everyone."""
    random = generator(0, "apply benchmark")
    columns = {
        "age": random.integers(0, 100, rows),
        "hours": random.integers(0, 90, rows),
        "weeks": random.integers(0, 53, rows),
        "pay": random.lognormal(10, 1, rows).round(2),
        "score": random.normal(0, 1, rows).round(4),
    }
    for name, (values, _) in DISCRETE.items():
        texts = pl.Series([f"{name} {i}" for i in range(values)])
        columns[name] = texts.gather(pl.Series(random.integers(0, values, rows, dtype=np.uint32)))
    return pl.DataFrame(columns)


def when_then(partition: Intervals) -> pl.Expr:
    """Write the intervals as a chain of conditions."""
    column = pl.col(partition.attribute.name)
    chain = functools.reduce(
        lambda so_far, pair: so_far.when(column <= pair[0]).then(pl.lit(pair[1])),
        zip(partition.edges, partition.labels, strict=False),
        pl,
    )
    return chain.otherwise(pl.lit(partition.labels[-1])).alias(partition.attribute.name)


def replaced(partition: Groups, quick: bool) -> pl.Expr:
    """Write the groups as a replacement; ``quick`` gives the default that makes Polars faster."""
    labels = [partition.labels[bucket] for bucket in partition.assignment]
    default = {"default": None, "return_dtype": pl.String} if quick else {}
    return pl.col(partition.attribute.name).replace_strict(list(partition.attribute.values), labels, **default)


def by_hand(quick: bool) -> list[pl.Expr]:
    """Return the hand-written expressions of all attributes."""
    return [
        when_then(p) if isinstance(p, Intervals) else replaced(p, quick)
        for p in generalization().partitions
        if isinstance(p, (Intervals, Groups))
    ]


def measure_throughput(rows: int, times: int) -> tuple[list[dict[str, object]], float]:
    """Return the table's rows and the throughput relative to the faster hand-written expression."""
    frame, ours = records(rows), generalization()
    ways = {
        "by hand: when/then, replace_strict": lambda: frame.with_columns(by_hand(quick=False)),
        "by hand: the same with a default": lambda: frame.with_columns(by_hand(quick=True)),
        "by hand: the same, streaming engine": lambda: (
            frame.lazy().with_columns(by_hand(quick=True)).collect(engine="streaming")
        ),
        "leastwise, with the domain check": lambda: ours.transform(frame),
        "leastwise, lazy Polars": lambda: ours.transform(frame.lazy()).collect(),
    }
    # In turns, so that a busy moment of the machine does not fall on one of them only.
    seconds = dict.fromkeys(ways, float("inf"))
    for _ in range(times):
        for name, way in ways.items():
            taken, result = best_of(1, way)
            seconds[name] = min(seconds[name], taken)
    assert result.equals(ways["by hand: the same with a default"]())
    fastest = min(taken for name, taken in seconds.items() if name.startswith("by hand"))
    ours_taken = seconds["leastwise, with the domain check"]
    table = [{"what": name, "seconds": s, "records a second": int(rows / s)} for name, s in seconds.items()]
    return table, fastest / ours_taken


def measure_stream(rows: int) -> tuple[list[dict[str, object]], float]:
    """Return the table's rows and the peak memory in MB of streaming CSV to Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        source, target, artefact = (Path(folder) / name for name in ("in.csv", "out.parquet", "g.json"))
        records(rows).write_csv(source)
        generalization().save(artefact)
        program = "from leastwise.cli.main import main; main()"
        command = [sys.executable, "-c", program, "apply", str(artefact), str(source), "-o", str(target)]
        seconds, peak = run_measured(command)
        size = source.stat().st_size / 1e6
        assert pl.scan_parquet(target).select(pl.len()).collect().item() == rows
    what = f"stream {size:,.0f} MB of CSV to Parquet"
    return [{"what": what, "seconds": seconds, "records a second": int(rows / seconds)}], peak


def main() -> None:
    arguments = parser(__doc__ or "")
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--times", type=int, default=3, help="how often each is timed; the best counts")
    given = arguments.parse_args()
    streamed, peak = measure_stream(given.rows)
    table, ratio = measure_throughput(given.rows, given.times)
    report([*table, *streamed], {"throughput_vs_polars": ratio, "peak_mb": peak}, given.json)


if __name__ == "__main__":
    main()
