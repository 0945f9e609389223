"""The frontier of the optimal minimizer beside that of PAT's whole grid.

Both propose candidates from the training part: PAT its 108 settings with each of five least numbers of people in a
leaf (what fits a file and a size is chosen with the rest, on validation), ours all of ``recommended_paths``.
They are screened as `leastwise run` does it, where each frontier is chosen: on validation, by counting and for the
label by an additive model; few records also by the training part, leaving each person out. The test part measures
the chosen ones with the strongest classifier and the strongest adversary (A1). The area is that of the rectangle
between the limit points (everything untouched, everything suppressed). What a sample found is measured on the rest
of its file, where that is larger than the test part of the sample: fresh people tell far better what few records
can find.

    python benchmarks/frontier.py                    one seed, at most 32,000 records of each file
    python benchmarks/frontier.py --full             three seeds, all records, whole frontiers
    python benchmarks/frontier.py --only adult,health --counting
    python benchmarks/frontier.py --sizes 600,2000   samples of these sizes too: few records
    python benchmarks/frontier.py --thin 0.02,0.06   the label's rarer class thinned to these shares: rare labels
    python benchmarks/frontier.py --all              beside all other minimizers, too (grids of minimizers.py)
    python benchmarks/frontier.py --polished         ours also in the least form, as people are shown them
    python benchmarks/frontier.py --judge lightgbm   measured by somebody else's trees alone, not by our judges
    python benchmarks/frontier.py --results f.jsonl  each result is written at once, and not measured again

By default the attack is on the 24 frontier candidates of each minimizer whose absence would cost the most area on
validation; ``--most`` says how many, and 0 takes all.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

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
from leastwise.minimizers import (  # noqa: E402
    MINIMIZERS,
    coarsening_path,
    least,
    optimal_path,
    pat_grid,
    recommended_paths,
)
from leastwise.predictors import Boosting, JointBuckets, Logistic, strongest  # noqa: E402
from leastwise.predictors.base import Predictor  # noqa: E402
from leastwise.predictors.sklearn import SklearnPredictor  # noqa: E402
from leastwise.random import generator  # noqa: E402
from leastwise.records.table import Split  # noqa: E402
from leastwise.runs.frontier import steadied  # noqa: E402

DATASETS = (
    "adult",
    "acs_income_co_2018",
    "acs_income_ny_2024",
    "acs_employment_ny_2024",
    "acs_coverage_ny_2024",
    "health",
    "communities",
    "lending_club_2018",
    "lending_club_2018_outcomes",
)
TIMED = "acs_employment_ny_2024"
MARGINS = (0.005, 0.01, 0.02, 0.05)
SMALL = 32_000
FRESH = 20_000
LEAST_LEAVES = (10, 25, 50, 100, 200)
BOTH = ("pat", "optimal")
_SPLIT: list[Split] = []


class Setting(NamedTuple):
    """Which records: of a file, so many (0: all), with the rarer class of the label thinned (0: as it is)."""

    name: str
    seed: int
    records: int
    thin: float = 0.0

    def opened(self) -> Split:
        """Return the parts. A small sample is another one for each seed."""
        table = _all_of(self.name, self.thin)
        if not self.records or len(table) <= self.records:
            return table.split(self.seed)
        drawn = generator(self.seed if self.records < SMALL else 0, "frontier sample").permutation(len(table))
        parts = table.take(np.sort(drawn[: self.records])).split(self.seed)
        fresh = np.sort(drawn[self.records : self.records + FRESH])
        return Split(parts.train, parts.validation, table.take(fresh)) if len(fresh) > len(parts.test) else parts


@cache
def _all_of(name: str, thin: float) -> Table:
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    return _thinner(table, thin) if thin else table


def _thinner(table: Table, share: float) -> Table:
    """Return the records with so many of the label's rarest class left that they are this share."""
    counts = np.bincount(table.y)
    rare = np.flatnonzero(table.y == np.argmin(np.where(counts > 0, counts, len(table))))
    others = len(table) - len(rare)
    kept = min(int(share / (1 - share) * others), len(rare))
    left = generator(0, "thinned label").permutation(rare)[:kept]
    return table.take(np.sort(np.concatenate([np.setdiff1d(np.arange(len(table)), rare), left])))


def _open_in_worker(setting: Setting) -> None:
    _SPLIT[:] = [setting.opened()]


def _screen(text: str) -> Point:
    """Judge on validation, by counting; for the label also by an additive model, which carries over."""
    return _cheaply(Generalization.from_json(text), _SPLIT[0].on_validation(), (JointBuckets(), Logistic()))


