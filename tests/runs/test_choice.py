"""Budgets and choices, by hand and by law."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import ParameterError
from leastwise.confidence import Interval
from leastwise.evaluation.declared_groups import GroupErrors
from leastwise.predictors.held_out import Difference
from leastwise.runs import Budget, Candidate, Choice, Figures, Frontier, choose
from leastwise.runs.choice import best_screened, serving_alike
from leastwise.runs.verdicts import about_increase, verdicts
from tests.runs.hand_made import candidate, figures, make, points

THREE = make(figures(0.105, 0.1, unique=9), figures(0.12, 0.3, unique=1), figures(0.2, 0.4))


def chosen(budget: Budget | None, front: Frontier = THREE) -> int | None:
    found = choose(front, budget)
    assert Choice.from_json(found.to_json()) == found
    return None if found.candidate is None else int(found.candidate, 16)


@pytest.mark.parametrize(
    ("budget", "candidate"),
    [
        (None, 0),
        (Budget(), 0),
        ({"max_error_increase": 0.02}, 1),
        ({"max_error_increase": 0.5}, 2),
        ({"max_error": 0.12}, 1),
        ({"min_adversary_error": {"sex": 0.2}}, 1),
        ({"min_adversary_error": {"mean": 0.35}}, 2),
        ({"max_unique": 1}, 1),
        ({"max_unique": 0}, 2),
        ({"max_buckets": 40}, 1),
        ({"max_asked": 6}, 2),
        ({"max_error": 0.2, "max_buckets": 40}, 2),
        ({"max_error_increase": 0.001}, None),
        ({"max_error": 0.11, "min_adversary_error": {"sex": 0.2}}, None),
    ],
)
def test_the_best_under_a_budget(budget: Any, candidate: int | None) -> None:
    assert chosen(Budget(**budget) if isinstance(budget, dict) else budget) == candidate


def test_the_sentence_tells_the_limit_and_why() -> None:
    found = choose(THREE, Budget(max_error_increase=0.02))
    assert found.sentence == (
        "On the validation part 2 of 3 candidates of the frontier keep this limit: the model errs at most 2 "
        "points more than with everything asked. This is the safest of them: the model errs 0.120, A1 is wrong "
        "0.300 of the time."
    )
    several = choose(THREE, Budget(max_error_increase=0.02, max_buckets=40)).sentence
    assert (
        "these limits: the model errs at most 2 points more than with everything asked, and at most 40" in several
    )
    assert found.fits
    assert (found.binding, found.nearest, found.missed) == ((), None, ())


def test_among_candidates_that_are_alike_the_one_that_asks_least_wins() -> None:
    front = make(figures(0.105, 0.302), figures(0.106, 0.303), figures(0.107, 0.3065))
    assert chosen(Budget(max_error_increase=0.02), front) == 2  # the safest, and it asks least
    sizes = [(5, 40 + 10 * i) for i in range(3)]
    found = choose(make(*(p.validation for p in front.points), sizes=sizes), Budget(max_error_increase=0.02))
    assert int(str(found.candidate), 16) == 0
    assert "Within 0.005 of the safest, this one asks least of them" in found.sentence
    far = make(figures(0.105, 0.300), figures(0.106, 0.301), figures(0.107, 0.3065), sizes=sizes)
    assert int(str(choose(far, Budget(max_error_increase=0.02)).candidate), 16) == 2


def test_a_form_that_nobody_would_design_is_chosen_only_where_no_shorter_one_fits() -> None:
    long, short = (0.001, 0.001), (0.009, 0.004)  # the long one keeps the limit surely, the short one by estimate
    front = make(figures(0.101, 0.1), figures(0.109, 0.3), sizes=[(9, 300), (5, 30)])
    both = increased(front, long, short)
    assert choose(both, Budget(max_error_increase=0.01)).candidate == both.points[1].id
    assert choose(both, Budget(max_error_increase=0.005)).candidate == both.points[0].id
    assert choose(both, Budget(min_adversary_error={"sex": 0.1})).candidate == both.points[0].id  # accuracy counts


def test_without_a_budget_that_can_be_kept_the_closest_is_chosen_and_said() -> None:
    front = make(figures(0.15, 0.2), figures(0.2, 0.4))
    found = choose(front, None)
    assert found.candidate == front.points[0].id  # the knee would cost five points more than it says
    assert not found.fits
    assert "No limit was stated, and no candidate keeps the one that holds then" in found.sentence


def test_without_a_stated_limit_no_form_is_chosen_that_nobody_would_design() -> None:
    front = increased(
        make(figures(0.101, 0.1), figures(0.13, 0.3), sizes=[(9, 300), (5, 30)]), (0.0, 0.001), (0.03, 0.004)
    )
    found = choose(front, None)
    assert found.candidate == front.points[1].id
    assert "no candidate of at most 60 answers keeps the one that holds then" in found.sentence
    assert choose(front, Budget(max_error_increase=0.01)).candidate == front.points[0].id  # somebody said so


def test_where_none_fits_it_says_what_binds_and_what_is_nearest() -> None:
    found = choose(THREE, Budget(max_error_increase=0.012, min_adversary_error={"sex": 0.2}))
    assert found.candidate is None
    assert found.nearest == f"{1:012x}"
    assert found.binding == (
        "the model errs 2.0 points more than with everything asked, allowed is 1.2 (the closest among "
        "candidates that keep the other limits)",
        "A1 is wrong about sex 0.1000 of the time, wanted is at least 0.2 (the closest among candidates "
        "that keep the other limits)",
    )
    assert f"The nearest is {found.nearest}: the model errs 2.0 points more" in found.sentence


def test_where_every_candidate_costs_too_much_it_says_what_is_left_to_do() -> None:
    words = "No candidate that was attacked costs so little"
    assert words in choose(THREE, Budget(max_error_increase=0.001)).sentence
    assert words not in choose(THREE, Budget(max_error_increase=0.012, min_adversary_error={"sex": 0.2})).sentence


def test_what_binds_is_what_no_candidate_keeps_and_not_what_the_nearest_breaks_besides() -> None:
    """The nearest also has people alone, which others do not have."""
    front = make(figures(0.105, 0.1), figures(0.12, 0.3), figures(0.2, 0.4, unique=2))
    found = choose(front, Budget(max_buckets=1, max_asked=1, max_unique=1))
    assert found.nearest == front.points[2].id
    assert "2 people are alone" in found.sentence
    assert [text.split(",")[0] for text in found.binding] == [
        "there are 20 answers in all",
        "there are 6 questions",
    ]
    assert all("no candidate keeps this limit" in text for text in found.binding)


def test_where_limits_bind_together_the_fewest_are_named() -> None:
    sizes = [(9, 10), (1, 90), (9, 90)]
    front = make(*(figures(0.105, 0.1, unique=unique) for unique in (9, 9, 0)), sizes=sizes)
    found = choose(front, Budget(max_buckets=50, max_asked=5, max_unique=0))
    assert len(found.binding) == 2
    assert all("no single limit binds" in text for text in found.binding)


def test_a_screened_candidate_that_would_fit_is_named() -> None:
    def screened(number: int, risk: float, answers: int) -> Candidate:
        return replace(candidate(number, figures(risk, 0.2), answers=answers), judged=None, tested=None)

    few = [screened(15, 0.2, 9), screened(14, 0.15, 10), screened(13, 0.1, 11)]
    found = choose(THREE, Budget(max_buckets=10), few)
    assert f"Candidate {few[1].id}, which was screened and not attacked, fits by counting" in found.sentence
    assert best_screened(few, Budget(max_buckets=5), THREE.untouched_validation) is None
    assert "screened" not in choose(THREE, Budget(max_buckets=5), few).sentence


def test_where_nothing_is_allowed_the_smallest_is_the_nearest() -> None:
    assert choose(THREE, Budget(max_buckets=0)).nearest == THREE.points[2].id
    crowded = make(figures(0.105, 0.1, unique=9), figures(0.12, 0.3, unique=2))
    assert choose(crowded, Budget(max_unique=0)).nearest == crowded.points[1].id


def test_that_nothing_would_do_is_said_whether_a_candidate_fits_or_not() -> None:
    one = make(figures(0.105, 0.1))
    loose = choose(one, Budget(max_error_increase=0.5)).sentence
    assert loose.startswith("On the validation part the one candidate of the frontier keeps this limit")
    assert "It does so: the model errs" in loose
    assert "of them" not in loose
    assert loose.endswith(" To ask nothing at all would keep it too: allow less, or do not ask.")
    for limits, them in (({}, "it"), ({"max_error_increase": 0.5}, "them")):
        none = choose(one, Budget(max_asked=0, **limits)).sentence
        assert none.endswith(f" To ask nothing at all keeps {them}, and needs no form.")
    assert "nothing at all" not in choose(one, Budget(max_error_increase=0.001, max_asked=0)).sentence


def test_what_is_missed_on_test_is_said() -> None:
    front = make(figures(0.105, 0.2), test=figures(0.15, 0.1))
    found = choose(front, Budget(max_error_increase=0.01))
    assert found.fits
    (missed,) = found.missed
    assert missed is found.promise
    assert missed.words == "the model errs 5.0 points more than with everything asked, allowed is 1.0"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"max_error": -0.1}, "max_error must be between 0 and 1; got -0.1"),
        ({"max_error": float("nan")}, "max_error must be between 0 and 1; got nan"),
        ({"max_error_increase": "a"}, "max_error_increase must be between 0 and 1; got 'a'"),
        ({"min_adversary_error": {"sex": 1.5}}, "min_adversary_error of sex must be between 0 and 1; got 1.5"),
        ({"max_unique": 0.5}, "max_unique must be a whole number from 0; got 0.5"),
        ({"max_asked": -1}, "max_asked must be a whole number from 0; got -1"),
    ],
)
def test_a_wrong_budget_is_refused(wrong: Any, complaint: str) -> None:
    with pytest.raises(ParameterError, match=complaint):
        Budget(**wrong)


def test_more_than_guessing_is_impossible() -> None:
    with pytest.raises(
        ParameterError, match=r"sex=0.51 is impossible: nobody errs more than the guess, 0.500 about"
    ):
        choose(THREE, Budget(min_adversary_error={"sex": 0.51}))
    with pytest.raises(ParameterError, match="no personal attribute 'sx'; did you mean 'sex'"):
        choose(THREE, Budget(min_adversary_error={"sx": 0.1}))


@pytest.mark.parametrize("guess", [0.6366, 0.637, 0.29, 0.5])
def test_the_most_that_can_be_asked_for_is_not_refused(guess: float) -> None:
    with pytest.raises(ParameterError, match="at most that") as refused:
        Budget(min_adversary_error={"mean": 0.7}).check({}, guess, ())
    named = float(str(refused.value).partition("the guess, ")[2].partition(" ")[0])
    assert guess - named < 0.001
    Budget(min_adversary_error={"mean": named}).check({}, guess, ())


@given(points, st.floats(0, 0.3))
def test_whatever_is_chosen_keeps_the_budget_and_nothing_better_does(found: Any, most: float) -> None:
    front = make(*(figures(*point) for point in sorted(found)), sizes=[(1, 1)] * len(found))
    budget = Budget(max_error_increase=most)
    choice = choose(front, budget)
    kept = [p for p in front.points if not budget.problems(p.validation, front.untouched_validation.utility_risk)]
    assert (choice.candidate is None) == (not kept)
    if kept:
        best = front[str(choice.candidate)]
        assert best in kept
        assert best.validation.adversary_error == max(p.validation.adversary_error for p in kept)


@given(points, st.floats(0, 0.3), st.floats(0, 0.3))
def test_a_looser_budget_is_never_less_safe(found: Any, first: float, second: float) -> None:
    front = make(*(figures(*point) for point in sorted(found)), sizes=[(1, 1)] * len(found))
    tight, loose = (choose(front, Budget(max_error_increase=m)) for m in sorted((first, second)))
    if tight.candidate is not None:
        assert loose.candidate is not None
        errors = [front[str(c.candidate)].validation.adversary_error for c in (tight, loose)]
        assert errors[0] <= errors[1]


def increased(front: Frontier, *increases: tuple[float, float]) -> Frontier:
    """Return the frontier with paired increases (mean, standard error) on both parts."""
    points = []
    for point, (mean, error) in zip(front.points, increases, strict=True):
        changed = replace(point.validation, increase=Difference(mean, error), people=1000)
        points.append(replace(point, judged=changed, tested=changed))
    return replace(front, points=tuple(points))


def said_of(choice: Choice) -> str:
    """Return what is said of the limit on the increase of the error."""
    assert choice.promise is not None
    return choice.promise.sentence


def test_nothing_is_asked_where_not_even_all_answers_tell():
    """What asking nothing seems to lose is chance then, though it lies beyond the limit."""
    points = increased(THREE, (0.001, 0.02), (0.004, 0.02), (0.019, 0.028)).points
    last = replace(points[2], asked=0, answers=0)
    nothing = replace(THREE.suppressed_validation, increase=Difference(0.019, 0.028))
    untold = replace(THREE, points=(*points[:2], last), suppressed_validation=nothing)
    found = choose(untold, Budget(max_error_increase=0.01))
    assert (found.candidate, found.fits, found.missed) == (last.id, True, ())
    assert said_of(found) == "Probably kept on the test part: what that loses cannot be told from chance."
    assert "no reason to ask anything" in found.sentence
    told = replace(untold, suppressed_validation=replace(nothing, increase=Difference(0.019, 0.005)))
    assert choose(told, Budget(max_error_increase=0.01)).candidate != last.id
    tested = replace(last.test, increase=Difference(0.05, 0.005))
    denied = replace(untold, points=(*points[:2], replace(last, tested=tested)))
    assert said_of(choose(denied, Budget(max_error_increase=0.01))).startswith("Missed on the test part: ")
    tested = replace(last.test, increase=Difference(0.084, 0.033))  # not by chance, says the test part
    doubted = replace(last, tested=tested)
    found = choose(replace(untold, points=(*points[:2], doubted)), Budget(max_error_increase=0.01))
    assert said_of(found).startswith("Probably missed on the test part: ")


def test_a_grouping_of_one_group_has_no_gap():
    one, two = {"a": Difference(0.0, 0.01)}, {"n": Difference(0.0, 0.01), "s": Difference(0.08, 0.01)}
    alike = {"f": Difference(0.0, 0.01), "m": Difference(0.0, 0.01)}
    for increases in ({"x": one, "y": two}, {"x": alike, "y": two}):
        judged = replace(figures(0.1, 0.1), groups=GroupErrors(increases=increases, worst=Difference(0.2, 0.01)))
        (missed,) = verdicts(Budget(max_group_gap=0.02), judged, 0.1)
        assert missed.missed
        assert missed.finding.startswith("two groups differ by 0.0")


def test_a_limit_must_be_kept_with_a_margin_for_chance():
    sure = increased(THREE, (0.001, 0.001), (0.004, 0.002), (0.009, 0.004))
    chosen = choose(sure, Budget(max_error_increase=0.01))
    assert chosen.candidate == sure.points[1].id  # the third keeps it by its estimate only
    assert said_of(chosen).startswith(
        "Kept on the test part: with 90\xa0% confidence the model errs at most 0.8 points more"  # 8 people, not 4
    )
    easy = choose(sure, Budget(max_error_increase=0.01, confidence=0.5))
    assert easy.candidate == sure.points[2].id


def test_where_none_is_sure_the_most_probable_one_is_taken_and_it_is_said():
    unsure = increased(THREE, (0.002, 0.01), (0.004, 0.012), (0.008, 0.012))
    chosen = choose(unsure, Budget(max_error_increase=0.01, confidence=0.99))
    assert chosen.candidate == unsure.points[1].id  # safer than the first, and hardly told to err more
    assert (
        "None of them keeps it with a margin for chance. This is the safest of those that most probably do"
        in chosen.sentence
    )
    both = choose(unsure, Budget(max_error_increase=0.01, confidence=0.99, max_buckets=1000))
    assert "None of them keeps all with a margin for chance" in both.sentence
    assert said_of(chosen).startswith("Probably kept on the test part: the model errs 0.4 points more")
    assert "more people to test would tell" in said_of(chosen)


def test_a_margin_for_chance_in_choosing_is_less_than_what_a_claim_takes():
    near = increased(THREE, (0.001, 0.001), (0.004, 0.004), (0.008, 0.0015))
    chosen = choose(near, Budget(max_error_increase=0.01))
    assert chosen.candidate == near.points[2].id  # 0.8 points and 1.28 times 0.15; a claim takes 1.6 times
    assert said_of(chosen).startswith("Probably kept")


def test_a_limit_that_test_denies_is_missed():
    found = increased(THREE, (0.001, 0.001), (0.004, 0.002), (0.03, 0.004))
    front = replace(
        found,
        points=(
            found.points[0],
            replace(found.points[1], tested=replace(found.points[1].test, increase=Difference(0.02, 0.002))),
            found.points[2],
        ),
    )
    assert said_of(choose(front, Budget(max_error_increase=0.01))).startswith(
        "Missed on the test part: the model errs 2.0 points"
    )


def test_a_share_of_people_alone_is_a_limit():
    front = increased(THREE, *[(0.0, 0.001)] * 3)
    shares = [point.validation.unique_people / 1000 for point in front.points]
    budget = Budget(max_error_increase=0.5, max_unique_share=min(shares))
    chosen = choose(front, budget)
    assert chosen.candidate is not None
    assert front[chosen.candidate].validation.unique_people / 1000 <= min(shares)


def test_limits_of_groups_are_held_where_groups_are_known() -> None:
    budget = Budget(max_group_gap=0.02, max_group_error=0.3)
    pays = replace(_any_figures(), groups=served(0.05, 0.25))
    assert budget.problems(pays, 0.1) == [
        "two groups differ by 0.0500 in how much more the model errs, allowed is 0.02"
    ]
    # A candidate that was only screened has no such figures.
    assert budget.problems(_any_figures(), 0.1) == []
    with pytest.raises(ParameterError, match="need declared groups"):
        budget.check_groups(False)


def served(gap: float, error: float, standard_error: float = 1e-6) -> GroupErrors:
    """Two groups, of which one pays so much and the other nothing."""
    own = {"men": Difference(gap, standard_error), "women": Difference(0.0, standard_error)}
    return GroupErrors(increases={"sex": own}, worst=Difference(error, standard_error))


def _any_figures() -> Figures:
    return Figures(
        utility_risk=0.1,
        utility_interval=Interval(0.0, 0.2),
        adversary_error=0.3,
        adversary_interval=Interval(0.2, 0.4),
        by_attribute={},
        certified=None,
        unique_people=0,
    )


def serving(front: Frontier, *gaps: tuple[float, float]) -> Frontier:
    """Return the frontier with two groups of each candidate that lie so far apart, by so much for sure."""
    pairs = zip(front.points, gaps, strict=True)
    points = [replace(p, judged=replace(p.judged, groups=served(gap, 0.2, se))) for p, (gap, se) in pairs]
    return replace(front, points=tuple(points))


def test_a_gap_is_held_with_a_margin_for_chance() -> None:
    front = serving(increased(THREE, *[(0.0, 0.0001)] * 3), (0.0, 0.0001), (0.019, 0.0001), (0.019, 0.005))
    budget = Budget(max_error_increase=0.5, max_group_gap=0.02)
    assert choose(front, replace(budget, max_group_gap=None)).candidate == front.points[2].id
    assert choose(front, budget).candidate == front.points[1].id
    assert ", 2 of them with a margin for chance: " in choose(front, budget).sentence
    assert " This is the safest of those with a margin: " in choose(front, budget).sentence


def test_where_no_gap_is_sure_the_likeliest_is_taken_and_where_none_fits_the_smallest_is_nearest() -> None:
    front = serving(increased(THREE, *[(0.0, 0.0001)] * 3), (0.015, 0.008), (0.019, 0.02), (0.09, 0.01))
    unsure = choose(front, Budget(max_group_gap=0.015))
    assert unsure.candidate == front.points[0].id
    assert "None of them keeps all with a margin for chance" in unsure.sentence
    sure = serving(increased(THREE, *[(0.0, 0.0001)] * 3), (0.05, 0.001), (0.04, 0.001), (0.09, 0.001))
    nothing = choose(sure, Budget(max_error_increase=0.5, max_group_gap=0.01))
    assert (nothing.candidate, nothing.nearest) == (None, sure.points[1].id)


def test_candidates_of_small_gaps_have_a_place() -> None:
    front = serving(increased(THREE, *[(0.0, 0.0001)] * 3), (0.01, 0.0001), (0.02, 0.0001), (0.015, 0.0001))
    budget = Budget(max_group_gap=0.01)
    places = serving_alike(front.points, budget, 0.1)
    assert places == [0, 2]  # the second is less safe than the third, and its groups lie farther apart
    assert serving_alike(front.points, Budget(max_group_error=0.1), 0.1) == []
    assert serving_alike([], budget, 0.1) == []


def test_beliefs_may_take_back_what_labels_confirm_by_luck_and_never_confirm_alone():
    lucky, unlucky = Difference(0.001, 0.004), Difference(0.009, 0.004)

    def said(increase: Difference, expected: float | None = None) -> str:
        judged = replace(figures(0.1, 0.1), people=1000)
        return about_increase(Budget(max_error_increase=0.01), increase, judged, expected).sentence

    assert said(lucky).startswith("Kept")
    assert said(lucky, 0.002).startswith("Kept")
    doubted = said(lucky, 0.02)
    assert doubted.startswith("Probably kept")
    assert "by what a classifier expects that is told everything" in doubted
    assert "more people" not in doubted
    assert said(unlucky, 0.0) == said(unlucky)


def test_one_person_is_not_spoken_of_as_people() -> None:
    assert "at most 1 person is alone" in Budget(max_unique=1).words()
    assert "at most 2 people are alone" in Budget(max_unique=2).words()
    (one,) = Budget(max_unique=0).problems(figures(0.1, 0.2, unique=1), 0.1)
    assert one == "1 person is alone with their record, allowed are 0"
    (two,) = Budget(max_unique=1).problems(figures(0.1, 0.2, unique=2), 0.1)
    assert two == "2 people are alone with their record, allowed is 1"
