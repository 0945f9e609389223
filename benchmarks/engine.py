"""Judging on everything in DuckDB beside one plain GROUP BY over the same file, from 1 to 100 million records.

Real records are grown to as many as are asked for: people drawn again, their numbers jittered, each with a new
key, in Parquet files under a temporary folder that goes at the end. Candidates are made from a sample of 200,000;
each is counted and certified on all records of the test part. One pass counts what all candidates tell apart; its
time is shared out among them. The peer of a candidate is one plain ``GROUP BY`` of its own columns (what it asks,
the personal attributes and the label) over all records, in a process of its own. Times are those of the
processors; Spark, which is another process, is compared by the clock. A whole run is made on as many records as
``--whole-rows`` says, all of it in this process.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import duckdb
import polars as pl
from common import parser, report
from data import folder

from leastwise import Generalization, Schema
from leastwise.evaluation.at_source import counts_of
from leastwise.evaluation.certificate import certify_counts
from leastwise.evaluation.in_slices import Hindsight
from leastwise.minimizers import PATMinimizer, UniformMinimizer
from leastwise.records.sources import Counted, Source
from leastwise.records.sources.duckdb import of_files
from leastwise.records.sources.engine import Engine
from leastwise.records.sources.spark import Spark
from leastwise.records.table import Table
from leastwise.runs import Options, Run, Stage, Stages, Workers, run
from leastwise.schema.inference import infer_schema

LABELS = {"acs_income_51states_2018_coarse": "PINCP", "adult": "income"}
LEFT_OUT = ("STATE", "fnlwgt", "education-num")
NUMBERS = {"AGEP": (16, 99), "WKHP": (1, 99), "SCHL": (1, 24), "age": (16, 95), "hours-per-week": (1, 99)}
KEY = "person"
CHUNK = 10_000_000
SEED = 100
SAMPLE = 200_000
Row = dict[str, object]


def grow(name: str, rows: int, to: Path) -> Path:
    """Write so many people, drawn from real ones; numbers move by up to two, and nobody has an old key."""
    given = folder() / f"{name}.parquet"
    place = to / str(rows)
    place.mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            f"SET memory_limit='2GB'; SET temp_directory='{to}'; SET preserve_insertion_order=false"
        )
        names = [c for c in pl.scan_parquet(given).collect_schema().names() if c not in LEFT_OUT]
        jitter = ", ".join(_jittered(c) for c in names)
        size = connection.sql(f"SELECT count(*) FROM '{given}'").fetchall()[0][0]
        source = f"read_parquet('{given}', file_row_number = true)"
        for i, start in enumerate(range(0, rows, CHUNK)):
            end = min(start + CHUNK, rows)
            drawn = f"SELECT range AS {KEY}, hash(range, {SEED}) % {size} AS drawn FROM range({start}, {end})"
            query = f"SELECT {KEY}, {jitter} FROM ({drawn}) JOIN {source} AS s ON s.file_row_number = drawn"
            connection.execute(f"COPY ({query}) TO '{place / f'{i:03}.parquet'}' (FORMAT parquet)")
    return place


def _jittered(column: str) -> str:
    if column not in NUMBERS:
        return f's."{column}"'
    low, high = NUMBERS[column]
    moved = f"s.\"{column}\" + CAST(hash({KEY}, '{column}') % 5 AS INTEGER) - 2"
    return f'greatest({low}, least({high}, {moved})) AS "{column}"'


def schema_of(name: str, label: str) -> Schema:
    """Declare the columns: those that are jittered are numbers, the others are named values."""
    frame = pl.read_parquet(folder() / f"{name}.parquet").drop(*LEFT_OUT, strict=False)
    kinds = {c: "continuous" if c in NUMBERS else "discrete" for c in frame.columns if c != label}
    found = infer_schema(frame, label, kinds=kinds, at_least=1)  # type: ignore[arg-type]
    return found.schema


def candidates(sample: Table, most: int) -> list[Generalization]:
    """Return what a few minimizers propose from the training part of the sample."""
    train = sample.split(SEED).train
    trees = [PATMinimizer(max_leaves=k, alpha=a) for k in (4, 10, 20, 50, 100) for a in (0.5, 0.7)]
    made = [*trees, UniformMinimizer(k=2, random_state=0), UniformMinimizer(k=3, random_state=0)]
    return [each.minimize(train) for each in made][:most]


def processor(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    return (found := function(), time.process_time() - start)[1], found


PLAIN = """
import sys, tempfile, time, duckdb
with duckdb.connect() as connection, tempfile.TemporaryDirectory() as spilled:
    connection.execute(f"SET memory_limit='2GB'; SET temp_directory='{spilled}'; SET enable_progress_bar=false")
    start = time.process_time()
    connection.sql(sys.argv[1]).fetchall()
    print(time.process_time() - start)
