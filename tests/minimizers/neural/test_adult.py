"""Both neural minimizers between their limits, on Adult: minutes, so only in the long run of tests."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from leastwise import Generalization, Table
from leastwise.adversaries import Breach, Reconstruction
from leastwise.adversaries.guessing import StrongestOf
from leastwise.datasets import load_adult
from leastwise.evaluation.utility import utility_risk
from leastwise.minimizers import AdvTrainMinimizer, MutualInfMinimizer
from leastwise.predictors import mlp2
from leastwise.table import Split

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def adult() -> Split:
    data = load_adult()
    return Table.from_frame(data.frame, data.schema).split(0)


def error_of_a1(generalization: Generalization, split: Split) -> float:
    breach = Breach.of(generalization, split)
    return Reconstruction(StrongestOf(quick=True)).attack(breach).adversary_error


def test_at_0_advtrain_is_as_useful_as_a_plain_network_on_everything(adult: Split) -> None:
    untouched = Generalization.untouched(adult.train.schema)
    plain = utility_risk(untouched, adult, [mlp2(l2=(1e-4,))]).error
    found = AdvTrainMinimizer(0.0, random_state=0).minimize(adult.train)
    assert utility_risk(found, adult).error <= plain + 0.01


@pytest.mark.parametrize(("kind", "lam"), [(AdvTrainMinimizer, 0.99), (MutualInfMinimizer, 0.5)])
def test_near_1_the_adversary_errs_as_if_nothing_were_asked(kind: type, lam: float, adult: Split) -> None:
    nothing = error_of_a1(Generalization.suppressed(adult.train.schema), adult)
    found = kind(lam, random_state=0).minimize(adult.train)
    assert error_of_a1(found, adult) >= nothing - 0.02


@pytest.mark.parametrize(
    ("kind", "lams"), [(AdvTrainMinimizer, (0.0, 0.3, 0.9)), (MutualInfMinimizer, (0.001, 0.02, 0.1))]
)
def test_between_the_limits_utility_is_given_up_for_privacy(
    kind: type, lams: tuple[float, ...], adult: Split
) -> None:
    found = [kind(lam, random_state=0).minimize(adult.train) for lam in lams]
    risks = [utility_risk(generalization, adult, quick=True).error for generalization in found]
    errors = [error_of_a1(generalization, adult) for generalization in found]
    assert risks == sorted(risks)
    assert errors == sorted(errors)
    assert errors[-1] > errors[0] + 0.1
