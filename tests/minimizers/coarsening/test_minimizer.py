"""Coarsening as a minimizer: as safe as the allowed loss permits."""

from __future__ import annotations

import numpy as np
import pytest

from leastwise import Generalization
from leastwise.errors import ParameterError
from leastwise.minimizers import MINIMIZERS, CoarseningMinimizer, Constraints
from leastwise.minimizers.coarsening.minimizer import allowed_risk, fewest_answers, safest
from leastwise.minimizers.coarsening.path import Step
from tests.samples import a_secret_and_its_twin


def test_it_drops_what_leaks_and_keeps_what_is_useful():
    found = CoarseningMinimizer(0.01).propose(a_secret_and_its_twin())
    assert found.collected == ("useful",)
    assert found.origin["minimizer"] == "coarsening"
    assert found.origin["max_error_increase"] == 0.01


def test_whoever_allows_everything_is_asked_nothing():
    assert CoarseningMinimizer(1.0).minimize(a_secret_and_its_twin(800)).collected == ()


def test_the_safest_within_the_allowed_loss():
    steps = [Step(Generalization(()), risk, error) for risk, error in [(0.1, 0.2), (0.11, 0.4), (0.12, 0.5)]]
    assert [safest(steps, loss).adversary_error for loss in (0.0, 0.01, 0.015, 0.02)] == [0.2, 0.4, 0.4, 0.5]


def test_of_steps_that_are_equally_safe_the_coarsest_is_taken():
    table = a_secret_and_its_twin(400)
    fine, coarse = Generalization.untouched(table.schema), Generalization.suppressed(table.schema)
    assert safest([Step(fine, 0.1, 0.5004), Step(coarse, 0.1, 0.5)], 0.01).generalization == coarse
    assert safest([Step(fine, 0.1, 0.5014), Step(coarse, 0.1, 0.5)], 0.01).generalization == fine


def test_what_is_left_of_the_allowed_loss_is_spent_on_fewer_answers():
    minimizer = CoarseningMinimizer(0.02)
    found = minimizer.minimize(a_secret_and_its_twin())
    steps = [step for path in minimizer.steps_[:-1] for step in path]
    safe = safest(steps, 0.02).generalization
    assert found.is_coarser_than(safe)
    assert found.origin["answers_saved"] == safe.total_buckets - found.total_buckets > 0
    (risk,) = {step.utility_risk for step in minimizer.steps_[-1] if step.generalization == found}
    assert risk <= allowed_risk(steps, 0.02)


def test_answers_are_saved_only_within_the_allowed_loss():
    table = a_secret_and_its_twin(400)
    fine, coarse = Generalization.untouched(table.schema), Generalization.suppressed(table.schema)
    saving = [Step(fine, 0.10, 0.3), Step(coarse, 0.12, 0.5)]
    assert fewest_answers(saving, 0.12) is saving[1]
    assert fewest_answers(saving, 0.11) is saving[0]
    assert fewest_answers(saving, 0.05) is saving[0]
    last = Step(coarse, 0.10, 0.5)
    assert fewest_answers([*saving, last], 0.05) is last


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
