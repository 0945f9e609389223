"""Slow truths: the same quantities as the fast code computes, written as plainly as possible."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from leastwise import Table


def gini(values: Sequence[Any], people: Sequence[float]) -> float:
    """1 - the sum of squared shares, over every value that occurs."""
    total = sum(people)
    held: dict[Any, float] = {}
    for value, count in zip(values, people, strict=True):
        held[value] = held.get(value, 0.0) + count
    return 1 - sum((count / total) ** 2 for count in held.values())


def pgini(table: Table, rows: Sequence[int], alpha: float, weights: Mapping[str, float] | None = None) -> float:
    """The criterion as the paper writes it, for some rows of a table."""
    people = [float(table.counts[i]) for i in rows]
    classes = table.classes
    label = classes / (classes - 1) * gini([table.y[i] for i in rows], people)
    names = [table.schema.names[p] for p in table.personal]
    given = [(weights or {}).get(name, 1.0) for name in names]
    told = 0.0
    for p, weight in zip(table.personal, given, strict=True):
        size = table.sizes[p]
        if size > 1:
            told += weight / sum(given) * size / (size - 1) * gini([table.codes[i, p] for i in rows], people)
    return (1 - alpha) * label + alpha * (1 - told)


def gain(
    table: Table,
    rows: Sequence[int],
    attribute: int,
    left: set[int],
    alpha: float,
    weights: Mapping[str, float] | None = None,
) -> float:
    """How much people-weighted PGini a split takes away."""
    one = [i for i in rows if int(table.codes[i, attribute]) in left]
    two = [i for i in rows if int(table.codes[i, attribute]) not in left]

    def total(some: Sequence[int]) -> float:
        return float(sum(table.counts[i] for i in some)) * pgini(table, some, alpha, weights)

    return total(rows) - total(one) - total(two)


def class_shares(table: Table, rows: Sequence[int], attribute: int, value: int) -> np.ndarray[Any, Any]:
    held = np.zeros(table.classes)
    for i in rows:
        if table.codes[i, attribute] == value:
            held[table.y[i]] += table.counts[i]
    return held / held.sum()


def people_with(table: Table, rows: Sequence[int], attribute: int, value: int) -> float:
    return float(sum(table.counts[i] for i in rows if table.codes[i, attribute] == value))


def label_scores(table: Table, rows: Sequence[int], attribute: int, values: Sequence[int]) -> list[float]:
    """The mean label; for more than two classes the projection on the first eigenvector of the covariance."""
    shares = np.array([class_shares(table, rows, attribute, v) for v in values])
    if table.classes == 2:
        return [float(share[1]) for share in shares]
    people = np.array([people_with(table, rows, attribute, v) for v in values])
    centred = shares - np.average(shares, axis=0, weights=people)
    _, vectors = np.linalg.eigh(centred.T @ (people[:, None] * centred))
    return [float(score) for score in shares @ vectors[:, -1]]


def orders(table: Table, rows: Sequence[int], attribute: int) -> Iterator[list[int]]:
    """The orders whose prefixes are tried as splits."""
    values = sorted({int(table.codes[i, attribute]) for i in rows})
    declared = table.schema.attributes[attribute]
    if declared.kind != "discrete":
        levels = [v for v in values if v < len(table.levels[attribute])]
        extras = [v for v in values if v >= len(table.levels[attribute])]
        for front in itertools.product((False, True), repeat=len(extras)):
            yield (
                [v for v, first in zip(extras, front, strict=True) if first]
                + levels
                + [v for v, first in zip(extras, front, strict=True) if not first]
            )
        return
    scores = dict(zip(values, label_scores(table, rows, attribute, values), strict=True))
    by_label = sorted(values, key=lambda v: scores[v])
    yield by_label
    for p in table.personal:
        if p != attribute and len({int(table.codes[i, p]) for i in rows}) > 1:
            yield balanced(table, rows, attribute, p, by_label)


def balanced(
    table: Table, rows: Sequence[int], attribute: int, personal: int, by_label: Sequence[int]
) -> list[int]:
    """Sort by the share of the personal attribute's commonest value, halve, and let the halves take turns."""
    use = {
        int(v): people_with(table, rows, personal, int(v)) for v in np.unique(table.codes[list(rows), personal])
    }
    common = max(sorted(use), key=lambda v: use[v])

    def share(value: int) -> float:
        both = [i for i in rows if table.codes[i, attribute] == value and table.codes[i, personal] == common]
        return float(sum(table.counts[i] for i in both)) / people_with(table, rows, attribute, value)

    upper = set(sorted(by_label, key=share, reverse=True)[: (len(by_label) + 1) // 2])
    halves = [v for v in by_label if v in upper], [v for v in by_label if v not in upper]
    return [v for pair in itertools.zip_longest(*halves) for v in pair if v is not None]


def best_gain(
    table: Table, rows: Sequence[int], alpha: float, min_leaf: float, weights: Mapping[str, float] | None = None
) -> float:
    """The best gain of all prefixes of all orders, -inf where no split leaves enough people on both sides."""
    best = -np.inf
    for attribute in range(len(table.schema)):
        for order in orders(table, rows, attribute):
            for stop in range(1, len(order)):
                left = set(order[:stop])
                if _both_sides(table, rows, attribute, left, min_leaf):
                    best = max(best, gain(table, rows, attribute, left, alpha, weights))
    return float(best)


def best_subset_gain(table: Table, rows: Sequence[int], attribute: int, alpha: float) -> float:
    """The best gain of all 2^(c-1) - 1 ways to part the values of an attribute."""
    values = sorted({int(table.codes[i, attribute]) for i in rows})
    first, rest = values[0], values[1:]
    chosen = itertools.chain.from_iterable(itertools.combinations(rest, k) for k in range(len(rest)))
    return max((gain(table, rows, attribute, {first, *some}, alpha) for some in chosen), default=-np.inf)


def _both_sides(table: Table, rows: Sequence[int], attribute: int, left: set[int], min_leaf: float) -> bool:
    one = sum(float(table.counts[i]) for i in rows if int(table.codes[i, attribute]) in left)
    return one >= min_leaf and sum(float(table.counts[i]) for i in rows) - one >= min_leaf
