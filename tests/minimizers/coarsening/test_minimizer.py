"""Coarsening as a minimizer: as safe as the allowed loss permits."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization, Table
from leastwise.datasets import load_adult
from leastwise.errors import ParameterError
from leastwise.minimizers import MINIMIZERS, CoarseningMinimizer, Constraints
from leastwise.minimizers.coarsening.minimizer import _Judge, _parts, unbeaten
from leastwise.minimizers.coarsening.path import Step
from leastwise.predictors.held_out import MARGIN
from tests.samples import a_secret_and_its_twin

CLAIMED = MARGIN * 1.2816
"""Standard errors with which a limit is kept at the confidence of .9."""


def test_it_drops_what_leaks_and_keeps_what_is_useful():
    found = CoarseningMinimizer(0.01).propose(a_secret_and_its_twin())
    assert found.collected == ("useful",)
    assert found.origin["minimizer"] == "coarsening"
    assert found.origin["max_error_increase"] == 0.01


def test_whoever_allows_everything_is_asked_nothing():
    assert CoarseningMinimizer(1.0).minimize(a_secret_and_its_twin(800)).collected == ()


def test_steps_that_are_beaten_are_left_out_and_equally_safe_ones_too():
    risks_and_errors = [(0.1, 0.2), (0.12, 0.5), (0.11, 0.4), (0.115, 0.4005), (0.13, 0.3)]
    steps = [Step(Generalization(()), risk, error) for risk, error in risks_and_errors]
    assert [(s.utility_risk, s.adversary_error) for s in unbeaten(steps)] == [(0.1, 0.2), (0.11, 0.4), (0.12, 0.5)]


def test_more_allowed_loss_is_never_less_safe():
    table = a_secret_and_its_twin()
    asked = [CoarseningMinimizer(loss).minimize(table).total_buckets for loss in (0.0, 0.02, 0.2, 1.0)]
    assert asked == sorted(asked, reverse=True)
    assert asked[-1] < asked[0]


def test_the_increase_is_told_on_records_that_it_was_not_made_of():
    minimizer = CoarseningMinimizer(0.02)
    table = a_secret_and_its_twin()
    found = minimizer.minimize(table)
    assert minimizer.increase_.bound(CLAIMED) <= 0.02
    assert minimizer.increase_ == _Judge.of(*_parts(table, 0), 0, 1.0).cost(found)
    assert sum(len(path) for path in minimizer.steps_) > 3


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "most"), [(0, 0.02), (1, 0.02), (2, 0.01)])
def test_what_is_returned_keeps_the_limit_where_anything_does(seed: int, most: float):
    adult = load_adult()
    table = Table.from_frame(adult.frame, adult.schema)
    table = table.take(np.sort(np.random.default_rng(seed).permutation(len(table))[:4_000]))
    minimizer = CoarseningMinimizer(most, random_state=seed)
    minimizer.minimize(table)
    assert minimizer.increase_.bound(CLAIMED) <= most


def test_it_is_registered_and_takes_frames():
    assert MINIMIZERS["coarsening"] is CoarseningMinimizer
    table = a_secret_and_its_twin(400)
    fitted = CoarseningMinimizer(0.02).fit(table.codes.astype(float), table.y)
    assert fitted.transform(table.codes.astype(float)).shape == table.codes.shape
    assert np.unique(fitted.transform(table.codes.astype(float))[:, 0]).size >= 2


@pytest.mark.parametrize("loss", [-0.1, 1.1, float("nan")])
def test_a_loss_that_is_no_share_is_refused(loss):
    with pytest.raises(ParameterError, match="max_error_increase"):
        CoarseningMinimizer(loss).minimize(a_secret_and_its_twin(50))


def test_it_holds_to_constraints():
    found = CoarseningMinimizer(0.02, constraints=Constraints(untouched=["twin"])).minimize(
        a_secret_and_its_twin(600)
    )
    assert set(found.collected) >= {"twin", "useful"}
