"""What the generalization is punished for, against slow truths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from leastwise.minimizers.neural.inputs import Inputs  # noqa: E402
from leastwise.minimizers.neural.networks import draw, tensor  # noqa: E402
from leastwise.minimizers.neural.training import (  # noqa: E402
    AdversarialTraining,
    Batch,
    information_bound,
)
from tests.minimizers.neural.small import people  # noqa: E402


def probabilities(records: int, attributes: int, k: int, seed: int) -> np.ndarray:
    logits = np.random.default_rng(seed).normal(0, 1.5, (records, attributes, k))
    return np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)


def mean_divergence(p: np.ndarray, shares: np.ndarray) -> float:
    """The mean over all pairs of people of the divergence between their buckets, by loops."""
    total = 0.0
    for a, b in itertools.product(range(len(p)), repeat=2):
        total += shares[a] * shares[b] * float((p[a] * np.log(p[a] / p[b])).sum())
    return total


def mutual_information(p: np.ndarray, shares: np.ndarray) -> float:
    """The mutual information of record and generalized record, over all joint buckets."""
    total = 0.0
    for z in itertools.product(range(p.shape[2]), repeat=p.shape[1]):
        given = np.prod([p[:, i, j] for i, j in enumerate(z)], axis=0)
        total += float((shares * given * np.log(given / (shares @ given))).sum())
    return total


@pytest.mark.parametrize("seed", range(5))
def test_the_bound_is_the_mean_divergence_and_lies_above_the_information(seed: int) -> None:
    p = probabilities(6, 3, 4, seed)
    shares = np.random.default_rng(seed).dirichlet(np.ones(6))
    bound = float(information_bound(tensor(np.log(p)), tensor(shares)))
    assert bound == pytest.approx(mean_divergence(p, shares), rel=1e-4)
    assert bound >= mutual_information(p, shares)


def test_the_bound_is_0_where_all_people_look_the_same() -> None:
    p = np.repeat(probabilities(1, 3, 4, 0), 5, axis=0)
    assert float(information_bound(tensor(np.log(p)), torch.full((5,), 0.2))) == pytest.approx(0, abs=1e-6)


RANDOM = np.random.default_rng(1)


def drawn(log_p: torch.Tensor) -> torch.Tensor:
    return draw(log_p, RANDOM)


def told_and_untold() -> tuple[Inputs, Batch, torch.Tensor, torch.Tensor]:
    """Records, and log-probabilities that tell the personal attribute or nothing."""
    inputs = Inputs.of(people(400), 3)
    batch = Batch.of(inputs)
    telling = torch.full((400, 4, 3), -8.0).scatter_(2, batch.targets[:, :1, None].expand(-1, 4, 1), 8.0)
    return inputs, batch, torch.log_softmax(telling, dim=2), torch.full((400, 4, 3), float(-np.log(3)))


@pytest.mark.slow
def test_the_adversary_learns_what_is_told_and_guesses_what_is_not() -> None:
    inputs, batch, telling, silent = told_and_untold()
    objective = AdversarialTraining(inputs, 3, 1, np.random.default_rng(0))
    assert [objective.penalty(telling, drawn(telling), batch, 0.01).item() for _ in range(150)][-1] > -0.05
    objective = AdversarialTraining(inputs, 3, 1, np.random.default_rng(0))
    last = [objective.penalty(silent, drawn(silent), batch, 0.01).item() for _ in range(60)]
    use = np.bincount(inputs.targets[:, 0]) / 400
    assert np.mean(last[-20:]) == pytest.approx((use * np.log(use)).sum(), abs=0.05)


@pytest.mark.slow
def test_an_adversary_worse_than_guessing_is_no_success() -> None:
    inputs, batch, telling, _ = told_and_untold()
    objective = AdversarialTraining(inputs, 3, 1, np.random.default_rng(0))
    for _ in range(150):
        objective.penalty(telling, drawn(telling), batch, 0.01)
    # Everybody moves on to the next bucket at once: the adversary is surely wrong, until it learns.
    moved = telling.roll(1, dims=2).clone().requires_grad_()
    penalty = objective.penalty(moved, drawn(moved), batch, 0.0)
    use = np.bincount(inputs.targets[:, 0]) / 400
    assert penalty.item() == pytest.approx((use * np.log(use)).sum(), abs=1e-3)
    penalty.backward()
    assert float(moved.grad.abs().max()) == 0
