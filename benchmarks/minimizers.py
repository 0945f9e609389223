"""All minimizers on the same records, judged by the same judges; and Apt beside the published toolkit.

Each minimizer has three settings. Utility risk and adversary error (A1) are those of the strongest predictor on
the test part; the area is the share of the rectangle between the limit points that the three points cover.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apt_toolkit
from common import parser, report
from data import load

from leastwise import Generalization, PrivacyLeakWarning, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import StrongestOf
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.errors import MissingExtraError
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.utility import utility_risk
from leastwise.minimizers import MINIMIZERS, AptMinimizer
from leastwise.table import Split

DATASETS = ("adult", "acs_income_co_2018")
# Classifier errors between the limit points, which iterative needs in the units of the data.
THRESHOLDS = {"adult": (0.16, 0.18, 0.21), "acs_income_co_2018": (0.215, 0.24, 0.29)}
SETTINGS: dict[str, list[dict[str, Any]]] = {
    "uniform": [{"k": k} for k in (2, 3, 5)],
    "feature-selection": [{"k": k} for k in (2, 4, 8)],
    "apt": [{"target_accuracy": t} for t in (0.86, 0.92, 0.98)],
    "advtrain": [{"lam": lam} for lam in (0.1, 0.5, 0.8)],
    "mutualinf": [{"lam": lam} for lam in (0.005, 0.02, 0.05)],
    "pat": [{"alpha": alpha, "max_leaves": leaves} for alpha, leaves in ((0.5, 20), (0.7, 10), (0.9, 10))],
    "optimal": [{"lam": lam} for lam in (0.3, 3.0, 30.0)],
}


def settings(dataset: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (minimizer, parameters) of all minimizers that are registered."""
    for name in MINIMIZERS:
        chosen = (
            [{"threshold": t} for t in THRESHOLDS[dataset]] if name == "iterative" else SETTINGS.get(name, [{}])
        )
        for parameters in chosen:
            yield name, parameters


def judged(generalization: Generalization, parts: Split, quick: bool) -> Point:
    """Return utility risk and A1 error by the strongest predictors."""
    risk = utility_risk(generalization, parts, quick=quick)
    adversary = Reconstruction(StrongestOf(quick=True) if quick else StrongestOf())
    return Point(risk.error, adversary.attack(Breach.of(generalization, parts)).adversary_error)


def measure(name: str, parameters: dict[str, Any], parts: Split, quick: bool) -> dict[str, Any]:
    """Return a row without its data set."""
    minimizer = MINIMIZERS[name](**parameters, random_state=0)
    start = time.perf_counter()
    found = minimizer.minimize(parts.train.with_own_levels())
    seconds = time.perf_counter() - start
    point = judged(found, parts, quick)
    return {
        "minimizer": name,
        "parameters": parameters,
        "buckets": buckets(found, parts.train),
        "utility_risk": point.utility_risk,
        "adversary_error": point.adversary_error,
        "seconds": seconds,
    }


def buckets(found: Generalization, table: Table) -> int:
    """Return all buckets; an attribute asked exactly has as many as the records have values."""
    maps = table.bucket_maps(found)
    return sum(p.size or int(m.max(initial=0)) + 1 for p, m in zip(found.partitions, maps, strict=True))


def measure_dataset(dataset: str, quick: bool, only: list[str] | None) -> tuple[list[dict[str, Any]], Limits]:
    """Return a row per setting, and the limit points."""
    loaded = load(dataset)
    parts = Table.from_frame(loaded.frame, loaded.schema).split(0)
    ends = [
        judged(limit(loaded.schema), parts, quick)
        for limit in (Generalization.untouched, Generalization.suppressed)
    ]
    rows = []
    for name, parameters in settings(dataset):
        if only is not None and name not in only:
            continue
        try:
            rows.append({"dataset": dataset, **measure(name, parameters, parts, quick)})
            print(_line(rows[-1]), flush=True)
        except MissingExtraError as reason:
            print(f"{name} skipped: {reason}")
    return rows, Limits(*ends)


def _line(row: dict[str, Any]) -> str:
    words = ", ".join(f"{name}={value:g}" for name, value in row["parameters"].items())
    return (
        f"{row['dataset']:20} {row['minimizer']:18} {words:26} {row['buckets']:5} buckets  "
        f"utility risk {row['utility_risk']:.3f}  adversary error {row['adversary_error']:.3f}  "
        f"{row['seconds']:6.1f} s"
    )


def areas(rows: list[dict[str, Any]], limits: Limits) -> list[dict[str, Any]]:
    """Return the share of the rectangle that each minimizer covers, the largest first."""
    points: dict[str, list[Point]] = {}
    for row in rows:
        points.setdefault(row["minimizer"], []).append(Point(row["utility_risk"], row["adversary_error"]))
    found = [
        {"dataset": rows[0]["dataset"], "minimizer": name, "area": 1 - limits.remaining_area(own)}
        for name, own in points.items()
    ]
    return sorted(found, key=lambda row: -row["area"])


def apt_times() -> list[dict[str, Any]]:
    """Return how long Apt takes on whole training parts."""
    rows = []
    for dataset in ("adult", "acs_employment_ny_2024"):
        loaded = load(dataset)
        train = Table.from_frame(loaded.frame, loaded.schema).split(0).train
        for target in (0.9, 0.98, 1.0):
            start, cpu = time.perf_counter(), time.process_time()
            found = AptMinimizer(target, random_state=0).minimize(train)
            taken = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
            size = {"records": len(train), "attributes": len(train.schema), "target": target}
            rows.append({"who": f"leastwise, {dataset}", **size, **taken, "buckets": buckets(found, train)})
    return rows


def main() -> None:
    given = arguments().parse_args()
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    rows, covered = [], []
    for dataset in DATASETS:
        own, limits = measure_dataset(dataset, given.quick, given.only)
        rows += own
        covered += areas(own, limits)
    report(covered, {}, False)
    if not given.no_apt:
        speed = apt_times()
        if not given.no_toolkit:
            speed += apt_toolkit.compare(given.toolkit, (2_000, 5_000, 10_000), 0.9, given.toolkit_limit)
        report(speed, {}, False)
    if given.json:
        print(json.dumps(rows), flush=True)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__ or "")
    made.add_argument("--quick", action="store_true", help="weaker judges, for a first look")
    made.add_argument("--only", action="append", choices=list(MINIMIZERS), help="this minimizer; can be repeated")
    made.add_argument("--no-apt", action="store_true", help="leave out how long Apt and the toolkit take")
    made.add_argument("--no-toolkit", action="store_true", help="leave out the published toolkit")
    default = Path(tempfile.gettempdir()) / "leastwise-toolkit"
    made.add_argument("--toolkit", type=Path, default=default, help="folder for the toolkit's environment")
    made.add_argument("--toolkit-limit", type=float, default=90, help="seconds that one run of it may take")
    return made


if __name__ == "__main__":
    main()
