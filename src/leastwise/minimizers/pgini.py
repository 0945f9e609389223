"""PGini: how impure the label is in a group of people, and how much the group tells about them.

``PGini = (1 - alpha) * c/(c-1) * Gini_y + alpha * (1 - sum_p w_p * |p|/(|p|-1) * Gini_p)`` with weights w_p that
sum to 1, and each Gini taken over ALL values. Both terms lie in [0, 1]; small is good.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leastwise.errors import ParameterError, shorten
from leastwise.records.table import Table
from leastwise.validation import check_from_zero, did_you_mean

Weights = Mapping[str, float] | None


@dataclass(frozen=True)
class Criterion:
    """The scales of PGini's terms for one table.

    Attributes
    ----------
    label_scale
        c/(c-1) for c classes, 0 for one class or none; 1 for a number.
    label_values
        Of a label that is a number: what each class stands for, centred, in standard deviations. Its variance then
        takes the place of the Gini impurity; over everybody it is 1. Empty for classes.
    personal
        The positions of the personal attributes in the schema.
    personal_scale
        Weight times |p|/(|p|-1) of each; 0 for an attribute of one value.
    """

    label_scale: float
    personal: tuple[int, ...]
    personal_scale: tuple[float, ...]
    label_values: tuple[float, ...] = ()

    @classmethod
    def of(cls, table: Table, weights: Weights = None) -> Criterion:
        """Return the criterion for these records; ``weights`` by attribute name, 1 where not named."""
        classes = table.classes if table.schema.label is not None else 1
        names = [table.schema.names[p] for p in table.personal]
        check_weights(weights or {}, names)
        given = np.array([float((weights or {}).get(name, 1.0)) for name in names])
        shares = given / given.sum() if given.sum() > 0 else given
        sizes = [table.sizes[p] for p in table.personal]
        scale = tuple(float(s) * _spread(size) for s, size in zip(shares, sizes, strict=True))
        values = _standardised(table)
        return cls(1.0 if values else _spread(classes), table.personal, scale, values)

    def impurity(self, alpha: float, classes: npt.NDArray[Any], personal: Sequence[npt.NDArray[Any]]) -> float:
        """Return PGini of a group from its people per class and per value of each personal attribute."""
        told = sum(s * gini(counts) for s, counts in zip(self.personal_scale, personal, strict=True))
        return (1 - alpha) * self.label_scale * self.label_impurity(classes) + alpha * (1 - told)

    def label_impurity(self, classes: npt.NDArray[Any]) -> float:
        """Return how impure the label is in a group: the Gini impurity, of a number the variance."""
        if not self.label_values:
            return gini(classes)
        people, values = float(np.sum(classes)), np.asarray(self.label_values)
        if not people:
            return 0.0
        return max(float(classes @ values**2) / people - (float(classes @ values) / people) ** 2, 0.0)


def gini(counts: npt.NDArray[Any]) -> float:
    """Return the chance that two people drawn from the group (with replacement) differ.

    >>> gini(np.array([5, 5])), gini(np.array([10, 0]))
    (0.5, 0.0)
    """
    people = float(np.sum(counts))
    return 1.0 - float(np.sum(np.square(np.asarray(counts, dtype=float)))) / people**2 if people else 0.0


def check_weights(weights: Mapping[str, float], names: Sequence[str]) -> None:
    """Raise a ``ParameterError`` unless the weights are numbers from 0 of these attributes."""
    if not isinstance(weights, Mapping):
        raise ParameterError(f"weights must be numbers by attribute; got {shorten(weights)}")
    for name, weight in weights.items():
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise ParameterError(f"weights must name personal attributes; got {name!r}: {hint}")
        check_from_zero(f"the weight of {name}", weight)


def _standardised(table: Table) -> tuple[float, ...]:
    if table.number is None:
        return ()
    levels, use = table.number.levels, np.bincount(table.y, weights=table.counts, minlength=table.classes)
    mean = float(levels @ use) / max(float(use.sum()), 1e-300)
    deviation = (float((levels - mean) ** 2 @ use) / max(float(use.sum()), 1e-300)) ** 0.5
    return tuple(((levels - mean) / (deviation or 1.0)).tolist())


def _spread(values: int) -> float:
    return values / (values - 1) if values > 1 else 0.0
