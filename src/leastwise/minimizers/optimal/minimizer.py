"""The exact partition as a minimizer, and the path of its results from untouched to suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leastwise.generalization import Generalization
from leastwise.kernels.interval_program import Buckets
from leastwise.minimizers.base import Minimizer
from leastwise.minimizers.constraints import Constraints
from leastwise.minimizers.optimal.allotment import allot
from leastwise.minimizers.optimal.items import target_weights
from leastwise.minimizers.optimal.program import AttributeProgram, attribute_program
from leastwise.minimizers.surrogate import Effects, Surrogate, effects_of
from leastwise.partition import Partition, keep, suppress
from leastwise.records.table import Table
from leastwise.validation import check_from_zero


@dataclass(frozen=True, eq=False)
class Program:
    """All attributes of a table, counted and ready to be solved for any Lagrange multiplier ``lam``."""

    table: Table
    attributes: Mapping[int, AttributeProgram]
    constraints: Constraints

    def solve(self, lam: float) -> dict[int, Buckets]:
        """Return the best buckets of each attribute that the constraints leave open."""
        if self.constraints.max_buckets_in_all is None:
            return {j: program.optimum(lam) for j, program in self.attributes.items()}
        room = self.constraints.max_buckets_in_all - self._fixed_buckets()
        return allot({j: program.best(lam, room) for j, program in self.attributes.items()}, room)

    def generalization(self, found: Mapping[int, Buckets], **origin: Any) -> Generalization:
        """Return the artefact of a solution."""
        partitions = [
            self.attributes[j].partition(found[j]) if j in found else self._fixed(j)
            for j in range(len(self.table.schema))
        ]
        return Generalization(tuple(partitions), self.table.schema.label, origin)

    def measured(self, found: Mapping[int, Buckets]) -> tuple[float, float]:
        """Return (squared effect lost, weighted counts revealed) in all."""
        pairs = [self.attributes[j].measured(buckets) for j, buckets in found.items()]
        return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)

    def gap(self, lam: float) -> float:
        """Return a bound on how much the reduction of long attributes raised the cost."""
        return sum(program.gap(lam) for program in self.attributes.values())

    def _fixed(self, attribute: int) -> Partition:
        declared = self.table.schema.attributes[attribute]
        return suppress(declared) if declared.name in self.constraints.suppressed else keep(declared)

    def _fixed_buckets(self) -> int:
        fixed = [j for j in range(len(self.table.schema)) if j not in self.attributes]
        return sum(1 if self._fixed(j).suppressed else self.table.sizes[j] for j in fixed)


def make_program(
    table: Table,
    effects: Effects,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    constraints: Constraints | None = None,
    bucket_penalty: float = 0.0,
) -> Program:
    """Count, once for all ``lam``, what every possible bucket of every attribute loses and reveals."""
    check_from_zero("bucket_penalty", bucket_penalty)
    constraints = constraints or Constraints()
    constraints.check(table.schema)
    shares = target_weights(table, weights)
    fixed = {*constraints.suppressed, *constraints.untouched}
    open_ones = [j for j, name in enumerate(table.schema.names) if name not in fixed]
    programs = {j: attribute_program(table, j, effects[j], shares, constraints, bucket_penalty) for j in open_ones}
    return Program(table, programs, constraints)


class OptimalMinimizer(Minimizer):
    """The partition that is optimal when effects add up and buckets are attacked one at a time.

    It minimizes, over all strict generalizations whose buckets are runs of neighbouring values (discrete values in
    the order of their effects), the squared effect that is lost within buckets plus ``lam`` times the people whose
    personal values are the commonest of their bucket. See docs/optimal-partition.md for what is proved.

    Parameters
    ----------
    lam
        Lagrange multiplier of what is revealed: 0 keeps every value apart whose effect differs, a large one
        suppresses all.
    surrogate
        Who gives the effects: a name of ``leastwise.minimizers.surrogate.SURROGATES``, a function, or None.
    weights
        By personal attribute, how much it matters; 1 where nothing is said. Where the schema declares no personal
        attribute, all count as personal.
    constraints
        Conditions on the result; the program stays exact under them.
    bucket_penalty
        What a bucket costs by itself, in units of squared effect: about 10 leaves out the answers that tell the
        classifier no more than chance would (Akaike's rule, where effects are log-odds). 0 asks as finely as
        the sample can tell.

    Attributes
    ----------
    gap_
        Of the last ``minimize``: a bound on what was given up because attributes with more than 1,000 values (or
        real-valued) were reduced to at most 512 runs first; 0 when none was.

    Examples
    --------
    >>> from leastwise import Attribute, Schema, Table
    >>> import numpy as np
    >>> pay = Attribute("grade", "ordinal", values=("a", "b", "c", "d"), personal=True)
    >>> table = Table(Schema((pay,), Attribute("y", values=("no", "yes"))),
    ...     np.repeat(np.arange(4), 50)[:, None], (np.array(pay.values),), np.repeat([0, 0, 1, 1], 50))
    >>> OptimalMinimizer(lam=0.5).minimize(table)["grade"].labels
    ('a or b', 'c or d')
    """

    name = "optimal"
    reference = "docs/optimal-partition.md"

    def __init__(
        self,
        lam: float = 1.0,
        surrogate: str | Surrogate | None = None,
        weights: Mapping[str, float] | None = None,
        constraints: Constraints | None = None,
        bucket_penalty: float = 0.0,
        *,
        schema: Any = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.lam = lam
        self.surrogate = surrogate
        self.weights = weights
        self.constraints = constraints
        self.bucket_penalty = bucket_penalty

    def minimize(self, table: Table) -> Generalization:
        """Return the optimal partition for the multiplier ``lam``."""
        check_from_zero("lam", self.lam)
        held = self.constraints or Constraints()
        held.check(table.schema)
        effects = effects_of(table, self.surrogate, self.seed, held.suppressed)
        program = make_program(table, effects, self.weights, held, self.bucket_penalty)
        self.gap_ = program.gap(self.lam)
        return program.generalization(program.solve(self.lam))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
