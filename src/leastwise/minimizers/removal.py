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

from leastwise.joint import joint_buckets
from leastwise.minimizers.scores import Floats, count_labels, runs_of
from leastwise.table import Table

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
        scores = people.scores(kept)
        kept.remove(min(kept, key=lambda j: (*people.misjudged(scores - people.part(j)), -j)))
    return kept


@dataclass(frozen=True)
class _People:
    """The distinct records, and per attribute what each value says about each class."""

    codes: npt.NDArray[Any]
    classes: npt.NDArray[np.intp]
    weights: Floats
    evidence: tuple[Floats, ...]  # per attribute, value x class
    evidence_without: tuple[Floats, ...]  # the same counts with one person of that value and class less
    prior: Floats
    prior_without: Floats

    def part(self, j: int) -> Floats:
        """Return what attribute j adds to the scores of each record, rows x classes."""
        codes = self.codes[:, j]
        return self._own_class_from(self.evidence[j][codes], self.evidence_without[j][codes])

    def scores(self, attributes: Sequence[int]) -> Floats:
        """Return the log-likelihood of each record and class."""
        rows = (len(self.codes), 1)
        total = self._own_class_from(np.tile(self.prior, rows), np.tile(self.prior_without, rows))
        for j in attributes:
            total += self.part(j)
        return total

    def misjudged(self, scores: Floats) -> tuple[float, float]:
        """Return how many people would be misjudged, and the mean surprise about the true class."""
        rows = np.arange(len(scores))
        best = scores.max(axis=1)
        wrong = float(self.weights[scores.argmax(axis=1) != self.classes].sum())
        surprise = best + np.log(np.exp(scores - best[:, None]).sum(axis=1)) - scores[rows, self.classes]
        return wrong, round(float(np.dot(self.weights, surprise) / self.weights.sum()), 10)

    def _own_class_from(self, others: Floats, own: Floats) -> Floats:
        rows = np.arange(len(others))
        others[rows, self.classes] = own[rows, self.classes]
        return others


def _people(table: Table) -> _People:
    runs = [runs_of(table, j) for j in range(len(table.schema))]
    sizes = [int(run.max(initial=0)) + 1 for run in runs]
    codes = np.column_stack([run[table.codes[:, j]] for j, run in enumerate(runs)])
    classes = np.unique(table.y, return_inverse=True)[1].astype(np.intp)
    first, row_of = joint_buckets(np.column_stack([codes, classes]), [*sizes, int(classes.max()) + 1])
    counts = [count_labels(codes[:, j], table, size) for j, size in enumerate(sizes)]
    people = counts[0].sum(axis=0)
    return _People(
        codes=codes[first],
        classes=classes[first],
        weights=np.bincount(row_of, weights=table.weights, minlength=len(first)).astype(float),
        evidence=tuple(_log_share(count, people) for count in counts),
        evidence_without=tuple(_log_share(np.maximum(c - 1, 0), np.maximum(people - 1, 0)) for c in counts),
        prior=np.log(people + _PRIOR),
        prior_without=np.log(np.maximum(people - 1, 0) + _PRIOR),
    )


def _log_share(counts: Floats, people: Floats) -> Floats:
    """Return log P(value | class) with every value taken to have been seen once more."""
    return np.asarray(np.log((counts + _PRIOR) / (people + _PRIOR * len(counts))))
