"""Long continuous columns as quantiles: where nearly every number is somebody's own, counting learns nothing.

A continuous attribute with more than ``MOST_LEVELS`` distinct numbers is given to the predictors as runs of
neighbouring numbers, about equally used in the training part. A run never crosses an edge of the generalization,
so what the adversary sees of the attribute is not blurred, and what the generalization rules out stays ruled out.
The truth that a guess is scored against is never coarsened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.records.table import Table

MOST_LEVELS = 128


def coarsened(generalization: Generalization, parts: Sequence[Table]) -> list[Table]:
    """Return the parts with every long continuous column coarsened; the first part is the training one."""
    train = parts[0]
    long = long_columns(train)
    runs = {j: _run_of_level(train, j, generalization.partitions[j]) for j in long}
    numbers = {j: _middles(train, j, run) for j, run in runs.items()}
    return [_recoded(part, runs, numbers) for part in parts] if long else list(parts)


def long_columns(table: Table) -> list[int]:
    """Return the positions of the continuous attributes with too many numbers to count."""
    attributes = enumerate(table.schema.attributes)
    return [j for j, a in attributes if a.continuous and len(table.levels[j]) > MOST_LEVELS]


def _run_of_level(train: Table, attribute: int, partition: Partition) -> npt.NDArray[np.intp]:
    """Return the run of each level: neighbours of one bucket, about equally used."""
    levels = train.levels[attribute]
    use = train.use(attribute)[: len(levels)]
    step = max(float(use.sum()) / MOST_LEVELS, 1e-9)
    # The middle of each level's own use decides, so that one very common number does not drag its neighbours.
    quantile = np.floor((np.cumsum(use) - use / 2) / step).astype(np.intp)
    bucket = np.zeros(len(levels), dtype=np.intp)
    if not isinstance(partition, Untouched):
        bucket = partition.bucket_map(levels)[: len(levels)]
    starts = (np.diff(quantile) != 0) | (np.diff(bucket) != 0)
    return np.concatenate([[0], np.cumsum(starts)]).astype(np.intp)


def _middles(train: Table, attribute: int, run: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Return one number per run: the median of the training records in it, or its first level without any."""
    use = train.use(attribute)[: len(run)]
    before = np.concatenate([[0.0], np.cumsum(np.bincount(run, weights=use))])
    half = (before[:-1] + before[1:]) / 2
    starts = np.searchsorted(run, np.arange(len(half)), side="left")
    ends = np.searchsorted(run, np.arange(len(half)), side="right") - 1
    middle = np.searchsorted(np.cumsum(use), half, side="left")
    return np.asarray(train.levels[attribute][np.clip(middle, starts, ends)])


def _recoded(part: Table, runs: dict[int, npt.NDArray[np.intp]], numbers: dict[int, npt.NDArray[Any]]) -> Table:
    codes = part.codes.astype(np.intp)
    levels = list(part.levels)
    for j, run in runs.items():
        extras = len(numbers[j]) + np.arange(part.schema.attributes[j].extra_values)
        codes[:, j] = np.concatenate([run, extras])[part.codes[:, j]]
        levels[j] = numbers[j]
    return replace(part, codes=np.asfortranarray(codes), levels=tuple(levels))
