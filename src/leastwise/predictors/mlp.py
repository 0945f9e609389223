"""The paper's networks, trained as the paper says, all values of L2 in one batched run (extra: neural).

One trunk, one head per target, Adam, shuffled batches of 256, 20 epochs, rate 0.01, times 0.1 after 10 *epochs*.
A value that the generalization rules out has the logit minus infinity, in training and afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from leastwise.errors import MissingExtraError
from leastwise.partition import Codes
from leastwise.predictors.base import OneHot, Probabilities, Samples, batches, starts
from leastwise.random import generator

L2 = (1e-6, 1e-5, 1e-4, 0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.02, 0.05)
Tensor = Any


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtraError("PyTorch", "neural") from None
    return torch


@dataclass
class MLP:
    """Fully connected ReLU layers and a head per target; L2 is chosen on validation by the mean error.

    Parameters
    ----------
    hidden
        Widths of the hidden layers.
    l2
        The values to choose from; one network each, trained side by side.
    epochs, batch, rate, lower_every
        Adam's rate is multiplied by 0.1 after every ``lower_every`` epochs.
    """

    hidden: Sequence[int] = (50,)
    l2: Sequence[float] = L2
    epochs: int = 20
    batch: int = 256
    rate: float = 0.01
    lower_every: int = 10
    seed: int = 0

    @property
    def name(self) -> str:
        """MLP-k has k layers of weights, as the paper counts."""
        return f"mlp-{len(self.hidden) + 1}"

    def fit(self, train: Samples, validation: Samples) -> MLP:
        """Train one network per value of L2 and keep the one with the lowest mean error on validation."""
        torch = _torch()
        self.like_ = train
        random = generator(self.seed, self.name)
        widths = [sum(train.input_sizes), *self.hidden, sum(train.target_sizes)]
        layers = _first_layers(torch, widths, len(self.l2), random)
        self._train(torch, layers, train, random)
        with torch.no_grad():
            found = _errors(torch, layers, validation, self._one_hot(torch, validation.inputs))
            best = int(found.argmin())
            self.l2_ = self.l2[best]
            self.layers_ = [parameter[best : best + 1].clone() for parameter in layers]
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        torch = _torch()
        with torch.no_grad():
            logits = _forward(torch, self.layers_, self._one_hot(torch, inputs))
            return [
                torch.softmax(head[0], dim=-1).numpy()
                for head in _heads(torch, logits, self.like_, _allowed(torch, self.like_, inputs))
            ]

    def _one_hot(self, torch: Any, inputs: Codes) -> Tensor:
        return torch.as_tensor(self.one_hot_(inputs))

    def rate_of(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0."""
        return float(self.rate * 0.1 ** (epoch // self.lower_every))

    def _train(self, torch: Any, layers: list[Tensor], train: Samples, random: np.random.Generator) -> None:
        self.one_hot_ = OneHot.of(train, ranks=False)
        x, truth = self._one_hot(torch, train.inputs), torch.as_tensor(train.targets.astype(np.int64))
        allowed = _allowed(torch, train, train.inputs)
        people = torch.as_tensor((train.weights / train.weights.mean()).astype(np.float32))
        l2 = torch.tensor(self.l2, dtype=torch.float32)[:, None, None]
        adam = torch.optim.Adam(layers, lr=self.rate)
        self.rates_ = []
        for step, rows in enumerate(batches(len(train), self.batch, self.epochs, random)):
            epoch = step // -(-len(train) // self.batch)
            adam.param_groups[0]["lr"] = self.rate_of(epoch)
            self.rates_.append(self.rate_of(epoch))
            picked = torch.as_tensor(rows)
            heads = _heads(torch, _forward(torch, layers, x[picked]), train, [a[picked] for a in allowed])
            adam.zero_grad()
            _loss(torch, heads, truth[picked], people[picked]).backward()
            for parameter in layers:
                parameter.grad.add_(parameter.detach() * l2)  # what Adam's weight_decay does, per network
            adam.step()


def mlp2(**parameters: Any) -> MLP:
    """Return the paper's MLP-2: one hidden layer of 50."""
    return MLP(hidden=(50,), **parameters)


def mlp3(**parameters: Any) -> MLP:
    """Return the paper's MLP-3: three layers, width 100."""
    return MLP(hidden=(100, 100), **parameters)


def mlp5(**parameters: Any) -> MLP:
    """Return the paper's MLP-5: five layers, width 256."""
    return MLP(hidden=(256, 256, 256, 256), **parameters)


def _first_layers(torch: Any, widths: Sequence[int], networks: int, random: np.random.Generator) -> list[Tensor]:
    """Return weights and biases of all networks, drawn as PyTorch draws those of a linear layer."""
    layers = []
    for fan_in, fan_out in pairwise(widths):
        bound = 1 / np.sqrt(max(fan_in, 1))
        for shape in ((networks, fan_in, fan_out), (networks, 1, fan_out)):
            drawn = random.uniform(-bound, bound, shape).astype(np.float32)
            layers.append(torch.tensor(drawn, requires_grad=True))
    return layers


def _forward(torch: Any, layers: Sequence[Tensor], x: Tensor) -> Tensor:
    """Return networks x rows x all values of all targets."""
    h = x.expand(len(layers[0]), *x.shape)
    for i in range(0, len(layers), 2):
        h = torch.baddbmm(layers[i + 1], h, layers[i])
        h = torch.relu(h) if i + 2 < len(layers) else h
    return h


def _heads(torch: Any, logits: Tensor, like: Samples, allowed: Sequence[Tensor]) -> list[Tensor]:
    """Return the logits target by target, minus infinity where a value is impossible."""
    blocks = list(pairwise(starts(like.target_sizes).tolist()))
    return [
        logits[:, :, a:b].masked_fill(~possible, -torch.inf)
        for (a, b), possible in zip(blocks, allowed, strict=True)
    ]


def _loss(torch: Any, heads: Sequence[Tensor], truth: Tensor, people: Tensor) -> Tensor:
    """Return the cross entropy, summed over targets and networks: each network's gradient is its own."""
    total = 0
    for t, head in enumerate(heads):
        values = truth[:, t].expand(len(head), -1)
        each = torch.nn.functional.cross_entropy(head.transpose(1, 2), values, reduction="none")
        total = total + (each * people).mean(dim=1).sum()
    return total


def _errors(torch: Any, layers: Sequence[Tensor], records: Samples, x: Tensor) -> Tensor:
    """Return the mean error over all targets of each network; x are the records' inputs."""
    logits = _forward(torch, layers, x)
    truth, people = torch.as_tensor(records.targets.astype(np.int64)), torch.as_tensor(records.weights)
    heads = _heads(torch, logits, records, _allowed(torch, records, records.inputs))
    wrong = [(head.argmax(dim=-1) != truth[:, t]).double() @ people for t, head in enumerate(heads)]
    return torch.stack(wrong).mean(dim=0) / people.sum()


def _allowed(torch: Any, like: Samples, inputs: Codes) -> list[Tensor]:
    return [torch.as_tensor(like.allowed(t, inputs)) for t in range(len(like.target_sizes))]
