"""From the stages of a run to its frontier: which candidates are on it, what they are called, what they reach."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.pareto import frontier as best_of
from leastwise.runs import folder as places
from leastwise.runs.budget import Size
from leastwise.runs.candidates import Candidate
from leastwise.runs.choice import DEFAULT, choose
from leastwise.runs.figures import Figures
from leastwise.runs.frontier import Areas, Frontier, FrontierPoint, limits_of
from leastwise.runs.knees import knees
from leastwise.runs.screening import Judged
from leastwise.runs.stages import LimitPoints, Stages, front_of
from leastwise.runs.sweeping import Plan, planned

KNEE, CHEAPEST, SAFEST = "knee", "cheapest", "safest"


def find_frontier(stages: Stages) -> Frontier:
    """Do all stages of a run that are not done yet, and return its frontier."""
    with stages.workers.ready():
        plan = planned(stages.proposed(), stages.split)
        candidates = stages.screened(plan)
        limits, budget = stages.limit_points(), stages.task.budget
        untouched = limits.untouched_validation.figures
        front, left_out = front_of(candidates, stages.task.most, budget or DEFAULT, untouched)
        judged = stages.judged(front)
        pairs = sorted(zip(front, judged, strict=True), key=lambda pair: (pair[1].figures.point[0], pair[0].id))
        before = _assembled(pairs, limits, plan, left_out, [])
        chosen = choose(before, budget, sizes_of(candidates)).candidate
        tested = stages.attacked([c for c, _ in pairs], limits, chosen)
    return _assembled(pairs, limits, plan, left_out, tested)


def _assembled(
    pairs: Sequence[tuple[Candidate, Judged]],
    limits: LimitPoints,
    plan: Plan,
    left_out: int,
    tested: Sequence[Evaluation],
) -> Frontier:
    """Put the frontier together; before anything is tested, the figures of validation stand in for it."""
    validation = [judged.figures for _, judged in pairs]
    test = [Figures.of(evaluation) for evaluation in tested] or validation
    found = _knees(validation, limits)
    names = named(validation, found)
    return Frontier(
        points=tuple(
            FrontierPoint(candidate=candidate.id, name=name, validation=chosen_by, test=shown)
            for (candidate, _), name, chosen_by, shown in zip(pairs, names, validation, test, strict=True)
        ),
        untouched=limits.untouched.figures,
        suppressed=limits.suppressed.figures,
        untouched_validation=limits.untouched_validation.figures,
        suppressed_validation=limits.suppressed_validation.figures,
        knees=tuple(pairs[i][0].id for i in found),
        hypervolume=_areas(validation, test, limits),
        screened=len(plan.distinct),
        thinned=left_out,
        repeated=plan.repeated,
        dropped=plan.dropped,
        failed=len(plan.failures),
    )


def _areas(validation: Sequence[Figures], test: Sequence[Figures], limits: LimitPoints) -> Areas:
    chosen_by = limits_of(limits.untouched_validation.figures, limits.suppressed_validation.figures)
    shown = limits_of(limits.untouched.figures, limits.suppressed.figures)
    return Areas(
        chosen_by.hypervolume([figures.point for figures in validation]),
        shown.hypervolume([figures.point for figures in test]),
    )


def _knees(validation: Sequence[Figures], limits: LimitPoints) -> list[int]:
    """Return the knees among the candidates that no other one beats, the most pronounced first."""
    points = [figures.point for figures in validation]
    unbeaten = best_of(points)
    frame = limits_of(limits.untouched_validation.figures, limits.suppressed_validation.figures)
    return [unbeaten[i] for i in knees([points[i] for i in unbeaten], frame)]


def named(validation: Sequence[Figures], found: Sequence[int]) -> list[str]:
    """Name the knees and the two ends of a frontier; whoever is both has both names."""
    names: list[list[str]] = [[] for _ in validation]
    for number, i in enumerate(found):
        names[i].append(KNEE if number == 0 else f"{KNEE} {number + 1}")
    errors = [figures.adversary_error for figures in validation]
    names[0].append(CHEAPEST)
    names[errors.index(max(errors))].append(SAFEST)
    return [", ".join(each) for each in names]


def sizes_of(candidates: Sequence[Candidate]) -> dict[str, Size]:
    """Return, by id, how much each candidate asks."""
    return {candidate.id: Size(candidate.asked, candidate.answers) for candidate in candidates}


def candidates_in(folder: Path) -> list[Candidate]:
    """Return the candidates of a run that may not be finished."""
    lines = places.read_candidates(folder / places.CANDIDATES)
    return [line for line in lines if isinstance(line, Candidate)]