def _cheaply(found: Generalization, parts: Split, predictors: tuple[Predictor, ...] = ()) -> Point:
    risk = utility_risk(found, parts, predictors or (JointBuckets(), Logistic(), Boosting())).error
    return Point(risk, Reconstruction(JointBuckets).attack(Breach.of(found, parts, label=False)).adversary_error)


def _measure(task: tuple[str, str]) -> Point:
    """Judge on test, with the strongest classifier and adversary, or by counting as in the screening."""
    found, how = Generalization.from_json(task[0]), task[1]
    if how == "counting":
        return _cheaply(found, _SPLIT[0])
    if how == "lightgbm":
        risk, attack = utility_risk(found, _SPLIT[0], (_lightgbm(),)), Reconstruction(_lightgbm)
    else:
        risk = utility_risk(found, _SPLIT[0], quick=how == "quick")
        attack = Reconstruction(lambda: strongest(quick=how == "quick"))
    return Point(risk.error, attack.attack(Breach.of(found, _SPLIT[0], label=False)).adversary_error)


def _polish(text: str) -> str:
    """Return the least that a candidate can be without costing accuracy that the records can tell."""
    return least(_SPLIT[0].train, _SPLIT[0].validation, Generalization.from_json(text)).to_json()


def _lightgbm() -> SklearnPredictor:
    """Return boosting that neither a minimizer nor our judges use."""
    from lightgbm import LGBMClassifier

    quiet = {"n_jobs": 1, "verbose": -1, "random_state": 0}
    return SklearnPredictor(LGBMClassifier(n_estimators=40, learning_rate=0.15, **quiet), "codes", "LightGBM")


@dataclass(frozen=True)
class Measured:
    """What one file and seed gave."""

    limits: Limits
    points: dict[str, list[Point]]
    seconds: float
    records: int

    def remaining(self, which: str) -> float:
        return self.limits.remaining_area(self.points[which])

    def volume(self, which: str) -> float:
        return self.limits.hypervolume(self.points[which])

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Measured:
        limits = Limits(Point(*plain["limits"]["untouched"]), Point(*plain["limits"]["suppressed"]))
        points = {which: [Point(*point) for point in found] for which, found in plain["points"].items()}
        return cls(limits, points, plain["seconds"], plain["records"])


def candidates(train: Table, quick: bool, errors: Limits | None) -> dict[str, list[str]]:
    """Return the candidates of both, as artefacts, without repetitions; of all where ``errors`` are given.

    They are those of the limit points, roughly: where other minimizers have their grid in units of the data.
    """
    own = train.with_own_levels()
    fitting = [fewest for fewest in LEAST_LEAVES if fewest <= max(own.people / 8, LEAST_LEAVES[0])]
    pat = [g for fewest in fitting for row in pat_grid(own, min_leaf=fewest) for g in row]
    ours = recommended_paths(train, steps=20 if quick else 40)
    found = {"pat": pat, "optimal": ours} | ({} if errors is None else _of_others(own, errors))
    return {name: [*{g.fingerprint: g.to_json() for g in each}.values()] for name, each in found.items()}


def _of_others(train: Table, errors: Limits) -> dict[str, list[Generalization]]:
    """Return what the other minimizers propose, with the grids that benchmarks/minimizers.py gives them."""
    from minimizers import grid

    others = [name for name in MINIMIZERS if name not in BOTH]
    return {
        name: [MINIMIZERS[name](**each, random_state=0).minimize(train) for each in grid(name, errors)]
        for name in others
    }


