"""Everything but one attribute is known: one model of that attribute serves every generalization.

Who knows all other attributes in full gains from the stolen record only the bucket of the last one. By Bayes
P(x_p | x_rest, z_p) is P(x_p | x_rest) restricted to the bucket and renormalised; what is restricted knows nothing
of the generalization.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from leastwise.adversaries.breach import Breach, coarsened, long_columns, run_of_level
from leastwise.generalization import Generalization
from leastwise.partition import Codes, suppress
from leastwise.predictors.base import Predictor, Probabilities, Samples, mask_of, samples
from leastwise.predictors.strongest import Strongest, masked_predictions
from leastwise.records.grouping import joint_buckets

MAJORITY = "majority guess"
# Probabilities that are kept for the next generalization; a table of more than these is predicted again each time.
_MOST_KEPT = 2**25
_LARGEST_BLOCK = 2**22
# An unused number weighs next to nothing, but more than none: a run of unused ones has shares too.
_UNUSED = 1e-9


class Member(Protocol):
    """Gives the probabilities of an attribute's values for rests of records, by their number."""

    name: str

    def __call__(self, numbers: npt.NDArray[Any]) -> Probabilities:
        """Return a row for each number."""
        ...


class Rest:
    """Predictors of one attribute from all others (and the label, where it is stolen), fitted once.

    Attributes
    ----------
    position, size
        Which attribute, and how many values of it the predictors know.
    number_of
        For validation and stolen people, which of the distinct rests of records each has.
    members
        What the strongest is chosen from, for each generalization anew.
    majority
        Who looks at nothing but the bucket.
    """

    def __init__(self, breach: Breach, position: int, predictor: Predictor) -> None:
        nothing = Generalization.suppressed(breach.train.schema)
        others = [j for j in range(len(breach.train.schema)) if j != position]
        parts = coarsened(nothing, (breach.train, breach.validation, breach.truth))
        train, *asked = (samples(part, nothing, (position,), others, breach.labelled) for part in parts)
        fitted = predictor.fit(train, asked[0])
        rows = np.concatenate([part.inputs for part in asked])
        first, number_of = joint_buckets(rows, train.input_sizes)
        self.position, self.size = position, train.target_sizes[0]
        self.distinct, self.number_of = len(first), np.split(number_of, [len(asked[0])])
        several = fitted.fitted_ if isinstance(fitted, Strongest) else [fitted]
        keep = len(first) * self.size * len(several) <= _MOST_KEPT
        self.members = [_Predicted(each, train.nobody, rows[first], keep) for each in several]
        self.majority = _Majority(parts[0].use(position) / parts[0].people)


class _Predicted:
    """What a fitted predictor says; it is asked only once about each rest, where that fits into memory."""

    def __init__(self, predictor: Predictor, like: Samples, rows: Codes, keep: bool) -> None:
        self.name, self._predictor, self._like, self._rows = predictor.name, predictor, like, rows
        self._kept = np.concatenate([*self._blocks()]) if keep else None

    def __call__(self, numbers: npt.NDArray[Any]) -> Probabilities:
        return self._predict(self._rows[numbers]) if self._kept is None else self._kept[numbers]

    def _blocks(self) -> Iterator[Probabilities]:
        step = max(1, _LARGEST_BLOCK // self._like.target_sizes[0])
        yield from (self._predict(self._rows[start : start + step]) for start in range(0, len(self._rows), step))

    def _predict(self, rows: Codes) -> Probabilities:
        return masked_predictions(self._predictor, self._like, rows)[0]


class _Majority:
    """The most frequent value of the bucket, whatever else is known."""

    name = MAJORITY

    def __init__(self, prior: npt.NDArray[np.float64]) -> None:
        self._prior = prior

    def __call__(self, numbers: npt.NDArray[Any]) -> Probabilities:
        return np.broadcast_to(self._prior, (len(numbers), len(self._prior)))


class Restricted:
    """Members within the buckets of one generalization: the strongest is chosen there, as for any other model."""

    def __init__(self, breach: Breach, rest: Rest, members: Sequence[Member]) -> None:
        self._views = [_view(breach, rest, part) for part in (1, 2)]
        spread = Spread.of(breach, rest.position)
        self._choice = Strongest([_Within(member, spread) for member in members])
        self._choice.fit(self._views[0], self._views[0])
        self.names = self._choice.chosen_
        # What is near enough to a number, the choice does not know.
        self.doubts = self._choice.errors_ if breach.targets[rest.position].tolerance is None else None

    def view(self, part: int) -> Samples:
        """Return the rows of a part: the rest of each record, by number, and the bucket."""
        return self._views[part - 1]

    def probabilities(self, part: int, rows: npt.NDArray[Any]) -> list[Probabilities]:
        """Return the masked probabilities for some rows."""
        view = self.view(part)
        return masked_predictions(self._choice, view, view.inputs[rows])


def _view(breach: Breach, rest: Rest, part: int) -> Samples:
    table, p = breach.parts[part], rest.position
    bucket_of = table.bucket_maps(breach.joined)[p]
    return Samples(
        inputs=np.column_stack([rest.number_of[part - 1], bucket_of[table.codes[:, p]]]).astype(np.intp),
        input_sizes=(rest.distinct, int(bucket_of.max(initial=0)) + 1),
        ordered=(False, False),
        targets=table.codes[:, [p]].astype(np.intp),
        target_sizes=(table.sizes[p],),
        weights=table.counts.astype(float),
        masks=((mask_of(1, bucket_of),),),
    )


class _Within:
    """A member as a predictor whose inputs are the number of the rest and the bucket; it learns no more."""

    def __init__(self, member: Member, spread: Spread | None) -> None:
        self.name, self._member, self._spread = member.name, member, spread

    def fit(self, train: Samples, validation: Samples) -> _Within:
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        found = self._member(inputs[:, 0])
        return [found if self._spread is None else self._spread(found)]


class Spread(NamedTuple):
    """For each code of an attribute, of which code of the model it is a part, and how large a part.

    A model knows runs of a long column (see ``coarsened``); those of a generalization also end at its edges.
    """

    whole: npt.NDArray[np.intp]
    share: npt.NDArray[np.float64]

    @classmethod
    def of(cls, breach: Breach, position: int) -> Spread | None:
        """Return it; None where both know the same codes."""
        if position not in long_columns(breach.train):
            return None
        attribute = breach.train.schema.attributes[position]
        edges = (breach.coarsen_by or breach.joined).partitions[position]
        part, whole = (run_of_level(breach.train, position, each) for each in (edges, suppress(attribute)))
        use = np.bincount(part, weights=breach.train.use(position)[: len(part)] + _UNUSED)
        whole_of = np.zeros(len(use), dtype=np.intp)
        whole_of[part] = whole
        extras = np.arange(attribute.extra_values)
        share = use / np.bincount(whole_of, weights=use)[whole_of]
        return cls(np.r_[whole_of, extras + whole.max(initial=-1) + 1], np.r_[share, np.ones(len(extras))])

    def __call__(self, probabilities: Probabilities) -> Probabilities:
        """Return the probabilities of all codes from those of the codes of the model."""
        return np.asarray(probabilities[:, self.whole] * self.share)
