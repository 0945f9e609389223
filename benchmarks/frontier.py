"""The frontier of the optimal minimizer beside that of PAT's whole grid.

Both propose candidates from the training part. Counting screens them on validation, where each frontier is chosen;
the test part measures the chosen ones with the strongest classifier and the strongest adversary (A1). The area is
that of the rectangle between the limit points (everything untouched, everything suppressed).

    python benchmarks/frontier.py                  one seed, at most 30,000 records of each file
    python benchmarks/frontier.py --full           three seeds, all records
    python benchmarks/frontier.py --datasets adult --quick
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # two processes judge at once

import numpy as np  # noqa: E402
from common import parser, report  # noqa: E402
from data import load  # noqa: E402
from scipy.stats import t as student  # noqa: E402
from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: E402

from leastwise import Generalization, Table  # noqa: E402
from leastwise.adversaries.breach import Breach  # noqa: E402
from leastwise.adversaries.reconstruction import Reconstruction  # noqa: E402
from leastwise.evaluation.pareto import Limits, Point, adversary_error_at, frontier  # noqa: E402
from leastwise.evaluation.utility import utility_risk  # noqa: E402
from leastwise.minimizers import pat_grid  # noqa: E402
from leastwise.minimizers.coarsening_restarts import restarted_paths  # noqa: E402
from leastwise.minimizers.optimal import optimal_path  # noqa: E402
from leastwise.predictors import JointBuckets, Logistic, strongest  # noqa: E402
from leastwise.random import generator  # noqa: E402
from leastwise.table import Split  # noqa: E402

DATASETS = (
    "adult",
    "acs_income_co_2018",
    "acs_income_ny_2024",
    "acs_employment_ny_2024",
    "acs_coverage_ny_2024",
    "health",
    "communities",
    "lending_club_2018",
)
TIMED = "acs_employment_ny_2024"
MARGINS = (0.005, 0.01, 0.02, 0.05)
_SPLIT: list[Split] = []


def opened(name: str, seed: int, records: int) -> Split:
    """Return the parts of a file, or of a seeded sample of its records."""
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    if records and len(table) > records:
        table = table.take(np.sort(generator(0, "frontier sample").permutation(len(table))[:records]))
    return table.split(seed)


def _open_in_worker(name: str, seed: int, records: int) -> None:
    _SPLIT[:] = [opened(name, seed, records)]


def _screen(text: str) -> Point:
    """Judge on validation, by counting (and for the label an additive model, which carries over)."""
    found, (train, validation, _) = Generalization.from_json(text), _SPLIT[0]
    part = Split(train, validation, validation)
    risk = utility_risk(found, part, (JointBuckets(), Logistic())).error
    attack = Reconstruction(JointBuckets).attack(Breach.of(found, part))
    return Point(risk, attack.adversary_error)


def _measure(task: tuple[str, str]) -> Point:
    """Judge on test, with the strongest classifier and adversary, or by counting as in the screening."""
    found, how = Generalization.from_json(task[0]), task[1]
    if how == "counting":
        risk = utility_risk(found, _SPLIT[0], (JointBuckets(), Logistic())).error
        attack = Reconstruction(JointBuckets).attack(Breach.of(found, _SPLIT[0]))
        return Point(risk, attack.adversary_error)
    quick = how == "quick"
    risk = utility_risk(found, _SPLIT[0], quick=quick).error
    attack = Reconstruction(lambda: strongest(quick=quick)).attack(Breach.of(found, _SPLIT[0]))
    return Point(risk, attack.adversary_error)


@dataclass(frozen=True)
class Measured:
    """What one file and seed gave."""

    limits: Limits
    points: dict[str, list[Point]]
    seconds: float

    def remaining(self, which: str) -> float:
        return self.limits.remaining_area(self.points[which])


def candidates(train: Table, quick: bool) -> dict[str, list[str]]:
    """Return the candidates of both, as artefacts, without repetitions."""
    pat = [g for row in pat_grid(train) for g in row]
    ours = [
        *optimal_path(train, 40),
        *(g for path in restarted_paths(train, steps=12 if quick else 25) for g in path),
    ]
    return {
        name: [*dict.fromkeys(g.to_json() for g in found)] for name, found in (("pat", pat), ("optimal", ours))
    }


def measure(name: str, seed: int, arguments: argparse.Namespace) -> Measured:
    start = time.perf_counter()
    split = opened(name, seed, arguments.records)
    texts = candidates(split.train, arguments.quick)
    context = multiprocessing.get_context("spawn")
    setting = (name, seed, arguments.records)
    with ProcessPoolExecutor(2, context, initializer=_open_in_worker, initargs=setting) as pool:
        chosen = {}
        for which, found in texts.items():
            screened = [*pool.map(_screen, found)]
            chosen[which] = [found[i] for i in _thinned(screened, frontier(screened), arguments.most)]
        schema = split.train.schema
        ends = [Generalization.untouched(schema).to_json(), Generalization.suppressed(schema).to_json()]
        strong = "quick" if arguments.quick else "strongest"
        how = "counting" if arguments.counting else strong
        tasks = [*((text, strong) for text in ends), *((t, how) for t in [*chosen["pat"], *chosen["optimal"]])]
        points = [*pool.map(_measure, tasks)]
    # On a small test part full records can do worse than guessing; then nothing lies between the limit points.
    limits = Limits(Point(min(points[0].utility_risk, points[1].utility_risk), 0.0), points[1])
    measured = {"pat": points[2 : 2 + len(chosen["pat"])], "optimal": points[2 + len(chosen["pat"]) :]}
    return Measured(limits, measured, time.perf_counter() - start)


def _thinned(points: Sequence[Point], front: list[int], most: int) -> list[int]:
    """Keep at most so many of a frontier: those whose absence would cost the most area on validation."""
    kept = list(front)
    worst = Limits(
        Point(min(p[0] for p in points), 0.0), Point(max(p[0] for p in points), max(p[1] for p in points))
    )
    while most and len(kept) > most:
        areas = [worst.hypervolume([points[i] for i in kept if i != out]) for out in kept]
        kept.pop(int(np.argmax(areas)))
    return kept


def path_against_boosting() -> float:
    """Return the time of a path of 40, teacher included, in boosting fits to the same records."""
    train = opened(TIMED, 0, 0).train
    optimal_path(train.take(np.arange(2000)), 5)  # compile
    start = time.perf_counter()
    optimal_path(train, 40)
    path = time.perf_counter() - start
    start = time.perf_counter()
    HistGradientBoostingClassifier(random_state=0).fit(train.codes.astype(float), train.y)
    return path / (time.perf_counter() - start)


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of a few differences; a single one is itself."""
    mean = float(np.mean(differences))
    if len(differences) < 2:
        return mean, mean
    reach = float(student.ppf(0.975, len(differences) - 1)) * float(np.std(differences, ddof=1))
    return mean - reach / len(differences) ** 0.5, mean + reach / len(differences) ** 0.5


