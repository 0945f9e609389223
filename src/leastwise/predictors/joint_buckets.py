"""Counting: the posterior of each joint bucket, with back-off to coarser joint buckets for rare and unseen ones.

For each target the inputs are put into an order, the most telling first. The coarsest joint bucket uses the
first input alone, the next one the first two, and so on to the whole generalized record. Going down, each one's
counts are mixed with the probabilities found so far, which count as much as a few people do (a hierarchy of
Dirichlet or Pitman-Yor priors): where a joint bucket is well filled its own counts decide and the result is
exact, where it is rare or unseen the coarser ones do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.kernels import backoff, numbering, path_scores
from leastwise.partition import Codes
from leastwise.predictors.base import Masks, Probabilities, Samples, allowed_values, masked
from leastwise.random import generator

Array = npt.NDArray[Any]

# The order of the inputs is settled on a quarter of the distinct generalized records, between these numbers.
_FEWEST_FOR_ORDER, _MOST_FOR_ORDER = 6_000, 15_000
# People that a coarser joint bucket counts for while the order is chosen.
_ORDER_PSEUDO_COUNT = 2.0
# Inputs tried for each place in the order: hundreds of attributes would take minutes.
_MOST_TRIED = 24
# Who chooses among predictors asks of the validation rows what was just looked up there: so many nodes are kept.
_MOST_WALKED = 2**16


@dataclass
class JointBuckets:
    """Posterior counts per joint bucket.

    Parameters
    ----------
    pseudo_counts, discounts
        What is tried on validation: how many people the coarser joint bucket counts for, and what is taken from
        each count in its favour. With ``pseudo_counts=(0,), discounts=(0,)`` the finest joint bucket that was
        seen decides alone.
    seed
        For the draw of the records on which the order of the inputs is settled.
    """

    pseudo_counts: Sequence[float] = (0.5, 2, 6, 20)
    discounts: Sequence[float] = (0, 0.5)
    seed: int = 0
    name: str = field(default="joint_buckets", init=False)
    rules_out: ClassVar[bool] = True

    def fit(self, train: Samples, validation: Samples) -> JointBuckets:
        """Count the training rows; how far to trust rare joint buckets is chosen on the validation rows."""
        first, bucket_of = train.buckets
        inputs = np.ascontiguousarray(train.inputs[first], dtype=np.int64)
        asked, asked_of = validation.buckets
        asked_inputs = np.ascontiguousarray(validation.inputs[asked], dtype=np.int64)
        random = generator(self.seed, "joint buckets") if len(inputs) > _FEWEST_FOR_ORDER else None
        self.chains_ = []
        for t, size in enumerate(train.target_sizes):
            rows = _rows(bucket_of, train.targets[:, t], train.weights, size)
            chain = _Chain.of(train, t, inputs, rows, random)
            known = _rows(asked_of, validation.targets[:, t], validation.weights, size)
            chain.choose(self.pseudo_counts, self.discounts, asked_inputs, known, train.likeliest)
            self.chains_.append(chain)
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        rows = np.ascontiguousarray(inputs, dtype=np.int64)
        return [chain.probabilities(rows) for chain in self.chains_]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct (joint bucket, value) rows of one target."""

    z: npt.NDArray[np.int64]
    v: npt.NDArray[np.int64]
    w: npt.NDArray[np.float64]


def _rows(bucket_of: Array, values: Array, weights: Array, size: int) -> _Rows:
    return _Rows(*numbering.distinct_pairs(bucket_of.astype(np.int64), values, weights.astype(float), size))


