"""Feature selection: ask the k attributes in full that tell most about the label, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2_contingency
from sklearn.metrics import mutual_info_score

from leastwise.errors import DataError, ParameterError
from leastwise.generalization import Generalization
from leastwise.kernels.removal import misjudged_without
from leastwise.minimizers.base import Minimizer
from leastwise.partition import keep, suppress
from leastwise.records.grouping import joint_buckets, quantile_of
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_choice, is_whole

Floats = npt.NDArray[np.float64]

# With as many runs as numbers, any continuous attribute would tell each record's label.
RUNS = 20
# A person that nobody resembles: every value and class is taken to have been seen this often more.
_PRIOR = 1.0
Method = Literal["anova", "mutual_info", "chi2", "iterative"]


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
    """Return the one-way ANOVA F of columns, given their sums (column x class) and their sums of squares.

    ``counts`` is any table of the people by class: its column sums are the sizes of the classes.
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
    counts, freedom = _grouped_counts(table, j)
    return float(mutual_info_score(None, None, contingency=counts)) - freedom / (2 * float(counts.sum()))


def chi_squared_score(table: Table, j: int) -> float:
    """Return Pearson's statistic above what chance gives to that many values."""
    counts, freedom = _grouped_counts(table, j)
    return float(chi2_contingency(counts, correction=False).statistic) - freedom


def _grouped_counts(table: Table, j: int) -> tuple[Floats, float]:
    """Return the counts of the values that occur, and their degrees of freedom."""
    runs = runs_of(table, j)
    counts = count_labels(runs[table.codes[:, j]], table, int(runs.max(initial=0)) + 1)
    occurring = counts[counts.sum(axis=1) > 0]
    return occurring, float((occurring.shape[0] - 1) * (occurring.shape[1] - 1))


def kept_after_removal(table: Table, k: int) -> list[int]:
    """Return the k attributes that are left when the least missed one is removed again and again.

    Least missed is where the fewest people are then misjudged; among equals, where their true class gets the
    higher likelihood; among those, the last in the schema.
    """
    people = _People(table)
    kept = list(range(len(table.schema)))
    while len(kept) > k:
        scores, misjudged = people.misjudged_without(kept)
        equals = [j for j, wrong in zip(kept, misjudged.tolist(), strict=True) if wrong == misjudged.min()]
        kept.remove(min(equals, key=lambda j: (people.surprise(scores - people.part(j)), -j)))
    return kept


class _People:
    """The distinct records, and what each value says about each class to a person of that value and class."""

    def __init__(self, table: Table) -> None:
        runs = [runs_of(table, j) for j in range(len(table.schema))]
        sizes = [int(run.max(initial=0)) + 1 for run in runs]
        codes = np.column_stack([run[table.codes[:, j]] for j, run in enumerate(runs)])
        classes = np.unique(table.y, return_inverse=True)[1].astype(np.intp)
        first, row_of = joint_buckets(np.column_stack([codes, classes]), [*sizes, int(classes.max()) + 1])
        counts = [count_labels(codes[:, j], table, size) for j, size in enumerate(sizes)]
        people = counts[0].sum(axis=0)
        self.classes = classes[first]
        self.weights = np.bincount(row_of, weights=table.weights, minlength=len(first)).astype(float)
        evidence = [_log_shares(count, people) for count in counts]  # value and own class x class
        self.evidence: Floats = np.concatenate(evidence)
        starts = np.cumsum([0, *map(len, evidence[:-1])])
        self.places = codes[first] * len(people) + self.classes[:, None] + starts
        self.prior: Floats = np.log(_without_one(people) + _PRIOR)

    def part(self, j: int) -> Floats:
        """Return what attribute j adds to the scores of each record, rows x classes."""
        return np.asarray(self.evidence[self.places[:, j]])

    def misjudged_without(self, kept: Sequence[int]) -> tuple[Floats, Floats]:
        """Return the scores by all that is kept, and how many people are misjudged without each of them."""
        scores, wrong = misjudged_without(
            self.places, np.asarray(kept), self.evidence, self.prior, self.classes, self.weights
        )
        return scores, wrong

    def surprise(self, scores: Floats) -> float:
        """Return the mean surprise about the true class."""
        best = scores.max(axis=1)
        own = scores[np.arange(len(scores)), self.classes]
        surprise = best + np.log(np.exp(scores - best[:, None]).sum(axis=1)) - own
        return round(float(np.dot(self.weights, surprise) / self.weights.sum()), 10)


