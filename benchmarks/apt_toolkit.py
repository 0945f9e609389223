"""The published toolkit whose idea Apt is, in a virtual environment of its own, beside ours on the same records.

It imports only with old releases, so that it cannot share our environment: the first run makes one in the folder
``--toolkit`` (about 2 GB are downloaded), later runs find it there. By hand: ``python3.11 -m venv FOLDER``,
install what REQUIREMENTS lists, line by line, and ``touch FOLDER/.ready``. Where there is none, the reason is said
and only ours is measured. Five numeric attributes of Adult: with all of them, or with text columns, the toolkit
does not finish or raises.

    python benchmarks/apt_toolkit.py --toolkit FOLDER
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from common import parser, report
from data import load, read
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from leastwise import Attribute, Schema, Table
from leastwise.minimizers import AptMinimizer

ATTRIBUTES = ("age", "education-num", "capital-gain", "capital-loss", "hours-per-week")
REQUIREMENTS = (
    ("torch==2.13.0",),
    ("numpy==1.24.2", "scipy==1.10.1", "scikit-learn==1.1.3", "pandas==1.5.3"),
    ("adversarial-robustness-toolbox==1.17.1", "setuptools<80"),
    ("--no-deps", "ai-privacy-toolkit==0.2.1"),
)
SIZES = (2_000, 5_000, 10_000)
# The old releases have no wheels for newer Pythons.
PYTHONS = ("python3.11", "python3.10")

_PEER = """
import json, sys, time, warnings
import pandas as pd
from apt.minimization import GeneralizeToRepresentative
from apt.utils.datasets import ArrayDataset
from apt.utils.models import ModelOutputType, SklearnClassifier
from sklearn.ensemble import HistGradientBoostingClassifier

warnings.simplefilter("ignore")
frame = pd.read_csv(sys.argv[1])
label = frame.pop("label")
fitted = HistGradientBoostingClassifier(random_state=0).fit(frame, label)
model = SklearnClassifier(fitted, ModelOutputType.CLASSIFIER_PROBABILITIES)
seconds, cpu = time.perf_counter(), time.process_time()
minimizer = GeneralizeToRepresentative(model, target_accuracy=float(sys.argv[2]))
minimizer.fit(dataset=ArrayDataset(frame, fitted.predict(frame), features_names=list(frame.columns)))
ranges = {name: len(edges) + 1 for name, edges in minimizer.generalizations["ranges"].items()}
print(json.dumps({"seconds": time.perf_counter() - seconds, "cpu": time.process_time() - cpu,
                  "buckets": sum(ranges.values())}))
"""


class SkippedError(Exception):
    """Why the toolkit was not measured."""


def environment(folder: Path) -> Path:
    """Return the Python of the toolkit's environment, made in the folder if it is not there."""
    python = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        base = next((found for name in PYTHONS if (found := shutil.which(name)) and _runs(found)), None)
        if base is None:
            raise SkippedError(f"it needs one of {', '.join(PYTHONS)}")
        print(f"making the toolkit's environment in {folder} ...", file=sys.stderr, flush=True)
        _run([base, "-m", "venv", str(folder)])
        for packages in REQUIREMENTS:
            _run([str(python), "-m", "pip", "install", "--quiet", *packages])
        (folder / ".ready").touch()
    return python


def _runs(python: str) -> bool:
    return subprocess.run([python, "--version"], capture_output=True).returncode == 0


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SkippedError(f"{' '.join(command[-3:])}: {last}")


def numeric_adult(records: int) -> pl.DataFrame:
    """Return some records of Adult: numbers only, and the label as 0 or 1."""
    label = pl.col("income").str.contains(">").cast(pl.Int8)
    return read("adult").sample(records, seed=0).select(*ATTRIBUTES, label=label)


