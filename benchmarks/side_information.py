"""A3 to A5 as a run reports them, beside boosting that was tuned for each attribute on the same inputs.

In a run one network serves all candidates and all knowledge, and A4 has one model for every candidate. Neither may
be weaker than somebody who learns for one candidate and one attribute alone. So the default job is done; then, for
some candidates of its frontier, LightGBM learns each personal attribute from what each adversary sees: the
generalized record with its label, and beside it what A3, A4 and A5 know in full (A5 in the order that it
reported). Of several settings the one that errs least on validation is taken. What the generalization rules out
is ruled out for both.

    python benchmarks/side_information.py [--json] [--data NAME ...] [--records N] [--seed N] [--candidates N]

Figures
-------
above_boosting
    By adversary, its error minus boosting's: the mean over personal attributes, and of that the largest of any
    candidate of any file. Below 0 ours is the stronger.
mean_above_boosting
    The same, the mean over all candidates and files.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from common import parser, report
from lightgbm import LGBMClassifier, early_stopping
from run import compile_kernels, do_job, opened, shares

from leastwise import Generalization, Split, Table
from leastwise.predictors import Samples, samples
from leastwise.runs import Run, Workers

DATA = ("adult", "acs_employment_ny_2024", "acs_coverage_ny_2024")
ADVERSARIES = ("A3", "A4", "A5")
# Leaves of a tree, and whether values are categories or numbers.
SETTINGS = tuple(product((8, 31), (True, False)))


def boosted_error(parts: Sequence[Samples]) -> float:
    """Return the error on the last part of the setting that errs least on validation."""
    train, validation, stolen = parts
    tried = []
    for leaves, categories in SETTINGS:
        discrete = [j for j, ordered in enumerate(train.ordered) if not ordered] if categories else []
        model = LGBMClassifier(
            n_estimators=300, learning_rate=0.1, num_leaves=leaves, n_jobs=1, verbose=-1, random_state=0
        )
        known = np.isin(validation.targets[:, 0], np.unique(train.targets[:, 0]))  # it stops by these
        model.fit(
            train.inputs,
            train.targets[:, 0],
            eval_X=validation.inputs[known],
            eval_y=validation.targets[known, 0],
            categorical_feature=discrete,
            callbacks=[early_stopping(10, verbose=False)],
        )
        tried.append((wrong(model, validation), wrong(model, stolen)))
    return min(tried)[1]


def wrong(model: Any, people: Samples) -> float:
    """Return about which share it is wrong, if it guesses nothing that is ruled out."""
    found: npt.NDArray[Any] = np.zeros((len(people), people.target_sizes[0]))
    found[:, model.classes_] = model.predict_proba(people.inputs)
    # Of what it never saw and is possible all the same, anything is as good.
    guessed = np.where(people.allowed(0), found + 1e-12, 0).argmax(axis=1)
    return float(np.average(guessed != people.targets[:, 0], weights=people.weights))


def known_to(adversary: str, p: int, table: Table, order: Sequence[str]) -> list[int]:
    """Return what an adversary knows in full when it wants one attribute."""
    if adversary == "A4":
        return [j for j in range(len(table.schema)) if j != p]
    others = [j for j in range(len(table.schema)) if j not in table.personal]
    before = order[: order.index(table.schema.names[p])] if adversary == "A5" else ()
    return sorted([*others, *map(table.schema.names.index, before)])


def compared(found: Run, candidate: str, adversary: str, split: Split) -> dict[str, Any]:
    """Return the mean errors over personal attributes of one adversary, and of boosting in its place."""
    generalization: Generalization = found.generalization(candidate)
    evaluation = found.evaluation(candidate)
    ours = {each.attribute: each.adversary_error for each in evaluation[adversary].attributes}
    order, theirs = evaluation["A5"].order, {}
    for p in split.train.personal:
        if not generalization.partitions[p].untouched:  # else it is read off, by everybody
            known = known_to(adversary, p, split.train, order)
            parts = [samples(part, generalization, [p], known, label=True) for part in split]
            theirs[split.train.schema.names[p]] = boosted_error(parts)
    own = float(np.mean([ours[name] for name in theirs]))
    boosted = float(np.mean([*theirs.values()]))
    worst = max(theirs, key=lambda name: ours[name] - theirs[name])
    return {
        "candidate": candidate,
        "adversary": adversary,
        "ours": own,
        "boosting": boosted,
        "above": own - boosted,
        "worst attribute": f"{worst} {ours[worst] - theirs[worst]:+.4f}",
    }


def measured(name: str, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Do the job on one file, and compare on some candidates of its frontier."""
    table, rows = opened(name, arguments.records), []
    with tempfile.TemporaryDirectory() as folder:
        found = do_job(table, name, Path(folder), Workers(1), arguments).run
        split = table.split(found.task.seed, shares())
        points = [point.id for point in found.frontier.points]
        places = np.linspace(0, len(points) - 1, arguments.candidates + 2).round().astype(int)[1:-1]
        for candidate, adversary in product([points[i] for i in dict.fromkeys(places)], ADVERSARIES):
            rows.append({"data": name} | compared(found, candidate, adversary, split))
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def main() -> None:
    """Measure, and print the table."""
    made = parser(__doc__ or "")
    made.add_argument("--data", nargs="+", default=DATA, help="which data sets")
    made.add_argument("--records", type=int, default=50_000, help="at most so many of each; 0: all")
    made.add_argument("--seed", type=int, default=0, help="of the split and of everything drawn")
    made.add_argument("--candidates", type=int, default=2, help="how many of a frontier, from its inside")
    made.add_argument("--quick", action="store_true", help="the smaller grid of a quick run, shorter training")
    arguments = made.parse_args()
    compile_kernels()
    rows = [row for name in arguments.data for row in measured(name, arguments)]
    above = {a: [row["above"] for row in rows if row["adversary"] == a] for a in ADVERSARIES}
    figures: dict[str, Any] = {
        "above_boosting": {adversary: max(each) for adversary, each in above.items()},
        "mean_above_boosting": {adversary: float(np.mean(each)) for adversary, each in above.items()},
    }
    report(rows, figures, arguments.json)


if __name__ == "__main__":
    main()
