"""Constraints as forbidden buckets: the program stays exact because it only loses choices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leastwise.kernels.interval_program import run_sums
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.items import Items, code_of
from leastwise.records.table import Table

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Rules:
    """Which buckets of one attribute are forbidden; [mask of free items, first, last]."""

    table: Table
    attribute: int
    items: Items
    constraints: Constraints

    def forbidden_runs(self) -> Flags:
        """Return the forbidden buckets that hold a run of items."""
        masks = range(2**self.items.free)
        return np.stack([self._too_few(m) | self._across_edges() | self._against_lists(m) for m in masks])

    def forbidden_alone(self) -> Flags:
        """Return the forbidden buckets that hold free items only."""
        return np.array([self._alone(mask) for mask in range(2**self.items.free)])

    def _free(self, mask: int) -> list[int]:
        return [self.items.row + bit for bit in range(self.items.free) if mask >> bit & 1]

    def _too_few(self, mask: int) -> Flags:
        people = run_sums(self.items.weights[: self.items.row]) + self.items.weights[self._free(mask)].sum()
        return np.asarray(people < self.constraints.min_people)

    def _across_edges(self) -> Flags:
        row, levels = self.items.row, self.table.levels[self.attribute]
        edges = np.sort(np.asarray(self.constraints.edges.get(self._name, ()), dtype=float))
        if not len(edges):
            return np.zeros((row, row), dtype=bool)
        side = np.zeros(row, dtype=np.intp)
        item_of = self.items.item_of[: len(levels)]
        side[item_of[item_of >= 0]] = np.searchsorted(edges, levels[item_of >= 0].astype(float), side="left")
        return np.asarray(side[:, None] != side[None, :])

    def _against_lists(self, mask: int) -> Flags:
        """Return the runs that hold two values that must be apart, or a part of those that stay together."""
        row, free = self.items.row, self._free(mask)
        wrong = np.zeros((row, row), dtype=bool)
        for items in self._listed(self.constraints.apart):
            wrong |= self._held(items) + len([item for item in items if item in free]) > 1
        for items in self._listed(self.constraints.together):
            held = self._held([*set(items)]) + len(set(items) & set(free))
            wrong |= (held > 0) & (held < len(set(items)))
        return wrong

    def _alone(self, mask: int) -> bool:
        free = set(self._free(mask))
        few = self.items.weights[[*free]].sum() < self.constraints.min_people if free else False
        parted = any(len(set(items) & free) > 1 for items in self._listed(self.constraints.apart))
        torn = any(0 < len(set(i) & free) < len(set(i)) for i in self._listed(self.constraints.together))
        return bool(few or parted or torn)

    def _held(self, items: list[int]) -> npt.NDArray[np.int64]:
        """Return how many of the items each run holds; an item that is listed twice counts twice."""
        here = np.zeros(self.items.row)
        np.add.at(here, [item for item in items if item < self.items.row], 1)
        return run_sums(here).astype(np.int64)

    def _listed(self, lists: object) -> list[list[int]]:
        """Return the items of each list of values of this attribute."""
        assert hasattr(lists, "get")
        declared, levels = self.table.schema.attributes[self.attribute], self.table.levels[self.attribute]
        result = []
        for values in lists.get(self._name, ()):
            codes = [code_of(declared, levels, value) for value in values]
            result.append([int(self.items.item_of[c]) for c in codes if c >= 0 and self.items.item_of[c] >= 0])
        return result

    @property
    def _name(self) -> str:
        return self.table.schema.names[self.attribute]
