"""The networks: the generalizations of all attributes in one module, and the classifier or adversary behind it.

Importing this needs PyTorch (extra: neural). Nothing here draws from PyTorch's own generator or relies on its
default type, so that neither the caller's state nor anybody else's draws matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from leastwise.minimizers.neural.inputs import Layout

Tensor = Any
_TINY = 1e-5


@dataclass(frozen=True)
class Beginning:
    """How far apart the values of an attribute are before training.

    Attributes
    ----------
    lead
        By how much the logit of the middle bucket is above the others.
    variety
        By how much the logits vary around that.
    width
        How far the places spread around the centre of the middle bucket, before the last tanh.
    """

    lead: float
    variety: float
    width: float


TOGETHER = Beginning(lead=2.0, variety=0.1, width=0.1)
"""All in the middle bucket: an attribute is suppressed until the classifier asks for it. From any other beginning,
values that nobody asks for would stay apart, and the buckets would tell them although nobody needs them."""

APART = Beginning(lead=0.0, variety=0.5, width=1.0)
"""Spread over all buckets, for a classifier that nothing holds back."""


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
        """Begin.

        Parameters
        ----------
        steps
            Attributes x units: where, in standard deviations of the place, each unit of the first layer rises.
        centre, spread
            Of the results at the beginning, the spread before the last tanh.
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
        """Return the places after the monotone maps.

        Parameters
        ----------
        places
            Records x attributes.
        counts
            Records x attributes: how much each record counts in the normalization.
        """
        h = places.T.unsqueeze(2)
        shares = (counts / counts.sum(dim=0).clamp_min(1e-30)).T.unsqueeze(1)
        for weights, shifts in zip(self.weights, self.shifts, strict=True):
            h = torch.tanh(torch.baddbmm(shifts.unsqueeze(1), _normalized(h, shares), weights.square()))
        return (1 + h.squeeze(2).T) / 2


def first_steps(layout: Layout, random: np.random.Generator, width: int = 32) -> npt.NDArray[np.float64]:
    """Return where the first layers rise: evenly over all places, so that no value is beyond their reach."""
    steps = (np.arange(width) + random.random((len(layout.ordered), width))) / width
    for i, j in enumerate(layout.ordered):
        places, use = layout.places[j].astype(float), layout.use[j] * layout.balance[j]
        shares = use / max(use.sum(), 1e-300)
        mean = float(places @ shares)
        steps[i] = (steps[i] - mean) / np.sqrt((places - mean) ** 2 @ shares + _TINY)
    return steps


def _even(random: np.random.Generator, attributes: int, inputs: int, outputs: int) -> npt.NDArray[Any]:
    # Squared, the weights of a unit sum to about 1: as its inputs rise together, its own variance begins at 1.
    return np.sqrt(random.uniform(0.5, 1.5, (attributes, inputs, outputs)) / inputs)


def _normalized(h: Tensor, shares: Tensor) -> Tensor:
    """Return inputs, attributes x records x units, with mean 0 and variance 1 over the shares."""
    h = h - torch.bmm(shares, h)
    return h * torch.rsqrt(torch.bmm(shares, h.square()) + _TINY)


class GeneralizationNetwork(nn.Module):  # type: ignore[misc]
    """The networks of all attributes: from records to log-probabilities of k buckets for each attribute.

    A discrete attribute has a table of logits, one row per value, and logits that its values have in common. An
    ordered attribute has a monotone network, whose result is compared with the centres (2j - 1) / 2k of the
    buckets; its "missing" and "other" have a row of the table each.
    """

    def __init__(self, layout: Layout, k: int, beginning: Beginning, random: np.random.Generator) -> None:
        super().__init__()
        self.named, self.ordered, self.k = len(layout.named), len(layout.ordered), k
        lead = np.where(np.arange(k) == k // 2, beginning.lead, 0.0)
        variety = random.uniform(-1, 1, (max(layout.logit_rows, 1), k)) * beginning.variety
        self.logits = _parameter(lead + variety)
        self.common = _parameter(np.zeros((self.named, k)))
        centres = (2 * np.arange(1, k + 1) - 1) / (2 * k)
        self.monotone = MonotoneNetworks(first_steps(layout, random), centres[k // 2], beginning.width, random)
        self.centres = tensor(centres)

    def forward(self, rows: Tensor, places: Tensor, counts: Tensor, temperature: float) -> Tensor:
        """Return the log-probabilities, records x attributes x buckets, attributes in the layout's order."""
        by_row = nn.functional.embedding(rows.clamp_min(0), self.logits)
        logits = by_row[:, : self.named] + self.common
        if self.ordered:
            logits = torch.cat([logits, self._ordered(by_row[:, self.named :], rows, places, counts)], dim=1)
        return torch.log_softmax(logits / temperature, dim=2)

    def _ordered(self, by_row: Tensor, rows: Tensor, places: Tensor, counts: Tensor) -> Tensor:
        has_row = rows[:, self.named :] >= 0
        moved = self.monotone(places, counts)
        # In units of a bucket's width: in units of the whole range, all buckets would be nearly as likely.
        distance = self.k * (moved.unsqueeze(2) - self.centres)
        return torch.where(has_row.unsqueeze(2), by_row, -distance.square())


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
