"""A network with one hidden layer and a head per target, trained in a few epochs with nothing but numpy.

It sees what the paper's MLP-2 sees. Few epochs with a falling rate take the place of the search over L2, and
the weights that are used are an average over the last part of the training, which is what makes them suffice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.kernels.one_hot_layer import (
    adam,
    add_up,
    backward,
    forward,
    softmax_delta,
    summed_rows,
    where_active,
)
from leastwise.partition import Codes
from leastwise.predictors.base import OneHot, Probabilities, Samples, batches, few_threads, starts
from leastwise.random import generator
from leastwise.records.grouping import joint_buckets

Array = npt.NDArray[np.float32]

# People per joint bucket from which counting is as good as exact, whatever is told.
_WELL_FILLED = 5000.0
# Rows that training looks at, over all epochs: a million records need fewer epochs than ten thousand.
_MOST_ROWS = 1_000_000


@dataclass
class Network:
    """One hidden layer, one head per target.

    Parameters
    ----------
    hidden
        Width of the hidden layer.
    epochs, batch, rate, decay
        Adam with a rate that falls linearly to 0, and decoupled weight decay.
    members
        How many such networks are trained, from different first weights; their probabilities are averaged.
    well_filled
        With so many people per joint bucket others tell as much, and it is not trained.
    seed
        For the first weights and the order of the rows.
    """

    hidden: int = 64
    epochs: int = 8
    batch: int = 512
    rate: float = 0.01
    decay: float = 1e-3
    members: int = 2
    well_filled: float = _WELL_FILLED
    seed: int = 0
    name: str = field(default="network", init=False)
    rules_out: ClassVar[bool] = True

    def worthwhile(self, train: Samples) -> bool:
        """Return whether joint buckets are so thinly filled that counting alone may not be enough."""
        return bool(train.weights.sum() < self.well_filled * len(train.buckets[0]))

    def fit(self, train: Samples, validation: Samples) -> Network:
        """Learn from the training rows; nothing is chosen on the validation rows."""
        # To predict takes no record: what is learned is small enough to be handed on.
        self.like_, self.one_hot_ = train.nobody, OneHot.of(train)
        # Where the inputs leave one value only, there is nothing to learn.
        self.open_ = [t for t in range(len(train.target_sizes)) if _most_left(train, t) > 1]
        open_train = replace(
            train,
            targets=train.targets[:, self.open_],
            target_sizes=tuple(train.target_sizes[t] for t in self.open_),
            masks=tuple(train.target_masks[t] for t in self.open_),
        )
        # The products are small: a second thread would only wait for the first.
        with few_threads(1, "blas"):
            self.networks_ = [self._train(open_train, m) for m in range(self.members)]
        return self

    def _train(self, train: Samples, member: int) -> list[Array]:
        if not train.target_sizes:
            return []
        random = generator(self.seed, "network", member)
        training = Training(self, train, self.one_hot_, random)
        epochs = int(np.clip(_MOST_ROWS // len(train), 1, self.epochs))
        steps = epochs * -(-len(train) // self.batch)
        for step, rows in enumerate(batches(len(train), self.batch, epochs, random)):
            training.step(rows, self.rate * (1 - step / steps), keep=step >= steps * 0.7)
        return training.averaged()

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        allowed = [self.like_.allowed(t, inputs) for t in range(len(self.like_.target_sizes))]
        # A bucket that training never showed may hold several values.
        found: list[Probabilities] = [_evenly(values) for values in allowed]
        if not self.open_:
            return found
        logits = [self._hidden(inputs, weights) @ weights[2] + weights[3] for weights in self.networks_]
        ends = starts([self.like_.target_sizes[t] for t in self.open_])
        for t, (a, b) in zip(self.open_, pairwise(ends), strict=True):
            found[t] = np.mean([softmax(member[:, a:b], allowed[t]) for member in logits], axis=0)
        return found

    def _hidden(self, inputs: Codes, weights: list[Array]) -> Array:
        """Return the first layer, to which each code of each input adds its share."""
        ends = starts([table.shape[1] for table in self.one_hot_.rows])
        adds = [table @ weights[0][a:b] for table, (a, b) in zip(self.one_hot_.rows, pairwise(ends), strict=True)]
        return hidden_layer(inputs, adds, weights[1])


def hidden_layer(inputs: Codes, adds: Sequence[Array], bias: Array) -> Array:
    """Return the hidden layer, to which each code adds its row; a table of rows for each column."""
    rows = np.concatenate([np.zeros((0, len(bias)), dtype=np.float32), *adds])
    first = starts([len(table) for table in adds])
    return np.asarray(add_up(np.ascontiguousarray(inputs, dtype=np.int64), first, rows, bias))


def _most_left(train: Samples, target: int) -> int:
    """Return how many values of a target the inputs leave possible at most."""
    columns = [mask.column for mask in train.target_masks[target]]
    # People who are alike in what rules out values are looked at once.
    first, _ = joint_buckets(train.inputs[:, columns], [train.input_sizes[j] for j in columns])
    return int(train.allowed(target, train.inputs[first]).sum(axis=1).max(initial=1))


def _evenly(allowed: npt.NDArray[np.bool_]) -> Array:
    return np.asarray(allowed / allowed.sum(axis=1, keepdims=True, dtype=np.float32), dtype=np.float32)


def softmax(logits: Array, allowed: npt.NDArray[np.bool_]) -> Array:
    """Return the probabilities of what is possible; that of all else is 0."""
    left = np.where(allowed, logits, -np.inf)
    left = np.exp(left - left.max(axis=1, keepdims=True))
    return np.asarray(left / left.sum(axis=1, keepdims=True))


class Training:
    """The state of Adam and the running average of the weights."""

    def __init__(self, network: Network, train: Samples, one_hot: OneHot, random: np.random.Generator) -> None:
        self.inputs = np.ascontiguousarray(train.inputs, dtype=np.int64)
        self.form = one_hot.form
        self.people = (train.weights / train.weights.mean()).astype(np.float32)
        self.ends = starts(train.target_sizes)
        self.places = np.ascontiguousarray(train.targets + self.ends[:-1])
        self.weights = _first_weights(one_hot.width, network.hidden, int(self.ends[-1]), random)
        self.first = [np.zeros_like(w) for w in self.weights]
        self.second = [np.zeros_like(w) for w in self.weights]
        self.sums = [np.zeros_like(w) for w in self.weights]
        self.steps = self.kept = 0
        self.decay = network.decay
        self.rule_out(train)
        self.bits = np.zeros(network.batch * int(self.ends[-1]), dtype=np.int32)

    def rule_out(self, train: Samples) -> None:
        """Let the masks of the samples say which values are possible."""
        own = [(k, mask) for k, masks in enumerate(train.target_masks) for mask in masks]
        begin = starts([mask.allowed.size for _, mask in own])
        masks = [(k, mask.column, start) for (k, mask), start in zip(own, begin[:-1], strict=True)]
        self.masks = np.array(masks, dtype=np.int64).reshape(-1, 3)
        self.allowed = np.concatenate([np.zeros(0), *(m.allowed.ravel() for _, m in own)]).astype(np.float32)

    def step(self, rows: npt.NDArray[Any], rate: float, keep: bool) -> None:
        """Take one step of Adam on these rows."""
        self.steps += 1
        self._adam(self._gradients(rows), rate)
        if keep:
            self.kept += 1
            for total, weight in zip(self.sums, self.weights, strict=True):
                total += weight

    def averaged(self) -> list[Array]:
        """Return the mean of the weights that were kept."""
        return [total / np.float32(max(self.kept, 1)) for total in self.sums]

    def first_layer(self) -> Array:
        """Return what each place of the inputs adds to the hidden layer."""
        return self.weights[0]

    def _gradients(self, rows: npt.NDArray[Any]) -> list[Array]:
        layer = self.first_layer()
        hidden = forward(self.inputs, rows, *self.form, layer, self.weights[1])
        delta = hidden @ self.weights[2]
        truth = (self.masks, self.allowed, self.ends, self.places, self.people)
        softmax_delta(delta, self.weights[3], self.inputs, rows, *truth, self.bits, self.bits.view(np.float32))
        back = delta @ self.weights[2].T
        where_active(hidden, back)
        first = backward(self.inputs, rows, *self.form, back, len(layer))
        return [first, summed_rows(back), hidden.T @ delta, summed_rows(delta)]

    def _adam(self, gradients: list[Array], rate: float) -> None:
        size = np.float32(rate * np.sqrt(1 - 0.999**self.steps) / (1 - 0.9**self.steps))
        state = zip(self.weights, gradients, self.first, self.second, strict=True)
        for arrays in state:
            adam(*(array.ravel() for array in arrays), size, np.float32(1 - rate * self.decay))


def _first_weights(inputs: int, hidden: int, outputs: int, random: np.random.Generator) -> list[Array]:
    def uniform(fan_in: int, *shape: int) -> Array:
        bound = 1 / np.sqrt(max(fan_in, 1))
        return random.uniform(-bound, bound, shape).astype(np.float32)

    return [
        uniform(inputs, inputs, hidden),
        uniform(inputs, hidden),
        uniform(hidden, hidden, outputs),
        uniform(hidden, outputs),
    ]