@contextmanager
def _judges(setting: Setting, split: Split, workers: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Give what judges candidates, in their order; a single worker is this process."""
    if workers == 1:
        _SPLIT[:] = [split]
        yield map
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_open_in_worker, initargs=(setting,)) as pool:
        yield pool.map


def measure(setting: Setting, arguments: argparse.Namespace) -> Measured:
    start = time.perf_counter()
    split = setting.opened()
    errors = None
    if arguments.all:
        errors = Limits(*(_cheaply(Generalization.from_json(end), split.on_validation()) for end in _ends(split)))
    texts = candidates(split.train, arguments.quick, errors)
    strong = "quick" if arguments.quick else "strongest"
    how = arguments.judge or ("counting" if arguments.counting else strong)
    with _judges(setting, split, arguments.workers) as mapped:
        chosen = {}
        for which, found in texts.items():
            points = mapped(_screen, found)
            screened = steadied([*zip(points, map(Generalization.from_json, found), strict=True)], split)
            chosen[which] = [found[i] for i in _thinned(screened, frontier(screened), arguments.most)]
        if arguments.polished:
            chosen["polished"] = [*dict.fromkeys(mapped(_polish, chosen["optimal"]))]
        ends = how if how == "lightgbm" else strong
        tasks = [*((text, ends) for text in _ends(split)), *((t, how) for w in chosen for t in chosen[w])]
        points = iter([*mapped(_measure, tasks)])
    untouched, suppressed = next(points), next(points)
    # On a small test part full records can do worse than guessing; then nothing lies between the limit points.
    limits = Limits(Point(min(untouched.utility_risk, suppressed.utility_risk), 0.0), suppressed)
    measured = {which: [next(points) for _ in found] for which, found in chosen.items()}
    people = setting.records or len(split.train) + len(split.validation) + len(split.test)
    return Measured(limits, measured, time.perf_counter() - start, people)


def _ends(split: Split) -> list[str]:
    schema = split.train.schema
    return [Generalization.untouched(schema).to_json(), Generalization.suppressed(schema).to_json()]


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


def timings() -> dict[str, float]:
    """Return the time of a path of 40, surrogate included, in boosting fits to the same records; and of merges."""
    train = Setting(TIMED, 0, 0).opened().train
    coarsening_path(train.take(np.arange(2000)), optimal_path(train.take(np.arange(2000)), 5)[2])  # compile
    start = time.perf_counter()
    path = optimal_path(train, 40)
    found = time.perf_counter() - start
    start = time.perf_counter()
    HistGradientBoostingClassifier(random_state=0).fit(train.codes.astype(float), train.y)
    fitted = time.perf_counter() - start
    fine = next(g for g in path if g.total_buckets <= 100 + len(train.schema))
    start = time.perf_counter()
    merges = len(coarsening_path(train, fine, steps=None)) - 1
    return {
        "path_vs_boosting": found / fitted,
        "seconds_per_100_merges": (time.perf_counter() - start) * 100 / max(merges, 1),
    }


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of a few differences; a single one is itself."""
    mean = float(np.mean(differences))
    if len(differences) < 2:
        return mean, mean
    reach = float(student.ppf(0.975, len(differences) - 1)) * float(np.std(differences, ddof=1))
    return mean - reach / len(differences) ** 0.5, mean + reach / len(differences) ** 0.5


def ahead(runs: Sequence[Measured]) -> list[float]:
    """Return by how much ours covers more than PAT, seed by seed."""
    return [run.volume("optimal") - run.volume("pat") for run in runs]


def ratio(runs: Sequence[Measured]) -> float | None:
    """Return what is left of PAT's remaining area; None where the label cannot be told better than by guessing."""
    if min(run.limits.area for run in runs) <= 0:
        return None
    left = {which: float(np.mean([run.remaining(which) for run in runs])) for which in BOTH}
    return left["optimal"] / left["pat"] if left["pat"] > 0 else None


def row(name: str, runs: Sequence[Measured]) -> dict[str, Any]:
    mean = {
        w: [float(np.mean([f(r, w) for r in runs])) for f in (Measured.volume, Measured.remaining)] for w in BOTH
    }
    low, high = interval(ahead(runs))
    return {
        "data set": name,
        "records": runs[0].records,
        "seeds": len(runs),
        "PAT": f"{mean['pat'][0]:.4f}",
        "optimal": f"{mean['optimal'][0]:.4f}",
        "difference": f"{low:+.4f} to {high:+.4f}",
        "PAT remaining": f"{mean['pat'][1]:.3f}",
        "optimal remaining": f"{mean['optimal'][1]:.3f}",
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
        found[str(margin)] = {w: None if None in v else float(np.mean(v)) for w, v in at.items()}
    return found


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what a result depends on, beside the file and the seed."""
    how = arguments.judge or ("counting" if arguments.counting else "quick" if arguments.quick else "strongest")
    given = {name: getattr(arguments, name) for name in ("quick", "most", "all", "polished")}
    return {
        "how": how,
        "screen": "counting, additive, few records steadied",
        "least leaves": LEAST_LEAVES,
        **given,
    }


def known(results: Path | None, judged: Mapping[str, Any]) -> dict[Setting, Measured]:
    """Return what an earlier run with the same settings has written."""
    if results is None or not results.exists():
        return {}
    lines = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()]
    same = json.loads(json.dumps(judged))
    return {Setting(*x["setting"]): Measured.read(x["measured"]) for x in lines if x["judged"] == same}


def results_of(name: str, records: int, thin: float, arguments: argparse.Namespace) -> list[Measured]:
    """Return what each seed gave, measured now or read; each result is written as soon as it is there."""
    judged, found = settings(arguments), []
    done = known(arguments.results, judged)
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        setting = Setting(name, seed, records, thin)
        if setting not in done:
            done[setting] = measure(setting, arguments)
            if arguments.results is not None:
                line = {"setting": setting, "judged": judged, "measured": asdict(done[setting])}
                with arguments.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        found.append(done[setting])
    return found


def arguments_of() -> argparse.Namespace:
    made = parser(__doc__.splitlines()[0])
    made.add_argument("--only", "--datasets", default=",".join(DATASETS), help="comma separated names")
    made.add_argument("--full", action="store_true", help="three seeds, all records, whole frontiers")
    made.add_argument("--quick", action="store_true", help="shorter paths, weaker networks: for a first look")
    made.add_argument("--counting", action="store_true", help="measure by what screens: minutes, not hours")
    made.add_argument("--judge", choices=["lightgbm"], help="who measures, instead of our own")
    made.add_argument("--all", action="store_true", help="measure all minimizers, not only PAT and ours")
    made.add_argument("--polished", action="store_true", help="measure ours in the least form, too")
    made.add_argument("--records", type=int, default=32_000, help="at most so many of each file; 0: all")
    made.add_argument("--sizes", default="", help="samples of these sizes, comma separated, instead of --records")
    made.add_argument("--thin", default="0", help="shares of the label's rarest class; 0: as it is")
    made.add_argument("--most", type=int, default=24, help="frontier candidates attacked, of each; 0: all")
    made.add_argument("--seeds", type=int, default=1)
    made.add_argument("--first-seed", type=int, default=0)
    made.add_argument("--workers", type=int, default=2, help="processes that judge")
    made.add_argument("--results", type=Path, help="lines of JSON: read what is there, add what is measured")
    made.add_argument("--no-timing", action="store_true", help="leave the time of the path out")
    arguments = made.parse_args()
    if arguments.full:
        arguments.records, arguments.most, arguments.seeds = 0, 0, 3
    return arguments


def main() -> None:
    arguments = arguments_of()
    runs: dict[str, list[Measured]] = {}
    sizes = [int(size) for size in arguments.sizes.split(",")] if arguments.sizes else [arguments.records]
    thinned = [float(share) for share in arguments.thin.split(",")]
    for name, size, thin in product(arguments.only.split(","), sizes, thinned):
        of = [f"{size:,}"] * (len(sizes) > 1) + [f"label {thin:g}"] * (thin > 0)
        called = " ".join([name, *of])
        runs[called] = results_of(name, size, thin, arguments)
        print(row(called, runs[called]), flush=True)
    figures = figures_of(runs) if arguments.no_timing else {**figures_of(runs), **timings()}
    report([row(name, found) for name, found in runs.items()], figures, arguments.json)


def figures_of(runs: dict[str, list[Measured]]) -> dict[str, Any]:
    ratios = {name: ratio(found) for name, found in runs.items()}
    told = [value for value in ratios.values() if value is not None]
    return {
        "records": {name: found[0].records for name, found in runs.items()},
        "hypervolume": {
            n: {w: float(np.mean([r.volume(w) for r in found])) for w in BOTH} for n, found in runs.items()
        },
        "remaining_area_ratio": ratios,
        "median_remaining_area_ratio": float(np.median(told)) if told else None,
        "difference_by_size": {
            f"{size:,}": float(
                np.mean([d for found in runs.values() if found[0].records == size for d in ahead(found)])
            )
            for size in sorted({found[0].records for found in runs.values()})
        },
        "lowest_upper_end": min(interval(ahead(found))[1] for found in runs.values()),
        "share_of_seeds_ahead": float(np.mean([d >= 0 for found in runs.values() for d in ahead(found)])),
        "adversary_error_at": {name: errors_at(found) for name, found in runs.items()},
        "polished_difference": {
            name: float(np.mean([run.volume("polished") - run.volume("optimal") for run in found]))
            for name, found in runs.items()
            if "polished" in found[0].points
        },
        "ahead_of_best_other": {name: behind for name, found in runs.items() if (behind := best_other(found))},
    }


def best_other(runs: Sequence[Measured]) -> dict[str, Any]:
    """Return the best of the other minimizers, and by how much ours covers more; nothing where none is there."""
    others = [name for name in runs[0].points if name not in (*BOTH, "polished")]
    if not others:
        return {}
    mean = {name: float(np.mean([run.volume(name) for run in runs])) for name in others}
    best = max(others, key=mean.__getitem__)
    low, high = interval([run.volume("optimal") - run.volume(best) for run in runs])
    return {"minimizer": best, "difference": float(np.mean([low, high])), "interval": [low, high], "all": mean}


if __name__ == "__main__":
    main()
