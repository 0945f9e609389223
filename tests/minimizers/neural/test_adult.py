"""Both neural minimizers between their limits, on Adult: minutes, so only in the long run of tests."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import spearmanr

pytest.importorskip("torch")

from leastwise import Generalization, Table
from leastwise.adversaries import Breach, Reconstruction
from leastwise.adversaries.guessing import StrongestOf
from leastwise.datasets import load_adult
from leastwise.evaluation.utility import utility_risk
from leastwise.minimizers import AdvTrainMinimizer, MutualInfMinimizer
from leastwise.predictors import mlp2
from leastwise.records.table import Split

pytestmark = pytest.mark.slow
SEEDS = (0, 1, 2)


@cache
def adult(seed: int) -> Split:
    data = load_adult()
    return Table.from_frame(data.frame, data.schema).split(seed)


def error_of_a1(generalization: Generalization, split: Split) -> float:
    breach = Breach.of(generalization, split)
    return Reconstruction(StrongestOf(quick=True)).attack(breach).adversary_error


def error_of_a_network(generalization: Generalization, split: Split) -> float:
    """The paper's network, trained as in the paper, whatever it sees: L2 is chosen from its grid on validation."""
    return utility_risk(generalization, split, [mlp2()]).error


def test_at_0_advtrain_is_as_useful_as_a_plain_network_on_everything() -> None:
    """The same kind of network, trained in the same way, on generalized records and on the one-hot originals."""
    gaps = []
    for seed in SEEDS:
        found = AdvTrainMinimizer(0.0, random_state=seed).minimize(adult(seed).train.with_own_levels())
        plain = Generalization.untouched(found.schema)
        gaps.append(error_of_a_network(found, adult(seed)) - error_of_a_network(plain, adult(seed)))
    print("gaps at 0:", np.round(gaps, 4))
    assert np.mean(gaps) <= 0.01
    assert max(gaps) <= 0.015


@pytest.mark.parametrize(("kind", "lam"), [(AdvTrainMinimizer, 0.99), (MutualInfMinimizer, 0.5)])
def test_near_1_the_adversary_errs_as_if_nothing_were_asked(kind: type, lam: float) -> None:
    nothing = error_of_a1(Generalization.suppressed(adult(0).train.schema), adult(0))
    errors = [error_of_a1(kind(lam, random_state=seed).minimize(adult(0).train), adult(0)) for seed in SEEDS]
    print(f"{kind.__name__} at {lam}:", np.round(errors, 4), "nothing asked:", round(nothing, 4))
    assert min(errors) >= nothing - 0.02


@pytest.mark.parametrize(
    ("kind", "lams"),
    [(AdvTrainMinimizer, (0.0, 0.125, 0.3, 0.5, 0.9)), (MutualInfMinimizer, (0.0, 0.001, 0.005, 0.02, 0.05, 0.1))],
)
def test_between_the_limits_utility_is_given_up_for_privacy(kind: type, lams: tuple[float, ...]) -> None:
    """A trend, not a law: two neighbouring λ may change places, but both errors rise with λ over all seeds."""
    found = {
        (seed, lam): kind(lam, random_state=seed).minimize(adult(0).train) for seed in SEEDS[:2] for lam in lams
    }
    risks = {key: utility_risk(each, adult(0), quick=True).error for key, each in found.items()}
    errors = {key: error_of_a1(each, adult(0)) for key, each in found.items()}
    for name, judged in (("utility risk", risks), ("A1 error", errors)):
        trends = [spearmanr(lams, [judged[seed, lam] for lam in lams]).statistic for seed in SEEDS[:2]]
        shown = {seed: [round(judged[seed, lam], 4) for lam in lams] for seed in SEEDS[:2]}
        print(f"{kind.__name__} {name} at {lams}: {shown}, rank correlations {np.round(trends, 3)}")
        assert min(trends) >= 0.85
    nothing = error_of_a1(Generalization.suppressed(adult(0).train.schema), adult(0))
    for seed in SEEDS[:2]:
        assert errors[seed, lams[0]] < nothing / 2
        assert errors[seed, lams[-1]] > nothing - 0.05