@dataclass(eq=False)
class _Chain:
    """The counts of one target along its chain of joint buckets."""

    order: Array
    sizes: Array
    prior: npt.NDArray[np.float32]
    masks: Masks
    useful: int
    trie: tuple[Array, Array, Array]
    counts: tuple[Array, Array, Array, Array]
    pseudo_count: float = 0.0
    discount: float = 0.0
    depth: int = 0
    walked: tuple[Array, Array] | None = None  # inputs that will be asked about next, and their paths

    @classmethod
    def of(
        cls, train: Samples, target: int, inputs: Array, rows: _Rows, random: np.random.Generator | None
    ) -> _Chain:
        size = train.target_sizes[target]
        counts = np.bincount(rows.v, weights=rows.w, minlength=size) + 0.5
        prior = counts / counts.sum()
        sizes = np.asarray(train.input_sizes, dtype=np.int64)
        first = np.array(sorted({mask.column for mask in train.target_masks[target]}), dtype=np.int64)
        some_inputs, some = _some(inputs, rows, random)
        order, useful = backoff.choose_order(
            some_inputs, sizes, some.z, some.v, some.w, prior, first, _ORDER_PSEUDO_COUNT, _MOST_TRIED
        )
        keys, nodes, ends, node_of = backoff.grow(inputs, order, sizes)
        return cls(
            order,
            sizes,
            prior.astype(np.float32),
            train.target_masks[target],
            int(useful),
            (keys, nodes, ends),
            backoff.count_nodes(node_of, rows.z, rows.v, rows.w, size),
        )

    def choose(
        self,
        pseudo_counts: Sequence[float],
        discounts: Sequence[float],
        inputs: Array,
        rows: _Rows,
        likeliest: bool = True,
    ) -> None:
        """Settle how far rare joint buckets are trusted: by the least error, then the least log loss.

        Where the ``likeliest`` value is not the best guess (of a number, of several labels) by the log loss alone.
        """
        depths = sorted({self.useful, len(self.order)})
        settings = [*product(map(float, pseudo_counts), map(float, discounts))]
        by_inputs = np.argsort(rows.z, kind="stable")
        path = self._path(inputs)
        found = path_scores.score_posteriors(
            path,
            *self.counts,
            *self._base(inputs),
            np.array(settings),
            np.array(depths),
            np.searchsorted(rows.z[by_inputs], np.arange(len(inputs) + 1)),
            rows.v[by_inputs],
            rows.w[by_inputs],
        )
        total = rows.w.sum()
        tried = [*product(range(len(depths)), range(len(settings)))]
        errors = [round(found[d, s, 0] / total, 12) if likeliest else 0.0 for d, s in tried]
        scores = [(error, found[d, s, 1] / total) for error, (d, s) in zip(errors, tried, strict=True)]
        d, s = tried[min(range(len(tried)), key=scores.__getitem__)]
        self.depth, (self.pseudo_count, self.discount) = depths[d], settings[s]
        self._forget_deeper()
        if len(inputs) * self.depth <= _MOST_WALKED:
            self.walked = inputs, np.ascontiguousarray(path[:, : self.depth])

    def _forget_deeper(self) -> None:
        """Keep what probabilities need: a chain as deep as its inputs are many fills the memory in vain."""
        self.order = self.order[: self.depth]
        keys, nodes, ends = self.trie
        keys, nodes = keys[: ends[self.depth]].copy(), nodes[: ends[self.depth]].copy()
        self.trie = keys, nodes, ends[: self.depth + 1]
        last = int(nodes[keys >= 0].max(initial=0)) + 1  # nodes are numbered depth by depth
        begin, values, counts, people = self.counts
        used = begin[last]
        self.counts = begin[: last + 1].copy(), values[:used].copy(), counts[:used].copy(), people[:last].copy()

    def probabilities(self, inputs: Array) -> Probabilities:
        found = backoff.posteriors(
            self._path(inputs), *self.counts, *self._base(inputs), self.pseudo_count, self.discount
        )
        return masked(found, allowed_values(self.masks, inputs, len(self.prior)) if self.masks else None)

    def _base(self, inputs: Array) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Return what is thought before anything is counted, and which row of it is for which inputs."""
        if len(self.masks) > 1:
            allowed, row_of = allowed_values(self.masks, inputs, len(self.prior)), np.arange(len(inputs))
        elif self.masks:
            allowed, row_of = self.masks[0].allowed.copy(), np.ascontiguousarray(inputs[:, self.masks[0].column])
            allowed[~allowed.any(axis=1)] = True
        else:
            allowed, row_of = np.ones((1, len(self.prior)), dtype=bool), np.zeros(len(inputs), dtype=np.int64)
        return masked(np.broadcast_to(self.prior, allowed.shape), allowed).astype(np.float32), row_of

    def _path(self, inputs: Array, depth: int | None = None) -> Array:
        """Return the node of each row at each depth, as far as depths are asked for."""
        walked, self.walked = self.walked, None  # asked once: nobody keeps paths
        if walked is not None and depth is None and np.array_equal(walked[0], inputs):
            return walked[1]
        return np.asarray(backoff.walk(inputs, self.order[:depth], self.sizes, *self.trie, self.counts[3]))


def _some(inputs: Array, rows: _Rows, random: np.random.Generator | None) -> tuple[Array, _Rows]:
    enough = min(max(len(inputs) // 4, _FEWEST_FOR_ORDER), _MOST_FOR_ORDER)
    if len(inputs) <= enough or random is None:  # so few need no draw
        return inputs, rows
    chosen = np.sort(random.choice(len(inputs), enough, replace=False))
    number = np.full(len(inputs), -1)
    number[chosen] = np.arange(len(chosen))
    kept = number[rows.z] >= 0
    return inputs[chosen], _Rows(number[rows.z[kept]], rows.v[kept], rows.w[kept])
