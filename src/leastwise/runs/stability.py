"""How much of a run is the data's doing and how much the seed's: the same task under several seeds."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

from leastwise.documents import Document
from leastwise.documents.wording import counted, percent
from leastwise.errors import ParameterError
from leastwise.evaluation.pareto import adversary_error_at, similarity
from leastwise.partition import Intervals
from leastwise.progress import Progress, Silent
from leastwise.records.table import Table
from leastwise.runs.candidates import Candidate
from leastwise.runs.folder import REPEATS, WORK, Run, write_figures
from leastwise.runs.frontier import Frontier, limits_of
from leastwise.runs.run import recommend
from leastwise.runs.task import Options
from leastwise.runs.workers import Workers
from leastwise.schema import Schema
from leastwise.schema.values import number_text

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
        asked_alike=tuple(_jaccard(set(a.collected), set(b.collected)) for a, b in pairs),
        partitions_alike=tuple(similarity(a, b, table) for a, b in pairs),
    )


def _recommended(run: Run) -> str:
    name = run.choice.candidate or run.choice.nearest
    assert name is not None
    return name


def _covered(frontier: Frontier) -> float:
    limits = limits_of(frontier.untouched, frontier.suppressed)
    return frontier.hypervolume.test / limits.area if limits.area > 0 else 0.0


def _reached(frontier: Frontier, margin: float) -> float | None:
    points = [point.test.point for point in frontier.points]
    return adversary_error_at(points, frontier.untouched.utility_risk + margin)


def _jaccard(first: set[str], second: set[str]) -> float:
    return len(first & second) / len(first | second) if first | second else 1.0


@dataclass(frozen=True, kw_only=True)
class Repeats(Document):
    """What is recommended when the same records are divided otherwise: how often questions and edges come back.

    Attributes
    ----------
    seeds
        Of the repeats; the first is the run's own.
    fitting
        In how many of them a candidate fits.
    questions
        By attribute, in how many of them it is asked.
    edges
        By continuous attribute, in how many of them each edge is drawn.
    answers
        How many answers each repeat asks in all.
    """

    FORMAT: ClassVar[str] = "leastwise-repeats"
    CALLED: ClassVar[str] = "repeats"

    seeds: tuple[int, ...]
    fitting: int
    questions: Mapping[str, int]
    edges: Mapping[str, Mapping[str, int]]
    answers: tuple[int, ...]

    @classmethod
    def of(cls, seeds: Sequence[int], recommended: Sequence[Candidate | None], schema: Schema) -> Repeats:
        """Count over the recommendations; None stands for a repeat in which nothing fits."""
        fitting = [each for each in recommended if each is not None]
        asked = Counter(name for each in fitting for name in each.generalization.collected)
        drawn: dict[str, Counter[str]] = {}
        for partition in (partition for each in fitting for partition in each.generalization.partitions):
            if isinstance(partition, Intervals) and not partition.suppressed:
                drawn.setdefault(partition.attribute.name, Counter()).update(map(number_text, partition.edges))
        return cls(
            seeds=tuple(seeds),
            fitting=len(fitting),
            questions={name: asked[name] for name in schema.names},
            edges={name: dict(drawn[name].most_common()) for name in schema.names if name in drawn},
            answers=tuple(each.answers for each in fitting),
        )

    def sentences(self) -> list[str]:
        """Say it in a few lines."""
        if not self.fitting:
            return [f"In none of {len(self.seeds)} repeats a candidate fits."]
        often = sorted(self.questions.items(), key=lambda item: -item[1])
        asked = ", ".join(f"{name} {count}" for name, count in often if count)
        low, high = min(self.answers), max(self.answers)
        of = f"Repeated under {len(self.seeds)} seeds, of {counted(self.fitting, 'recommendation')}"
        answers = counted(high, "answer") if low == high else f"{low} to {counted(high, 'answer')}"
        lines = [f"{of} so many ask: {asked}; {answers} in all." if asked else f"{of} none asks anything."]
        for name, edges in self.edges.items():
            drawn = ", ".join(f"{edge} ({count})" for edge, count in edges.items())
            lines.append(f"Edges of {name}: {drawn}.")
        return lines


def repeat(
    table: Table,
    run: Run,
    options: Options,
    times: int,
    *,
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Repeats:
    """Recommend anew under other seeds, and count how often each question and edge comes back.

    Nothing is attacked again. What is found is written to the folder of the run; a stopped repeat is resumed.

    Parameters
    ----------
    run, options
        The finished run of the table, and how it was made: it is the first of the repeats.
    times
        How many recommendations there are in all.
    """
    if times < 2:
        raise ParameterError(f"to repeat takes at least 2 times; got {times}")
    own = run.choice.candidate
    recommended: list[Candidate | None] = [None if own is None else run.frontier[own]]
    seeds = [options.seed + number for number in range(times)]
    for seed in seeds[1:]:
        place = run.folder / WORK / f"repeat-{seed}"
        other = replace(options, seed=seed)
        recommended.append(recommend(table, place, other, workers or Workers(), progress or Silent()))
    made = Repeats.of(seeds, recommended, run.schema)
    write_figures(run.folder, REPEATS, made.to_json())
    shutil.rmtree(run.folder / WORK, ignore_errors=True)
    return made
