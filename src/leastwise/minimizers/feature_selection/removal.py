"""Iterative removal: take away, one by one, the attribute that a cheap classifier misses least.

The classifier is naive Bayes: a record's score is a sum over attributes, so that what removing one of them would
do is a subtraction. Every person is judged by the counts without that person, so that an attribute with
many values does not look informative by remembering everybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.minimizers.feature_selection.scores import Floats, count_labels, runs_of
from leastwise.records.joint import joint_buckets
from leastwise.records.table import Table

# A person that nobody resembles: every value and class is taken to have been seen this often more.
_PRIOR = 1.0


def kept_after_removal(table: Table, k: int) -> list[int]:
    """Return the k attributes that are left when the least missed one is removed again and again.

    Least missed is where the fewest people are then misjudged; among equals, where their true class gets the
    higher likelihood; among those, the last in the schema.
    """
    people = _people(table)
    kept = list(range(len(table.schema)))
    while len(kept) > k:
        kept.remove(_least_missed(people, kept))
    return kept


def _least_missed(people: _People, kept: list[int]) -> int:
    scores = people.scores(kept)
    misjudged = {j: people.misjudged(scores - people.part(j)) for j in kept}
    fewest = min(misjudged.values())
    equals = [j for j in kept if misjudged[j] == fewest]
    if len(equals) == 1:
        return equals[0]
    return min(equals, key=lambda j: (people.surprise(scores - people.part(j)), -j))


@dataclass(frozen=True)
class _People:
    """The distinct records, and what each value says about each class to a person of that value and class."""

    codes: npt.NDArray[Any]
    classes: npt.NDArray[np.intp]
    weights: Floats
    evidence: tuple[Floats, ...]  # per attribute: value and own class x class
    prior: Floats  # own class x class

    def part(self, j: int) -> Floats:
        """Return what attribute j adds to the scores of each record, rows x classes."""
        return self.evidence[j][self.codes[:, j] * len(self.prior) + self.classes]

    def scores(self, attributes: Sequence[int]) -> Floats:
        """Return the log-likelihood of each record and class."""
        total = self.prior[self.classes]
        for j in attributes:
            total += self.part(j)
        return total

    def misjudged(self, scores: Floats) -> float:
        """Return how many people would be misjudged."""
        return float(self.weights[scores.argmax(axis=1) != self.classes].sum())

    def surprise(self, scores: Floats) -> float:
        """Return the mean surprise about the true class."""
        best = scores.max(axis=1)
        own = scores[np.arange(len(scores)), self.classes]
        surprise = best + np.log(np.exp(scores - best[:, None]).sum(axis=1)) - own
        return round(float(np.dot(self.weights, surprise) / self.weights.sum()), 10)


def _people(table: Table) -> _People:
    runs = [runs_of(table, j) for j in range(len(table.schema))]
    sizes = [int(run.max(initial=0)) + 1 for run in runs]
    codes = np.column_stack([run[table.codes[:, j]] for j, run in enumerate(runs)])
    classes = np.unique(table.y, return_inverse=True)[1].astype(np.intp)
    first, row_of = joint_buckets(np.column_stack([codes, classes]), [*sizes, int(classes.max()) + 1])
    counts = [count_labels(codes[:, j], table, size) for j, size in enumerate(sizes)]
    people = counts[0].sum(axis=0)
    return _People(
        codes=np.asfortranarray(codes[first]),
        classes=classes[first],
        weights=np.bincount(row_of, weights=table.weights, minlength=len(first)).astype(float),
        evidence=tuple(_log_share(_without_one(count), _without_one(people), len(count)) for count in counts),
        prior=np.log(_without_one(people) + _PRIOR),
    )


def _without_one(counts: Floats) -> Floats:
    """Return the counts as a person of each class sees them: one less of the own class.

    >>> _without_one(np.array([3.0, 5.0])).tolist()
    [[2.0, 5.0], [3.0, 4.0]]
    """
    classes = counts.shape[-1]
    seen: Floats = np.maximum(counts[..., None, :] - np.eye(classes), 0.0)
    return seen.reshape(-1, classes)


def _log_share(counts: Floats, people: Floats, values: int) -> Floats:
    """Return log P(value | class) with every value taken to have been seen once more."""
    everybody = np.tile(people, (values, 1))
    return np.asarray(np.log((counts + _PRIOR) / (everybody + _PRIOR * values)))
