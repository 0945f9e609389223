"""Every attribute in k buckets, without a look at the label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from leastwise.generalization import Generalization
from leastwise.minimizers.base import Minimizer
from leastwise.partition import Groups, Intervals, Partition, suppress
from leastwise.random import generator
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.validation import check_whole

_LARGEST = float(np.finfo(float).max)


class UniformMinimizer(Minimizer):
    """Give every attribute k buckets: equal widths for numbers, groups at random for values.

    The paper's simplest baseline (§6). It looks at neither the label nor the personal attributes.

    - A continuous attribute is cut into k intervals of equal width over its *declared* domain. An end that is
      left open is replaced by the sample's, rounded outward to its leading digit, so that no edge is somebody's
      number; the outer intervals stay open. "missing" and "other" have a bucket each, beside the k.
    - An ordinal attribute is cut into k runs whose lengths differ by at most one, "missing" and "other" beside.
    - The values of a discrete attribute, "missing" and "other" among them, are assigned at random; no bucket
      stays empty where there are at least k values.

    With k = 1 everything is suppressed.

    Parameters
    ----------
    k
        Buckets per attribute, at least 1. An attribute with fewer values keeps them apart.
    schema, personal, random_state
        See ``Minimizer``.

    Examples
    --------
    >>> age = Attribute("age", "continuous", lower=0, upper=120, integer=True)
    >>> sex = Attribute("sex", values=("Female", "Male"), personal=True)
    >>> minimizer = UniformMinimizer(k=3, schema=Schema([age, sex]), random_state=0)
    >>> g = minimizer.fit([[17, "Male"], [40, "Female"], [41, "Male"], [79, "Female"]]).generalization_
    >>> g["age"].labels
    ('0 to 40', '41 to 80', '81 to 120')
    """

    name: ClassVar[str] = "uniform"
    reference: ClassVar[str] = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §6"

    def __init__(
        self,
        k: int = 3,
        *,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.k = k

    def minimize(self, table: Table) -> Generalization:
        """Return the generalization with k buckets per attribute."""
        check_whole("k", self.k)
        seed = self.seed
        partitions = [self._partition(table, j, seed) for j in range(len(table.schema))]
        return table.generalization(partitions)

    def _partition(self, table: Table, j: int, seed: int) -> Partition:
        attribute = table.schema.attributes[j]
        if self.k == 1:
            return suppress(attribute)
        if attribute.continuous:
            present = np.flatnonzero(table.use(j)[: len(table.levels[j])])
            return Intervals(attribute, equal_edges(attribute, table.levels[j][present], self.k))
        if attribute.kind == "ordinal":
            return Groups(attribute, equal_runs(attribute, self.k))
        # Named after the attribute, so that another attribute does not shift this one's groups.
        random = generator(seed, "uniform", attribute.name)
        return Groups(attribute, random_groups(len(attribute.values) + attribute.extra_values, self.k, random))


def equal_edges(attribute: Attribute, numbers: npt.NDArray[Any], k: int) -> tuple[float, ...]:
    """Return the edges of k intervals of equal width over the domain; fewer where it has no room for k.

    An edge has as many digits as tell a hundredth of that width: nobody reads 6.666666666666667 on a form.

    >>> equal_edges(Attribute("share", "continuous", lower=0, upper=1), np.array([0.3]), 4)
    (0.25, 0.5, 0.75)
    >>> equal_edges(Attribute("age", "continuous", lower=0, integer=True), np.array([17.0, 88.0]), 3)
    (30.0, 60.0)
    >>> equal_edges(Attribute("hours", "continuous", lower=0, upper=20), np.array([7.5]), 3)
    (6.67, 13.33)
    """
    low, high = rounded_range(attribute, numbers)
    edges = [low * (1 - i / k) + high * (i / k) for i in range(1, k)]
    width = high / k - low / k
    if width > 0:
        digits = 2 - math.floor(math.log10(width))
        edges = [round(edge, digits) for edge in edges]
    if attribute.integer:
        edges = [float(math.floor(edge)) for edge in edges]
    return tuple(sorted({edge for edge in edges if low <= edge < high}))


def rounded_range(attribute: Attribute, numbers: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the declared ends; in place of an open one the sample's, rounded outward to its leading digit.

    >>> rounded_range(Attribute("pay", "continuous"), np.array([-1234.5, 56789.0]))
    (-10000.0, 60000.0)
    """
    finite = np.asarray(numbers, dtype=float)[np.isfinite(np.asarray(numbers, dtype=float))]
    low = float(finite.min(initial=_LARGEST)) if attribute.lower is None else attribute.lower
    high = float(finite.max(initial=-_LARGEST)) if attribute.upper is None else attribute.upper
    if low > high:
        return 0.0, 0.0
    # The power of ten that leads the width, or the larger end where there is no width.
    width = high - low or max(abs(low), abs(high)) or 1.0
    step = 10.0 ** math.floor(math.log10(min(width, _LARGEST)))
    step = max(step, 1.0) if attribute.integer else step
    if attribute.lower is None:
        low = _outward(low, step, math.floor)
    if attribute.upper is None:
        high = _outward(high, step, math.ceil)
    if low < high:
        return low, high
    # A sample of one round number has no width; the next round number on an open side gives it one.
    return (low, min(low + step, _LARGEST)) if attribute.upper is None else (max(high - step, -_LARGEST), high)


def _outward(number: float, step: float, direction: Any) -> float:
    rounded = float(direction(number / step)) * step if step > 0 else number
    return min(max(rounded, -_LARGEST), _LARGEST)


def equal_runs(attribute: Attribute, k: int) -> tuple[int, ...]:
    """Return the assignment of ordered values to k runs of lengths as equal as can be.

    >>> equal_runs(Attribute("size", "ordinal", values=("XS", "S", "M", "L", "XL"), missing=True), 2)
    (0, 0, 0, 1, 1, 2)
    """
    values = len(attribute.values)
    runs = min(k, values)
    inner = [i * runs // values for i in range(values)]
    return (*inner, *range(runs, runs + attribute.extra_values))


def random_groups(values: int, k: int, random: np.random.Generator) -> tuple[int, ...]:
    """Return a random assignment of values to k groups, none of them empty where there are k values."""
    groups = min(k, values)
    marks = np.concatenate([np.arange(groups), random.integers(groups, size=values - groups)])
    return tuple(int(mark) for mark in random.permutation(marks))
