"""Are groups served alike where that is asked for, and is nothing new told where a re-release stays nested?

*Groups.* On each file a frontier is made under a limit on the increase of the error (five points, so that there
are gaps to limit) and one on the gap between groups (one point), and chosen from twice: under the first limit
alone, and with a limit on the gap beside it that is half of what the first choice has where it was chosen. Where
no candidate keeps that, the nearest is taken.

What is measured, on people who had no say in either (the test part, and whoever of the file was not drawn): by how
much the increase of the error differs between the two groups of a grouping that lie farthest apart, the largest of
all groupings. ``group_gap_ratio`` is that gap with the limit divided by that without, both summed over the seeds.
Below 1: the limit works. A largest of several differences is never 0, even where nobody differs: where few people
are left to measure on (the whole file is drawn) that pulls the ratio towards 1. ``shrunk_gap_ratio`` is the same
less what chance adds. Beside them stands what the limit costs: the errors of A1 and of the model.

*Re-release.* An artefact of one half of the people is followed by another: an unrelated one, made by a tree, and
one that stays nested. What A6, who holds both, gains on A1 of the one that tells most.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, report
from data import load

from leastwise import Generalization, Table
from leastwise.evaluation import Groups, evaluate, groups_of
from leastwise.minimizers import PATMinimizer, nested, recommended_paths
from leastwise.minimizers.constraints import brought_to
from leastwise.progress import Silent
from leastwise.random import generator
from leastwise.runs import Budget, Candidate, Frontier, Options, Workers, choose
from leastwise.runs.grid import default_grid
from leastwise.runs.job import Job
from leastwise.runs.run import judged_frontier
from leastwise.runs.task import checked_split, task_of

GROUPS = {
    "adult": ("sex", "age[29,44,59]", "sex & age[44]"),
    "acs_income_ny_2024": ("SEX", "AGEP[29,44,59]", "SEX & AGEP[44]"),
    "acs_coverage_ny_2024": ("SEX", "AGEP[29,44,59]", "SEX & AGEP[44]"),
    "acs_employment_ny_2024": ("SEX", "AGEP[29,44,64]", "SEX & AGEP[44]"),
}
ALLOWED = Budget(max_error_increase=0.05)
LIMITED = replace(ALLOWED, max_group_gap=0.01)


def gaps(
    table: Table, others: Table, groups: tuple[str, ...], seed: int, quick: bool, who_pays: bool = False
) -> dict[str, float]:
    """Return the gap on test and ``others`` without and with a limit on it, and what goes with them."""
    options = Options(seed=seed, quick=True, most=4 if quick else 10, groups=groups, budget=LIMITED)
    grid = default_grid(True)
    drawn = checked_split(table, grid, options)
    split = drawn._replace(test=drawn.test.and_also(others))
    with tempfile.TemporaryDirectory() as folder:
        task = task_of(table, split, grid, options, "records")
        (Path(folder) / "work").mkdir()
        job = Job(Path(folder), split, task, grid, options, Workers(1), Silent())
        with job.workers.ready():
            found = judged_frontier(job)
    told = zip(found.asked.generalizations, found.asked.utilities(split), strict=True)
    on_test = {each.fingerprint: risks.test for each, risks in told}
    free = _chosen(found.frontier, ALLOWED)
    assert free.validation.groups is not None
    limit = free.validation.groups.gap() / 2
    held = _chosen(found.frontier, replace(ALLOWED, max_group_gap=limit))
    if who_pays:
        found_of = groups_of(free.generalization, drawn, groups, seed, quick=True)
        print(_table(found_of), file=sys.stderr, flush=True)
    row: dict[str, float] = {}
    for words, one in (("", free), (", limited", held)):
        told_on, tested = one.validation.groups, on_test[one.fingerprint]
        assert told_on is not None
        assert tested.groups is not None
        row[f"gap{words}"] = tested.groups.largest
        row[f"shrunk{words}"] = tested.groups.gap()
        row[f"where chosen{words}"] = told_on.gap()
        row[f"A1{words}"] = one.validation.adversary_error
        row[f"error{words}"] = tested.error
    return row


def _table(found: Groups) -> str:
    """Return who pays, in Markdown."""
    columns, rows = found.listing()
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join([*("| " + " | ".join(line) + " |" for line in lines), "", *found.sentences()])


def _chosen(frontier: Frontier, budget: Budget) -> Candidate:
    choice = choose(frontier, budget)
    return frontier[choice.candidate or choice.nearest or frontier.points[0].id]


def released(table: Table, seed: int) -> dict[str, float]:
    """Return what A6 gains on A1 of the one that tells most: after an unrelated and after a nested re-release."""
    split = table.split(seed)
    half = split.train.take(np.arange(len(split.train)) % 2 == 0)
    path = recommended_paths(half, seed, steps=12)
    old = path[len(path) // 3]
    other = PATMinimizer(max_leaves=40, alpha=0.5, random_state=seed).propose(split.train)
    held = nested(None, [old], split.train)
    again = [
        brought_to(held, each, split.train) for each in recommended_paths(split.train, seed, constraints=held)
    ]
    inner = next((each for each in again if each.collected and each != old), again[0])
    return {"gain": _gain(other, old, table, seed), "gain, nested": _gain(inner, old, table, seed)}


def _gain(new: Generalization, old: Generalization, table: Table, seed: int) -> float:
    found = evaluate(new, table, ["A1", "A6"], seed, quick=True, others=[old], held_out=True)["A6"]
    return float(min(found.single_errors) - found.adversary_error)


def main() -> None:
    """Measure, and print the table."""
    arguments = parser(__doc__ or "")
    arguments.add_argument("--files", default=",".join(GROUPS))
    arguments.add_argument(
        "--records", type=int, default=20_000, help="of each file, drawn by the seed; the others are tested, too"
    )
    arguments.add_argument("--seeds", default="0,1,2")
    arguments.add_argument("--quick", action="store_true", help="fewer candidates")
    arguments.add_argument("--who-pays", action="store_true", help="print the groups of each first choice, too")
    arguments.add_argument("--groups-only", action="store_true", help="leave re-releases out")
    given = arguments.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in given.files.split(","):
        declared = load(name)
        whole = Table.from_frame(declared.frame, declared.schema)
        for seed in map(int, given.seeds.split(",")):
            order = generator(seed, "sample").permutation(len(whole))
            table, others = (whole.take(np.sort(each)) for each in np.split(order, [given.records]))
            row = gaps(table, others, GROUPS[name], seed, given.quick, given.who_pays)
            row |= {} if given.groups_only else released(table, seed)
            rows.append({"file": name, "seed": seed, **row})
            print(rows[-1], file=sys.stderr, flush=True)
    report(rows, figures(rows), given.json)


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the ratio of the gaps by file, and the gains of re-releases, on average and at worst."""
    found: dict[str, Any] = {
        "group_gap_ratio": _ratios(rows, "gap"),
        "shrunk_gap_ratio": _ratios(rows, "shrunk"),
    }
    if "gain" not in rows[0]:
        return found
    return found | {
        "re_release_gain": float(np.mean([row["gain"] for row in rows])),
        "re_release_gain_nested": float(max(row["gain, nested"] for row in rows)),
    }


def _ratios(rows: list[dict[str, Any]], figure: str) -> dict[str, float | None]:
    """Return the sum with the limit divided by the sum without, by file; None where there was nothing to limit."""
    found: dict[str, float | None] = {}
    for name in dict.fromkeys(row["file"] for row in rows):
        own = [row for row in rows if row["file"] == name]
        free, held = (sum(row[f"{figure}{words}"] for row in own) for words in ("", ", limited"))
        found[name] = float(held / free) if free > 0 else None
    return found


if __name__ == "__main__":
    main()
