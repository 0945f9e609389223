"""
The trade-off, drawn
====================

What each candidate costs and protects, on the bundled Adult records::

    python examples/02_frontier.py docs/images/frontier.svg

Every candidate is found on the training part and measured on the test part. It needs matplotlib.
"""

from __future__ import annotations

import sys
import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from leastwise import Generalization, PrivacyLeakWarning, Split, Table, UniformMinimizer, evaluate
from leastwise.datasets import load_adult
from leastwise.minimizers import pat_path

LEAVES = (2, 4, 6, 10, 20, 50, 100, 200)
Points = list[tuple[float, float]]


def measured(name: str, candidates: list[Generalization], split: Split) -> Points:
    """Return (classifier error, adversary error) of each candidate."""
    points = []
    for candidate in candidates:
        judged = evaluate(candidate, split, ["A1"], quick=True)
        assert judged.utility is not None
        points.append((judged.utility.error, judged["A1"].adversary_error))
        print(f"{name:14} {candidate.total_buckets:4} buckets  {points[-1][0]:.3f}  {points[-1][1]:.3f}")
    return points


def draw(series: dict[str, Points], limits: dict[str, tuple[float, float]]) -> Figure:
    """Draw the trade-off: left is accurate, up is safe."""
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "leastwise", "font.size": 10})
    figure, axes = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
    for (name, points), marker in zip(series.items(), "osD^", strict=False):
        axes.plot(*zip(*sorted(points), strict=True), marker, ms=5, alpha=0.85, label=name)
    for name, (x, y) in limits.items():
        axes.plot(x, y, "k*", ms=9)
        axes.annotate(name, (x, y), textcoords="offset points", xytext=(8, -3), fontsize=9)
    axes.set_xlabel("classifier error (further left is more accurate)")
    axes.set_ylabel("adversary error (higher is safer)")
    axes.spines[["top", "right"]].set_visible(False)
    axes.margins(x=0.12)
    axes.legend(frameon=False, loc="lower right")
    return figure


def main() -> None:
    warnings.simplefilter("ignore", PrivacyLeakWarning)
    adult = load_adult()
    split = Table.from_frame(adult.frame, adult.schema).split(seed=0)
    candidates = {
        "uniform": [UniformMinimizer(k, random_state=0).propose(split.train) for k in (2, 3, 4, 5)],
        "PAT": [g for alpha in (0.1, 0.7) for g in pat_path(split.train, alpha, LEAVES)],
    }
    series = {name: measured(name, found, split) for name, found in candidates.items()}
    nothing, everything = Generalization.suppressed(adult.schema), Generalization.untouched(adult.schema)
    limits = {
        "ask nothing": measured("ask nothing", [nothing], split)[0],
        "ask everything": measured("ask everything", [everything], split)[0],
    }
    figure = draw(series, limits)
    if len(sys.argv) > 1:
        figure.savefig(sys.argv[1], metadata={"Date": None})


if __name__ == "__main__":
    main()
