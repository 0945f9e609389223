"""The paper's networks: the schedule, the batched run against one network at a time, and life without torch."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from leastwise.errors import MissingExtraError
from leastwise.predictors import errors, guesses, mlp2, mlp3, mlp5
from leastwise.predictors.base import batches
from tests.predictors.populations import best_errors, masked_population, population

FEW = {"l2": (1e-6, 0.05)}


def test_the_rate_falls_after_ten_epochs_not_batches():
    train = population(700, 0)
    network = mlp2(**FEW).fit(train, population(100, 1))
    batches = 3
    assert network.rates_ == pytest.approx([0.01] * (10 * batches) + [0.001] * (10 * batches))


def test_shapes_and_names_are_the_papers():
    assert [(n.name, tuple(n.hidden)) for n in (mlp2(), mlp3(), mlp5())] == [
        ("mlp-2", (50,)),
        ("mlp-3", (100, 100)),
        ("mlp-5", (256,) * 4),
    ]
    assert len(mlp2().l2) == 11


def test_planted_leaks_are_found():
    train, validation, test = population(6000, 0), population(800, 1), population(5000, 2)
    network = mlp2(l2=(1e-5,), epochs=12).fit(train, validation)
    found = errors(guesses(network, test), test)
    assert (np.abs(found - best_errors()) < 0.02).all(), found


def test_excluded_values_have_no_probability():
    train, test = masked_population(2000, 0), masked_population(500, 1)
    network = mlp2(**FEW, epochs=3).fit(train, test)
    (found,) = network.predict(test.inputs)
    assert (found[~test.allowed(0)] == 0).all()
    assert np.isfinite(found).all()


def test_the_same_seed_gives_the_same_network():
    train, validation = population(500, 0), population(100, 1)
    first, second = (mlp2(**FEW, epochs=2, seed=3).fit(train, validation) for _ in range(2))
    assert first.l2_ == second.l2_
    for a, b in zip(first.predict(train.inputs), second.predict(train.inputs), strict=True):
        assert np.array_equal(a, b)


def test_networks_side_by_side_do_not_touch_each_other():
    """The batched run of several L2 equals the run of one alone, given the same first weights."""
    import torch

    from leastwise.predictors import mlp

    train = population(600, 0)
    random = np.random.default_rng(0)
    layers = mlp._first_layers(torch, [18, 50, 12], 3, random)
    alone = [layer[1:2].detach().clone().requires_grad_(True) for layer in layers]
    three, one = mlp2(l2=(1e-6, 0.01, 0.05), epochs=2), mlp2(l2=(0.01,), epochs=2)
    three._train(torch, layers, train, np.random.default_rng(1))
    one._train(torch, alone, train, np.random.default_rng(1))
    for side_by_side, by_itself in zip(layers, alone, strict=True):
        assert torch.allclose(side_by_side[1:2], by_itself, atol=2e-3)


def test_the_batched_l2_is_adams_weight_decay():
    """One network of the batched run equals torch's own layers, optimizer and weight decay."""
    import torch

    from leastwise.predictors import mlp

    train = masked_population(600, 0)
    layers = mlp._first_layers(torch, [7, 50, 6], 1, np.random.default_rng(0))
    hidden, head = torch.nn.Linear(7, 50), torch.nn.Linear(50, 6)
    with torch.no_grad():
        for linear, weight, bias in ((hidden, *layers[:2]), (head, *layers[2:])):
            linear.weight.copy_(weight[0].T)
            linear.bias.copy_(bias[0, 0])
    network = mlp2(l2=(0.01,), epochs=2)
    network._train(torch, layers, train, np.random.default_rng(1))
    adam = torch.optim.Adam([*hidden.parameters(), *head.parameters()], lr=0.01, weight_decay=0.01)
    x = network._one_hot(torch, train.inputs)
    allowed = torch.as_tensor(train.allowed(0))
    for rows in batches(len(train), network.batch, network.epochs, np.random.default_rng(1)):
        logits = head(torch.relu(hidden(x[rows]))).masked_fill(~allowed[rows], -torch.inf)
        adam.zero_grad()
        torch.nn.functional.cross_entropy(logits, torch.as_tensor(train.targets[rows, 0])).backward()
        adam.step()
    assert torch.allclose(hidden.weight.T, layers[0][0], atol=2e-3)
    assert torch.allclose(head.weight.T, layers[2][0], atol=2e-3)


def test_without_torch_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(
        MissingExtraError, match=r"^this needs PyTorch; install it with: pip install 'leastwise\[neural\]'$"
    ):
        mlp2().fit(population(10, 0), population(10, 1))
