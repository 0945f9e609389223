"""What keeps a limit surely: tested one after the other, in an order that the tests have no say in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import ParameterError
from leastwise.predictors.held_out import Difference
from leastwise.runs import Budget, Choice, Frontier, choose
from leastwise.runs.showing import how_to_be_sure
from leastwise.runs.surely import choose_surely, surely_keeping, surer_than
from leastwise.runs.verdicts import KEPT
from tests.runs.hand_made import candidate, figures, make

LIMIT = Budget(max_error_increase=0.01)
Increase = tuple[float, float]  # a mean and its standard error


def judged(estimates: Sequence[float], tests: Sequence[Increase], answers: Sequence[int] = ()) -> Frontier:
    """Return a frontier of these increases on validation and on test; each is safer than the one before."""
    front = make(
        *(figures(0.1 + estimate, 0.1 * (1 + i)) for i, estimate in enumerate(estimates)),
        sizes=[(3, each) for each in answers or [40 - i for i in range(len(estimates))]],
    )
    points = [
        replace(
            point,
            judged=replace(point.validation, increase=Difference(estimate, 0.001), people=20_000),
            tested=replace(point.test, increase=Difference(*told), people=20_000),
        )
        for point, estimate, told in zip(front.points, estimates, tests, strict=True)
    ]
    return replace(front, points=tuple(points))


def numbers(front: Frontier, budget: Budget = LIMIT) -> list[int]:
    return [int(point.id, 16) for point in surely_keeping(front, budget)]


def test_the_first_that_is_not_confirmed_ends_it() -> None:
    sure, unsure = (0.001, 0.001), (0.009, 0.004)
    assert numbers(judged([0.001, 0.002, 0.003], [sure, unsure, sure])) == [0]
    assert numbers(judged([0.001, 0.002, 0.003], [sure, sure, unsure])) == [0, 1]
    assert numbers(judged([0.001, 0.002, 0.003], [unsure, sure, sure])) == []
    assert numbers(judged([0.003, 0.002, 0.001], [unsure, sure, sure])) == [2, 1]  # validation settles the order


def test_the_safest_of_them_is_chosen_and_kept_is_what_is_said() -> None:
    front = judged([0.001, 0.004, 0.008], [(0.001, 0.001), (0.004, 0.002), (0.008, 0.003)])
    found = choose_surely(front, LIMIT)
    assert Choice.from_json(found.to_json()) == found
    assert int(str(found.candidate), 16) == 1
    assert found.promise is not None
    assert found.promise.standing == KEPT
    assert found.fits
    assert found.surely
    assert found.sentence == (
        "2 of the 3 that come into question surely keep the limit on the error: the model errs at most 1 point "
        "more than with everything asked. The test part confirms it, 90\u00a0% sure of all of them together: one "
        "tested after the other, in an order that the validation part settled. This is the safest of them on the "
        "validation part: the model errs 0.104, A1 is wrong 0.200 of the time; the model is estimated to err 0.4 "
        "points more than with everything asked (0.5 with a margin)."
    )
    plain = choose(front, LIMIT)
    assert int(str(plain.candidate), 16) == 2  # by its estimate it keeps the limit, too
    assert surer_than(plain, front) == front.points[1]
    assert surer_than(found, front) is None


def test_other_limits_hold_too_and_no_form_that_nobody_would_answer_is_in_the_way() -> None:
    front = judged([0.001, 0.002, 0.003], [(0.02, 0.003), (0.002, 0.001), (0.003, 0.001)], answers=[300, 50, 20])
    assert numbers(front) == [1, 2]
    assert numbers(front, replace(LIMIT, max_buckets=30)) == [2]
    found = choose_surely(front, replace(LIMIT, max_buckets=30))
    assert found.candidate == front.points[2].id
    assert found.sentence.startswith("The one that comes into question surely keeps the limit on the error: ")
    assert "On the validation part it keeps the other limits, too: at most 30 answers in all." in found.sentence
    none = choose_surely(front, replace(LIMIT, max_buckets=10))
    assert none.candidate is None
    assert "What binds: there are 20 answers in all, allowed are 10" in none.sentence


def test_what_a_run_cannot_tell_is_refused() -> None:
    front = judged([0.001], [(0.001, 0.001)])
    with pytest.raises(ParameterError, match="groups"):
        choose_surely(front, replace(LIMIT, max_group_gap=0.01))


def test_where_none_is_sure_it_says_so_and_what_to_do() -> None:
    front = judged([0.004, 0.005], [(0.004, 0.004), (0.001, 0.001)])
    found = choose_surely(front, LIMIT)
    assert (found.candidate, found.nearest, found.fits) == (None, None, False)
    assert "The test part does not confirm, 90\u00a0% sure of all together" in found.sentence
    assert "of 000000000000, the first in the order, the model errs 0.4 points more" in found.sentence
    assert "more people to test would tell; none after it was tested" in found.sentence
    assert choose_surely(front, replace(LIMIT, confidence=0.6)).candidate is not None


def test_where_no_limit_is_stated_the_default_is_one() -> None:
    front = judged([0.001], [(0.001, 0.001)])
    assert choose_surely(front, None).candidate == front.points[0].id
    found = choose_surely(front, Budget(max_unique=1))
    assert (found.candidate, found.budget.max_error_increase) == (front.points[0].id, 0.01)


@given(st.lists(st.tuples(st.floats(0, 0.02), st.floats(0, 0.02), st.floats(1e-4, 0.005)), min_size=1, max_size=8))
def test_whoever_is_sure_is_confirmed_and_a_larger_limit_makes_nobody_unsure(
    made: list[tuple[float, float, float]],
) -> None:
    front = judged([each[0] for each in made], [(mean, error) for _, mean, error in made], [9] * len(made))
    less, more = numbers(front), numbers(front, Budget(max_error_increase=0.02))
    assert more[: len(less)] == less
    for number in less:
        mean, error = made[number][1:]
        assert mean + 1.28 * error <= 0.01


def test_all_claims_together_are_as_sure_as_is_said() -> None:
    """Of many candidates close to the limit, tested one by one, somebody beyond it is confirmed by luck."""
    random, false, singly = np.random.default_rng(0), 0, 0
    truth, error, times = np.linspace(0.0085, 0.0115, 12), 0.001, 400
    for _ in range(times):
        estimates = truth + random.normal(0, error, len(truth))
        told = truth + random.normal(0, error, len(truth))
        front = judged(estimates.tolist(), [(float(mean), error) for mean in told], [9] * len(truth))
        false += any(truth[number] > 0.01 for number in numbers(front))
        singly += bool((told[truth > 0.01] + 1.28 * error <= 0.01).any())
    assert false / times <= 0.1
    assert singly / times > 0.1  # what testing each by itself would have done


def test_who_is_told_that_nothing_need_be_asked_is_not_advised_to_ask():
    asking, nothing = candidate(1, figures(0.1, 0.2), asked=2), candidate(2, figures(0.2, 0.4), asked=0)
    choice = SimpleNamespace(candidate=nothing.id, budget=Budget(max_error_increase=0.1))
    run = SimpleNamespace(surer=asking, choice=choice, frontier={each.id: each for each in (asking, nothing)})
    assert how_to_be_sure(run, "run") == []  # type: ignore[arg-type]
    choice.candidate = asking.id
    assert how_to_be_sure(run, "run")  # type: ignore[arg-type]
