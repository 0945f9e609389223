"""Does a promised limit hold on fresh people? `run` on small samples, scored on all the others.

A run is made of each sample; then a candidate is chosen for each limit on the increase of the error. It is scored
on people whom the run never saw, against the strongest reference: the least error that any classifier with
everything asked has on them, where all learned from the same sample. *Claimed* is the limit where the run says
that it is kept; such a claim should be true at least as often as its confidence says. Beside the choice, the old
rule: the safest candidate whose estimate on validation keeps the limit; and what `choose --surely` gives, where
that is something.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, report
from data import load

from leastwise import Generalization, Table
from leastwise.evaluation.label_guesses import label_guesses
from leastwise.evaluation.utility import utility_predictors
from leastwise.predictors.base import samples
from leastwise.predictors.strongest import Strongest, guesses, worthwhile
from leastwise.random import generator
from leastwise.records.table import Split
from leastwise.runs import Budget, Options, Run, Workers, choose_again, run
from leastwise.runs.surely import choose_surely
from leastwise.runs.task import SHARES
from leastwise.runs.verdicts import KEPT

FILES = ("adult", "acs_income_ny_2024", "acs_coverage_ny_2024", "acs_employment_ny_2024", "nist_acs_national_2018")
SIZES = (1_000, 5_000, 15_000, 0)
LIMITS = (0.005, 0.01, 0.02)
MOST_FRESH = 40_000


def error(generalization: Generalization, parts: Split) -> float:
    """Return how often the judge's choice is wrong about the last part."""
    return label_guesses(generalization, parts, utility_predictors(True)).risk(parts, "test").error


def least_error(generalization: Generalization, parts: Split) -> float:
    """Return the least error on the last part of any classifier: each alone, and the judge's choice."""
    train, validation, fresh = (samples(part, generalization, "label") for part in parts)
    useful = worthwhile(utility_predictors(True), train)
    fitted = [Strongest((one,)).fit(train, validation) for one in useful]
    alone = [float((guesses(one, fresh)[0].values != fresh.targets[:, 0]).mean()) for one in fitted]
    return min(*alone, error(generalization, parts))


def score(finished: Run, table: Table, fresh: Table, seed: int) -> list[dict[str, Any]]:
    """Choose for each limit, and score what was chosen on fresh people."""
    split = table.split(seed, SHARES)
    parts = Split(split.train, split.validation, fresh)
    everything = least_error(Generalization.untouched(table.schema), parts)
    known: dict[str, float] = {}
    rows = []
    for limit in LIMITS:
        choice = choose_again(finished.folder, Budget(max_error_increase=limit)).choice
        keeping = [p for p in finished.frontier.points if p.validation.increase.mean <= limit]  # type: ignore[union-attr]
        plain = max(keeping, key=lambda point: point.validation.adversary_error, default=None)
        chosen = finished.frontier[choice.candidate] if choice.candidate else None
        safe = choose_surely(finished.frontier, Budget(max_error_increase=limit)).candidate
        sure = finished.frontier[safe] if safe else None
        for point in {p.id: p for p in (chosen, plain, sure) if p is not None}.values():
            if point.id not in known:
                known[point.id] = error(point.generalization, parts) - everything
        claimed = choice.promise is not None and choice.promise.standing == KEPT
        row: dict[str, Any] = {"limit": limit, "claimed": claimed}
        for word, one in (("", chosen), (" plain", plain), (" sure", sure)):
            row[f"increase{word}"] = np.nan if one is None else known[one.id]
            row[f"A1{word}"] = np.nan if one is None else one.test.adversary_error
            row[f"answers{word}"] = np.nan if one is None else one.answers
        rows.append(row)
    return rows


def main() -> None:
    """Measure, and print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--files", default=",".join(FILES))
    arguments.add_argument(
        "--sizes", default=",".join(map(str, SIZES)), help="records of a sample; 0: half of all"
    )
    arguments.add_argument("--seeds", default="0,1,2,3,4")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in given.files.split(","):
        declared = load(name)
        whole = Table.from_frame(declared.frame, declared.schema)
        for size in map(int, given.sizes.split(",")):
            for seed in map(int, given.seeds.split(",")):
                order, count = generator(seed, "sample").permutation(len(whole)), size or len(whole) // 2
                table = whole.take(np.sort(order[:count]))
                fresh = whole.take(np.sort(order[count : count + MOST_FRESH]))
                with tempfile.TemporaryDirectory() as folder:
                    options = Options(seed=seed, quick=True, most=6)
                    finished = run(table, Path(folder) / "run", options, workers=Workers(1))
                    found = score(finished, table, fresh, seed)
                rows += [{"file": name, "records": count, "seed": seed, **row} for row in found]
                print(*rows[-len(LIMITS) :], sep="\n", file=sys.stderr, flush=True)
    report(rows, figures(rows), given.json)


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return how often claims are true, how much the limits are overshot, and what being surer costs."""
    increase, limit = (np.array([row[key] for row in rows], dtype=float) for key in ("increase", "limit"))
    claimed, plain = (np.array([row[key] for row in rows], dtype=float) for key in ("claimed", "increase plain"))
    chosen = ~np.isnan(increase)
    told = claimed.astype(bool) & chosen
    safety = np.array([row["A1 plain"] - row["A1"] for row in rows])
    surely = np.array([row["increase sure"] for row in rows], dtype=float)
    sure = ~np.isnan(surely)
    return {
        "kept_share": float((increase <= limit)[told].mean()) if told.any() else float("nan"),
        "mean_increase": float(increase[chosen].mean()),
        "mean_overshoot": float((increase - limit)[chosen].mean()),
        "claimed_share": float(told.mean()),
        "kept_share_of_all": float((increase <= limit)[chosen].mean()),
        "kept_share_plain": float((plain <= limit)[~np.isnan(plain)].mean()),
        "safety_cost": float(np.nanmean(safety)),
        "sure_share": float(sure.mean()),
        "sure_kept_share": float((surely <= limit)[sure].mean()) if sure.any() else float("nan"),
        "safety_cost_of_sure": float(np.nanmean([row["A1"] - row["A1 sure"] for row in rows])),
    }


if __name__ == "__main__":
    main()
