"""All minimizers on the same records, judged by the same judges; and Apt beside the published toolkit.

Each minimizer has a grid of settings, from the paper's where it has one. Three of them are chosen on the
validation part, judged roughly: those that cover most of the rectangle between the limit points. The test part has
no say. Reported are utility risk and adversary error (A1) of the strongest predictors on the test part, and
the share of the rectangle that the three points cover there. Seconds are CPU seconds of this process: what else
the machine does must not count.
"""

from __future__ import annotations

import argparse
import itertools
import json
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apt_toolkit
import numpy as np
from common import parser, report
from data import load

from leastwise import Generalization, PrivacyLeakWarning, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import StrongestOf
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.errors import MissingExtraError
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.utility import utility_risk
from leastwise.minimizers import MINIMIZERS
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.records.table import Split

DATASETS = ("adult", "acs_income_co_2018")
NEURAL = ("advtrain", "mutualinf")
# Where the paper says "between the limit points", these are shares of the way from untouched to suppressed.
SHARES = (0.1, 0.25, 0.5, 0.75)
GRIDS: dict[str, list[dict[str, Any]]] = {
    "uniform": [{"k": k} for k in (2, 3, 4, 5)],
    "feature-selection": [{"k": k} for k in (2, 4, 8, 10)],
    "advtrain": [{"lam": lam} for lam in (0.0, 0.125, 0.25, 0.5, 0.75)],
    "mutualinf": [{"lam": lam} for lam in (0.001, 0.005, 0.02, 0.05)],
    "pat": [
        {"alpha": alpha, "max_leaves": leaves}
        for alpha, leaves in itertools.product((0.1, 0.3, 0.5, 0.7, 0.9), (4, 10, 50))
    ],
    "optimal": [{"lam": lam} for lam in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)],
    "coarsening": [{"max_error_increase": most} for most in (0.003, 0.01, 0.03, 0.06)],
}


@dataclass(frozen=True, eq=False)
class Candidate:
    """One minimizer at one setting: what it proposed, how long that took, and how validation judges it."""

    minimizer: str
    parameters: dict[str, Any]
    generalization: Generalization
    seconds: float
    on_validation: Point


def grid(name: str, limits: Limits) -> list[dict[str, Any]]:
    """Return the settings of a minimizer; those in units of the data lie between the limit points."""
    low, high = limits.untouched.utility_risk, limits.suppressed.utility_risk
    errors = [round(low + share * (high - low), 3) for share in SHARES]
    if name == "iterative":
        return [{"threshold": error} for error in errors]
    if name == "apt":
        return [{"target_accuracy": round((1 - error) / (1 - low), 3)} for error in errors]
    return GRIDS.get(name, [{}])


def inner_parts(parts: Split) -> Split:
    """Return parts whose test part is the validation part: what choosing a setting may see."""
    learn, tune, rest = parts.train.split(0, (0.85, 0.15, 0.0))
    assert len(rest) == 0
    return Split(learn, tune, parts.validation)


def roughly(generalization: Generalization, parts: Split) -> Point:
    """Return utility risk by quickly trained predictors, and A1 error by counting: cheap, and the same for all.

    Counting alone would not do for utility: where joint buckets are nearly unique it errs far more than others.
    """
    risk = utility_risk(generalization, parts, quick=True).error
    return Point(
        risk, Reconstruction(JointBuckets).attack(Breach.of(generalization, parts, label=False)).adversary_error
    )


def thoroughly(generalization: Generalization, parts: Split, quick: bool) -> Point:
    """Return utility risk and A1 error by the strongest predictors."""
    risk = utility_risk(generalization, parts, quick=quick)
    adversary = Reconstruction(StrongestOf(quick=quick))
    return Point(risk.error, adversary.attack(Breach.of(generalization, parts, label=False)).adversary_error)


def proposed(name: str, limits: Limits, train: Table, inner: Split) -> Iterator[Candidate]:
    """Yield the candidates of a minimizer's grid."""
    if name not in NEURAL:  # compiles what is compiled: that is no part of a run
        MINIMIZERS[name](random_state=0).minimize(train.take(np.arange(min(2_000, len(train)))))
    for parameters in grid(name, limits):
        start = time.process_time()
        found = MINIMIZERS[name](**parameters, random_state=0).minimize(train)
        seconds = time.process_time() - start
        yield Candidate(name, parameters, found, seconds, roughly(found, inner))


def best_three(candidates: list[Candidate], limits: Limits) -> tuple[Candidate, ...]:
    """Return the three candidates that cover most on validation; of equals the first in the grid."""
    threes = itertools.combinations(candidates, min(3, len(candidates)))
    return max(threes, key=lambda three: limits.hypervolume([candidate.on_validation for candidate in three]))


