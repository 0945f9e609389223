"""The classifier that is imitated: any scikit-learn classifier, asked about records that are given as codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from leastwise.errors import ParameterError, shorten
from leastwise.minimizers import sample
from leastwise.minimizers.orders import ranked, value_ranks
from leastwise.partition import Codes
from leastwise.predictors.sklearn import fit_weighted
from leastwise.records.joint import joint_buckets
from leastwise.records.table import Table
from leastwise.schema import Attribute
from leastwise.schema.values import number_of
from leastwise.validation import did_you_mean

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier and what it is shown for a record of codes.

    Attributes
    ----------
    estimator
        Fitted.
    show
        Turns codes (rows x attributes) into what the estimator was trained on.
    """

    estimator: Any
    show: Callable[[Codes], Any]

    def predict(self, codes: Codes) -> Array:
        """Return the class of each record."""
        return np.asarray(self.estimator.predict(self.show(codes)))

    def retrained(self, codes: Codes, labels: Array, people: Array) -> Model:
        """Return the same kind of classifier, trained on other records."""
        return Model(fit_weighted(clone(self.estimator), self.show(codes), labels, people), self.show)


def model_for(table: Table, train: Table, given: Any, records: Any, seed: int) -> Model:
    """Return the model to imitate: the one given, fitted first if it is not, or a boosted one.

    Parameters
    ----------
    table, train
        All records, and those that a model may be fitted to.
    given
        A classifier or pipeline, or None.
    records
        All records as they were before they were encoded, if they are known; else None.
    """
    if given is None:
        return _boosted(train, seed)
    if not hasattr(given, "predict"):
        raise ParameterError(f"model must be a scikit-learn classifier; got {shorten(given)}")
    show = _Show.of_table(table, given) if records is None else _Show.of_records(table, records, given)
    try:
        check_is_fitted(given)
    except NotFittedError:
        return Model(fit_weighted(clone(given), show(train.codes), train.y.astype(int), train.counts), show)
    return Model(given, show)


def _boosted(table: Table, seed: int) -> Model:
    ranks = value_ranks(table, table.y.astype(np.intp))

    def show(codes: Codes) -> Array:
        return np.stack([rank[codes[:, j]] for j, rank in enumerate(ranks)], axis=1).astype(np.float32)

    boosting = HistGradientBoostingClassifier(early_stopping=len(table) > 2000, random_state=seed)
    return Model(fit_weighted(boosting, ranked(table, ranks), table.y.astype(int), table.counts), show)


@dataclass(frozen=True, eq=False)
class _Show:
    """Raw values by code: per attribute a column in which the value of each code can be looked up."""

    names: tuple[str, ...]
    columns: tuple[nw.Series[Any], ...]
    places: tuple[Array, ...]
    as_frame: bool
    order: tuple[int, ...] = ()

    @classmethod
    def of_records(cls, table: Table, records: Any, model: Any) -> _Show:
        """Show what the records themselves have: the first value that was encoded so."""
        read = sample.read_records(records)
        given = read if read.by_name else read.renamed(table.schema.names)
        columns = tuple(given.frame[name] for name in table.schema.names)
        places = tuple(_first_rows(table.codes[:, j], size) for j, size in enumerate(table.sizes))
        return cls(table.schema.names, columns, places, read.from_frame)._ordered(model)

    @classmethod
    def of_table(cls, table: Table, model: Any) -> _Show:
        """Show the declared values as a reader of CSV files would: numbers where all values are numbers."""
        columns = tuple(
            _declared(a, level) for a, level in zip(table.schema.attributes, table.levels, strict=True)
        )
        places = tuple(np.arange(size) for size in table.sizes)
        return cls(table.schema.names, columns, places, hasattr(model, "feature_names_in_"))._ordered(model)

    def _ordered(self, model: Any) -> _Show:
        """Show what the model wants, in its order."""
        wanted: Sequence[str] = getattr(model, "feature_names_in_", self.names)
        for name in wanted:
            if name not in self.names:
                hint = did_you_mean(str(name), self.names)
                raise ParameterError(f"the model wants {shorten(name)}, which is no attribute; {hint}")
        return replace(self, order=tuple(self.names.index(name) for name in wanted))

    def __call__(self, codes: Codes) -> Any:
        picked = [self.columns[j][self.places[j][codes[:, j]].tolist()] for j in self.order]
        if not self.as_frame:
            return _as_array(picked)
        frames = [nw.maybe_reset_index(column).to_frame() for column in picked]
        return nw.concat(frames, how="horizontal").to_native()


