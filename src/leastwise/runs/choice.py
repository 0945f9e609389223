"""The choice: the best candidate of a frontier under a stated budget, with the sentence that justifies it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leastwise.documents.versioned import from_text, to_text
from leastwise.runs.budget import Budget, Limit, Size
from leastwise.runs.candidates import Candidate
from leastwise.runs.figures import Figures
from leastwise.runs.frontier import Frontier, FrontierPoint

FORMAT = "leastwise-choice"
DEFAULT = Budget(max_error_increase=0.01)
"""What is allowed when nobody says anything: one point of accuracy."""
ALIKE = 0.005
"""Candidates whose errors differ by no more are alike, and the one that asks least is the best of them."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen, and why.

    Attributes
    ----------
    candidate
        Its id; None where no candidate fits.
    budget, stated
        The limits it was chosen under, and whether somebody stated them.
    sentence
        The justification.
    fits
        Whether there is a candidate that keeps every limit on validation.
    binding
        Where none fits: the limits in the way, in words.
    nearest
        Where none fits: the id of the candidate that comes closest.
    misses_on_test
        What the chosen candidate breaks on the test part, by which it was not chosen.
    """

    candidate: str | None
    budget: Budget
    stated: bool
    sentence: str
    fits: bool
    binding: tuple[str, ...]
    nearest: str | None
    misses_on_test: tuple[str, ...]

    def to_json(self) -> str:
        """Return the document."""
        return to_text(self, FORMAT)

    @classmethod
    def from_json(cls, text: str, where: str = "choice") -> Choice:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        return from_text(cls, text, FORMAT, where)


def choose(
    frontier: Frontier, budget: Budget | None, sizes: Mapping[str, Size], screened: Sequence[Candidate] = ()
) -> Choice:
    """Return the best candidate under the budget.

    With a limit on the classifier's error the safest candidate wins, otherwise the most accurate one; among those
    that come within ``ALIKE`` of it, the one with the fewest answers. Without a budget the default one counts;
    where no candidate keeps that, the knee is chosen.

    Parameters
    ----------
    frontier
        The candidates to choose from, by their figures on validation.
    budget
        The limits; None for the default.
    sizes
        By id, how much each candidate asks.
    screened
        All candidates: where none of the frontier fits, it is said whether one does that was only screened.
    """
    stated = budget is not None and bool(budget)
    limits = budget if budget is not None and stated else DEFAULT
    _check(limits, frontier)
    judged = [(point, _limits(point, limits, frontier, sizes)) for point in frontier.points]
    fitting = [point for point, found in judged if not _broken(found)]
    if fitting:
        return _chosen(fitting, limits, stated, frontier, sizes)
    return _none_fits(judged, limits, frontier, screened) if stated else _knee(limits, frontier, sizes)


def _check(budget: Budget, frontier: Frontier) -> None:
    guess, test = frontier.suppressed_validation, frontier.suppressed
    # Of two samples of the same people the larger guess is the benefit of the doubt.
    errors = {name: max(error, test.by_attribute[name]) for name, error in guess.by_attribute.items()}
    budget.check(errors, max(guess.adversary_error, test.adversary_error), ())


def _limits(point: FrontierPoint, budget: Budget, frontier: Frontier, sizes: Mapping[str, Size]) -> list[Limit]:
    return budget.limits(point.validation, frontier.untouched_validation, sizes[point.candidate])


def _broken(found: Sequence[Limit]) -> list[Limit]:
    return [limit for limit in found if limit.beyond > 0]


def _chosen(
    fitting: Sequence[FrontierPoint],
    budget: Budget,
    stated: bool,
    frontier: Frontier,
    sizes: Mapping[str, Size],
) -> Choice:
    many = f"{len(fitting)} of {len(frontier.points)} candidates of the frontier keep"
    if len(fitting) == 1:
        many = f"One of {len(frontier.points)} candidates of the frontier keeps"
    several = len(budget.limits_in_words()) > 1
    which = "these limits" if several else "this limit" if stated else "the limit that holds when none is stated"
    best = min(fitting, key=lambda point: budget.worth(point.validation))
    point = _least_asked(fitting, best, budget, sizes)
    aim = "the safest" if budget.bounds_utility else "the most accurate"
    why = f"This is {aim} of them"
    if point is not best:
        why = f"Of those that come within {ALIKE:g} of {aim}, this one asks least"
    sentence = f"{many} {which}: {budget.words()}. {why} on the validation part: {_figures(point)}."
    return _choice(point, budget, stated, sentence, frontier, sizes)


def _least_asked(
    fitting: Sequence[FrontierPoint], best: FrontierPoint, budget: Budget, sizes: Mapping[str, Size]
) -> FrontierPoint:
    reach = budget.worth(best.validation)[0] + ALIKE
    alike = [point for point in fitting if budget.worth(point.validation)[0] <= reach]
    return min(alike, key=lambda point: (sizes[point.candidate].answers, budget.worth(point.validation)))


def _figures(point: FrontierPoint) -> str:
    figures = point.validation
    return f"the model errs {figures.utility_risk:.3f}, A1 is wrong {figures.adversary_error:.3f} of the time"


def _choice(
    point: FrontierPoint,
    budget: Budget,
    stated: bool,
    sentence: str,
    frontier: Frontier,
    sizes: Mapping[str, Size],
) -> Choice:
    fits = not _broken(_limits(point, budget, frontier, sizes))
    misses = budget.problems(point.test, frontier.untouched, sizes[point.candidate]) if fits else []
    return Choice(
        candidate=point.candidate,
        budget=budget,
        stated=stated,
        sentence=sentence,
        fits=fits,
        binding=(),
        nearest=None,
        misses_on_test=tuple(misses),
    )


def _knee(budget: Budget, frontier: Frontier, sizes: Mapping[str, Size]) -> Choice:
    point = frontier[frontier.knees[0]] if frontier.knees else frontier.points[0]
    sentence = (
        f"No limit was stated, and no candidate keeps the one that holds then ({budget.words()}). This is the "
        f"knee of the frontier, beyond which more safety costs more: {_figures(point)}."
    )
    return _choice(point, budget, False, sentence, frontier, sizes)


def _none_fits(
    judged: Sequence[tuple[FrontierPoint, list[Limit]]],
    budget: Budget,
    frontier: Frontier,
    screened: Sequence[Candidate],
) -> Choice:
    nearest, found = min(judged, key=lambda pair: (max(limit.beyond for limit in pair[1]), _sum(pair[1])))
    binding = _binding([limits for _, limits in judged]) or [limit.text for limit in _broken(found)]
    missed = "; ".join(limit.text for limit in _broken(found))
    sentence = (
        f"None of the {len(frontier.points)} candidates of the frontier fits: {budget.words()}. "
        f"What binds: {'; '.join(binding)}. The nearest is {nearest.candidate}: {missed}."
        f"{_hint(screened, budget, frontier)}"
    )
    return Choice(
        candidate=None,
        budget=budget,
        stated=True,
        sentence=sentence,
        fits=False,
        binding=tuple(binding),
        nearest=nearest.candidate,
        misses_on_test=(),
    )


def _hint(screened: Sequence[Candidate], budget: Budget, frontier: Frontier) -> str:
    place = best_screened(screened, budget, frontier.untouched_validation)
    if place is None or screened[place].id in {point.candidate for point in frontier.points}:
        return ""
    return (
        f" Candidate {screened[place].id}, which was screened and not attacked, fits by counting: begin the run "
        "anew with this budget (--fresh) to have it judged."
    )


def _sum(limits: Sequence[Limit]) -> float:
    return sum(limit.beyond for limit in limits)


def _binding(judged: Sequence[Sequence[Limit]]) -> list[str]:
    """Return each limit without which some candidate would fit, with how near those come to it."""
    found = []
    for place in range(len(judged[0])):
        without = [limits for limits in judged if not _broken([*limits[:place], *limits[place + 1 :]])]
        if without:
            closest = min(without, key=lambda limits: limits[place].beyond)[place]
            others = " among candidates that keep the other limits" if len(judged[0]) > 1 else ""
            found.append(f"{closest.text} (the closest{others})")
    return found


def best_screened(candidates: Sequence[Candidate], budget: Budget, untouched: Figures) -> int | None:
    """Return the position of the screened candidate that is best under a budget; None where none keeps it."""
    fitting = [
        i
        for i, candidate in enumerate(candidates)
        if not budget.problems(candidate.validation, untouched, Size(candidate.asked, candidate.answers))
    ]
    return min(fitting, key=lambda i: budget.worth(candidates[i].validation)) if fitting else None
