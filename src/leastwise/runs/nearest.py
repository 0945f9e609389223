"""Where no candidate keeps the limits: what comes nearest, why it does not fit, and what a person can do then."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from leastwise.documents.wording import counted
from leastwise.errors import ParameterError
from leastwise.generalization.describe import questions_in_words
from leastwise.runs.budget import Budget, Limit, Size
from leastwise.runs.candidates import MOST_ANSWERS

if TYPE_CHECKING:
    from leastwise.runs.candidates import Candidate
    from leastwise.runs.choice import Choice
    from leastwise.runs.folder import Run
    from leastwise.runs.frontier import Frontier

NOTHING = "Nothing is recommended."
NEAREST = "nearest, does not fit"
"""What a candidate is called that would be wrong to call chosen."""
DIGITS = 4
_BY_ATTRIBUTE = "min_adversary_error"


def only_nearest(choice: Choice, frontier: Frontier) -> list[str]:
    """Say so, where no limit was stated and no candidate keeps the one that holds then; nothing elsewhere."""
    if not choice.only_nearest:
        return []
    point = frontier[choice.nearest or ""]
    longer = any(each.answers > MOST_ANSWERS for each in frontier.points) and point.answers <= MOST_ANSWERS
    none = f"No candidate of at most {MOST_ANSWERS} answers" if longer else "No candidate"
    estimate = choice.budget.increase_of(point.validation)
    worst = choice.budget.worst_label(point.validation)
    about = "" if worst is None else f" about {worst.label}"
    more = "" if estimate is None else f", estimated to err {100 * estimate.mean:.1f} points more{about}"
    return [
        f"{none} keeps the limit that holds when none is stated: {choice.budget.words()}. What follows is the "
        f"nearest{more}."
    ]


def would_ask(point: Candidate) -> str:
    """Say what a candidate asks that was not chosen.

    The words are those of a condition: nobody may read it as advice.
    """
    if not point.asked:
        return "It would ask nothing."
    of = f"{point.asked} of {counted(len(point.generalization.schema), 'question')}"
    words = questions_in_words(point.generalization.partitions, unasked="not")
    return f"It would ask {of}, with {counted(point.answers, 'answer')} in all: {words}."


def ways_on(choice: Choice, frontier: Frontier, folder: str) -> list[str]:
    """Say what can be done where nothing fits, each with a command that is not refused.

    Parameters
    ----------
    folder
        Of the run, as it is to stand in a command.
    """
    if choice.nearest is None:
        return []
    start, allowing = f"leastwise choose {folder}", loosened(choice, frontier)
    ways = [] if allowing is None else [("allow what the nearest takes", " ".join(options_of(allowing)))]
    # Without its limits it would be held against those of the choice before, which it may keep.
    picked = " ".join([f"--candidate {choice.nearest}", *options_of(choice.budget)])
    ways.append(("take the nearest although it does not fit", picked))
    return [f"To {what}: {start} {how}" for what, how in ways]


def check_chosen(run: Run) -> str:
    """Return the id of what was chosen; complain, and say what can be done, where nothing fits."""
    if run.choice.candidate is not None:
        return run.choice.candidate
    raise ParameterError(
        f"{run.folder}: no candidate of the run keeps its limits, and none was chosen; {how_to_go_on(run)}"
    )


def how_to_go_on(run: Run) -> str:
    """Say in one line what can be done where nothing fits."""
    ways = ways_on(run.choice, run.frontier, shlex.quote(str(run.folder)))
    told = "; ".join(f"{way[:1].lower()}{way[1:]}" for way in ways)
    return told or "for other limits see: leastwise choose --help"


def loosened(choice: Choice, frontier: Frontier) -> Budget | None:
    """Return the budget with the limits moved that the nearest candidate breaks, so that it keeps them.

    None where a limit would have to be what no limit can be.
    """
    point = frontier[choice.nearest or ""]
    broken = {limit.name: limit.now for limit in broken_limits(point, choice.budget, frontier)}
    least = {
        name: _rounded(broken.pop(f"{_BY_ATTRIBUTE} {name}", wanted), math.floor)
        for name, wanted in choice.budget.min_adversary_error.items()
    }
    most = {name: _rounded(now, math.ceil) for name, now in broken.items()}
    if any(isinstance(value, float) and value > 1 for value in most.values()):
        return None
    return replace(choice.budget, min_adversary_error=least, **most)  # type: ignore[arg-type]


def broken_limits(point: Candidate, budget: Budget, frontier: Frontier) -> list[Limit]:
    """Return the limits that a candidate breaks on the validation part."""
    everything = frontier.untouched_validation.utility_risk
    held = budget.limits(point.validation, everything, Size(point.asked, point.answers))
    return [limit for limit in held if limit.beyond > 0]


def options_of(budget: Budget) -> list[str]:
    """Return a budget as options of ``leastwise choose``.

    >>> options_of(Budget(max_error_increase=0.02, min_adversary_error={"job title": 0.3}, max_buckets=9))
    ['--max-error-increase 0.02', "--min-adversary-error 'job title=0.3'", '--max-buckets 9']
    """
    known, default = {each.name: getattr(budget, each.name) for each in fields(budget)}, Budget()
    said = {name: value for name, value in known.items() if value != getattr(default, name)}
    return [text for name, value in said.items() for text in _option(f"--{name.replace('_', '-')}", value)]


def _option(name: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return [f"{name} {shlex.quote(f'{attribute}={least:g}')}" for attribute, least in value.items()]
    return [f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"]


def _rounded(value: float, towards: Callable[[float], int]) -> float:
    """Return a figure with few digits, rounded to the side on which the limit is kept."""
    if isinstance(value, int):
        return value
    exact: int = towards(round(value * 10**DIGITS, 6))
    return float(exact / 10**DIGITS)
