"""The recommended answer before and after: how much is asked, what it costs, what it protects.

`run` recommends on a sample of each measuring file, once with this checkout and once with an earlier one
(`--before`, a folder with its `src`), on the same records and seeds. Both artefacts are then judged here, by the
same strongest judges on the same people, who had no say in either: the test part, and for the error, which few
people tell to a point only, everybody else in the file, too (as many as 40,000).

An answer that breaks its limit asks less than one that keeps it. So `--at-equal-cost` lets this checkout recommend
once more, allowed to cost what the earlier answer truly costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, report
from data import LOADERS, load

from leastwise import Generalization, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import StrongestOf
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.adversaries.singling_out import SinglingOut
from leastwise.random import generator
from leastwise.records.table import Split

FILES = tuple(name for name in LOADERS if name not in ("health", "health_pruned", "communities_majority"))


MOST_FRESH = 40_000


def sample(name: str, records: int, seed: int) -> Table:
    """Return some records of a file, the same ones for everybody who asks with this seed."""
    return sample_and_others(name, records, seed)[0]


def sample_and_others(name: str, records: int, seed: int) -> tuple[Table, Table]:
    """Return some records of a file, and others of it."""
    declared = load(name)
    table = Table.from_frame(declared.frame, declared.schema)
    order = generator(seed, "sample").permutation(len(table))
    chosen, others = order[:records], order[records : records + MOST_FRESH]
    return table.take(np.sort(chosen)), table.take(np.sort(others))


def recommend(name: str, records: int, seed: int, folder: Path, allowed: float | None) -> None:
    """Do the run of one file; its folder holds the recommended artefact."""
    from leastwise.runs import Budget, Options, Workers, run

    warnings.simplefilter("ignore")
    budget = None if allowed is None else Budget(max_error_increase=allowed)
    options = Options(seed=seed, quick=True, most=6, budget=budget)
    run(sample(name, records, seed), folder, options, workers=Workers(1), fresh=True)


def recommended(
    checkout: Path, name: str, records: int, seed: int, allowed: float | None = None
) -> Generalization | None:
    """Return what a checkout recommends, found in a process of its own; None where nothing is within the limit."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        asked = [sys.executable, __file__, "--recommend", name, "--records", str(records), "--seeds", str(seed)]
        asked += [] if allowed is None else ["--allowed", str(allowed)]
        subprocess.run([*asked, "--folder", folder], env=environment, check=True, stdout=subprocess.DEVNULL)
        path = Path(folder) / "recommended.json"
        return Generalization.load(path) if path.is_file() else None


def judged(generalization: Generalization | None, split: Split, others: Table, seed: int) -> dict[str, float]:
    """Judge an artefact by the strongest classifier and A1; without one, nothing is known."""
    if generalization is None:
        return dict.fromkeys(("questions", "answers", "alone", "error", "A1"), np.nan)
    breach = Breach.of(generalization, split, seed=seed, label=False)
    return {
        "questions": len(generalization.collected),
        "answers": answers(generalization, split.train),
        "alone": SinglingOut(0).attack(breach).unique_people,
        "error": error(generalization, split, others, seed),
        "A1": Reconstruction(StrongestOf(False, seed)).attack(breach).adversary_error,
    }


def error(generalization: Generalization, split: Split, others: Table, seed: int) -> float:
    """Return the error of the strongest classifier on the test part and the others."""
    from leastwise.evaluation.utility import utility_risk

    fresh = split.test.and_also(others) if len(others) else split.test
    return utility_risk(generalization, split._replace(test=fresh), seed=seed).error


def answers(generalization: Generalization, train: Table) -> int:
    """Return how many answers there are in all; a number asked exactly has as many as were given."""
    from leastwise.runs.proposals import answers as counted

    return counted(generalization, train)


def main() -> None:
    """Measure, and print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--before", type=Path, help="a checkout of an earlier commit, to compare with")
    arguments.add_argument("--files", default=",".join(FILES))
    arguments.add_argument("--seeds", default="0,1,2,3,4")
    arguments.add_argument("--records", type=int, default=15_000)
    arguments.add_argument("--recommend", help=argparse_hidden)
    arguments.add_argument("--at-equal-cost", action="store_true", help="once more, allowed what before cost")
    arguments.add_argument("--folder", type=Path, help=argparse_hidden)
    arguments.add_argument("--allowed", type=float, help=argparse_hidden)
    given = arguments.parse_args()
    if given.at_equal_cost and not given.before:
        arguments.error("--at-equal-cost needs --before")
    seeds = [int(seed) for seed in given.seeds.split(",")]
    if given.recommend:
        recommend(given.recommend, given.records, seeds[0], given.folder, given.allowed)
        return
    here = Path(__file__).resolve().parent.parent
    rows: list[dict[str, Any]] = []
    for name in given.files.split(","):
        for seed in seeds:
            table, others = sample_and_others(name, given.records, seed)
            known = table.split(seed), others, seed
            row: dict[str, Any] = {"file": name, "seed": seed}
            for word, checkout in (("before", given.before), ("after", here)):
                if checkout is not None:
                    found = judged(recommended(checkout, name, given.records, seed), *known)
                    row |= {f"{key} {word}": value for key, value in found.items()}
            if given.at_equal_cost:
                cost = max(row["error before"] - error(Generalization.untouched(table.schema), *known), 0.0)
                found = judged(recommended(here, name, given.records, seed, cost), *known)
                row |= {f"{key} equal": value for key, value in found.items()}
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    report(rows, figures(rows) if given.before else {}, given.json)


def figures(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the figures over all files and seeds."""

    def of(key: str, word: str) -> np.ndarray[Any, Any]:
        return np.array([row[f"{key} {word}"] for row in rows], dtype=float)

    found: dict[str, Any] = {}
    for word in ("after", *(["equal"] if "A1 equal" in rows[0] else [])):
        found |= {
            f"{key}{'' if word == 'after' else '_at_equal_cost'}": value
            for key, value in {
                "answers_ratio": np.nanmedian(of("answers", word) / np.maximum(of("answers", "before"), 1)),
                "most_answers": np.nanmax(of("answers", word)),
                "error_difference": np.nanmean(of("error", word) - of("error", "before")),
                "a1_difference": np.nanmean(of("A1", word) - of("A1", "before")),
                "people_alone_ratio": np.nansum(of("alone", word)) / max(of("alone", "before").sum(), 1),
            }.items()
        }
    return {key: float(value) for key, value in found.items()}


argparse_hidden = "what a process of its own is asked to do"

if __name__ == "__main__":
    main()
