"""What keeps the limit on the error surely: candidates that the test part confirms, all of them together.

A choice by estimates is mostly close to the limit, where few people can confirm it. Whoever needs to be sure can
choose what is farther from it. The candidates are tested on the test part one after the other, in an order that
the validation part settled: who seems to cost least comes first. The first that is not confirmed ends it. However
many candidates there are, the chance that any of those confirmed breaks the limit is at most one minus the
confidence: of the first in the order that breaks it a single test decides, and none after it is confirmed unless
that one is (*fixed-sequence testing*, as in Learn then Test, Angelopoulos et al. 2021).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from leastwise.documents.wording import counted, percent
from leastwise.errors import ParameterError
from leastwise.runs.budget import INCREASE, Budget
from leastwise.runs.candidates import MOST_ANSWERS, Candidate
from leastwise.runs.choice import (
    Choice,
    asking_least,
    budget_in_force,
    choice_of,
    figures_in_words,
    limits_in_words,
    verdicts_of,
)
from leastwise.runs.frontier import Frontier
from leastwise.runs.nearest import broken_limits
from leastwise.runs.verdicts import KEPT


def surely_keeping(frontier: Frontier, budget: Budget) -> list[Candidate]:
    """Return the candidates of which the test part confirms the limit on the increase of the error.

    The confidence of the budget is that of all of them together; see this module.
    """
    alone = Budget(
        max_error_increase=budget.max_error_increase, confidence=budget.confidence, labels_by=budget.labels_by
    )
    return [*takewhile(lambda point: _is_confirmed(point, frontier, alone), _in_order(frontier, alone))]


def _in_order(frontier: Frontier, budget: Budget) -> list[Candidate]:
    """Return the candidates by what they may cost on the validation part; the test part has no say in it."""

    def cost(point: Candidate) -> tuple[float, str]:
        increase = budget.increase_of(point.validation, budget.errors)
        risk = point.validation.utility_risk if increase is None else increase.bound(budget.errors)
        return risk, point.id

    return sorted(frontier.points, key=cost)


def _is_confirmed(point: Candidate, frontier: Frontier, budget: Budget) -> bool:
    told = verdicts_of(point, budget, frontier)
    return bool(told) and all(each.standing == KEPT for each in told)


def surer_than(choice: Choice, frontier: Frontier) -> Candidate | None:
    """Return the best candidate that keeps the limit surely, where that is not told of what was chosen.

    None where there is none that people would answer, or what was chosen is sure.
    """
    if choice.promise is None or choice.promise.standing == KEPT:
        return None
    able = [each for each in _able(frontier, choice.budget) if each.answers <= MOST_ANSWERS]
    return asking_least(able, choice.budget)[0] if able else None


def _able(frontier: Frontier, budget: Budget) -> list[Candidate]:
    if budget.max_error_increase is None:
        return []
    others = replace(budget, max_error_increase=None)
    return [each for each in surely_keeping(frontier, budget) if not broken_limits(each, others, frontier)]


def choose_surely(frontier: Frontier, budget: Budget | None) -> Choice:
    """Return the best of the candidates that keep the limit on the increase of the error surely.

    Without a budget the default one counts. Where there is none, nothing is chosen, and the choice says what was
    tested last.
    """
    limits = budget_in_force(budget, frontier.untouched.number is not None)
    if limits.max_error_increase is None:
        raise ParameterError(
            "what is kept surely is a limit on the increase of the error: state one, such as 0.01"
        )
    sure, able = surely_keeping(frontier, limits), _able(frontier, limits)
    stated = budget is not None and budget.states_limits
    if not able:
        return _none_is_sure(frontier, limits, sure)
    best, aim = asking_least(able, limits)
    keeps = "keeps" if len(sure) == 1 else "keep"
    sentence = (
        f"{len(sure)} of {counted(len(frontier.points), 'candidate')} surely {keeps} this limit: "
        f"{limits_in_words(limits, frontier)} (on the test part, {percent(limits.confidence)} sure of all of them "
        "together: tested one after the other, in an order that the validation part settled). "
        f"{aim} of them on the validation part: {figures_in_words(best, limits)}."
    )
    return choice_of(best, limits, stated, sentence, frontier)


def _none_is_sure(frontier: Frontier, limits: Budget, sure: Sequence[Candidate]) -> Choice:
    tested = _in_order(frontier, limits)[0]
    if sure:
        why = "those that keep it surely break other limits"
    else:
        why = next(each.words for each in verdicts_of(tested, limits, frontier) if each.limit == INCREASE)
    sentence = (
        f"No candidate is {percent(limits.confidence)} sure to keep this limit: "
        f"{limits_in_words(limits, frontier)}. The first that was tested, {tested.id}: {why}. Allow more, be less "
        "sure (--confidence), or give more records."
    )
    return Choice(
        candidate=None,
        budget=limits,
        stated=True,
        sentence=sentence,
        fits=False,
        binding=(why,),
        nearest=None,
    )
