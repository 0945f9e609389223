"""What the judge says that a limit leaves is spent on safety and on fewer answers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastwise import Generalization
from leastwise.minimizers.merging import everything_asked
from leastwise.predictors.held_out import Difference
from leastwise.progress import Silent
from leastwise.runs import Budget, Candidate, Options, Workers, spending
from leastwise.runs import folder as places
from leastwise.runs.grid import default_grid
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked, guess_labels
from leastwise.runs.polishing import Allowed, Polishing
from leastwise.runs.proposals import EVERYTHING, Pool, candidate_that_asks_everything, screen_by_counting
from leastwise.runs.spending import Judgement, Way, spend_what_is_left, worth_going_on
from leastwise.runs.task import SHARES, task_of
from tests.runs.hand_made import candidate, figures
from tests.runs.small import records

ALLOWED = Allowed(0.01, 1.0)


def test_merging_goes_on_from_the_safest_that_leave_something_and_from_who_leaves_most():
    front = [candidate(number, figures(0.2, 0.1 * number)) for number in range(4)]
    left = {front[0].id: 0.008, front[1].id: 0.004, front[2].id: 0.0005, front[3].id: -0.011}
    assert worth_going_on(front, left, ALLOWED, 2) == [front[1], front[0]]  # the third leaves next to nothing
    assert worth_going_on(front, left, ALLOWED, 1) == [front[1]]
    between = candidate(9, figures(0.2, 0.05))
    left[between.id] = 0.005
    assert worth_going_on([*front, between], left, ALLOWED, 2) == [front[1], front[0]]


@given(st.integers(1, 40), st.integers(-1, 60))
def test_a_path_is_bisected_to_the_last_form_that_keeps_the_limit(length: int, last: int):
    """Where a form misses the limit, so does every coarser one: then few questions find the last that keeps it."""
    forms = [candidate(number, figures(0.2, 0.1)) for number in range(length)]
    left = {each.id: float(last - place) for place, each in enumerate(forms)}
    way, questions = Way(tuple(each.generalization for each in forms), {0: forms[0]}), 0
    while (place := way.next(left)) is not None:
        assert place not in way.judged
        way.judged[place], questions = forms[place], questions + 1
    assert way.kept(left) == min(max(last, 0), length - 1)  # where it begins, it is taken to keep it
    assert questions <= length.bit_length()


@pytest.fixture
def begun(tmp_path: Path) -> SimpleNamespace:
    """Return a job, and everything asked as the one candidate there is."""
    split = records(2_000).split(0, SHARES)
    options, grid = Options(budget=Budget(max_error_increase=0.05), quick=True), default_grid(True)
    task = task_of(records(2_000), split, grid, options, "few")
    places.prepare(tmp_path, task, fresh=False)
    job = Job(tmp_path, split, task, grid, options, Workers(), Silent())
    whole = candidate_that_asks_everything(split.train, [], None)
    assert whole is not None
    screened = screen_by_counting(whole.generalization, split, 1).figures
    how = Polishing(split, split, 9, everything_asked(split.train, split.validation), None)
    whole = how.coarsened(whole, whole.generalization, None)
    asked = guess_labels(job, Asked.limits(split.train, options.budget or Budget()).and_also([whole]))
    return SimpleNamespace(job=job, front=[whole], asked=asked, how=how, safety=screened.adversary_error)


def test_what_is_left_becomes_safety_and_fewer_answers(begun: SimpleNamespace):
    allowed, (whole,) = Allowed.by(begun.job), begun.front
    assert allowed is not None
    pool, front, asked = spend_what_is_left(begun.job, Pool((whole,)), begun.front, begun.asked, begun.how)
    assert front[0] is whole
    assert {each.id for each in front} <= {each.id for each in pool.candidates}
    assert all(each.minimizer == EVERYTHING and each.answers < whole.answers for each in front[1:])
    increases = asked.increases(begun.job.split)[2:]
    kept = [each for each, cost in zip(front, increases, strict=True) if allowed.left(cost) >= 0]
    assert max(each.validation.adversary_error for each in kept) > whole.validation.adversary_error + 0.02


def test_a_search_that_ends_beyond_the_limit_tries_again_with_less(
    begun: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
):
    allowed, (whole,), told = Allowed.by(begun.job), begun.front, []
    assert allowed is not None
    judge = Judgement(begun.job, Pool((whole,)), begun.front, begun.asked, begun.how, allowed)
    beyond = begun.how.coarsened(whole, Generalization.suppressed(begun.job.split.train.schema), None)

    def too_far(one: Candidate, *rest: Any) -> Candidate:
        told.append(rest[-1])
        return beyond if len(told) == 1 else one

    monkeypatch.setattr(spending, "with_fewer_answers", too_far)
    judge.ask_less([whole, whole], 0.5)
    assert judge.left[beyond.id] < 0 < judge.left[whole.id]
    assert told == [0.0, pytest.approx(judge.left[whole.id] / 2 - judge.left[beyond.id])]
    _, front, asked = judge.worth_keeping()
    assert [each.id for each in front] == [whole.id, beyond.id]
    assert len(asked.generalizations) == 2 + len(front)


def test_of_new_ones_only_those_are_kept_that_somebody_would_choose(
    begun: SimpleNamespace,
):
    given = candidate(0, figures(0.2, 0.1), answers=20)
    longer = candidate(1, figures(0.2, 0.104), answers=30)  # about as safe
    safer = candidate(2, figures(0.2, 0.12), answers=30)
    dearer = candidate(3, figures(0.2, 0.12), answers=30)
    cheaper = candidate(4, figures(0.2, 0.1), answers=20)
    front, costs = [given, longer, safer, dearer, cheaper], [0.005, 0.006, 0.006, 0.007, 0.004]
    judge = Judgement(begun.job, Pool(()), begun.front, begun.asked, begun.how, ALLOWED)
    judge.front, judge._given = front, {given.id}
    judge.costs = {each.id: Difference(cost, 0.001) for each, cost in zip(front, costs, strict=True)}
    judge.asked = SimpleNamespace(only=lambda stays: stays)
    assert judge.worth_keeping() == (Pool(()), [given, safer, cheaper], [True, False, True, False, True])
    stated = replace(begun.job.task, budget=Budget(max_error_increase=0.01, max_unique=5))
    judge.job = replace(begun.job, task=stated)  # about that nothing is known here
    assert judge.worth_keeping()[1] == front


def test_nothing_is_spent_where_no_limit_says_how_much(begun: SimpleNamespace):
    job = begun.job
    task = task_of(records(2_000), job.split, job.grid, Options(budget=Budget(max_error=0.4)), "few")
    without = Job(job.folder, job.split, task, job.grid, job.options, job.workers, job.progress)
    found = spend_what_is_left(without, Pool(()), begun.front, begun.asked, begun.how)
    assert found == (Pool(()), begun.front, begun.asked)
