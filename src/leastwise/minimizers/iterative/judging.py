"""How good a classifier, or an adversary, gets on held-out records: cheaply, for it is asked dozens of times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.kernels.additive_logistic import fit_additive
from leastwise.minimizers.holding_out import held_out
from leastwise.predictors.base import Samples
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.records.table import Table

Map = npt.NDArray[np.intp]

HELD_OUT = 0.2
"""The share of the training records on which errors are measured."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Errors on records that were held out of the training part.

    Attributes
    ----------
    train, held
        What the models learn from, and what they are measured on.
    """

    train: Table
    held: Table

    @classmethod
    def of(cls, table: Table, seed: int) -> Judge:
        """Hold a fifth of the records out; with too few to hold any out, measure on all."""
        return cls(*held_out(table, HELD_OUT, seed))

    def classifier_error(self, maps: Sequence[Map]) -> float:
        """Return the error of the better of counting and logistic regression that see these buckets."""
        train, held = (_samples(part, maps, part.y, part.classes) for part in (self.train, self.held))
        if not train.input_sizes:
            return _error(np.full(len(held), _majority(train)), held)
        counted = JointBuckets().fit(train, held).predict(held.inputs)[0].argmax(axis=1)
        return min(_error(counted, held), _error(_additive(train, held), held))

    def adversary_error(self, target: int) -> float:
        """Return the error of guessing an attribute from all others at full granularity."""
        maps = [np.arange(size) if j != target else np.zeros(size, int) for j, size in enumerate(self.train.sizes)]
        size = self.train.sizes[target]
        train, held = (_samples(part, maps, part.codes[:, target], size) for part in (self.train, self.held))
        if not train.input_sizes:
            return _error(np.full(len(held), _majority(train)), held)
        return _error(JointBuckets().fit(train, held).predict(held.inputs)[0].argmax(axis=1), held)


def impacts(judge: Judge) -> list[float]:
    """Return, per attribute, by how much its suppression hurts the classifier more than the adversary.

    All others stay as they are, so that a personal attribute that is suppressed is the only one that the adversary
    can miss, and suppressing one that is not personal costs an adversary nothing.
    """
    full = [np.arange(size) for size in judge.train.sizes]
    start = judge.classifier_error(full)
    personal = judge.train.personal
    found = []
    for j, map_ in enumerate(full):
        without = judge.classifier_error([*full[:j], np.zeros_like(map_), *full[j + 1 :]])
        adversary = judge.adversary_error(j) / len(personal) if j in personal else 0.0
        found.append(without - start - adversary)
    return found


def _samples(table: Table, maps: Sequence[Map], target: npt.NDArray[Any], size: int) -> Samples:
    collected = [j for j, map_ in enumerate(maps) if map_.max(initial=0) > 0]
    columns = [maps[j][table.codes[:, j]] for j in collected]
    return Samples(
        inputs=np.stack(columns, axis=1) if columns else np.zeros((len(table), 0), dtype=np.intp),
        input_sizes=tuple(int(maps[j].max()) + 1 for j in collected),
        ordered=tuple(table.schema.attributes[j].kind != "discrete" for j in collected),
        targets=target[:, None].astype(np.intp),
        target_sizes=(size,),
        weights=table.counts.astype(float),
    ).distinct()


def _additive(train: Samples, held: Samples) -> npt.NDArray[np.intp]:
    classes = train.target_sizes[0]
    columns = list(train.inputs.T)
    fitted = fit_additive(columns, train.input_sizes, train.targets[:, 0], classes, train.weights)
    scores = fitted.intercept + sum(w[held.inputs[:, j]] for j, w in enumerate(fitted.weights))
    return (scores[:, 0] > 0).astype(np.intp) if classes == 2 else scores.argmax(axis=1)


def _majority(train: Samples) -> int:
    return int(np.bincount(train.targets[:, 0], weights=train.weights).argmax())


def _error(guesses: npt.NDArray[Any], held: Samples) -> float:
    return float(held.weights[guesses != held.targets[:, 0]].sum() / held.weights.sum())