"""


def plain(files: Sequence[Path], columns: Sequence[str]) -> float:
    """Return the seconds of one plain GROUP BY: in a process of its own, whose memory is not ours."""
    listed = ", ".join(f'"{c}"' for c in columns)
    names = ", ".join(f"'{path}'" for path in files)
    query = f"SELECT count(*) FROM (SELECT {listed}, count(*) FROM read_parquet([{names}]) GROUP BY {listed})"
    done = subprocess.run([sys.executable, "-c", PLAIN, query], check=True, capture_output=True, text=True)
    return float(done.stdout)


def judge(source: Source, g: Generalization, together: int) -> float:
    """Count and certify one candidate on all records of the test part; return the slack of its certificate."""
    counted = counts_of(source, g)
    within = {a.name: 2.0 for a in source.schema.attributes if a.continuous}
    if isinstance(counted, Counted):
        mean = certify_counts(g, counted, within, candidates=together).mean
    else:  # too many to be held
        hindsight = Hindsight(g, within, label=True)
        for part in counted:
            hindsight.add(part)
        mean = hindsight.certificate(counted.people, delta=0.05, candidates=together).mean
    return mean.bound - mean.hindsight


class Saying:
    """Says on the standard error stream what has begun."""

    def begin(self, words: str, total: int | None = None, done: int = 0) -> None:
        print(f"{time.strftime('%X')} {words}", file=sys.stderr, flush=True)

    def advance(self, steps: int = 1) -> None:
        """Say nothing."""


def whole(files: Sequence[Path], schema: Schema, quick: bool) -> tuple[Run, Sequence[Stage], float]:
    """Do the whole job in this process, from opening the files to a finished run; say what its stages took."""
    workers = Workers(1)
    stages, start = Stages(Saying(), workers), time.process_time()
    engine = of_files(files, KEY)
    with tempfile.TemporaryDirectory() as folder:
        source = Source(engine, schema, SEED, progress=stages)
        source.check_key()
        options = Options(seed=SEED, quick=quick)
        sample = source.sample(SAMPLE)
        found = run(sample, Path(folder) / "run", options, workers=workers, progress=stages, source=source)
    engine.close()
    return found, stages.ended(), time.process_time() - start


def columns_of(g: Generalization, schema: Schema) -> list[str]:
    label = [schema.label.name] if schema.label else []
    return list(dict.fromkeys([*g.collected, *schema.personal, *label]))


def measure(
    files: Sequence[Path], schema: Schema, most: int
) -> tuple[Row, list[float], Source, list[Generalization]]:
    engine = of_files(files, KEY)
    source = Source(engine, schema, SEED)
    looked, _ = processor(lambda: source.domains)
    drawn, sample = processor(lambda: source.sample(SAMPLE))
    several = candidates(sample, most)
    source.people(source.tested)
    ratios, slack = [], 0.0
    with ExitStack() as stack:
        seconds, near = processor(lambda: stack.enter_context(source.reduced(several, source.tested)))
        once = seconds / len(several)
        for g in several:
            own, slack = processor(lambda g=g: judge(near, g, len(several)))
            ratios.append((once + own) / plain(files, columns_of(g, schema)))
            print(f"{time.strftime('%X')} beside its own: {ratios[-1]:.2f}", file=sys.stderr, flush=True)
            seconds += own
    everything = plain(files, [*schema.names, schema.label.name if schema.label else ""])
    row: Row = {
        "records": len(source),
        "looking at each column (s)": looked,
        "drawing a sample (s)": drawn,
        f"judging {len(several)} (s)": seconds,
        "plain GROUP BY of all (s)": everything,
        "a candidate beside its own (median)": median(ratios),
        "a candidate beside its own (largest)": max(ratios),
        "peak (MB)": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "slack": slack,
    }
    return row, ratios, source, several


def in_spark(files: Sequence[Path], schema: Schema, several: Sequence[Generalization]) -> float:
    """Return the clock of Spark relative to that of DuckDB, for the same counts."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "3g").getOrCreate()
    )  # fmt: skip
    session.sparkContext.setLogLevel("ERROR")
    frame = session.read.parquet(*map(str, files))
    engines: list[Engine] = [Spark(frame, KEY), of_files(files, KEY)]
    seconds = []
    for engine in engines:
        source = Source(engine, schema, SEED)
        _ = source.domains
        source.people(source.tested)
        start = time.perf_counter()
        with source.reduced(several, source.tested) as near:
            for g in several:
                near.counted(g, near.tested)
        seconds.append(time.perf_counter() - start)
        engine.close()
    session.stop()
    return seconds[0] / seconds[1]


