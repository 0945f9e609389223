"""The studio's live figures: how fast an edit has them, and how near the strongest judgement they are.

A draft (PAT, made on the training part) is edited at random: two buckets merged, one split, an edge or a value
moved, a question dropped or asked again. After each edit the live figures are counted: once as the studio does
(only what the edit changes) and once all over again, in the same process. Some of the drafts are then judged by
the strongest classifier and the strongest A1 on the validation part, as a run judges its frontier.

    python benchmarks/studio.py [--json] [--quick] [--data NAME ...] [--records N] [--edits N] [--judged N]

Figures
-------
edit_ms_p95
    Milliseconds of processor time from an edit to its figures on Adult, 95th percentile; wall time depends on what
    else the machine does, and is printed beside it.
edit_vs_recount
    Processor time of a full recount by that of an edit, median over edits, all data sets.
worst_estimate_gap
    The largest absolute difference of the estimate to the strongest judgement: of the model's error, and of the
    adversary's error about each personal attribute, over all judged drafts of Adult.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import parser, report
from data import load

from leastwise import Generalization, Split, Table
from leastwise.adversaries.breach import Breach
from leastwise.adversaries.reconstruction import Reconstruction
from leastwise.errors import LeastwiseError
from leastwise.evaluation.live import Estimate, Live
from leastwise.evaluation.utility import Judges, utility_risk
from leastwise.minimizers.pat import pat_path
from leastwise.runs.task import SHARES
from leastwise.studio.edits import Edit, People, Sheet, apply_edit

DATA = ("adult", "acs_employment_ny_2024", "acs_income_51states_2018_coarse")
ALPHA, LEAVES = 0.5, 16
KINDS = ("merge", "split", "move_edge", "move", "drop", "divide")
SHARES_OF_KINDS = (0.25, 0.2, 0.25, 0.2, 0.05, 0.05)


def split_of(name: str, records: int, seed: int) -> Split:
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    if 0 < records < len(table):
        table = table.take(np.sort(np.random.default_rng(0).choice(len(table), records, replace=False)))
    return table.split(seed, SHARES)


def random_edit(sheet: Sheet, random: np.random.Generator) -> Edit:
    """Return what somebody may do next; it may turn out to be impossible."""
    partition = sheet.generalization.partitions[int(random.integers(len(sheet.generalization)))]
    name, size = partition.attribute.name, max(partition.size, 1)
    kind = str(random.choice(KINDS, p=SHARES_OF_KINDS))
    first = int(random.integers(size))
    edit: dict[str, Any] = {"kind": kind, "attribute": name, "first": first, "second": first + 1, "bucket": first}
    edges = getattr(partition, "edges", ())
    if kind == "move_edge" and edges:
        place = int(random.integers(len(edges)))
        edit |= {"edge": place, "to": edges[place] + float(random.choice([-5, -2, -1, 1, 2, 5]))}
    if kind == "move":
        edit |= {"pieces": [int(random.integers(max(len(partition.assignment), 1)))], "to": first}
    return edit


def edited(start: Generalization, live: Live, edits: int, seed: int) -> Iterator[tuple[Generalization, ...]]:
    """Yield drafts before and after an edit, one after the other; now and then from the start again."""
    pool, random, sheet, done = live.pool, np.random.default_rng(seed), Sheet(start), 0

    def people(name: str) -> People:
        j = pool.schema.position(name)
        return People(pool.levels[j], pool.use(j))

    while done < edits:
        try:
            after = apply_edit(sheet, random_edit(sheet, random), people)
        except LeastwiseError:
            continue
        if after.generalization != sheet.generalization and len(after.generalization.collected) > 1:
            done += 1
            yield sheet.generalization, after.generalization
            sheet = Sheet(start) if done % 10 == 0 else after


@dataclass
class Timed:
    """Milliseconds of one data set: of processor time and of the clock, after an edit and for a full recount."""

    edit: list[float]
    wall: list[float]
    recount: list[float]


def measure(start: Generalization, live: Live, edits: int, seed: int) -> Timed:
    found = Timed([], [], [])
    for before, draft in edited(start, live, edits, seed):
        live.estimate(draft)  # compiles what was never used
        live.estimate(before)
        wall, cpu = time.perf_counter(), time.process_time()
        live.estimate(draft)
        found.edit.append(1000 * (time.process_time() - cpu))
        found.wall.append(1000 * (time.perf_counter() - wall))
        live.forget()
        cpu = time.process_time()
        live.estimate(draft)
        found.recount.append(1000 * (time.process_time() - cpu))
    return found


def gaps(estimate: Estimate, draft: Generalization, split: Split) -> dict[str, float]:
    """Return the estimate less the strongest judgement on validation: of the model, and of each attribute."""
    part, judges = split.on_validation(), Judges(quick=False, seed=0)
    model = utility_risk(draft, part, judges.classifiers())
    attack = Reconstruction(judges.adversary(), compared=False).attack(Breach.of(draft, part))
    told = {each.attribute: each.adversary_error for each in attack.attributes}
    found = {name: estimate.attributes[name].error - error for name, error in told.items()}
    return {"the model": estimate.model.error - model.error, **found}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--quick", action="store_true", help="Few edits, none of them judged strongly.")
    options.add_argument("--data", nargs="*", default=DATA)
    options.add_argument("--records", type=int, default=0)
    options.add_argument("--edits", type=int, default=60)
    options.add_argument("--judged", type=int, default=50)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    edits, judged = (4, 1) if given.quick else (given.edits, given.judged)
    rows, ratios, p95 = [], [], 0.0
    apart: dict[str, list[float]] = {}
    for name in given.data:
        split = split_of(name, given.records, given.seed)
        (start,) = pat_path(split.train, ALPHA, [LEAVES])
        live = Live(split)
        timed = measure(start, live, edits, given.seed)
        ratios += list(np.array(timed.recount) / np.maximum(timed.edit, 1e-3))
        if name == given.data[0]:
            p95 = float(np.percentile(timed.edit, 95))
            for _, draft in edited(start, live, judged, given.seed + 1):
                for what, gap in gaps(live.estimate(draft), draft, split).items():
                    apart.setdefault(what, []).append(gap)
        edit, wall = (np.percentile(each, (50, 95)) for each in (timed.edit, timed.wall))
        rows.append(
            {
                "data": name,
                "people": len(live.pool),
                "edit ms": float(edit[0]),
                "p95": float(edit[1]),
                "wall ms": float(wall[0]),
                "wall p95": float(wall[1]),
                "recount ms": float(np.median(timed.recount)),
            }
        )
    told = [{"apart": what, "mean": average(each), "worst": worst(each)} for what, each in apart.items()]
    report(told, {}, False)
    figures = {
        "edit_ms_p95": p95,
        "edit_vs_recount": float(np.median(ratios)),
        "worst_estimate_gap": max((worst(each) for each in apart.values()), default=0.0),
    }
    report(rows, figures, given.json)


def average(gaps: list[float]) -> float:
    return float(np.mean(np.abs(gaps)))


def worst(gaps: list[float]) -> float:
    return float(np.max(np.abs(gaps)))


if __name__ == "__main__":
    main()
