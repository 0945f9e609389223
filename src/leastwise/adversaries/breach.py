"""What was stolen, and what the thief knew before."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.coarsening import coarsened, long_columns
from leastwise.adversaries.targets import Target, target_of
from leastwise.errors import DataError, ParameterError
from leastwise.generalization import Generalization
from leastwise.records.table import Split, Table


@dataclass(frozen=True, eq=False)
class Breach:
    """Generalized records in the hands of an adversary (the paper's section on adversaries).

    The adversary holds the generalization (it is public), records of other people at full granularity, and the
    stolen generalized records. It does not hold ``truth``: that is there to score its guesses.

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
        by default a twentieth of its range (see ``default_tolerance``).
    """

    generalizations: tuple[Generalization, ...]
    train: Table
    validation: Table
    truth: Table
    seed: int = 0
    tolerances: Mapping[str, float] = field(default_factory=dict)
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
        _check_tolerances(self.tolerances, self.truth)

    @classmethod
    def of(cls, generalization: Generalization | Sequence[Generalization], split: Split, **rest: Any) -> Breach:
        """Return the breach of the protocol: training and validation part are known, the test part is stolen."""
        several = (generalization,) if isinstance(generalization, Generalization) else tuple(generalization)
        return cls(several, *split, **rest)

    @property
    def generalization(self) -> Generalization:
        """The generalization of the stolen records; an error if there are several."""
        if len(self.generalizations) > 1:
            raise ParameterError("this attack takes a breach of one generalization; A6 takes several")
        return self.generalizations[0]

    @cached_property
    def joined(self) -> Generalization:
        """What somebody knows who holds the records of all generalizations: their common refinement."""
        joined = self.generalizations[0]
        for other in self.generalizations[1:]:
            joined = joined.refine(other)
        return joined

    @cached_property
    def records(self) -> npt.NDArray[Any]:
        """The stolen records: buckets under the common refinement, people x attributes."""
        return self.truth.generalize(self.joined)

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
        return {
            p: target_of(p, self.train, self.truth, self.parts.train, self.tolerances) for p in self.truth.personal
        }

    @cached_property
    def people(self) -> float:
        """How many people were stolen from."""
        return self.truth.people

    def together_with(self, others: Sequence[Generalization]) -> Breach:
        """Return the breach of these and more generalizations of the same people."""
        return replace(self, generalizations=(*self.generalizations, *others))

    def blind(self) -> Breach:
        """Return the same people of whom nothing was collected: what side information tells by itself."""
        nothing = Generalization.suppressed(self.truth.schema)
        # Long columns stay coarsened alike, so that what makes no difference gives the same figure.
        return replace(self, generalizations=(nothing,), coarsen_by=self.coarsen_by or self.joined)

    def alone(self, generalization: Generalization) -> Breach:
        """Return the breach of only one of the generalizations."""
        return replace(self, generalizations=(generalization,), coarsen_by=self.joined)


def _check_tolerances(tolerances: Mapping[str, float], table: Table) -> None:
    for name, tolerance in tolerances.items():
        if not table.schema[name].continuous:
            raise ParameterError(f"a tolerance is for a continuous attribute; {name} is {table.schema[name].kind}")
        if not (np.isfinite(tolerance) and tolerance >= 0):
            raise ParameterError(f"the tolerance of {name} must be a number from 0; got {tolerance}")