def run_figures(found: Run, stages: Sequence[Stage], seconds: float, row: Row) -> dict[str, Any]:
    """Say what the whole run took, beside one plain count of everything."""
    everything = row["plain GROUP BY of all (s)"]
    assert isinstance(everything, float)
    return {
        "run_seconds": seconds,
        "run_vs_groupby": seconds / everything,
        "run_candidates": len(found.frontier.points),
        "run_people": found.frontier.points[0].test.people,
        "run_stages": {stage.words: stage.processor for stage in stages},
    }


def main(arguments: argparse.Namespace) -> None:
    made = Path(tempfile.mkdtemp(prefix="leastwise-engine-"))
    schema = schema_of(arguments.data, LABELS[arguments.data])
    rows: list[Row] = []
    by_n: dict[str, float] = {}
    spark, more = 0.0, dict[str, Any]()
    try:
        for size in arguments.rows:
            files = sorted(grow(arguments.data, size, made).iterdir())
            row, ratios, source, several = measure(files, schema, arguments.most)
            rows.append(row)
            print(row, file=sys.stderr, flush=True)  # the next one may take long
            by_n[str(size)] = max(ratios)
            source.engine.close()
            if size == arguments.spark_rows:
                spark = in_spark(files, schema, several[:4])
                print(f"Spark by DuckDB: {spark}", file=sys.stderr, flush=True)
            if size == arguments.whole_rows:
                more = run_figures(*whole(files, schema, arguments.quick), row)
                print(more, file=sys.stderr, flush=True)
            shutil.rmtree(made / str(size))
    finally:
        shutil.rmtree(made, ignore_errors=True)
    judged = next(name for name in rows[0] if name.startswith("judging"))
    figures: dict[str, Any] = {
        "judge_vs_groupby": by_n[str(arguments.rows[-1])],
        "judge_vs_groupby_by_n": by_n,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "seconds_by_n": {str(row["records"]): row[judged] for row in rows},
        "spark_vs_duckdb": spark,
        "slack_by_n": {str(row["records"]): row["slack"] for row in rows},
        **more,
    }
    report(rows, figures, arguments.json)


if __name__ == "__main__":
    made = parser("Judging on everything in DuckDB beside one plain GROUP BY over the same file.")
    made.add_argument("--data", choices=LABELS, default="acs_income_51states_2018_coarse")
    made.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000, 100_000_000])
    made.add_argument("--spark-rows", type=int, default=10_000_000, help="where Spark counts too; 0: nowhere")
    made.add_argument("--whole-rows", type=int, default=100_000_000, help="where a whole run is made; 0: nowhere")
    made.add_argument("--quick", action="store_true", help="the whole run proposes, trains and attacks less")
    made.add_argument("--most", type=int, default=12, help="how many candidates are judged")
    main(made.parse_args())
