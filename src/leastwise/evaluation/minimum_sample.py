"""How few full records are enough to find the generalization that many would give (paper §8, training sizes).

Minimization needs some records at full granularity, and they must be protected well: the fewer the better. Nested
samples of growing size are minimized; each result is held against that of all training records.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.documents.plain import LEFT_OUT
from leastwise.documents.wording import counted, percent
from leastwise.errors import DataError, ParameterError
from leastwise.evaluation.pareto import Limits, Point, similarity
from leastwise.evaluation.utility import parts_of
from leastwise.generalization import Generalization
from leastwise.minimizers.pat import fitting_min_leaf, pat_grid
from leastwise.predictors.base import Predictor
from leastwise.predictors.joint_buckets import JointBuckets
from leastwise.predictors.strongest import wrong_guesses
from leastwise.progress import Progress, Silent
from leastwise.random import generator
from leastwise.records.table import Split, Table
from leastwise.validation import check_between

Propose = Callable[[Table], Sequence[Generalization]]
"""From training records to candidates: the same settings in the same order whatever the records."""

SMALLEST = 100


@dataclass(frozen=True, kw_only=True)
class SampleSize:
    """What samples of one size gave.

    Attributes
    ----------
    size
        Full records.
    losses
        Per repetition, the share of the area under the frontier of all training records that is lost.
    similarities
        Per repetition, how alike the candidates are to those of all training records.
    """

    size: int
    losses: tuple[float, ...]
    similarities: tuple[float, ...]

    @property
    def loss(self) -> float:
        """The median over the repetitions."""
        return float(np.median(self.losses))

    @property
    def similarity(self) -> float:
        """The median over the repetitions."""
        return float(np.median(self.similarities))


@dataclass(frozen=True, kw_only=True)
class MinimumSample:
    """How many full records are enough.

    Attributes
    ----------
    size
        The median over the repetitions of the smallest size from which on no more than the tolerance is lost.
    interval
        The smallest and the largest of the repetitions. It holds the median of all that could be drawn with
        ``confidence`` (exact, for repetitions drawn independently).
    sizes
        What each size gave, ascending.
    records
        All training records, the measure of all.
    told
        Whether all of them tell of a candidate that beats asking nothing; else nothing says how few would do.
    """

    size: int
    interval: tuple[int, int]
    confidence: float
    tolerance: float
    records: int
    sizes: tuple[SampleSize, ...]
    told: bool = field(default=True, metadata=LEFT_OUT)

    def sentence(self) -> str:
        """Say it in words."""
        low, high = self.interval
        if not self.told:
            return (
                f"These records do not tell how few would do: not even from all {self.records:,} training records "
                "comes a candidate that beats asking nothing. Give more records."
            )
        if self.size >= self.records:
            return (
                f"All {self.records:,} training records are needed: with fewer, more than "
                f"{percent(self.tolerance)} of the frontier is lost."
            )
        between = f"between {low:,} and {high:,}" if low < high else f"{low:,} each time"
        drawings = counted(len(self.sizes[0].losses), "drawing")
        return (
            f"Collect about {self.size:,} full records ({between} in {drawings}): more "
            f"change the frontier by no more than {percent(self.tolerance)}."
        )


def pat_candidates(table: Table) -> list[Generalization]:
    """Return a small grid of privacy-aware trees, with leaves that fit the number of records."""
    grid = pat_grid(table, (0.3, 0.6, 0.8, 0.9), (4, 10, 20, 50), min_leaf=fitting_min_leaf(table))
    return list(itertools.chain(*grid))


def minimum_sample(
    propose: Propose,
    records: Table | Split,
    *,
    sizes: Sequence[int] | None = None,
    repetitions: int = 5,
    tolerance: float = 0.05,
    seed: int = 0,
    predictors: Callable[[], Sequence[Predictor]] = lambda: (JointBuckets(),),
    progress: Progress | None = None,
) -> MinimumSample:
    """Find how few training records give candidates as good as all of them.

    Parameters
    ----------
    propose
        The minimizer at one or more settings, such as ``pat_candidates``.
    records
        All records, which are split by the seed, or the three parts. Samples are drawn from the training part; all
        candidates are judged alike, by predictors that learn from the whole of it.
    sizes
        Of the samples; by default 100, 200, 500, 1,000, ... below the number of training records.
    repetitions
        How many times a sequence of nested samples is drawn.
    tolerance
        The share of the area under the frontier that may be lost.
    predictors
        Makes those that judge; the same ones for the classifier and the adversary.
    progress
        Is told what is done.
    """
    parts = parts_of(records, seed)
    chosen = _checked(sizes, len(parts.train), repetitions, tolerance)
    judge, told = _Judge(parts, predictors), progress or Silent()
    best = propose(parts.train.with_own_levels())
    whole = judge.area(best)
    losses, alike = np.zeros((repetitions, len(chosen))), np.zeros((repetitions, len(chosen)))
    for r in range(repetitions):
        order = _order(parts.train, generator(seed, "minimum sample", r))
        for i, size in enumerate(chosen):
            told.begin(f"drawing {r + 1} of {repetitions}: {size:,} records")
            candidates = propose(parts.train.take(np.sort(order[:size])).with_own_levels())
            losses[r, i] = (whole - judge.area(candidates)) / whole if whole > 0 else 0.0
            alike[r, i] = np.mean([similarity(a, b, parts.train) for a, b in zip(candidates, best, strict=True)])
    found = _answer(chosen, losses, alike, tolerance, len(parts.train))
    # Of nothing any sample loses nothing, and few records would seem enough.
    known = found.records
    return found if whole > 0 else replace(found, size=known, interval=(known, known), told=False)


def _answer(
    sizes: Sequence[int],
    losses: npt.NDArray[np.float64],
    alike: npt.NDArray[np.float64],
    tolerance: float,
    records: int,
) -> MinimumSample:
    enough = sorted(_first_enough(row, sizes, tolerance, records) for row in losses)
    points = [
        SampleSize(size=size, losses=tuple(losses[:, i].tolist()), similarities=tuple(alike[:, i].tolist()))
        for i, size in enumerate(sizes)
    ]
    return MinimumSample(
        size=enough[len(enough) // 2],
        interval=(enough[0], enough[-1]),
        confidence=1 - 2.0 ** (1 - len(enough)),
        tolerance=tolerance,
        records=records,
        sizes=tuple(points),
    )


def _first_enough(losses: npt.NDArray[np.float64], sizes: Sequence[int], tolerance: float, records: int) -> int:
    """Return the smallest size from which on the loss stays within the tolerance."""
    enough = records
    for size, loss in zip(reversed(sizes), losses[::-1], strict=True):
        if loss > tolerance:
            break
        enough = size
    return enough


class _Judge:
    """The area that candidates cover between the limit points; each candidate is judged once."""

    def __init__(self, parts: Split, predictors: Callable[[], Sequence[Predictor]]) -> None:
        self.parts, self.predictors = parts, predictors
        self.known: dict[str, Point] = {}
        if not parts.train.personal:
            raise DataError("no attribute is personal, so that there is no adversary; name the personal ones")
        schema = parts.train.schema
        suppressed = self.point(Generalization.suppressed(schema))
        untouched = self._error(Generalization.untouched(schema), "label")
        self.limits = Limits(Point(min(untouched, suppressed.utility_risk), 0.0), suppressed)

    def area(self, candidates: Sequence[Generalization]) -> float:
        return self.limits.hypervolume([self.point(candidate) for candidate in candidates])

    def point(self, candidate: Generalization) -> Point:
        key = repr(candidate.partitions)
        if key not in self.known:
            self.known[key] = Point(self._error(candidate, "label"), self._error(candidate, "personal"))
        return self.known[key]

    def _error(self, candidate: Generalization, targets: Any) -> float:
        wrong, _ = wrong_guesses(self.predictors(), candidate, self.parts, targets)
        people = self.parts.test.counts
        return float(np.mean([people[each].sum() for each in wrong]) / people.sum())


def _order(table: Table, random: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return all rows at random; one of each class comes first, because a sample of one class teaches nothing."""
    order = random.permutation(len(table)).astype(np.intp)
    first = np.sort(np.unique(table.y[order], return_index=True)[1])
    return np.concatenate([order[first], np.delete(order, first)])


def _checked(sizes: Sequence[int] | None, records: int, repetitions: int, tolerance: float) -> list[int]:
    check_between("repetitions", repetitions, 1)
    check_between("tolerance", tolerance, 0.0, 1.0)
    chosen = sorted(set(default_sizes(records) if sizes is None else sizes))
    if not chosen or chosen[0] < 2 or chosen[-1] >= records:
        raise ParameterError(
            f"sizes must be at least 2 and below the {records:,} training records; got {chosen or 'none'}"
        )
    return chosen


def default_sizes(records: int) -> list[int]:
    """Return 100, 200, 500, 1,000, ... below the number of records; halves of it where that is small.

    >>> default_sizes(3000), default_sizes(100)
    ([100, 200, 500, 1000, 2000], [12, 25, 50])
    """
    if records <= 2 * SMALLEST:
        return sorted({size for size in (records // 8, records // 4, records // 2) if size >= 2})
    steps = [digit * 10**power for power in range(2, 10) for digit in (1, 2, 5)]
    return [size for size in steps if SMALLEST <= size < records]
