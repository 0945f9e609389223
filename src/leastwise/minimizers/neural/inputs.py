"""Records as the networks see them: rows of a table of logits, and places between 0 and 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import DataError
from leastwise.table import Table

# A personal number is guessed by the adversary as one of at most so many runs of neighbouring numbers.
_MOST_RUNS = 32


@dataclass(frozen=True, eq=False)
class Layout:
    """Which network generalizes which code of which attribute.

    The values of a discrete attribute, and "missing" and "other" of every attribute, have a row of logits each.
    Numbers and ordered values are generalized by their place in [0, 1], through a monotone network.

    Attributes
    ----------
    named, ordered
        The positions of the discrete attributes, and of the continuous and ordinal ones. The networks have all
        attributes in this order.
    rows
        Per attribute (in the schema's order), the row of each code; -1 where the code has a place instead.
    places
        Per attribute, the place of each code; 0 where it has a row instead.
    use
        Per attribute, how many people have each code.
    balance
        Per attribute, how much a person with each code counts in the normalization of places: half of all weight
        is spread evenly over the people and half over the values, so that the few people beside a value that
        nearly all have are no outliers. 0 where the code has a row.
    """

    named: tuple[int, ...]
    ordered: tuple[int, ...]
    rows: tuple[npt.NDArray[np.int64], ...]
    places: tuple[npt.NDArray[np.float32], ...]
    use: tuple[npt.NDArray[np.float64], ...]
    balance: tuple[npt.NDArray[np.float32], ...]

    @classmethod
    def of(cls, table: Table) -> Layout:
        """Return the layout of a table's attributes."""
        kinds = [attribute.kind for attribute in table.schema.attributes]
        inner = [0 if kind == "discrete" else len(table.levels[j]) for j, kind in enumerate(kinds)]
        behind = np.cumsum([0, *(size - count for size, count in zip(table.sizes, inner, strict=True))])
        use = tuple(table.use(j) for j in range(len(kinds)))
        return cls(
            named=tuple(j for j, kind in enumerate(kinds) if kind == "discrete"),
            ordered=tuple(j for j, kind in enumerate(kinds) if kind != "discrete"),
            rows=tuple(_rows(inner[j], int(behind[j]), int(behind[j + 1])) for j in range(len(kinds))),
            places=tuple(_places(use[j], inner[j], kind == "continuous") for j, kind in enumerate(kinds)),
            use=use,
            balance=tuple(_balance(use[j], inner[j]) for j in range(len(kinds))),
        )

    @property
    def attributes(self) -> tuple[int, ...]:
        """The positions of the attributes in the order of the networks."""
        return self.named + self.ordered

    @property
    def logit_rows(self) -> int:
        """How many rows of logits there are."""
        return sum(int((rows >= 0).sum()) for rows in self.rows)

    def seen(self, attribute: int) -> npt.NDArray[np.bool_]:
        """Return which codes of an attribute somebody has."""
        return self.use[attribute] > 0

    def levels(self, attribute: int) -> int:
        """Return how many codes of an attribute have a place."""
        return int((self.rows[attribute] < 0).sum())


def _rows(levels: int, first: int, end: int) -> npt.NDArray[np.int64]:
    return np.concatenate([np.full(levels, -1), np.arange(first, end)]).astype(np.int64)


def _places(use: npt.NDArray[Any], levels: int, only_seen: bool) -> npt.NDArray[np.float32]:
    """Return the mean of two ranks: among the values, and among the people.

    The number itself would let a few large ones crowd all others at one end. The rank among the people sets a
    value apart that many have, the rank among the values gives the rare ones room; the mean does both.
    """
    people = use[:levels]
    steps = (people > 0).astype(float) if only_seen else np.ones(levels)
    by_value = (np.cumsum(steps) - 1) / max(steps.sum() - 1, 1)
    by_person = (np.cumsum(people) - people / 2) / max(people.sum(), 1e-300)
    return np.concatenate([(by_value + by_person) / 2, np.zeros(len(use) - levels)]).astype(np.float32)


def _balance(use: npt.NDArray[Any], levels: int) -> npt.NDArray[np.float32]:
    people = use[:levels]
    seen = np.maximum(people, 1e-300)
    each = np.where(people > 0, 0.5 / max(people.sum(), 1e-300) + 0.5 / (max((people > 0).sum(), 1) * seen), 0.0)
    return np.concatenate([each, np.zeros(len(use) - levels)]).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Inputs:
    """The records of a table, ready for training.

    Attributes
    ----------
    rows
        Per record and attribute (in the networks' order), its row of logits, -1 where it has a place.
    places, balance
        Per record and ordered attribute, its place, and how much it counts in the normalization.
    people
        People per record, 1 on average.
    labels, classes
        The class of each record, and how many classes there are.
    targets, target_sizes
        Per record and personal attribute the value that the adversary wants, and how many there are.
    """

    layout: Layout
    rows: npt.NDArray[np.int64]
    places: npt.NDArray[np.float32]
    balance: npt.NDArray[np.float32]
    people: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]
    classes: int
    targets: npt.NDArray[np.int64]
    target_sizes: tuple[int, ...]

    @classmethod
    def of(cls, table: Table) -> Inputs:
        """Return the inputs of all records that stand for somebody."""
        table = table if table.weights is None else table.take(np.flatnonzero(table.weights > 0))
        if not len(table):
            raise DataError("training needs records; got none that stands for anybody")
        layout, rows = Layout.of(table), len(table)
        targets = [adversary_target(table, p) for p in table.personal]
        return cls(
            layout=layout,
            rows=_side_by_side([layout.rows[j][table.codes[:, j]] for j in layout.attributes], rows, np.int64),
            places=_side_by_side([layout.places[j][table.codes[:, j]] for j in layout.ordered], rows, np.float32),
            balance=_side_by_side(
                [layout.balance[j][table.codes[:, j]] for j in layout.ordered], rows, np.float32
            ),
            people=(table.counts / table.counts.mean()).astype(np.float32),
            labels=table.y.astype(np.int64),
            classes=table.classes,
            targets=_side_by_side([codes for codes, _ in targets], rows, np.int64),
            target_sizes=tuple(size for _, size in targets),
        )

    def __len__(self) -> int:
        return len(self.rows)


def adversary_target(table: Table, position: int) -> tuple[npt.NDArray[np.int64], int]:
    """Return what the adversary wants of an attribute, and how many values that has.

    These are its codes; the distinct numbers of a continuous attribute, if they are many, as runs of
    neighbouring ones with about as many people each.
    """
    codes, size = table.codes[:, position].astype(np.int64), table.sizes[position]
    if not table.schema.attributes[position].continuous:
        return codes, size
    levels = len(table.levels[position])
    people = table.use(position)[:levels]
    if (people > 0).sum() > _MOST_RUNS:
        middle = (np.cumsum(people) - people / 2) / people.sum()
        run_of = (middle * _MOST_RUNS).astype(np.int64)
    else:
        run_of = np.maximum(np.cumsum(people > 0) - 1, 0)
    runs = int(run_of.max(initial=-1)) + 1
    return np.concatenate([run_of, runs + np.arange(size - levels)])[codes], runs + size - levels


def _side_by_side(columns: Sequence[npt.NDArray[Any]], rows: int, kind: Any) -> npt.NDArray[Any]:
    return np.stack(columns, axis=1).astype(kind) if columns else np.zeros((rows, 0), dtype=kind)
