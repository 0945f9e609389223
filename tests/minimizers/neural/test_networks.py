"""The networks: monotone by construction, batched without mixing, weighted as if repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from leastwise.minimizers.neural.inputs import Layout  # noqa: E402
from leastwise.minimizers.neural.networks import (  # noqa: E402
    GeneralizationNetwork,
    MonotoneNetworks,
    Predictor,
    draw,
    first_steps,
    likeliest,
    tensor,
)
from leastwise.minimizers.neural.training import bucket_of_codes  # noqa: E402
from tests.minimizers.neural.small import people  # noqa: E402


def shaken(network: torch.nn.Module, random: np.random.Generator, size: float = 3.0) -> torch.nn.Module:
    """Return the network with arbitrary parameters: the laws hold wherever training may lead."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(tensor(random.normal(0, size, tuple(parameter.shape))))
    return network


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 5.0]))
def test_monotone_networks_never_turn_an_order_round(seed: int, size: float) -> None:
    random = np.random.default_rng(seed)
    networks = shaken(MonotoneNetworks(random.normal(size=(3, 8)), 0.5, 1.0, random), random, size)
    places = np.sort(random.random((40, 3)), axis=0)
    with torch.no_grad():
        moved = networks(tensor(places), tensor(random.random((40, 3)))).numpy()
    assert (np.diff(moved, axis=0) >= -1e-6).all()
    assert moved.min() >= 0
    assert moved.max() <= 1


def test_batched_networks_equal_one_network_at_a_time() -> None:
    random = np.random.default_rng(0)
    networks = shaken(MonotoneNetworks(random.normal(size=(3, 8)), 0.5, 1.0, random), random, 1.0)
    places, people = random.random((50, 3)), random.random((50, 3))
    together = networks(tensor(places), tensor(people)).detach().numpy()
    for i in range(3):
        alone = MonotoneNetworks(random.normal(size=(1, 8)), 0.5, 1.0, random)
        for mine, theirs in zip(alone.parameters(), networks.parameters(), strict=True):
            mine.data.copy_(theirs.data[i : i + 1])
        one = alone(tensor(places[:, i : i + 1]), tensor(people[:, i : i + 1])).detach().numpy()
        np.testing.assert_allclose(one[:, 0], together[:, i], atol=1e-4)


def test_a_person_that_counts_twice_is_two_people_to_the_normalization() -> None:
    random = np.random.default_rng(1)
    networks = MonotoneNetworks(random.normal(size=(2, 8)), 0.5, 1.0, random)
    places, twice = random.random((20, 2)), np.repeat(np.arange(20), [2] * 5 + [1] * 15)
    weights = np.repeat([[2.0], [1.0]], [5, 15], axis=0) * np.ones((1, 2))
    weighted = networks(tensor(places), tensor(weights)).detach().numpy()
    repeated = networks(tensor(places[twice]), tensor(np.ones((25, 2)))).detach().numpy()
    np.testing.assert_allclose(weighted[twice], repeated, atol=1e-6)


@pytest.mark.parametrize("k", [1, 2, 4, 5])
def test_together_everybody_begins_in_the_middle_bucket(k: int) -> None:
    layout = Layout.of(people(), k)
    network = GeneralizationNetwork(layout, k, False, np.random.default_rng(0))
    for buckets in bucket_of_codes(network, layout):
        assert set(buckets.tolist()) == {k // 2}


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8])
def test_apart_everybody_begins_in_the_run_that_tells_most_of_the_label(k: int) -> None:
    layout = Layout.of(people(), k)
    network = GeneralizationNetwork(layout, k, True, np.random.default_rng(0))
    for buckets, runs in zip(bucket_of_codes(network, layout), layout.runs, strict=True):
        np.testing.assert_array_equal(buckets, runs)


def test_the_first_steps_reach_every_place() -> None:
    layout = Layout.of(people(1000), 5)
    places, balance = layout.places[2][:, None], layout.balance[2][:, None]
    steps = first_steps(places, balance, np.random.default_rng(0))[0]
    mean = (places * balance).sum()
    reached = mean + steps * np.sqrt(((places - mean) ** 2 * balance).sum())
    assert reached.min() < places.min()
    assert reached.max() > places.max()


def test_each_code_has_probabilities_of_its_own() -> None:
    layout = Layout.of(people(60), 5)
    network = shaken(
        GeneralizationNetwork(layout, 5, False, np.random.default_rng(0)), np.random.default_rng(1), 1
    )
    before = network(1.0)
    with torch.no_grad():
        network.logits[0] += 1.0
    changed = (network(1.0) - before).abs().amax(dim=1) > 0
    assert changed.nonzero().flatten().tolist() == [0]
    assert len(before) == layout.starts[-1] == sum(len(use) for use in layout.use)


def test_the_colder_the_surer() -> None:
    network = GeneralizationNetwork(Layout.of(people(60), 5), 5, False, np.random.default_rng(0))
    hot, cold = (network(t).exp() for t in (2.0, 0.5))
    torch.testing.assert_close(hot.sum(dim=1), torch.ones(len(hot)))
    assert bool((cold.amax(dim=1) > hot.amax(dim=1)).all())


@pytest.mark.parametrize("choose", [likeliest, lambda log_p: draw(log_p, np.random.default_rng(0))])
def test_one_bucket_is_seen_with_the_gradient_of_the_probabilities(choose: Any) -> None:
    logits = torch.tensor([[[0.1, 0.7, 0.2]]], requires_grad=True)
    z = choose(torch.log_softmax(logits, dim=2))
    assert sorted(z.detach().flatten().tolist()) == pytest.approx([0, 0, 1], abs=1e-6)
    assert choose is not likeliest or z.argmax() == 1
    weights = torch.tensor([1.0, 2.0, 4.0])
    (found,) = torch.autograd.grad((z * weights).sum(), logits)
    (wanted,) = torch.autograd.grad((torch.softmax(logits, dim=2) * weights).sum(), logits)
    torch.testing.assert_close(found, wanted)


def test_samples_follow_the_probabilities() -> None:
    p = np.array([0.6, 0.3, 0.1])
    log_p = tensor(np.broadcast_to(np.log(p), (20_000, 1, 3)).copy())
    drawn = draw(log_p, np.random.default_rng(0))
    assert set(np.round(drawn.unique().numpy(), 6).tolist()) == {0.0, 1.0}
    assert drawn.mean(dim=(0, 1)).tolist() == pytest.approx(p.tolist(), abs=0.015)


def test_the_loss_of_a_predictor_is_averaged_over_the_people() -> None:
    random = np.random.default_rng(0)
    predictor = Predictor(6, (2, 3), random)
    z, truth = tensor(random.random((4, 2, 3))), torch.tensor([[0, 2], [1, 1], [1, 0], [0, 0]])
    doubled = predictor.losses(z, truth, torch.tensor([2, 1, 1, 1]) / 5)
    again = torch.tensor([0, 0, 1, 2, 3])
    torch.testing.assert_close(doubled, predictor.losses(z[again], truth[again], torch.ones(5) / 5))