def _as_array(columns: Sequence[nw.Series[Any]]) -> Array:
    arrays = [column.to_numpy() for column in columns]
    numeric = all(array.dtype.kind in "biuf" for array in arrays)
    return np.stack(arrays, axis=1) if numeric else np.stack([a.astype(object) for a in arrays], axis=1)


def _first_rows(codes: Array, size: int) -> Array:
    rows = np.zeros(size, dtype=np.intp)
    rows[codes[::-1]] = np.arange(len(codes))[::-1]
    return rows


def _declared(attribute: Attribute, levels: Array) -> nw.Series[Any]:
    values: list[Any] = levels.tolist()
    numbers = [number_of(value) if isinstance(value, str) else value for value in values]
    plain = [*(values if None in numbers else numbers), *[None] * attribute.extra_values]
    column: nw.Series[Any] = nw.from_native(_series_type()(plain), series_only=True)
    return column.alias(attribute.name)


def _series_type() -> Any:
    """Return what most models were fitted to: pandas, where it is installed."""
    try:
        import pandas
    except ImportError:
        import polars

        return polars.Series
    return pandas.Series


Map = npt.NDArray[np.intp]


class Agreement:
    """The share of held-out people for whom the model says the same of the record and of its representative.

    It is asked about dozens of buckets that differ little from one another: the model is asked again only about
    those people for whom something has changed.
    """

    def __init__(self, model: Model, table: Table, held: Table) -> None:
        self.model, self.table, self.held = model, table, held
        self.said = model.predict(held.codes)
        self._shown: Codes = held.codes
        self._answers = self.said.copy()

    def __call__(self, maps: Sequence[Map]) -> float:
        """Return the relative accuracy of these buckets."""
        shown = represented(self.held.codes, maps, self.table)
        changed = np.flatnonzero((shown != self._shown).any(axis=1))
        if len(changed):
            first, row_of = joint_buckets(shown[changed], self.table.sizes)
            self._answers[changed] = self.model.predict(shown[changed[first]])[row_of]
        self._shown = shown
        return float(self.held.counts[self._answers == self.said].sum() / self.held.people)


@dataclass(frozen=True, eq=False)
class Retrained:
    """The accuracy of the model trained again on generalized records, over that of one trained on full ones."""

    model: Model
    table: Table
    train: Table
    held: Table
    full: float

    @classmethod
    def of(cls, model: Model, table: Table, train: Table, held: Table) -> Retrained:
        """Train on the full records."""
        start = cls(model, table, train, held, 1.0)
        return cls(model, table, train, held, max(start([np.arange(size) for size in table.sizes]), 1e-9))

    def __call__(self, maps: Sequence[Map]) -> float:
        """Return the relative accuracy of these buckets."""
        train, held = (represented(part.codes, maps, self.table) for part in (self.train, self.held))
        model = self.model.retrained(train, self.train.y.astype(int), self.train.counts)
        right = model.predict(held) == self.held.y
        return float(self.held.counts[right].sum() / self.held.people) / self.full


def represented(codes: Codes, maps: Sequence[Map], table: Table) -> Codes:
    """Return the records in which each value is replaced by the representative of its bucket."""
    columns = []
    for j, map_ in enumerate(maps):
        ordered = table.schema.attributes[j].kind != "discrete"
        columns.append(representatives(map_, table.use(j), ordered, len(table.levels[j]))[map_[codes[:, j]]])
    return np.stack(columns, axis=1)


def representatives(map_: Map, use: Array, ordered: bool, levels: int) -> Map:
    """Return a code for each bucket: the median of its people where the values are ordered, else the most used.

    >>> representatives(np.array([0, 0, 0, 1]), np.array([2.0, 5, 9, 1]), False, 4).tolist()
    [2, 3]
    >>> representatives(np.array([0, 0, 0, 1]), np.array([4.0, 5, 3, 1]), True, 4).tolist()
    [1, 3]
    """
    size = int(map_.max(initial=0)) + 1
    codes = np.arange(len(map_))
    if not ordered:
        order = np.lexsort((codes, -use, map_))
        return np.asarray(order[np.searchsorted(map_[order], np.arange(size))])
    # "missing" and "other" represent only a bucket that has nobody else.
    weight = np.where(codes < levels, use, use * 1e-9)
    order = np.lexsort((codes, map_))
    total = np.bincount(map_, weights=weight, minlength=size)
    passed = np.cumsum(weight[order]) - (np.cumsum(total) - total)[map_[order]]
    reached = passed >= total[map_[order]] / 2 * (1 - 1e-12)
    return np.asarray(order[[np.flatnonzero((map_[order] == b) & reached)[0] for b in range(size)]])
