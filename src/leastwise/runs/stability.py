"""How much of a run is the data's doing and how much the seed's: the same task under several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from leastwise.documents.wording import percent
from leastwise.errors import ParameterError
from leastwise.evaluation.pareto import adversary_error_at, similarity
from leastwise.records.table import Table
from leastwise.runs.folder import Run
from leastwise.runs.frontier import Frontier, limits_of

MARGINS = (0.01, 0.02, 0.05)


@dataclass(frozen=True, kw_only=True)
class Stability:
    """What several runs of one task under different seeds have in common; everything is on the test parts.

    Attributes
    ----------
    seeds
        Of the runs.
    covered
        Per run, the share of the area between the limit points that its frontier covers; 1 is perfect.
    reached
        By margin above the error with everything asked, per run the adversary error that the frontier allows; None
        where it has no such candidate.
    asked_alike
        Of each pair of runs the share of attributes asked by both recommendations among those asked by either.
    partitions_alike
        Of each pair the mean agreement of the recommended partitions (see ``similarity``).
    """

    seeds: tuple[int, ...]
    covered: tuple[float, ...]
    reached: tuple[tuple[float, tuple[float | None, ...]], ...]
    asked_alike: tuple[float, ...]
    partitions_alike: tuple[float, ...]

    def sentence(self) -> str:
        """Say it in one sentence."""
        low, high = min(self.covered), max(self.covered)
        covered = f"{percent(low, 1)} to {percent(high, 1)}"
        alike = f"{percent(min(self.asked_alike))} to {percent(max(self.asked_alike))}"
        return (
            f"Under {len(self.seeds)} seeds the frontier covers {covered} of the area between the limit "
            f"points, and the recommendations of two seeds share {alike} of the attributes that either asks."
        )


def stability(runs: Sequence[Run], table: Table) -> Stability:
    """Compare runs of the same records under different seeds.

    Parameters
    ----------
    runs
        At least two.
    table
        The records, to weigh how alike two recommendations are.
    """
    if len(runs) < 2 or len({run.task.fingerprint for run in runs}) > 1:
        raise ParameterError("stability needs at least two runs of the same records")
    chosen = [run.generalization(_recommended(run)) for run in runs]
    pairs = [*combinations(chosen, 2)]
    return Stability(
        seeds=tuple(run.task.seed for run in runs),
        covered=tuple(_covered(run.frontier) for run in runs),
        reached=tuple((margin, tuple(_reached(run.frontier, margin) for run in runs)) for margin in MARGINS),
        asked_alike=tuple(_shared(set(a.collected), set(b.collected)) for a, b in pairs),
        partitions_alike=tuple(similarity(a, b, table) for a, b in pairs),
    )


def _recommended(run: Run) -> str:
    found = run.choice.candidate or run.choice.nearest
    assert found is not None
    return found


def _covered(frontier: Frontier) -> float:
    limits = limits_of(frontier.untouched, frontier.suppressed)
    return frontier.hypervolume.test / limits.area if limits.area > 0 else 0.0


def _reached(frontier: Frontier, margin: float) -> float | None:
    points = [point.test.point for point in frontier.points]
    return adversary_error_at(points, frontier.untouched.utility_risk + margin)


def _shared(first: set[str], second: set[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 1.0
