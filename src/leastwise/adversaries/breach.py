"""What was stolen, and what the thief knew before.

Where nearly every number is somebody's own, counting learns nothing: a continuous attribute with more than
``MOST_LEVELS`` distinct numbers is given to the predictors as quantiles of the training part. A run never crosses
an edge of the generalization, so what the adversary sees of the attribute is not blurred, and what it
rules out stays ruled out. The truth that a guess is scored against is never coarsened.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.targets import Target, target_of
from leastwise.errors import DataError, ParameterError
from leastwise.generalization import Generalization
from leastwise.partition import Partition, Untouched
from leastwise.predictors.base import CHOOSING
from leastwise.records.grouping import Cells, numbered_runs, quantile_of
from leastwise.records.table import Split, Table


@dataclass(frozen=True, eq=False)
class Breach:
    """Generalized records in the hands of an adversary (the paper's section on adversaries).

    The adversary holds the generalization (it is public), records of other people at full granularity, and the
    stolen generalized records. It does not hold ``truth``: that is there to score its guesses.

    The training phase stores each generalized record z with its label y, the deployment phase only z (a predicted
    label is a function of z, and tells nothing more). The default breach is that of the training phase.

    Parameters
    ----------
    generalizations
        Under which the records were stolen; more than one only for A6.
    train
        The adversary's knowledge: other people's records at full granularity.
    validation
        More of them, to choose predictors with.
    truth
        The full records behind the stolen ones; for scoring only.
    seed
        Of everything that is drawn.
    tolerances
        By the name of a continuous personal attribute, how far off a guess may be and still count as right;
        by default a twentieth of its range (see ``Table.default_tolerance``).
    label
        Whether the labels are stolen with the records, where there are any. False: the deployment phase, which is
        also the paper's setting.
    cells
        Where the records stay at their source, ``truth`` holds each distinct generalized record once, and these
        hold, by the position of a personal attribute, what goes with it. A guess depends on the generalized
        record alone, so that it is scored on counts exactly as on people.
    withheld
        How many people there are beside, whose counts are too small to be known: they count as told.
    counting
        Whether A1, A2 and A6 also guess each person from the counts of all other stolen people, whose full records
        they then know; what errs least counts.
    """

    generalizations: tuple[Generalization, ...]
    train: Table
    validation: Table
    truth: Table
    seed: int = 0
    tolerances: Mapping[str, float] = field(default_factory=dict)
    label: bool = True
    cells: Mapping[int, Cells] | None = None
    withheld: float = 0.0
    counting: bool = False
    # What one attack found is handed to the next: A2 and A5 start from A1, and A5 meets A3 and A4 at its ends.
    memory: dict[Hashable, Any] = field(default_factory=dict, repr=False)
    coarsen_by: Generalization | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "generalizations", tuple(self.generalizations))
        if not self.generalizations:
            raise ParameterError("a breach needs at least one generalization; got none")
        for name, part in (("training", self.train), ("validation", self.validation), ("test", self.truth)):
            if not len(part):
                raise DataError(f"an attack needs {name} records; got none: give more records")
        known = tuple(each.within(self.truth.schema) for each in self.generalizations)
        object.__setattr__(self, "generalizations", known)
        for name, tolerance in self.tolerances.items():
            kind = self.truth.schema[name].kind
            if kind != "continuous":
                raise ParameterError(f"a tolerance is for a continuous attribute; {name} is {kind}")
            if not (np.isfinite(tolerance) and tolerance >= 0):
                raise ParameterError(f"the tolerance of {name} must be a number from 0; got {tolerance}")

    @classmethod
    def of(cls, generalization: Generalization | Sequence[Generalization], split: Split, **rest: Any) -> Breach:
        """Return the breach of the protocol: training and validation part are known, the test part is stolen.

        Of a large validation part some are enough: it is there to choose among predictors.
        """
        several = (generalization,) if isinstance(generalization, Generalization) else tuple(generalization)
        return cls(several, split.train, split.validation.at_most(CHOOSING, "choosing"), split.test, **rest)

    @property
    def generalization(self) -> Generalization:
        """The generalization of the stolen records; an error if there are several."""
        if len(self.generalizations) > 1:
            raise ParameterError("this attack takes a breach of one generalization; A6 takes several")
        return self.generalizations[0]

    @cached_property
    def joined(self) -> Generalization:
        """What somebody knows who holds the records of all generalizations: their common refinement."""
        return self.generalizations[0].refine(*self.generalizations[1:])

    @cached_property
    def records(self) -> npt.NDArray[Any]:
        """The stolen records: buckets under the common refinement, people x attributes."""
        return self.truth.generalize(self.joined)

    @cached_property
    def labelled(self) -> bool:
        """Whether the stolen records carry the label. Where nothing is asked, nothing is stored."""
        return self.label and stores_label(self.truth, self.joined)

    @cached_property
    def stored(self) -> npt.NDArray[Any]:
        """The stolen records with the label as the last column, where it is stolen too."""
        return np.column_stack([self.records, self.truth.stored_label]) if self.labelled else self.records

    @cached_property
    def parts(self) -> Split:
        """The three parts with long continuous columns coarsened, as predictors see them."""
        return Split(*coarsened(self.coarsen_by or self.joined, (self.train, self.validation, self.truth)))

    @cached_property
    def coarsening(self) -> Hashable:
        """What the coarsening of the parts depends on: the partitions of long columns."""
        edges = (self.coarsen_by or self.joined).partitions
        return tuple(edges[j] for j in long_columns(self.train))

    @cached_property
    def targets(self) -> Mapping[int, Target]:
        """What there is to be found: by position, each personal attribute."""
        if not self.truth.personal:
            raise ParameterError("an attack needs personal attributes; mark at least one in the schema")
        known = (self.train, self.truth, self.parts.train, self.tolerances)
        cells = self.cells or {}
        return {p: target_of(p, *known, cells.get(p), self.people) for p in self.truth.personal}

    def record_of(self, position: int) -> npt.NDArray[np.intp] | slice:
        """Return the stolen record of each row that a target is scored on."""
        return slice(None) if self.cells is None else self.cells[position].record_of

    @cached_property
    def people(self) -> float:
        """How many people the stolen records stand for: what shares of them are shares of."""
        return self.truth.people + self.withheld

    @property
    def headcount(self) -> float:
        """How many people were stolen from: who has several records is one."""
        return self.truth.headcount + self.withheld

    def together_with(self, others: Sequence[Generalization]) -> Breach:
        """Return the breach of these and more generalizations of the same people."""
        return replace(self, generalizations=(*self.generalizations, *others))

    def deployed(self) -> Breach:
        """Return the breach of the same people in the deployment phase: without their labels."""
        return replace(self, label=False)

    def blind(self) -> Breach:
        """Return the same people of whom nothing was collected: what side information tells by itself."""
        nothing = Generalization.suppressed(self.truth.schema)
        # Long columns stay coarsened alike, so that what makes no difference gives the same figure.
        return replace(self, generalizations=(nothing,), coarsen_by=self.coarsen_by or self.joined)

    def alone(self, generalization: Generalization) -> Breach:
        """Return the breach of only one of the generalizations."""
        return replace(self, generalizations=(generalization,), coarsen_by=self.joined)


MOST_LEVELS = 128


def stores_label(table: Table, generalization: Generalization) -> bool:
    """Return whether the training phase stores a label beside these generalized records."""
    return table.labels is not None and not all(partition.suppressed for partition in generalization.partitions)


def coarsened(generalization: Generalization, parts: Sequence[Table]) -> list[Table]:
    """Return the parts with every long continuous column coarsened; the first part is the training one."""
    train = parts[0]
    long = long_columns(train)
    runs = {j: run_of_level(train, j, generalization.partitions[j]) for j in long}
    numbers = {j: _middles(train, j, run) for j, run in runs.items()}
    return [_recoded(part, runs, numbers) for part in parts] if long else list(parts)


def long_columns(table: Table) -> list[int]:
    """Return the positions of the continuous attributes with too many numbers to count."""
    attributes = enumerate(table.schema.attributes)
    return [j for j, a in attributes if a.continuous and len(table.levels[j]) > MOST_LEVELS]


def run_of_level(train: Table, attribute: int, partition: Partition) -> npt.NDArray[np.intp]:
    """Return the run of each level: neighbours of one bucket, about equally used."""
    levels = train.levels[attribute]
    use = train.use(attribute)[: len(levels)]
    bucket = np.zeros(len(levels), dtype=np.intp)
    if not isinstance(partition, Untouched):
        bucket = partition.bucket_map(levels)[: len(levels)]
    return numbered_runs(quantile_of(use, MOST_LEVELS), bucket)


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
