"""PAT beside scikit-learn's classification tree on the same records, and its growth with their number.

One configuration (20 leaves, alpha 0.7, at least 100 people a leaf) is timed in turns with scikit-learn's tree
of as many leaves, which looks at the label only and gets the codes as the numbers it likes best (float32,
column-major). The grid is the paper's: 9 numbers of leaves x 12 alphas. Ratios are of the shortest times.
Compiling happens before and is printed; so is what the machine was doing.

Memory is taken on the largest data set, in a process of its own that has loaded and compiled everything: how
far resident memory rises above where it stood, as Linux tells it, plus the codes themselves, in multiples of the
codes; for one tree, and for the whole grid. What loading the file took before is not in it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, report
from data import load
from sklearn.tree import DecisionTreeClassifier

from leastwise import Table
from leastwise.minimizers import PATMinimizer, pat_grid

SMALL = ("acs_employment_ny_2024", "acs_income_ny_2024")
LARGE = "acs_income_51states_2018_coarse"
GROWTH = (10_000, 100_000, 1_400_000)


def table_of(name: str) -> Table:
    """Return the training part of a data set, all of it of the large one."""
    dataset = load(name)
    table = Table.from_frame(dataset.frame, dataset.schema)
    return table if name == LARGE else table.split(seed=0).train


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def warm_up(table: Table) -> float:
    """Compile what this kind of table needs, on a few of its rows; return the seconds."""
    few = table.take(np.arange(0, len(table), max(len(table) // 2000, 1)))
    return seconds(lambda: (PATMinimizer().minimize(few), pat_grid(few, (0.3, 0.7), (2, 4))))


def compared(name: str, table: Table, turns: int) -> dict[str, Any]:
    """Time both trees in turns, then the grid with the other tree before and after."""
    numbers, labels = np.asfortranarray(table.codes.astype(np.float32)), table.y.astype(np.int64)

    def theirs() -> None:
        DecisionTreeClassifier(max_leaf_nodes=20, min_samples_leaf=100, random_state=0).fit(numbers, labels)

    compiling = warm_up(table)
    one, tree, grid = [], [], []
    for turn in range(turns):
        tree.append(seconds(theirs))
        one.append(seconds(lambda: PATMinimizer(alpha=0.7, max_leaves=20).minimize(table)))
        if turn < (1 if len(table) > 1_000_000 else 3):
            grid.append(seconds(lambda: pat_grid(table)))
    return {
        "data": name,
        "records": len(table),
        "compiling": compiling,
        "scikit-learn": min(tree),
        "PAT": min(one),
        "PAT / scikit-learn": min(one) / min(tree),
        "108 PATs": min(grid),
        "108 PATs / scikit-learn": min(grid) / min(tree),
    }


def growth(table: Table) -> dict[str, float]:
    """Return the seconds of one configuration for several numbers of records."""
    order = np.random.default_rng(0).permutation(len(table))
    result = {}
    for records in GROWTH:
        some = table.take(np.sort(order[:records]))
        result[str(records)] = min(seconds(lambda: PATMinimizer().minimize(some)) for _ in range(3))  # noqa: B023
    return result


def resident(field: str) -> float:
    """Return a figure of this process's memory in bytes, as Linux tells it."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return float(line.split()[1]) * 1024
    raise SystemExit(f"no {field} in /proc/self/status")


def print_peak() -> None:
    """Print the most memory that growing took, codes included, as a multiple of the codes."""
    table = table_of(LARGE)
    warm_up(table)
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
    before = resident("VmRSS")
    PATMinimizer().minimize(table)
    one = resident("VmHWM") - before
    pat_grid(table)
    several = resident("VmHWM") - before
    print(json.dumps([(extra + table.codes.nbytes) / table.codes.nbytes for extra in (one, several)]))


def peaks() -> list[float]:
    """Return the peak of one tree and of the grid, each in multiples of the codes; empty off Linux."""
    if not Path("/proc/self/clear_refs").exists():
        return []
    done = subprocess.run([sys.executable, __file__, "--peak"], capture_output=True, text=True, check=True)
    return list(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    options = parser("PAT beside scikit-learn's tree: time, growth with the records, memory.")
    options.add_argument(
        "--peak", action="store_true", help="only print the peak memory, for a process of its own"
    )
    arguments = options.parse_args()
    if arguments.peak:
        print_peak()
        return
    rows = [compared(name, table_of(name), turns=9) for name in SMALL]
    large = table_of(LARGE)
    rows.append(compared(LARGE, large, turns=3))
    found = peaks()
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    if found:
        print(
            f"peak memory, codes included: {found[0]:.2f} x the codes for one tree, {found[1]:.2f} x for the grid"
        )
    figures: dict[str, Any] = {
        "one_vs_sklearn": {row["data"]: round(row["PAT / scikit-learn"], 3) for row in rows},
        "grid_vs_sklearn": {row["data"]: round(row["108 PATs / scikit-learn"], 2) for row in rows},
        "seconds_by_n": {n: round(value, 4) for n, value in growth(large).items()},
        "peak_vs_codes": round(max(found), 2) if found else None,
    }
    report(rows, figures, arguments.json)


if __name__ == "__main__":
    main()
