"""How much an attribute alone tells about the label: everything from one table of counts, value by class.

Counts make a score independent of the order of the records, and a row that stands for three people the same as
three rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from leastwise.errors import DataError
from leastwise.records.quantiles import quantile_of
from leastwise.records.table import Table

Floats = npt.NDArray[np.float64]

# With as many runs as numbers, any continuous attribute would tell each record's label.
RUNS = 20


def count_labels(codes: npt.NDArray[Any], table: Table, size: int) -> Floats:
    """Return how many people have each code and each class that occurs, size x classes."""
    keys = codes.astype(np.int64) * table.classes + table.y
    flat = np.bincount(keys, weights=table.weights, minlength=size * table.classes)
    counts: Floats = flat.reshape(size, table.classes).astype(float)
    occurring = counts[:, counts.sum(axis=0) > 0]
    if occurring.shape[1] < 2:  # weights of 0 count: a class may be in the records and have nobody
        raise DataError("the label must have at least two classes in the records; found one class")
    return occurring


def runs_of(table: Table, j: int) -> npt.NDArray[np.intp]:
    """Return a coarser code for each code: the numbers of a continuous attribute in runs of about equal use."""
    levels, size = len(table.levels[j]), table.sizes[j]
    if not table.schema.attributes[j].continuous or levels <= RUNS:
        return np.arange(size, dtype=np.intp)
    inner = np.minimum(quantile_of(table.use(j)[:levels], RUNS), RUNS - 1)
    return np.append(inner, np.arange(RUNS, RUNS + size - levels)).astype(np.intp)


def anova_score(table: Table, j: int) -> float:
    """Return the F-value of the attribute, as scikit-learn has it for numbers and for one-hot columns.

    Numbers, and the places of ordinal values, are one column. Values without an order, "missing" and "other"
    are a 0/1 column each. The best column speaks for the attribute; all have the same degrees of freedom.
    """
    counts = count_labels(table.codes[:, j], table, table.sizes[j])
    attribute, levels = table.schema.attributes[j], len(table.levels[j])
    if attribute.kind == "discrete":
        return float(f_values(counts, counts.sum(axis=1), counts).max(initial=0.0))
    extras = counts[levels:]
    numbers = table.levels[j] if attribute.continuous else np.arange(levels)
    column = _scaled(np.asarray(numbers, dtype=float), counts[:levels])
    sums, squares = column @ counts[:levels], np.atleast_1d(column**2 @ counts[:levels].sum(axis=1))
    own = f_values(sums[None, :], squares, counts)
    return float(max(own[0], f_values(extras, extras.sum(axis=1), counts).max(initial=0.0)))


def _scaled(numbers: Floats, counts: Floats) -> Floats:
    """Return the numbers with mean 0 within -1 to 1, which leaves F as it is but keeps sums exact enough.

    A missing number counts as the mean, which is 0 then; an infinite one as the outermost finite one.
    """
    finite = numbers[np.isfinite(numbers)]
    if not len(finite):
        return np.sign(np.nan_to_num(numbers, nan=0.0))
    within = np.clip(numbers, finite.min(), finite.max())
    scaled = within / (np.abs(within).max() or 1.0)
    people = counts.sum(axis=1)
    centred: Floats = scaled - np.dot(scaled, people) / max(people.sum(), 1.0)
    return centred


def f_values(sums: Floats, squares: Floats, counts: Floats) -> Floats:
    """Return the one-way ANOVA F of columns, given their sums per class and their sums of squares.

    Parameters
    ----------
    sums
        One row per column, one entry per class.
    squares
        The sum of squares of each column.
    counts
        Any table of the people by class (its column sums are the sizes of the classes).
    """
    sizes = counts.sum(axis=0)
    people, classes = sizes.sum(), len(sizes)
    correction = sums.sum(axis=1) ** 2 / people
    between = np.maximum((sums**2 / sizes).sum(axis=1) - correction, 0.0)
    total = squares - correction
    # What is left of a difference of equal sums is rounding, not variance.
    noise = 1e-12 * np.maximum(squares, 1e-300)
    within = np.where(total - between > noise, total - between, 0.0)
    between = np.where(between > noise, between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (between / (classes - 1)) / (within / max(people - classes, 1.0))
    return np.where(between == 0, 0.0, ratio)


def mutual_information_score(table: Table, j: int) -> float:
    """Return the mutual information with the label above what chance gives to that many values."""
    counts = _grouped_counts(table, j)
    return float(mutual_info_score(None, None, contingency=counts)) - _freedom(counts) / (2 * float(counts.sum()))


def chi_squared_score(table: Table, j: int) -> float:
    """Return Pearson's statistic above what chance gives to that many values."""
    counts = _grouped_counts(table, j)
    return float(chi2_contingency(counts, correction=False).statistic) - _freedom(counts)


def _grouped_counts(table: Table, j: int) -> Floats:
    runs = runs_of(table, j)
    counts = count_labels(runs[table.codes[:, j]], table, int(runs.max(initial=0)) + 1)
    return np.asarray(counts[counts.sum(axis=1) > 0])


def _freedom(counts: Floats) -> float:
    return float((counts.shape[0] - 1) * (counts.shape[1] - 1))