def _stop_after(cpu_seconds: float) -> None:
    """Let this process have so many CPU seconds: on a busy machine, seconds of the clock say little."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(cpu_seconds), int(cpu_seconds) + 5))


def measure_toolkit(python: Path, frame: pl.DataFrame, target: float, limit: float) -> dict[str, Any]:
    """Return what the toolkit took, or that it did not finish."""
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "records.csv", Path(folder) / "peer.py"
        frame.write_csv(data)
        script.write_text(_PEER)
        command = [str(python), str(script), str(data), str(target)]
        one = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        done = subprocess.run(
            command, capture_output=True, text=True, env=one, preexec_fn=partial(_stop_after, limit)
        )
    if done.returncode == -signal.SIGXCPU:
        return {"seconds": "", "cpu": f"not in {limit:.0f}", "buckets": ""}
    if done.returncode:
        return {"seconds": f"failed: {done.stderr.strip().splitlines()[-1][:60]}", "cpu": "", "buckets": ""}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure_ours(frame: pl.DataFrame, target: float) -> dict[str, Any]:
    """Return what ours takes to minimize for the same kind of classifier."""
    schema = Schema([Attribute(name, "continuous", integer=True, lower=0) for name in ATTRIBUTES])
    attributes = frame.drop("label").to_pandas()
    with threadpool_limits(1):
        model = HistGradientBoostingClassifier(random_state=0).fit(attributes, frame["label"].to_numpy())
        seconds, cpu = time.perf_counter(), time.process_time()
        minimizer = AptMinimizer(target, model, schema=schema, random_state=0)
        found = minimizer.fit(attributes, frame["label"].to_numpy()).generalization_
    taken = {"seconds": time.perf_counter() - seconds, "cpu": time.process_time() - cpu}
    return {**taken, "buckets": found.total_buckets}


def apt_times() -> list[dict[str, Any]]:
    """Return how long ours takes on whole training parts, with all attributes and its own classifier."""
    rows = []
    for dataset in ("adult", "acs_employment_ny_2024"):
        loaded = load(dataset)
        train = Table.from_frame(loaded.frame, loaded.schema).split(0).train
        for target in (0.9, 0.98, 1.0):
            seconds, cpu = time.perf_counter(), time.process_time()
            with threadpool_limits(1):
                found = AptMinimizer(target, random_state=0).minimize(train)
            taken = {"seconds": time.perf_counter() - seconds, "cpu": time.process_time() - cpu}
            size = {"records": len(train), "attributes": len(train.schema), "target": target}
            asked = sum(len(set(each.tolist())) for each in train.bucket_maps(found))
            rows.append({"who": f"leastwise, {dataset}", **size, **taken, "buckets": asked})
    return rows


def all_rows(
    folder: Path, limit: float, sizes: tuple[int, ...] = SIZES, target: float = 0.9
) -> list[dict[str, Any]]:
    """Return ours on whole training parts, and both on the same small samples."""
    return [*apt_times(), *compare(folder, sizes, target, limit)]


def compare(folder: Path, sizes: tuple[int, ...], target: float, limit: float) -> list[dict[str, Any]]:
    """Return the rows of both; the toolkit stops at the first size that it does not finish."""
    rows, python = [], None
    try:
        python = environment(folder)
    except SkippedError as reason:
        print(f"toolkit skipped: {reason}")
    finishing = True
    for size in sizes:
        frame = numeric_adult(size)
        common = {"records": size, "attributes": len(ATTRIBUTES), "target": target}
        rows.append({"who": "leastwise", **common, **measure_ours(frame, target)})
        if python is not None and finishing:
            taken = measure_toolkit(python, frame, target, limit)
            finishing = not isinstance(taken["cpu"], str)
            rows.append({"who": "toolkit", **common, **taken})
    return rows


def main() -> None:
    made = parser(__doc__ or "")
    default = Path(tempfile.gettempdir()) / "leastwise-toolkit"
    made.add_argument("--toolkit", type=Path, default=default, help="folder of the toolkit's environment")
    made.add_argument("--toolkit-limit", type=float, default=90, help="CPU seconds that one run of it may take")
    given = made.parse_args()
    rows = all_rows(given.toolkit, given.toolkit_limit)
    report(rows, {}, False)
    if given.json:
        print(json.dumps(rows), flush=True)


if __name__ == "__main__":
    main()
