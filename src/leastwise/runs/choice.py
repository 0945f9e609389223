"""The choice: the best candidate of a frontier under a stated budget, with the sentence that justifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from leastwise.documents import from_text, to_text
from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import listed
from leastwise.evaluation.pareto import Limits, Point
from leastwise.evaluation.pareto import frontier as unbeaten
from leastwise.evaluation.risk import deciding
from leastwise.predictors.held_out import MARGIN
from leastwise.runs.budget import INCREASE, WORST, Budget, Limit, Size
from leastwise.runs.candidates import MOST_ANSWERS, Candidate
from leastwise.runs.estimate import estimate_in_words, margin_of
from leastwise.runs.frontier import Frontier, thinned
from leastwise.runs.task import FRESH_FOR_ALL
from leastwise.runs.verdicts import KEPT, MISSED, PROBABLY_KEPT, Verdict, verdicts

FORMAT = "leastwise-choice"
DEFAULT = Budget(max_error_increase=0.01)
"""What is allowed when nobody says anything: one point of accuracy."""
DEFAULT_FOR_NUMBERS = Budget(max_error_increase=0.03)
"""The same of a number: of the error of guessing, about what a point is of that of guessing a class."""
ALIKE_PLACES = 4
"""Where a gap between groups is limited, so many candidates of small gaps have a place on the frontier."""
NOT_TOLD = 0.5
"""Where no candidate keeps the limit with a margin: an increase that is larger by so many standard errors than
that of the one that comes closest is no reason to ask more."""
PICKED = "A person picked this one"
"""How the sentence begins where nobody else chose."""
_OTHERWISE = "The estimate by which it is the nearest says otherwise."
ALIKE = 0.005
"""Candidates whose errors differ by no more are alike, and the one that asks least is the best of them."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What was chosen, and why.

    Attributes
    ----------
    candidate
        Its id; None where no candidate keeps the stated limits.
    budget, stated
        The limits it was chosen under, and whether somebody stated them.
    sentence
        The justification.
    fits
        Whether there is a candidate that keeps every limit on validation.
    binding
        Where none fits: the limits in the way, in words.
    nearest
        Where none fits: the id of the candidate that comes closest; where no limit was stated, it is chosen.
    verdicts
        How each limit stands by the test part, which had no say in choosing; none where nothing was chosen.
    surely
        Whether only those came into question of which the test part confirms the limit on the error.
    """

    candidate: str | None
    budget: Budget
    stated: bool
    sentence: str
    fits: bool
    binding: tuple[str, ...]
    nearest: str | None
    verdicts: tuple[Verdict, ...] = ()
    surely: bool = field(default=False, metadata=LEFT_OUT)

    @property
    def picked(self) -> bool:
        """Whether a person picked it, who may have seen what the test part says."""
        return self.sentence.startswith(PICKED)

    @property
    def only_nearest(self) -> bool:
        """Whether no limit was stated, and what was chosen does not keep the one that holds then, nor does any."""
        return self.candidate is not None and self.candidate == self.nearest

    @property
    def promise(self) -> Verdict | None:
        """Whether the test part confirms the limit on the increase of the error; None where there is none."""
        found = next((verdict for verdict in self.verdicts if verdict.limit == INCREASE), None)
        if found is None or found.missed or not self.only_nearest:
            return found
        return replace(found, note=f"{_OTHERWISE} {found.note}".strip())

    @property
    def missed(self) -> tuple[Verdict, ...]:
        """The limits that the chosen candidate is beyond on the test part, be it by noise."""
        return tuple(verdict for verdict in self.verdicts if verdict.missed)

    def to_json(self) -> str:
        """Return the document."""
        return to_text(self, FORMAT)

    @classmethod
    def from_json(cls, text: str, where: str = "choice") -> Choice:
        """Read the document; an ``ArtefactError`` lists everything that is wrong."""
        return from_text(cls, text, FORMAT, where)


def choose(frontier: Frontier, budget: Budget | None, screened: Sequence[Candidate] = ()) -> Choice:
    """Return the best candidate under the budget.

    With a limit on the classifier's error the safest candidate wins, otherwise the most accurate one; among those
    that come within ``ALIKE`` of it, the one with the fewest answers; one of more than ``MOST_ANSWERS`` only where
    no shorter one keeps the limits. A limit on the increase of the error, or of
    groups, must be kept with a margin: the best of many on one sample looks better than it is. Where no candidate
    does that, it is the best of those that most probably keep it. Without a budget the default one counts; where
    no candidate keeps that, it is the best of those that come closest.

    Parameters
    ----------
    frontier
        The candidates to choose from, by their figures on validation.
    budget
        The limits; None for the default.
    screened
        All candidates: where none of the frontier fits, it is said whether one does that was only screened.
    """
    stated = budget is not None and budget.states_limits
    limits = budget_in_force(budget, frontier.untouched.number is not None)
    check_budget(limits, frontier)
    # Where nobody said how little may be lost, a longer form than people answer is not the way to lose less.
    able = [*frontier.points] if stated else _short(frontier.points)
    nothing = _nothing_asked(frontier, limits)
    if nothing is not None:
        return _asking_nothing(nothing, limits, stated, frontier)
    fitting = [point for point in _fitting(frontier, limits) if point in able]
    if fitting:
        return _chosen(fitting, limits, stated, frontier)
    return _none_fits(limits, frontier, screened) if stated else _nearest(limits, frontier, able)


def check_budget(budget: Budget, frontier: Frontier) -> None:
    """Complain about a limit that cannot be, or that this run cannot tell of."""
    budget.check(*guesses(frontier), ())
    budget.check_groups(any(point.validation.groups is not None for point in frontier.points))


def _nothing_asked(frontier: Frontier, budget: Budget) -> Candidate | None:
    """Return the candidate that asks nothing, where not even all answers show that they are worth it.

    What it seems to lose is chance then; every other limit it must keep.
    """
    if budget.max_error_increase is None or not budget.tells_nothing(frontier.suppressed_validation):
        return None
    others = replace(budget, max_error_increase=None)
    return next((p for p in frontier.points if p.asked == 0 and not _broken(_held(p, others, frontier))), None)


def _asking_nothing(nothing: Candidate, budget: Budget, stated: bool, frontier: Frontier) -> Choice:
    sentence = (
        "Of people whom it did not learn from it cannot be told from chance that a model errs less with "
        f"everything asked than with nothing asked: {figures_in_words(nothing, budget)}. So these "
        "records give no reason to ask anything."
    )
    choice = choice_of(nothing, budget, stated, sentence, frontier)
    lost = choice.promise
    if lost is not None and lost.standing == MISSED:
        return choice  # the test part tells after all
    if lost is None or lost.standing == KEPT:
        return replace(choice, fits=True)
    if lost.interval is not None and lost.interval.low > 0:
        return choice  # it tells that something is lost, if not surely more than is allowed
    said = replace(lost, standing=PROBABLY_KEPT, finding="what that loses cannot be told from chance", because="")
    return replace(choice, fits=True, verdicts=tuple(said if each is lost else each for each in choice.verdicts))


def default_budget(number: bool) -> Budget:
    """Return what is allowed when nobody says anything, of classes or of a number."""
    return DEFAULT_FOR_NUMBERS if number else DEFAULT


def budget_in_force(budget: Budget | None, number: bool) -> Budget:
    """Return the budget that was stated, or the default one, with labels put together as was said."""
    if budget is not None and budget.states_limits:
        return budget
    default = default_budget(number)
    return default if budget is None else replace(default, labels_by=budget.labels_by)


def guesses(frontier: Frontier) -> tuple[dict[str, float], float]:
    """Return the error of guessing, by personal attribute and on average.

    Of two samples of the same people, validation and test, the larger guess is the benefit of the doubt.
    """
    parts = (frontier.suppressed_validation, frontier.suppressed)
    by_attribute = {name: max(part.by_attribute[name] for part in parts) for name in parts[0].by_attribute}
    return by_attribute, max(part.adversary_error for part in parts)


def _held(point: Candidate, budget: Budget, frontier: Frontier, errors: float = 0.0) -> list[Limit]:
    """Hold every limit against a candidate, on the validation part."""
    everything = frontier.untouched_validation.utility_risk
    return budget.limits(point.validation, everything, Size(point.asked, point.answers), errors)


def _fitting(frontier: Frontier, budget: Budget, errors: float = 0.0) -> list[Candidate]:
    return [point for point in frontier.points if not _broken(_held(point, budget, frontier, errors))]


def _short(points: Sequence[Candidate]) -> list[Candidate]:
    """Return those that people would answer; all, where there is none."""
    return [point for point in points if point.answers <= MOST_ANSWERS] or [*points]


def _broken(limits: Sequence[Limit]) -> list[Limit]:
    return [limit for limit in limits if limit.beyond > 0]


def _chosen(fitting: Sequence[Candidate], budget: Budget, stated: bool, frontier: Frontier) -> Choice:
    many = f"On the validation part {len(fitting)} of {len(frontier.points)} candidates of the frontier keep"
    alone = len(fitting) == 1
    if alone:
        one = f"one of {len(frontier.points)} candidates" if len(frontier.points) > 1 else "the one candidate"
        many = f"On the validation part {one} of the frontier keeps"
    several = len(budget.limits_in_words()) > 1
    which = "these limits" if several else "this limit" if stated else "the limit that holds when none is stated"
    short = _short(fitting) if budget.bounds_utility else [*fitting]
    sure = [point for point in _fitting(frontier, budget, margin_of(budget)) if point in short]
    if not sure and (budget.bounds_groups or budget.max_error_increase is not None):
        least, aim = _likeliest(short, budget, frontier) if budget.bounds_groups else _closest(short, budget)
        what = "all" if several or budget.bounds_groups else "it"
        why = f"None of them keeps {what} with a margin for chance. {aim} of those that most probably do"
        if alone:
            why = "It does so, with no margin for chance"
    else:
        least, aim = asking_least(sure, budget)
        why = "It does so" if alone else f"{aim} of them"
        if len(sure) < len(fitting):
            which = f"{which}, {len(sure)} of them with a margin for chance"
            why = f"{aim} of those with a margin"
    words = limits_in_words(budget, frontier)
    sentence = f"{many} {which}: {words}. {why}: {figures_in_words(least, budget)}."
    return choice_of(least, budget, stated, f"{sentence}{nothing_would_do(least, budget, frontier)}", frontier)


def nothing_would_do(chosen: Candidate, budget: Budget, frontier: Frontier) -> str:
    """Say so, where a limit is so loose that a form without any question would keep it."""
    if not budget.bounds_utility or chosen.asked == 0 or not _nothing_keeps(budget, frontier):
        return ""
    return f" To ask nothing at all would keep {_them(budget)} too: allow less, or do not ask."


def _nothing_keeps(budget: Budget, frontier: Frontier) -> bool:
    """Whether a form without any question keeps the limits, on the validation part."""
    everything = frontier.untouched_validation.utility_risk
    return not budget.problems(frontier.suppressed_validation, everything, Size(0, 0))


def _them(budget: Budget) -> str:
    return "them" if len(budget.limits_in_words()) > 1 else "it"


def _likeliest(fitting: Sequence[Candidate], budget: Budget, frontier: Frontier) -> tuple[Candidate, str]:
    """Return the best of those whose upper bounds go least beyond the limits of groups, the others kept surely."""
    others = replace(budget, max_group_gap=None, max_group_error=None)
    sure = {point.id for point in _fitting(frontier, others, MARGIN * budget.errors)}
    able = [point for point in fitting if point.id in sure] or fitting
    beyond = [max(limit.beyond for limit in _held(p, budget, frontier, budget.errors)) for p in able]
    near = [p for p, over in zip(able, beyond, strict=True) if over <= min(beyond) + ALIKE]
    return asking_least(near, budget)


def _closest(points: Sequence[Candidate], budget: Budget) -> tuple[Candidate, str]:
    """Return the best of those that err no more, by anything that is told, than the one closest to the limit."""
    closest = min(points, key=upper_bound(budget))
    best = budget.increase_of(closest.validation)
    if best is None:
        return closest, "This is the closest"
    told = [(point, budget.increase_of(point.validation)) for point in points]
    return asking_least([p for p, more in told if more is not None and more.mean <= best.bound(NOT_TOLD)], budget)


def asking_least(fitting: Sequence[Candidate], budget: Budget) -> tuple[Candidate, str]:
    """Return the one that asks least of those that are about as good as the best, and say so."""
    best = min(fitting, key=lambda point: budget.worth(point.validation))
    reach = budget.worth(best.validation)[0] + ALIKE
    alike = [point for point in fitting if budget.worth(point.validation)[0] <= reach]
    order = {p.id: (p.answers, p.validation.unique_people, budget.worth(p.validation)) for p in alike}
    least = min(alike, key=lambda point: order[point.id])
    aim = "the safest" if budget.bounds_utility else "the most accurate"
    if least is best:
        return least, f"This is {aim}"
    return least, f"Within {ALIKE:g} of {aim}, this one asks least"


def upper_bound(budget: Budget) -> Callable[[Candidate], float]:
    """Return what tells by how much more a candidate may err on the validation part, at the confidence."""

    def bound(point: Candidate) -> float:
        increase = budget.increase_of(point.validation, budget.errors)
        return point.validation.utility_risk if increase is None else increase.bound(budget.errors)

    return bound


def limits_in_words(budget: Budget, frontier: Frontier) -> str:
    """Say the limits, and of several labels which count."""
    every = frontier.untouched.labels
    if not every or not budget.bounds_utility:
        return budget.words()
    many, told = len(every), [each.label for each in deciding(every)]
    untold = listed([each.label for each in every if each.label not in told])
    which = (
        f"about each of {many} labels" if budget.labels_by == WORST else f"in the weighted mean of {many} labels"
    )
    if untold and budget.labels_by == WORST:
        which += f"; not what is lost about {untold}, which not even all answers tell better than a guess"
    return f"{budget.words()} (the error is limited {which})"


def figures_in_words(point: Candidate, budget: Budget) -> str:
    """Say how a candidate is judged on validation, and the estimate that it is chosen by."""
    figures = point.validation
    errs = f"errs {figures.utility_risk:.3f}"
    if figures.labels:
        errs = f"errs {listed([f'{label.error:.3f} about {label.label}' for label in figures.labels])}"
    elif figures.number is not None:
        errs = f"is {figures.number.words()}"
    wrong = f"A1 is wrong {figures.adversary_error:.3f} of the time"
    return f"the model {errs}, {wrong}{estimate_in_words(figures, budget)}"


def choice_of(point: Candidate, budget: Budget, stated: bool, sentence: str, frontier: Frontier) -> Choice:
    """Return a candidate as the choice, with what the test part says of each limit."""
    return Choice(
        candidate=point.id,
        budget=budget,
        stated=stated,
        sentence=sentence,
        fits=not _broken(_held(point, budget, frontier)),
        binding=(),
        nearest=None,
        verdicts=verdicts_of(point, budget, frontier),
    )


def verdicts_of(point: Candidate, budget: Budget, frontier: Frontier) -> tuple[Verdict, ...]:
    """Return how each limit stands by the test part; none where a candidate was not attacked yet."""
    if point.tested is None:
        return ()
    return verdicts(budget, point.tested, frontier.untouched.utility_risk, Size(point.asked, point.answers))


def _nearest(budget: Budget, frontier: Frontier, able: Sequence[Candidate]) -> Choice:
    point, why = _closest(able, budget)
    which = f"candidate of at most {MOST_ANSWERS} answers" if len(able) < len(frontier.points) else "candidate"
    sentence = (
        f"No limit was stated, and no {which} keeps the one that holds then "
        f"({limits_in_words(budget, frontier)}). {why} of those that come closest to it on the validation part: "
        f"{figures_in_words(point, budget)}."
    )
    return replace(choice_of(point, budget, False, sentence, frontier), nearest=point.id)


def _none_fits(budget: Budget, frontier: Frontier, screened: Sequence[Candidate]) -> Choice:
    held = [_held(point, budget, frontier) for point in frontier.points]
    beyond = [(max(limit.beyond for limit in each), sum(limit.beyond for limit in each)) for each in held]
    place = beyond.index(min(beyond))
    nearest, missed = frontier.points[place], [limit.text for limit in _broken(held[place])]
    binding = _binding(held)
    none = (
        f"None of the {len(frontier.points)} candidates"
        if len(frontier.points) > 1
        else "Not even the one candidate"
    )
    only_nothing = ""
    if _nothing_keeps(budget, frontier):
        only_nothing = f" To ask nothing at all keeps {_them(budget)}, and needs no form."
    sentence = (
        f"{none} of the frontier fits: "
        f"{limits_in_words(budget, frontier)}. "
        f"What binds: {'; '.join(binding)}. The nearest is {nearest.id}: {'; '.join(missed)}."
        f"{_costs_too_much(held)}{_hint(screened, budget, frontier)}{only_nothing}"
    )
    return Choice(
        candidate=None,
        budget=budget,
        stated=True,
        sentence=sentence,
        fits=False,
        binding=tuple(binding),
        nearest=nearest.id,
    )


def _costs_too_much(held: Sequence[Sequence[Limit]]) -> str:
    """Say, where every candidate costs too much, what is left to do."""
    costs = [limit.beyond for limits in held for limit in limits if limit.name == "max_error_increase"]
    if not costs or min(costs) == 0:
        return ""
    return (
        " No candidate that was attacked costs so little: allow more, or give more records; if the run was begun "
        f"with another limit, begin it anew with this ({FRESH_FOR_ALL}), which looks for such a candidate."
    )


def _hint(screened: Sequence[Candidate], budget: Budget, frontier: Frontier) -> str:
    fitting = best_screened(screened, budget, frontier.untouched_validation.utility_risk)
    if fitting is None or fitting.id in {point.id for point in frontier.points}:
        return ""
    return (
        f" Candidate {fitting.id}, which was screened and not attacked, fits by counting: begin the run "
        f"anew with this budget ({FRESH_FOR_ALL}) to have it judged."
    )


def _binding(judged: Sequence[Sequence[Limit]]) -> list[str]:
    """Return each limit without which some candidate would fit, with how near those come to it.

    Where there is none: the limits that no candidate keeps, and where there is none of those either, the fewest
    that a candidate breaks.
    """
    binding = []
    for place in range(len(judged[0])):
        without = [limits for limits in judged if not _broken([*limits[:place], *limits[place + 1 :]])]
        if without:
            closest = min(without, key=lambda limits: limits[place].beyond)[place]
            others = " among candidates that keep the other limits" if len(judged[0]) > 1 else ""
            binding.append(f"{closest.text} (the closest{others})")
    if binding:
        return binding
    by_limit = [[limits[place] for limits in judged] for place in range(len(judged[0]))]
    closest_of = [min(each, key=lambda limit: limit.beyond) for each in by_limit]
    hopeless = [f"{limit.text} (the closest: no candidate keeps this limit)" for limit in _broken(closest_of)]
    fewest = min(map(_broken, judged), key=lambda broken: (len(broken), sum(limit.beyond for limit in broken)))
    return hopeless or [f"{limit.text} (no single limit binds; this is the fewest)" for limit in fewest]


def best_screened(candidates: Sequence[Candidate], budget: Budget, everything: float) -> Candidate | None:
    """Return the screened candidate that is best under a budget; None where none keeps it.

    ``everything`` is the error of the classifier with everything asked.
    """
    fitting = [
        candidate
        for candidate in candidates
        if not budget.problems(candidate.validation, everything, Size(candidate.asked, candidate.answers))
    ]
    return min(fitting, key=lambda candidate: budget.worth(candidate.validation), default=None)


def serving_alike(candidates: Sequence[Candidate], budget: Budget, everything: float) -> list[int]:
    """Return, where a gap between groups is limited, a few that no other one beats in safety and gap.

    They keep all other limits; the gap has the margin that it is chosen with.
    """
    if budget.max_group_gap is None:
        return []
    places, points, others = [], [], replace(budget, max_group_gap=None)
    for place, each in enumerate(candidates):
        figures = each.validation
        if figures.groups and not others.problems(figures, everything, Size(each.asked, each.answers)):
            places.append(place)
            points.append(Point(figures.groups.gap(MARGIN * budget.errors), figures.adversary_error))
    worst = Point(max((p[0] for p in points), default=0.0), max((p[1] for p in points), default=0.0))
    return [places[i] for i in thinned(points, unbeaten(points), ALIKE_PLACES, Limits(Point(0.0, 0.0), worst))]