def _without_one(counts: Floats) -> Floats:
    """Return the counts as a person of each class sees them: one less of the own class.

    >>> _without_one(np.array([3.0, 5.0])).tolist()
    [[2.0, 5.0], [3.0, 4.0]]
    """
    classes = counts.shape[-1]
    seen: Floats = np.maximum(counts[..., None, :] - np.eye(classes), 0.0)
    return seen.reshape(-1, classes)


def _log_shares(counts: Floats, people: Floats) -> Floats:
    """Return log P(value | class) with every value taken to have been seen once more."""
    everybody = np.tile(_without_one(people), (len(counts), 1))
    return np.asarray(np.log((_without_one(counts) + _PRIOR) / (everybody + _PRIOR * len(counts))))


SCORES: dict[str, Callable[[Table, int], float]] = {
    "anova": anova_score,
    "mutual_info": mutual_information_score,
    "chi2": chi_squared_score,
}
METHODS = (*SCORES, "iterative")


class FeatureSelectionMinimizer(Minimizer):
    """Keep the k attributes that tell most about the label untouched, and suppress the others.

    The paper's second baseline (§6). What is kept is asked exactly; what it tells about a person is not
    weighed.

    - ``anova``: the F-value of the attribute's column; a discrete attribute is as good as the best 0/1 column
      of its values, as is scikit-learn's choice among one-hot columns.
    - ``mutual_info``: exact mutual information of value and class, by counting, less what chance gives.
    - ``chi2``: Pearson's statistic, less its degrees of freedom.
    - ``iterative``: removes, one by one, the attribute that leave-one-out naive Bayes misses least.

    The last three see a continuous attribute of more than 20 different numbers in 20 runs of about equal use.
    Ties go to the attribute that the schema names first. The order of the records does not matter, and a
    row that stands for three people is the same as three rows.

    Parameters
    ----------
    k
        How many attributes to keep, at least 1, or ``"all"``; all are kept where there are fewer.
    method
        How it is measured what an attribute tells: the F-value (``anova``), exact mutual information, Pearson's
        chi-squared, or by removing one attribute after the other (``iterative``).
    schema, personal, random_state
        See ``Minimizer``. Nothing here is random.

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]]
    >>> FeatureSelectionMinimizer(k=1).fit(X, ["no", "no", "yes", "yes"]).generalization_.collected
    ('x0',)
    """

    name: ClassVar[str] = "feature-selection"
    reference: ClassVar[str] = "Staab et al., Vertical Data Minimization for Machine Learning, IEEE S&P 2024, §6"
    needs_label = True

    def __init__(
        self,
        k: int | Literal["all"] = 4,
        method: Method = "anova",
        *,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.k = k
        self.method = method

    def minimize(self, table: Table) -> Generalization:
        """Return the generalization that keeps k attributes."""
        if self.k != "all" and not (is_whole(self.k) and int(self.k) >= 1):
            raise ParameterError(f'k must be a whole number, at least 1, or "all"; got {self.k!r}')
        check_choice("method", self.method, METHODS)
        _ = table.y  # complains when there is no label
        k = len(table.schema) if self.k == "all" else min(int(self.k), len(table.schema))
        if self.method == "iterative":
            kept = kept_after_removal(table, k)
        else:
            scores = [SCORES[self.method](table, j) for j in range(len(table.schema))]
            kept = sorted(range(len(scores)), key=lambda j: -scores[j])[:k]
        attributes = enumerate(table.schema.attributes)
        return table.generalization([keep(a) if j in kept else suppress(a) for j, a in attributes])
