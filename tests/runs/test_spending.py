"""What the judge says that a limit leaves is spent on safety and on fewer answers."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from leastwise.minimizers.merging import everything_asked
from leastwise.predictors.held_out import Difference
from leastwise.progress import Silent
from leastwise.runs import Budget, Options, Workers
from leastwise.runs import folder as places
from leastwise.runs.grid import default_grid
from leastwise.runs.job import Job
from leastwise.runs.judging import Asked, guess_labels
from leastwise.runs.polishing import Allowed, Polished, Polishing
from leastwise.runs.proposals import EVERYTHING, Pool, candidate_that_asks_everything, screen_by_counting
from leastwise.runs.spending import spend_what_is_left, spending_best, worth_going_on
from leastwise.runs.task import SHARES, task_of
from tests.runs.hand_made import candidate, figures
from tests.runs.small import records

ALLOWED = Allowed(0.01, 1.0)


def costing(increase: float, safety: float, number: int) -> Polished:
    return Polished(candidate(number, figures(0.2, safety)), Difference(increase, 0.001))


def test_merging_goes_on_from_the_safest_that_leave_something_and_from_who_leaves_most():
    front = [candidate(number, figures(0.2, 0.1 * number)) for number in range(4)]
    costs = {front[0].id: 0.001, front[1].id: 0.005, front[2].id: 0.0085, front[3].id: 0.02}
    judged = {name: Difference(cost, 0.001) for name, cost in costs.items()}
    assert worth_going_on(front, judged, ALLOWED, 2) == [front[1], front[0]]  # the third leaves next to nothing
    assert worth_going_on(front, judged, ALLOWED, 1) == [front[1]]
    between = candidate(9, figures(0.2, 0.05))
    judged[between.id] = Difference(0.004, 0.001)
    assert worth_going_on([*front, between], judged, ALLOWED, 2) == [front[1], front[0]]


def test_the_safest_is_judged_that_seems_to_keep_the_limit_or_a_share_of_it():
    ways = [costing(0.0085, 0.3, 1), costing(0.0065, 0.2, 2), costing(0.002, 0.1, 3), costing(0.03, 0.4, 4)]
    assert spending_best(ways, ALLOWED, (1.0, 0.8, 0.5)) == ways[:3]
    assert spending_best(ways[3:], ALLOWED, (1.0, 0.8)) == ways[3:]  # nobody keeps it: the one that comes closest


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


def test_nothing_is_spent_where_no_limit_says_how_much(begun: SimpleNamespace):
    job = begun.job
    task = task_of(records(2_000), job.split, job.grid, Options(budget=Budget(max_error=0.4)), "few")
    without = Job(job.folder, job.split, task, job.grid, job.options, job.workers, job.progress)
    found = spend_what_is_left(without, Pool(()), begun.front, begun.asked, begun.how)
    assert found == (Pool(()), begun.front, begun.asked)