def ratio(runs: Sequence[Measured]) -> float | None:
    """Return what is left of PAT's remaining area; None where the label cannot be told better than by guessing."""
    if min(run.limits.area for run in runs) <= 0:
        return None
    left = {which: float(np.mean([run.remaining(which) for run in runs])) for which in ("pat", "optimal")}
    return left["optimal"] / left["pat"] if left["pat"] > 0 else None


def row(name: str, runs: Sequence[Measured]) -> dict[str, Any]:
    volume = {w: float(np.mean([r.limits.hypervolume(r.points[w]) for r in runs])) for w in ("pat", "optimal")}
    remaining = {w: float(np.mean([r.remaining(w) for r in runs])) for w in ("pat", "optimal")}
    low, high = interval(
        [r.limits.hypervolume(r.points["optimal"]) - r.limits.hypervolume(r.points["pat"]) for r in runs]
    )
    return {
        "data set": name,
        "PAT": f"{volume['pat']:.4f}",
        "optimal": f"{volume['optimal']:.4f}",
        "difference": f"{low:+.4f} to {high:+.4f}",
        "PAT remaining": f"{remaining['pat']:.3f}",
        "optimal remaining": f"{remaining['optimal']:.3f}",
        "ratio": "-" if (found := ratio(runs)) is None else f"{found:.2f}",
        "minutes": f"{sum(r.seconds for r in runs) / 60:.1f}",
    }


def errors_at(runs: Sequence[Measured]) -> dict[str, dict[str, float | None]]:
    """Return, by margin above the best classifier error, the A1 error that each minimizer allows."""
    found: dict[str, dict[str, float | None]] = {}
    for margin in MARGINS:
        at = {
            w: [adversary_error_at(r.points[w], r.limits.untouched[0] + margin) for r in runs]
            for w in runs[0].points
        }
        found[str(margin)] = {w: None if None in v else float(np.mean([x for x in v if x])) for w, v in at.items()}
    return found


def main() -> None:
    made = parser(__doc__.splitlines()[0])
    made.add_argument("--datasets", default=",".join(DATASETS), help="comma separated")
    made.add_argument("--full", action="store_true", help="three seeds, all records, whole frontiers")
    made.add_argument("--quick", action="store_true", help="shorter paths, weaker networks: for a first look")
    made.add_argument("--counting", action="store_true", help="measure by counting alone: minutes, not hours")
    made.add_argument("--records", type=int, default=30_000, help="at most so many of each file; 0: all")
    made.add_argument(
        "--most", type=int, default=24, help="frontier candidates attacked, of each minimizer; 0: all"
    )
    made.add_argument("--seeds", type=int, default=1)
    made.add_argument("--no-timing", action="store_true", help="leave the time of the path out")
    arguments = made.parse_args()
    if arguments.full:
        arguments.records, arguments.most, arguments.seeds = 0, 0, 3
    runs: dict[str, list[Measured]] = {}
    for name in arguments.datasets.split(","):
        runs[name] = [measure(name, seed, arguments) for seed in range(arguments.seeds)]
        print(row(name, runs[name]), flush=True)
    report([row(name, found) for name, found in runs.items()], figures(runs, arguments.no_timing), arguments.json)


def figures(runs: dict[str, list[Measured]], without_timing: bool) -> dict[str, Any]:
    def mean(name: str, which: str) -> float:
        return float(np.mean([r.limits.hypervolume(r.points[which]) for r in runs[name]]))

    ratios = {name: ratio(found) for name, found in runs.items()}
    told = [value for value in ratios.values() if value is not None]
    result: dict[str, Any] = {
        "hypervolume": {name: {w: mean(name, w) for w in ("pat", "optimal")} for name in runs},
        "remaining_area_ratio": ratios,
        "median_remaining_area_ratio": float(np.median(told)) if told else None,
        "adversary_error_at": {name: errors_at(found) for name, found in runs.items()},
    }
    return result if without_timing else {**result, "path_vs_boosting": path_against_boosting()}


if __name__ == "__main__":
    main()
