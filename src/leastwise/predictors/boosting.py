"""Gradient boosted trees, for targets of many values too.

Boosting grows one tree per value and round: 522 occupations would take hours. The most frequent values are
boosted and all others are one value "the rest", whose probability is divided as the joint buckets say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.kernels import boosted_trees
from leastwise.partition import Codes
from leastwise.predictors.base import Probabilities, Samples, starts
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.random import generator
from leastwise.records.grouping import quantile_of

# An unordered input with more codes than this counts as ordered; an ordered one is cut into so many runs.
_MOST_CODES = 255
# People that a value needs to be boosted by name.
_LEAST = 2
_PENALTY = 5.0
# People from which one in ten says when to stop, and after how many rounds without a gain.
_ENOUGH, _SHARE, _PATIENCE = 2000, 0.1, 5


@dataclass
class Boosting:
    """Histogram gradient boosting, one model per target, on the distinct rows and how many people have them.

    Parameters
    ----------
    rounds, leaves, rate
        Of the boosting; it stops early when a tenth of the training people says so.
    most_values
        How many values of a target are boosted by name.
    most_work
        People times classes of a target from which on it is left to counting: what boosting costs.
    counting
        What divides the rest, where it is fitted to the same rows before; None: one of its own.
    """

    rounds: int = 60
    leaves: int = 15
    rate: float = 0.15
    most_values: int = 16
    most_work: float = np.inf
    seed: int = 0
    counting: JointBuckets | None = None
    name: str = "boosting"
    rules_out: ClassVar[bool] = True

    def worthwhile(self, train: Samples) -> bool:
        """Return whether there is a target that is not too much work, and is no number."""
        if train.number is not None or train.weights.sum() * 2 > self.most_work:
            return False
        return any(self._classes(train, t).bearable for t in range(len(train.target_sizes)))

    def fit(self, train: Samples, validation: Samples) -> Boosting:
        """Fit one model per target."""
        self.like_, self.inputs_ = train.nobody, _Inputs.of(train)
        self.boosted_ = [self._fit_target(train, t) for t in range(len(train.target_sizes))]
        # Counting divides what is left of the rest; where every value is boosted by name, nothing is.
        needed = any(boosted is None or np.bincount(boosted.class_of).max() > 1 for boosted in self.boosted_)
        self.counting_ = (self.counting or JointBuckets(seed=self.seed).fit(train, validation)) if needed else None
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        counted = (
            self.counting_.predict(inputs) if self.counting_ else [np.ones((len(inputs), 0))] * len(self.boosted_)
        )
        codes = self.inputs_(inputs)
        return [
            self.like_.ruled_out(t, inputs, _spread(boosted, self.inputs_, codes, counted[t]))
            if boosted
            else counted[t]
            for t, boosted in enumerate(self.boosted_)
        ]

    def predict_permuted(self, inputs: Codes, random: np.random.Generator) -> Iterator[Probabilities]:
        """Yield, for each column, the probabilities of the first target when its codes change places.

        Only the trees that look at the column are asked again.
        """
        (boosted, *_), codes = self.boosted_, self.inputs_(inputs)
        plain = boosted if self.counting_ is None else None
        if plain is not None:
            added = boosted_trees.contributions(codes, self.inputs_.ordered, *plain.trees)
        for j in range(inputs.shape[1]):
            moved = random.permutation(inputs[:, j])
            if plain is None:
                changed = inputs.copy()
                changed[:, j] = moved
                yield self.predict(changed)[0]
                continue
            asked = np.flatnonzero((plain.trees[0] == j).any(axis=1))
            kept, codes[:, j] = codes[:, j].copy(), self.inputs_.runs[j][moved]
            own = added.copy()
            own[:, asked] = boosted_trees.contributions(
                codes, self.inputs_.ordered, *(part[asked] for part in plain.trees)
            )
            codes[:, j] = kept
            yield plain.by_value(boosted_trees.add_up(plain.before, own))

    def _classes(self, train: Samples, target: int) -> _Classes:
        """Return what is boosted by name, and whether that is worth it."""
        size = train.target_sizes[target]
        use = np.bincount(train.targets[:, target], weights=train.weights, minlength=size)
        # A value that one person has is no class: it cannot be both learned and held out for early stopping.
        order = np.argsort(-use, kind="stable")[: min(self.most_values, int((use >= _LEAST).sum()))]
        class_of = np.full(size, len(order), dtype=np.intp)
        class_of[order] = np.arange(len(order))
        present = np.flatnonzero(np.bincount(class_of, weights=use, minlength=len(order) + 1))
        work = float(train.weights.sum()) * len(present)
        return _Classes(class_of, present, len(present) > 1 and bool(train.input_sizes) and work <= self.most_work)

    def _fit_target(self, train: Samples, target: int) -> _Boosted | None:
        """Return the model; None where counting is all there is."""
        class_of, present, bearable = self._classes(train, target)
        if not bearable:
            return None
        people, (first, bucket_of) = float(train.weights.sum()), train.buckets
        dense = np.searchsorted(present, class_of[train.targets[:, target]])
        cells = bucket_of * len(present) + dense
        counts = np.bincount(cells, weights=train.weights, minlength=len(first) * len(present))
        counts = counts.reshape(len(first), -1)
        held_out = np.zeros_like(counts)
        if people > _ENOUGH and counts.sum(axis=0).min() >= _LEAST:
            random = generator(self.seed, "boosting")
            held_out = random.binomial(np.floor(counts).astype(np.int64), _SHARE).astype(float)
        shares = (counts.sum(axis=0) + 1e-9) / people
        before = np.log(shares[1:] / shares[0]) if len(present) == 2 else np.log(shares)
        trees = boosted_trees.boost(
            self.inputs_(train.inputs[first]),
            self.inputs_.starts,
            self.inputs_.ordered,
            counts - held_out,
            held_out,
            before,
            self.rounds,
            self.leaves,
            float(self.rate),
            _PENALTY,
            _PATIENCE,
        )
        return _Boosted(class_of, present, before, trees)


class _Inputs(NamedTuple):
    """How inputs become codes of trees: per column a run for each code, where runs start, whether in order."""

    runs: tuple[npt.NDArray[np.int32], ...]
    starts: npt.NDArray[np.int64]
    ordered: npt.NDArray[np.int64]

    @classmethod
    def of(cls, train: Samples) -> _Inputs:
        runs = []
        for codes, size in zip(train.inputs.T, train.input_sizes, strict=True):
            own = np.arange(size)
            if size > _MOST_CODES:
                use = np.bincount(codes, weights=train.weights, minlength=size)
                own = np.minimum(quantile_of(use, _MOST_CODES), _MOST_CODES - 1)
            runs.append(own.astype(np.int32))
        pairs = zip(train.ordered, train.input_sizes, strict=True)
        ordered = [int(is_ordered or size > _MOST_CODES) for is_ordered, size in pairs]
        return cls(
            tuple(runs),
            starts([int(own.max(initial=0)) + 1 for own in runs]).astype(np.int64),
            np.array(ordered, dtype=np.int64),
        )

    def __call__(self, inputs: Codes) -> npt.NDArray[np.int32]:
        out = np.empty(inputs.shape, dtype=np.int32)
        for j, own in enumerate(self.runs):
            out[:, j] = own[inputs[:, j]]
        return out


class _Classes(NamedTuple):
    """The class that each value belongs to, which classes there are, and whether boosting them is worth it."""

    class_of: npt.NDArray[np.intp]
    present: npt.NDArray[np.intp]
    bearable: bool


class _Boosted(NamedTuple):
    """The trees of one target: the class that each value belongs to, which classes are told apart, and by what."""

    class_of: npt.NDArray[np.intp]
    present: npt.NDArray[np.intp]
    before: npt.NDArray[np.float64]
    trees: tuple[npt.NDArray[Any], ...]

    def by_value(self, found: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the probabilities of all values from those of the classes that are told apart."""
        by_class = np.zeros((len(found), int(self.class_of.max()) + 1))
        by_class[:, self.present] = found
        return np.asarray(by_class[:, self.class_of])


def _spread(
    boosted: _Boosted, seen: _Inputs, codes: npt.NDArray[np.int32], counted: Probabilities
) -> npt.NDArray[np.float64]:
    """Return probabilities of all values: of each boosted one its own, of the rest as the joint buckets say."""
    how = seen.starts, seen.ordered, boosted.before
    found = boosted.by_value(boosted_trees.predict(codes, *how, *boosted.trees))
    rest = np.bincount(boosted.class_of)[boosted.class_of] > 1
    if not rest.any():
        return found
    share = np.ones(counted.shape)
    share[:, rest] = counted[:, rest] / np.maximum(counted[:, rest].sum(axis=1, keepdims=True), 1e-12)
    return np.asarray(found * share)
