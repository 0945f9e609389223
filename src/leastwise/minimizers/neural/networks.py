"""The networks: the generalizations of all attributes in one module, and the classifier or adversary behind it.

Importing this needs PyTorch (extra: neural). Nothing here draws from PyTorch's own generator or relies on its
default type, so that neither the caller's state nor anybody else's draws matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from leastwise.minimizers.neural.inputs import Layout

Tensor = Any
_TINY = 1e-5
# By how much the logit of a value's first bucket is above the others, and how much all of them vary.
_LEAD, _VARIETY = 2.0, 0.1
# How far places spread at first, before the last tanh: around the middle bucket, or over all of them.
_NARROW, _WIDE = 0.1, 0.6
# Steps in which a monotone network learns to leave every place where it is; they see no record.
_STEPS_TO_IDENTITY = 300


def tensor(array: npt.NDArray[Any]) -> Tensor:
    """Return an array as a tensor on the CPU, of its own type, floats as float32."""
    return torch.from_numpy(np.ascontiguousarray(array.astype(np.float32) if array.dtype.kind == "f" else array))


def _parameter(values: npt.NDArray[Any]) -> Tensor:
    return nn.Parameter(tensor(values))


class MonotoneNetworks(nn.Module):  # type: ignore[misc]
    """One monotone network per ordered attribute, [0, 1] to [0, 1], all of them evaluated at once.

    Every layer normalizes its inputs over the batch, multiplies them by *squared* weights and applies tanh: none
    of these can turn an order round.
    """

    def __init__(self, steps: npt.NDArray[Any], centre: float, spread: float, random: np.random.Generator) -> None:
        """Begin with results of this centre, and this spread before the last tanh.

        ``steps``, attributes x units, is where each unit of the first layer rises, in standard deviations.
        """
        super().__init__()
        attributes, width = steps.shape
        steep = random.uniform(1, 4, (attributes, width))
        last = _even(random, attributes, width, 1) * np.sqrt(spread)
        weights = [steep[:, None], _even(random, attributes, width, width), last]
        end = np.full((attributes, 1), np.arctanh(2 * centre - 1))
        shifts = [-steps * steep**2, np.zeros((attributes, width)), end]
        self.weights = nn.ParameterList([_parameter(layer) for layer in weights])
        self.shifts = nn.ParameterList([_parameter(layer) for layer in shifts])

    def forward(self, places: Tensor, counts: Tensor) -> Tensor:
        """Return the places, records x attributes, after the monotone maps.

        ``counts``, of the same shape, is how much each record counts in the normalization.
        """
        h = places.T.unsqueeze(2)
        shares = (counts / counts.sum(dim=0).clamp_min(1e-30)).T.unsqueeze(1)
        for weights, shifts in zip(self.weights, self.shifts, strict=True):
            h = h - torch.bmm(shares, h)  # mean 0 and variance 1 over the shares
            h = h * torch.rsqrt(torch.bmm(shares, h.square()) + _TINY)
            h = torch.tanh(torch.baddbmm(shifts.unsqueeze(1), h, weights.square()))
        return (1 + h.squeeze(2).T) / 2


def first_steps(
    places: npt.NDArray[Any], balance: npt.NDArray[Any], random: np.random.Generator, width: int = 32
) -> npt.NDArray[np.float64]:
    """Return where the first layers rise: evenly over all places, so that no value is beyond their reach."""
    steps = (np.arange(width) + random.random((places.shape[1], width))) / width
    mean = (places * balance).sum(axis=0)
    variance = ((places - mean) ** 2 * balance).sum(axis=0)
    return np.asarray((steps - mean[:, None]) / np.sqrt(variance + _TINY)[:, None])


def _even(random: np.random.Generator, attributes: int, inputs: int, outputs: int) -> npt.NDArray[Any]:
    # Squared, the weights of a unit sum to about 1: as its inputs rise together, its own variance begins at 1.
    return np.sqrt(random.uniform(0.5, 1.5, (attributes, inputs, outputs)) / inputs)


class GeneralizationNetwork(nn.Module):  # type: ignore[misc]
    """The networks of all attributes: for each code of each attribute the log-probabilities of its k buckets.

    A named value has a row of logits, added to logits that the named values of its attribute have in common. The
    spots of an ordered attribute are moved by a monotone network, whose result is compared with the centres
    (2j - 1) / 2k of the buckets.
    """

    def __init__(self, layout: Layout, k: int, apart: bool, random: np.random.Generator) -> None:
        """Begin ``apart``, in the runs that tell most of the label, or all in the middle bucket.

        From there an attribute is suppressed until the classifier asks for it: values that nobody asks for would
        otherwise stay apart, and the buckets would tell them although nobody needs them.
        """
        super().__init__()
        self.k = k
        centres = (2 * np.arange(1, k + 1) - 1) / (2 * k)
        self.logits = _parameter(_first_logits(layout, k, apart, random))
        self.common = _parameter(np.zeros((len(layout.use), k)))
        places, balance = (_padded([each[j] for j in layout.ordered]) for each in (layout.places, layout.balance))
        centre, spread = (0.5, _WIDE) if apart else (centres[k // 2], _NARROW)
        self.monotone = MonotoneNetworks(first_steps(places, balance, random), centre, spread, random)
        self.places, self.balance, self.centres = tensor(places), tensor(balance), tensor(centres)
        named = [len(layout.named(j)) for j in range(len(layout.use))]
        self.attribute_of = tensor(np.repeat(np.arange(len(named)), named).astype(np.int64))
        self.source = tensor(_sources(layout))
        if apart and layout.ordered:
            adam = torch.optim.Adam(self.monotone.parameters(), lr=0.01)
            for _ in range(_STEPS_TO_IDENTITY):
                adam.zero_grad()
                ((self._moved() - self.places).square() * self.balance).sum().backward()
                adam.step()

    def forward(self, temperature: float) -> Tensor:
        """Return the log-probabilities, rows of the layout x buckets."""
        named = self.logits + self.common[self.attribute_of]
        # In units of a bucket's width: in units of the whole range, all buckets would be nearly as likely.
        distance = self.k * (self._moved().unsqueeze(2) - self.centres)
        logits = torch.cat([named, -distance.square().flatten(0, 1)])
        return torch.log_softmax(logits[self.source] / temperature, dim=1)

    def _moved(self) -> Tensor:
        """Return the place of each spot after the monotone map, normalized over everybody and not over a batch."""
        return self.monotone(self.places, self.balance)


def _first_logits(layout: Layout, k: int, apart: bool, random: np.random.Generator) -> npt.NDArray[Any]:
    runs = np.concatenate([runs[layout.levels(j) :] for j, runs in enumerate(layout.runs)])
    first = runs if apart else np.full(len(runs), k // 2)
    variety = random.uniform(-_VARIETY, _VARIETY, (len(first), k))
    return np.asarray(np.where(np.arange(k) == first[:, None], _LEAD, 0.0) + variety)


def _padded(columns: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.float64]:
    """Return the columns side by side, 0 below the shorter ones."""
    side_by_side = np.zeros((max(map(len, columns), default=0), len(columns)))
    for i, column in enumerate(columns):
        side_by_side[: len(column), i] = column
    return side_by_side


def _sources(layout: Layout) -> npt.NDArray[np.int64]:
    """Return, for each row of the layout, its place among all logits: first the named values, then the spots."""
    named = np.concatenate([layout.named(j) for j in range(len(layout.use))])
    source = np.empty(layout.starts[-1], dtype=np.int64)
    source[named] = np.arange(len(named))
    for i, j in enumerate(layout.ordered):
        rows = layout.starts[j] + np.arange(layout.levels(j))
        source[rows] = len(named) + layout.spots[j] * len(layout.ordered) + i
    return source


def draw(log_p: Tensor, random: np.random.Generator) -> Tensor:
    """Return a bucket drawn by its probability as 0/1 numbers, with the gradient of the probabilities."""
    noise = tensor(random.standard_exponential(tuple(log_p.shape), dtype=np.float32).clip(1e-30))
    return _chosen(log_p, log_p.detach() - noise.log())


def likeliest(log_p: Tensor) -> Tensor:
    """Return the likeliest bucket as 0/1 numbers, with the gradient of the probabilities."""
    return _chosen(log_p, log_p)


def _chosen(log_p: Tensor, scores: Tensor) -> Tensor:
    p = log_p.exp()
    best = scores.argmax(dim=2, keepdim=True)
    return torch.zeros_like(p).scatter_(2, best, 1.0) + p - p.detach()


class Predictor(nn.Module):  # type: ignore[misc]
    """One hidden layer of 50 with ReLU, from the buckets of all attributes to the logits of all targets."""

    def __init__(self, inputs: int, sizes: tuple[int, ...], random: np.random.Generator, width: int = 50) -> None:
        super().__init__()
        self.sizes = sizes
        self.hidden = nn.ParameterList(_linear(random, inputs, width))
        self.out = nn.ParameterList(_linear(random, width, sum(sizes)))

    def losses(self, z: Tensor, truth: Tensor, shares: Tensor) -> Tensor:
        """Return the cross entropy of each target, averaged over the people."""
        h = torch.relu(torch.addmm(self.hidden[1], z.flatten(1), self.hidden[0]))
        heads = torch.addmm(self.out[1], h, self.out[0]).split(self.sizes, dim=1)
        cross_entropy = nn.functional.cross_entropy
        each = [cross_entropy(head, truth[:, t], reduction="none") for t, head in enumerate(heads)]
        return torch.stack(each) @ shares


def _linear(random: np.random.Generator, inputs: int, outputs: int) -> list[Tensor]:
    """Return weights and shifts, drawn as PyTorch draws those of a linear layer."""
    bound = 1 / np.sqrt(max(inputs, 1))
    return [_parameter(random.uniform(-bound, bound, shape)) for shape in ((inputs, outputs), (outputs,))]
