"""Small populations that can be judged exactly by counting, and the predictor that does."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from leastwise import Attribute, Generalization, Groups, Schema, Split, Table
from leastwise.predictors.base import Probabilities, Samples
from leastwise.records.grouping import joint_buckets
from tests.samples import coded


class Bayes:
    """The best possible adversary of a population that is known in full: the counts of each joint bucket."""

    name = "Bayes"

    def fit(self, train: Samples, validation: Samples) -> Bayes:
        self.train = train
        return self

    def predict(self, inputs: Any) -> list[Probabilities]:
        rows = np.concatenate([self.train.inputs, inputs])
        _, bucket_of = joint_buckets(rows, self.train.input_sizes)
        known, asked = np.split(bucket_of, [len(self.train)])
        return [self._shares(t, known, asked) for t in range(len(self.train.target_sizes))]

    def _shares(self, target: int, known: Any, asked: Any) -> Probabilities:
        size = self.train.target_sizes[target]
        counts = np.zeros((max(known.max(), asked.max()) + 1, size))
        np.add.at(counts, (known, self.train.targets[:, target]), self.train.weights)
        assert (counts[asked].sum(axis=1) > 0).all(), "a population knows all its joint buckets"
        return counts[asked] / counts[asked].sum(axis=1, keepdims=True)


class Stubborn:
    """Believes in the last value, whatever it sees."""

    name = "stubborn"

    def fit(self, train: Samples, validation: Samples) -> Stubborn:
        self.sizes = train.target_sizes
        return self

    def predict(self, inputs: Any) -> list[Probabilities]:
        return [np.tile(np.r_[np.full(size - 1, 1e-30), 1.0], (len(inputs), 1)) for size in self.sizes]


def table_of(rows: Any, sizes: Any, personal: Any, **rest: Any) -> Table:
    """A table of discrete attributes a, b, c, ... with the given codes."""
    attributes = [
        Attribute(name, values=tuple(f"{name}{v}" for v in range(size)), personal=j in personal)
        for j, (name, size) in enumerate(zip("abcdefgh", sizes, strict=False))
    ]
    return coded(Schema(attributes), *np.reshape(rows, (-1, len(sizes))).T, **rest)


def population(table: Table) -> Split:
    """The protocol for an adversary who knows the population itself."""
    return Split(table, table, table)


def grouping(table: Table, maps: Any) -> Generalization:
    """A generalization from the bucket of each code."""
    pairs = zip(table.schema.attributes, maps, strict=True)
    return Generalization(tuple(Groups(attribute, tuple(marks)) for attribute, marks in pairs))


@st.composite
def populations(draw: Any) -> Table:
    """Up to 30 people with up to 4 attributes of up to 3 values, some with multiplicities."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=2, max_size=4))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    rows = draw(st.lists(row, min_size=1, max_size=30))
    personal = draw(st.sets(st.integers(0, len(sizes) - 1), min_size=1))
    weights = draw(st.none() | st.lists(st.integers(1, 4), min_size=len(rows), max_size=len(rows)))
    return table_of(rows, sizes, personal, weights=None if weights is None else np.array(weights, dtype=float))


def maps_of(draw: Any, table: Table) -> list[list[int]]:
    """Buckets for every attribute of a table."""
    return [draw(st.lists(st.integers(0, 2), min_size=size, max_size=size)) for size in table.sizes]
