"""Codes as numbers for models that add and multiply: a 0/1 column per bucket, and the rank where it has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.partition import Codes
from leastwise.predictors.base import Samples

# An ordered input with more codes than this is first cut into so many runs of neighbouring codes.
_MOST_RUNS = 128


@dataclass(frozen=True, eq=False)
class OneHot:
    """The one-hot form of inputs: per input column a lookup table from its codes to numbers.

    Attributes
    ----------
    rows
        Per input column, codes x numbers.
    """

    rows: tuple[npt.NDArray[np.float32], ...]

    @classmethod
    def of(cls, samples: Samples) -> OneHot:
        """Return the form that fits these inputs; an ordered column also gives its rank, between 0 and 1."""
        pairs = zip(samples.input_sizes, samples.ordered, strict=True)
        return cls(tuple(_lookup(size, ordered) for size, ordered in pairs))

    @property
    def width(self) -> int:
        """How many numbers a row becomes."""
        return sum(table.shape[1] for table in self.rows)

    def __call__(self, inputs: Codes) -> npt.NDArray[np.float32]:
        """Return rows x width."""
        out = np.empty((len(inputs), self.width), dtype=np.float32)
        start = 0
        for j, table in enumerate(self.rows):
            end = start + table.shape[1]
            np.take(table, inputs[:, j], axis=0, out=out[:, start:end], mode="clip")
            start = end
        return out


def _lookup(size: int, ordered: bool) -> npt.NDArray[np.float32]:
    codes = np.arange(size)
    if not ordered or size <= 2:
        return np.eye(size, dtype=np.float32)
    runs = codes * min(size, _MOST_RUNS) // size
    rank = codes / (size - 1)
    return np.column_stack([np.eye(int(runs.max()) + 1)[runs], rank]).astype(np.float32)


def starts(sizes: Sequence[int]) -> npt.NDArray[np.intp]:
    """Return where each block begins when blocks of these sizes lie side by side, and where the last ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.intp))]).astype(np.intp)


def scatter(codes: Codes, sizes: Sequence[int]) -> npt.NDArray[Any]:
    """Return, per row and column, the place of its code among all blocks side by side."""
    return codes + starts(sizes)[:-1]
