"""A budget held against new data: broken only where noise cannot explain it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leastwise.checks.comparisons import (
    Comparison,
    chance_above,
    chance_below,
    chance_of_increase,
    chance_of_number,
    people_behind,
)
from leastwise.checks.promise import Share
from leastwise.confidence import binomial_interval
from leastwise.errors import ParameterError
from leastwise.evaluation.evaluation import Evaluation
from leastwise.evaluation.utility import label_guesses, utility_predictors
from leastwise.generalization import Generalization
from leastwise.records.table import Table
from leastwise.runs.budget import MEAN, Budget
from leastwise.validation import did_you_mean

ABOUT = "Budget"
TOGETHER = "Both together"


def size_comparisons(generalization: Generalization, budget: Budget) -> list[Comparison]:
    """Hold the limits that need no data: how much is asked."""
    answers = generalization.total_buckets - len(generalization.not_collected)
    counts = {
        "answers in all": (answers, budget.max_buckets),
        "questions": (len(generalization.collected), budget.max_asked),
    }
    return [
        Comparison(
            about=ABOUT,
            name=name,
            now=count,
            limit=most,
            chance=0.0 if count > most else 1.0,
            matters=count > most,
            reason=f"there are {count:,} {name}, allowed are {most:,}",
        )
        for name, (count, most) in counts.items()
        if most is not None
    ]


def utility_comparisons(
    generalization: Generalization, evaluation: Evaluation, table: Table, budget: Budget
) -> list[Comparison]:
    """Hold the limits of the classifier's error; ``table`` holds the records that were judged."""
    if not budget.bounds_utility:
        return []
    if evaluation.utility is None or evaluation.everything is None:
        raise ParameterError(
            "the budget limits the model's error, and the records have no label; give records that do"
        )
    found = [] if budget.max_error is None else [error_comparison(Share.of(evaluation.utility), budget.max_error)]
    if budget.max_error_increase is not None:
        found.append(_increase(generalization, evaluation, table, budget.max_error_increase))
    return found


def error_comparison(risk: Share, most: float, who: str = "the model") -> Comparison:
    """Hold the error of a model against the most that is allowed."""
    errors = risk.error * risk.people
    return Comparison(
        about=ABOUT,
        name=f"error of {who}",
        now=risk.error,
        limit=most,
        interval=binomial_interval(errors, risk.people),
        chance=chance_above(errors, risk.people, most),
        matters=risk.error > most,
        reason=f"{who} errs {risk.error:.3f} of the time, allowed is {most:g}",
    )


def _increase(generalization: Generalization, evaluation: Evaluation, table: Table, most: float) -> Comparison:
    assert evaluation.utility is not None
    assert evaluation.everything is not None
    more, chance = evaluation.utility.error - evaluation.everything.error, 1.0
    if more > most:  # the same classifiers again, person by person: only where there is something to be sure of
        split, everything = table.split(evaluation.seed), Generalization.untouched(table.schema)
        predictors = utility_predictors(evaluation.quick, evaluation.seed)
        told = [label_guesses(each, split, predictors) for each in (generalization, everything)]
        wrong, reference = (each.wrong("test", len(split.test)) for each in told)
        chance = chance_of_increase(wrong, reference, most)
    return Comparison(
        about=ABOUT,
        name="more error than with everything asked",
        now=more,
        limit=most,
        chance=chance,
        matters=more > most,
        reason=f"the model errs {more:.3f} more than with everything asked, allowed is {most:g}",
    )


def unique_comparisons(unique: int, people: float, budget: Budget) -> list[Comparison]:
    """Hold the limit of people who are alone with their generalized record."""
    if budget.max_unique is None:
        return []
    most = budget.max_unique
    return [
        Comparison(
            about=ABOUT,
            name="people who are alone",
            now=unique,
            limit=most,
            chance=chance_of_number(unique, most),
            matters=unique > most,
            reason=f"{unique:,} of {people:,.0f} people are alone with their record, allowed are {most:,}",
        )
    ]


def risk_comparisons(attack: Any, least: Mapping[str, float], about: str = ABOUT) -> list[Comparison]:
    """Hold the adversary errors that must be left against an attack (A1, or A6 for several breaches)."""
    known = [each.attribute for each in attack.attributes]
    for name in least:
        if name != MEAN and name not in known:
            hint = did_you_mean(name, [*known, MEAN])
            raise ParameterError(f"min_adversary_error: there is no personal attribute {name!r}; {hint}")
    return [_risk(attack, name, limit, about) for name, limit in least.items()]


def _risk(attack: Any, name: str, least: float, about: str) -> Comparison:
    found = attack if name == MEAN else attack[name]
    error, interval = found.adversary_error, found.interval
    people = people_behind(error, interval, attack.people) if name == MEAN else attack.people
    who = "on average over the personal attributes" if name == MEAN else f"about {name}"
    return Comparison(
        about=about,
        name=f"{attack.adversary} {'on average' if name == MEAN else name}",
        now=error,
        limit=least,
        interval=interval,
        chance=chance_below(error * people, people, least),
        matters=error < least,
        reason=f"{attack.adversary} is wrong {who} {error:.3f} of the time, wanted is at least {least:g}",
    )
