"""Personal attributes become known one after the other: one network serves every step of the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from weakref import ReferenceType, ref

import numpy as np

from leastwise.adversaries.breach import Breach
from leastwise.adversaries.guessing import StrongestOf, views
from leastwise.partition import Codes
from leastwise.predictors.base import Predictor, Probabilities, Samples
from leastwise.predictors.prefix import PrefixNetwork
from leastwise.predictors.strongest import strongest


@dataclass(frozen=True)
class InOrder:
    """Makes the predictor of the next attribute: the usual ones, but for the network, which all steps share.

    Attributes
    ----------
    usual
        What predicts where nothing is shared.
    order
        Positions of the attributes to be found, none of which is collected in full.
    first
        Positions of what is known in full from the beginning.
    known
        How many of the order are known by now; the first and the last step are those of A3 and A4.
    """

    usual: StrongestOf
    # Findings are remembered by what made them, which must not keep the records.
    _breach: ReferenceType[Breach] = field(compare=False, repr=False)
    order: tuple[int, ...]
    first: tuple[int, ...]
    known: int

    @classmethod
    def of(
        cls, usual: StrongestOf, breach: Breach, order: Sequence[int], first: Sequence[int], known: int
    ) -> InOrder:
        """Return it for one breach."""
        return cls(usual, ref(breach), tuple(order), tuple(first), known)

    @property
    def breach(self) -> Breach:
        """The breach that is attacked."""
        found = self._breach()
        assert found is not None
        return found

    def __call__(self) -> Predictor:
        """Return a fresh predictor."""
        counting, network, *more = self.usual.knowing_more().members()
        return strongest((counting, Next(network, self), *more))

    def network(self) -> PrefixNetwork:
        """Return the network, which learns when it is first asked for."""
        breach = self.breach
        key = (breach.joined.partitions, breach.coarsening, breach.labelled, replace(self, known=0))
        if key not in breach.memory:
            train, validation, _ = views(breach, breach.joined, self.order, self.first)
            made = PrefixNetwork(seed=self.usual.seed, least=1, most=len(self.order) - 2)
            if self.usual.quick:
                made = replace(made, epochs=8, members=1)
            breach.memory[key] = made.fit(train, validation)
        found: PrefixNetwork = breach.memory[key]
        return found


class Next:
    """The shared network as a predictor from the inputs of one step, where what is known stands in full.

    Parameters
    ----------
    alone
        What would be used without sharing; it knows whether it is worthwhile.
    """

    name = "network"

    def __init__(self, alone: Predictor, way: InOrder) -> None:
        self._alone, self._way = alone, way

    def worthwhile(self, train: Samples) -> bool:
        """Return whether a network may add to counting in this step."""
        return bool(getattr(self._alone, "worthwhile", lambda _: True)(train))

    def fit(self, train: Samples, validation: Samples) -> Next:
        """Let the network learn, unless it did so for an earlier step."""
        way, table = self._way, self._way.breach.parts.train
        told = way.order[: way.known]
        buckets = table.bucket_maps(way.breach.joined)
        in_full = {j: np.arange(table.sizes[j]) for j in (*way.first, *told)}
        here = [j for j, bucket_of in enumerate(buckets) if in_full.get(j, bucket_of).max(initial=0) > 0]
        there = [j for j in here if j not in told or buckets[j].max(initial=0) > 0]
        # From each input of the step to each input of the network: its column, and what its codes become.
        self._inputs = [(here.index(j), buckets[j] if j in told else None) for j in there]
        if way.breach.labelled:
            self._inputs.append((len(here), None))
        self._told = [here.index(p) if p in here else None for p in told]
        self._network = way.network()
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return the probabilities of the next attribute."""
        nothing = np.zeros((len(inputs), 0), dtype=np.intp)
        seen = [inputs[:, c] if to is None else to[inputs[:, c]] for c, to in self._inputs]
        # An attribute of one value has no column.
        told = [inputs[:, c] if c is not None else np.zeros(len(inputs), dtype=np.intp) for c in self._told]
        stacked = [np.column_stack([nothing, *columns]).astype(np.intp) for columns in (seen, told)]
        return [self._network.predict_next(*stacked)]