def row(dataset: str, chosen: Candidate, parts: Split, quick: bool) -> dict[str, Any]:
    """Return what is reported of a candidate."""
    point = thoroughly(chosen.generalization, parts, quick)
    return {
        "dataset": dataset,
        "minimizer": chosen.minimizer,
        "parameters": chosen.parameters,
        "buckets": buckets(chosen.generalization, parts.train),
        "utility_risk": point.utility_risk,
        "adversary_error": point.adversary_error,
        "seconds": chosen.seconds,
    }


def buckets(found: Generalization, table: Table) -> int:
    """Return all buckets; an attribute asked exactly has as many as the records have values."""
    maps = table.bucket_maps(found)
    return sum(p.size or int(m.max(initial=0)) + 1 for p, m in zip(found.partitions, maps, strict=True))


def measure_dataset(dataset: str, quick: bool, only: list[str] | None) -> tuple[list[dict[str, Any]], Limits]:
    """Return three rows per minimizer, and the limit points on the test part."""
    loaded = load(dataset)
    parts = Table.from_frame(loaded.frame, loaded.schema).split(0)
    inner, train, rows = inner_parts(parts), parts.train.with_own_levels(), []
    ends = [limit(loaded.schema) for limit in (Generalization.untouched, Generalization.suppressed)]
    on_validation = Limits(*(roughly(end, inner) for end in ends))
    for name in only or MINIMIZERS:
        try:
            candidates = list(proposed(name, on_validation, train, inner))
        except MissingExtraError as reason:
            print(f"{name} skipped: {reason}")
            continue
        for chosen in best_three(candidates, on_validation):
            rows.append(row(dataset, chosen, parts, quick))
            print(_line(rows[-1]), flush=True)
    return rows, Limits(*(thoroughly(end, parts, quick) for end in ends))


def _line(row: dict[str, Any]) -> str:
    words = ", ".join(f"{name}={value:g}" for name, value in row["parameters"].items())
    return (
        f"{row['dataset']:20} {row['minimizer']:18} {words:26} {row['buckets']:5} buckets  "
        f"utility risk {row['utility_risk']:.3f}  adversary error {row['adversary_error']:.3f}  "
        f"{row['seconds']:6.1f} s"
    )


def standing(rows: list[dict[str, Any]], limits: Limits) -> list[dict[str, Any]]:
    """Return, per minimizer, the share of the rectangle that it covers, and how it stands with PAT.

    A point is dominated by another that has at most its utility risk, at least its adversary error, and is not
    the same point.
    """
    points: dict[str, list[Point]] = {}
    for each in rows:
        points.setdefault(each["minimizer"], []).append(Point(each["utility_risk"], each["adversary_error"]))
    pat = points.get("pat", [])
    found = [
        {
            "dataset": rows[0]["dataset"],
            "minimizer": name,
            "area": 1 - limits.remaining_area(own),
            "dominated by pat": sum(_dominated(point, pat) for point in own) if name != "pat" else "",
            "dominates of pat": sum(_dominated(point, own) for point in pat) if name != "pat" else "",
        }
        for name, own in points.items()
    ]
    return sorted(found, key=lambda row: -row["area"])


def _dominated(point: Point, others: list[Point]) -> bool:
    return any(
        other.utility_risk <= point.utility_risk
        and other.adversary_error >= point.adversary_error
        and other != point
        for other in others
    )


def main() -> None:
    given = arguments().parse_args()
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    rows, stand = [], []
    for dataset in given.dataset or DATASETS:
        own, limits = measure_dataset(dataset, given.quick, given.only)
        rows += own
        print(f"{dataset}: untouched {limits.untouched}, suppressed {limits.suppressed}", flush=True)
        stand += standing(own, limits) if own else []
    report(stand, {}, False)
    if not given.no_apt:
        report(apt_toolkit.all_rows(given.toolkit, given.toolkit_limit), {}, False)
    if given.json:
        print(json.dumps(rows), flush=True)


def arguments() -> argparse.ArgumentParser:
    made = parser(__doc__ or "")
    made.add_argument("--quick", action="store_true", help="weaker judges, for a first look")
    made.add_argument("--only", action="append", choices=list(MINIMIZERS), help="this minimizer; can be repeated")
    made.add_argument("--dataset", action="append", choices=DATASETS, help="this data set; can be repeated")
    made.add_argument("--no-apt", action="store_true", help="leave out how long Apt and the toolkit take")
    default = Path(tempfile.gettempdir()) / "leastwise-toolkit"
    made.add_argument("--toolkit", type=Path, default=default, help="folder of the toolkit's environment")
    made.add_argument("--toolkit-limit", type=float, default=90, help="CPU seconds that one run of it may take")
    return made


if __name__ == "__main__":
    main()
