"""Learning from a sample where records are many: to propose and to screen needs no more than tells apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from leastwise.random import generator
from leastwise.records.table import Split, Table
from leastwise.runs.candidates import Candidate
from leastwise.runs.judging import screen_by_counting
from leastwise.runs.workers import Workers

NEAR = 0.005
"""A sample suffices where twice as many records change no figure by more than this."""
SEARCHED = 25_000
"""So many people of the validation part screen candidates, and say what is free while they are made the least.
Where one in forty is guessed otherwise, a loss is told there to a tenth of a point, a third of what may be lost;
hundreds of classifiers are judged there. The frontier is then judged on all."""
SEARCHED_ANSWERS, FEWEST_SEARCHED = 1_200_000, 12_000
"""Of wide tables fewer people, so that all their answers are no more than these; but not fewer than the second."""
TRIED = 3
"""Candidates on which that is tried: one of few answers, one in the middle, one of many."""


def sampled(split: Split, most: int, seed: int) -> Split:
    """Return the split with at most so many training records, the same ones each time; validation stays whole."""
    train = split.train
    if len(train) <= most or (train.weights is not None and not train.survey):
        return split
    rows = np.sort(generator(seed, "sample").choice(len(train), most, replace=False))
    return split._replace(train=train.take(rows))


def searched(validation: Table) -> npt.NDArray[np.intp]:
    """Return where the people of the validation part stand on whom a search is judged."""
    wide = max(SEARCHED_ANSWERS // max(len(validation.schema), 1), FEWEST_SEARCHED)
    return validation.drawn(min(SEARCHED, wide), "searching")


def for_searching(split: Split) -> Split:
    """Return the split with at most so many validation records as a search is judged on; training stays whole."""
    people, rows = split.validation, searched(split.validation)
    return split if len(rows) == len(people) else split._replace(validation=people.take(rows))


def enough(split: Split, candidates: Sequence[Candidate], most: int, seed: int, workers: Workers) -> Split:
    """Return the split with as many training records as screening needs: twice as many would tell the same."""
    by_size = sorted(candidates, key=lambda each: (each.answers, each.fingerprint))
    places = sorted({0, len(by_size) // 2, len(by_size) - 1})[:TRIED]
    now = sampled(split, most, seed)
    while len(now.train) < len(split.train):
        twice = sampled(split, 2 * len(now.train), seed)
        tasks = [(by_size[i].generalization, part, len(by_size)) for part in (now, twice) for i in places]
        points = [judged.figures.point for judged in workers.map(screen_by_counting, tasks)]
        pairs = zip(points[: len(places)], points[len(places) :], strict=True)
        changes = [abs(a - b) for pair in pairs for a, b in zip(*pair, strict=True)]
        if max(changes) <= NEAR:
            return now
        now = twice
    return split
