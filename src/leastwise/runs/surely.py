"""What keeps the limit on the error surely: candidates that the test part confirms, all of them together.

A choice by estimates is mostly close to the limit, where few people can confirm it. Whoever needs to be sure can
choose what is farther from it. The candidates are tested on the test part one after the other, in an order that
the validation part settled: who seems to cost least comes first. The first that is not confirmed ends it. However
many candidates there are, the chance that any of those confirmed breaks the limit is at most one minus the
confidence: of the first in the order that breaks it a single test decides, and none after it is confirmed unless
that one is (*fixed-sequence testing*, as in Learn then Test, Angelopoulos et al. 2021). That is so of a limit that
was settled before anybody looked at the test part.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import takewhile

from leastwise.documents.wording import percent
from leastwise.runs.budget import INCREASE, Budget
from leastwise.runs.candidates import MOST_ANSWERS, Candidate
from leastwise.runs.choice import (
    Choice,
    asking_least,
    budget_in_force,
    check_budget,
    choice_of,
    choose,
    default_budget,
    figures_in_words,
    limits_in_words,
    nothing_would_do,
    upper_bound,
    verdicts_of,
)
from leastwise.runs.frontier import Frontier
from leastwise.runs.nearest import broken_limits
from leastwise.runs.verdicts import KEPT


def surely_keeping(frontier: Frontier, budget: Budget) -> list[Candidate]:
    """Return the candidates of which the test part confirms the limit on the increase of the error.

    Only those are tested that people would answer and that keep all other limits on the validation part. The
    confidence of the budget is that of all of them together; see this module.
    """
    only = _only_the_increase(budget)
    return [*takewhile(lambda point: _is_confirmed(point, frontier, only), to_be_tested(frontier, budget))]


def to_be_tested(frontier: Frontier, budget: Budget) -> list[Candidate]:
    """Return the candidates in the order in which they are tested; the test part has no say in it."""
    others, bound = replace(budget, max_error_increase=None), upper_bound(_only_the_increase(budget))
    able = [
        point
        for point in frontier.points
        if point.validation.increase is not None
        and point.answers <= MOST_ANSWERS
        and not broken_limits(point, others, frontier)
    ]
    return sorted(able, key=lambda point: (bound(point), point.id))


def _only_the_increase(budget: Budget) -> Budget:
    """Return the one limit that is tested, at its confidence."""
    return Budget(
        max_error_increase=budget.max_error_increase, confidence=budget.confidence, labels_by=budget.labels_by
    )


def _is_confirmed(point: Candidate, frontier: Frontier, budget: Budget) -> bool:
    told = verdicts_of(point, budget, frontier)
    return bool(told) and all(each.standing == KEPT for each in told)


def surer_than(choice: Choice, frontier: Frontier) -> Candidate | None:
    """Return the best candidate that keeps the limit surely, where that is not told of what was chosen."""
    if choice.promise is None or choice.promise.standing == KEPT:
        return None
    sure = surely_keeping(frontier, choice.budget)
    return asking_least(sure, choice.budget)[0] if sure else None


def choose_surely(frontier: Frontier, budget: Budget | None) -> Choice:
    """Return the best of the candidates that keep the limit on the increase of the error surely.

    Where no such limit is stated, the default one counts. Where no candidate is sure, nothing is chosen, and the
    choice says what was tested.
    """
    number = frontier.untouched.number is not None
    limits = budget_in_force(budget, number)
    if limits.max_error_increase is None:
        limits = replace(limits, max_error_increase=default_budget(number).max_error_increase)
    check_budget(limits, frontier)
    order = to_be_tested(frontier, limits)
    if not order:
        return _none(frontier, limits, "no candidate that people would answer keeps the other limits")
    sure = surely_keeping(frontier, limits)
    if not sure:
        first = verdicts_of(order[0], _only_the_increase(limits), frontier)
        why = next((each.words for each in first if each.limit == INCREASE), "it was not tested yet")
        return _none(
            frontier, limits, f"of {order[0].id}, the first in the order, {why}; none after it was tested"
        )
    best, aim = asking_least(sure, limits)
    of = f"{len(sure)} of the {len(order)} that come" if len(order) > 1 else "The one that comes"
    keep = "keep" if len(sure) > 1 else "keeps"
    sentence = (
        f"{of} into question surely {keep} the limit on the error: "
        f"{limits_in_words(_only_the_increase(limits), frontier)}. The test part confirms it, "
        f"{percent(limits.confidence)} sure of all of them together: one tested after the other, in an order that "
        f"the validation part settled. {aim} of them on the validation part: {figures_in_words(best, limits)}."
        f"{_others(limits)}{nothing_would_do(best, limits, frontier)}"
    )
    stated = budget is not None and budget.states_limits
    return replace(choice_of(best, limits, stated, sentence, frontier), fits=True, surely=True)


def _others(limits: Budget) -> str:
    """Say how the other limits are kept, where there are some."""
    others = replace(limits, max_error_increase=None)
    if not others.states_limits:
        return ""
    return f" On the validation part it keeps the other limits, too: {others.words()}."


def _none(frontier: Frontier, limits: Budget, why: str) -> Choice:
    """Say that nothing is sure; where nothing fits even by estimates, what binds."""
    plain = choose(frontier, limits)
    if plain.candidate is None:
        return plain
    sentence = (
        f"The test part does not confirm, {percent(limits.confidence)} sure of all together, that any candidate "
        f"keeps this: {limits_in_words(limits, frontier)}. The reason: {why}. More records would tell; a larger "
        "limit, or a smaller --confidence, is easier to confirm, if it is settled before looking."
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
