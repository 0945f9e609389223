"""Apt: what a decision tree asks that imitates a classifier, coarsened while its accuracy lasts."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.generalization.information_loss import ncp
from leastwise.minimizers import sample
from leastwise.minimizers.base import Minimizer, Self, check_two_classes, held_out
from leastwise.minimizers.orders import Ranks, ranked, value_ranks
from leastwise.partition import Codes, from_map, keep
from leastwise.predictors.sklearn import fit_weighted
from leastwise.records.grouping import joint_buckets
from leastwise.records.table import Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.values import number_of
from leastwise.validation import check_between, check_whole, did_you_mean

Array = npt.NDArray[Any]
Map = npt.NDArray[np.intp]
Cuts = tuple[frozenset[int], ...]
"""Per attribute the places in its order behind which it is cut."""
Accuracy = Callable[[Sequence[Map]], float]
EVERYTHING = None
"""In place of the cuts of an attribute: it is asked exactly."""
Asked = tuple[frozenset[int] | None, ...]
HELD_OUT = 0.25
"""The share of the training records on which relative accuracy is measured."""


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
        given = HistGradientBoostingClassifier(early_stopping=len(train) > 2000, random_state=seed)
        show: Callable[[Codes], Any] = partial(ranked, ranks=value_ranks(train, train.y.astype(np.intp)))
    elif not hasattr(given, "predict"):
        raise ParameterError(f"model must be a scikit-learn classifier; got {shorten(given)}")
    else:
        show = _raw_values(table, records, given)
    try:
        check_is_fitted(given)
    except NotFittedError:
        return Model(fit_weighted(clone(given), show(train.codes), train.y.astype(int), train.counts), show)
    return Model(given, show)


def _raw_values(table: Table, records: Any, model: Any) -> Callable[[Codes], Any]:
    """Return what turns codes into raw values as the model wants them.

    They are those of the records: the first value that was encoded so. Without records they are the declared
    values as a reader of CSV files would have them: numbers where all values are numbers.
    """
    names, as_frame = table.schema.names, hasattr(model, "feature_names_in_")
    if records is None:
        columns = [_declared(a, level) for a, level in zip(table.schema.attributes, table.levels, strict=True)]
        places = [np.arange(size) for size in table.sizes]
    else:
        read = sample.read_records(records)
        given = read if read.by_name else read.renamed(names)
        columns, as_frame = [given.frame[name] for name in names], read.from_frame
        places = [_first_rows(table.codes[:, j], size) for j, size in enumerate(table.sizes)]
    wanted: Sequence[str] = getattr(model, "feature_names_in_", names)
    for name in wanted:
        if name not in names:
            hint = did_you_mean(str(name), names)
            raise ParameterError(f"the model wants {shorten(name)}, which is no attribute; {hint}")

    def show(codes: Codes) -> Any:
        picked = [columns[j][places[j][codes[:, j]].tolist()] for j in map(names.index, wanted)]
        if not as_frame:
            return _as_array(picked)
        frames = [nw.maybe_reset_index(column).to_frame() for column in picked]
        return nw.concat(frames, how="horizontal").to_native()

    return show


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
    try:  # what most models were fitted to, where it is installed
        from pandas import Series
    except ImportError:
        from polars import Series
    column: nw.Series[Any] = nw.from_native(Series(plain), series_only=True)
    return column.alias(attribute.name)


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


class Retrained:
    """The accuracy of the model trained again on generalized records, over that of one trained on full ones."""

    def __init__(self, model: Model, table: Table, train: Table, held: Table) -> None:
        self.model, self.table, self.train, self.held, self.full = model, table, train, held, 1.0
        self.full = max(self([np.arange(size) for size in table.sizes]), 1e-9)

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


class Cut(NamedTuple):
    """One cut: attribute, and the place in the order of its values behind which it is."""

    attribute: int
    place: int


def tree_cuts(
    places: npt.NDArray[np.float32],
    classes: npt.NDArray[Any],
    people: npt.NDArray[Any],
    *,
    max_depth: int,
    min_leaf: int,
    seed: int,
) -> list[Cut]:
    """Return the cuts of a tree that learns the classes, in the order in which a small tree would make them.

    The first m splits of that order form a tree themselves: leaving out the others prunes the tree.
    """
    tree = DecisionTreeClassifier(max_depth=max_depth, min_samples_leaf=min_leaf, random_state=seed)
    grown = tree.fit(places, classes, sample_weight=people).tree_
    left, right = grown.children_left, grown.children_right
    weighted = grown.impurity * grown.weighted_n_node_samples
    waiting, cuts = [(0.0, 0)] if left[0] >= 0 else [], list[Cut]()
    while waiting:
        _, node = heapq.heappop(waiting)
        cuts.append(Cut(int(grown.feature[node]), int(np.floor(grown.threshold[node]))))
        for child in (left[node], right[node]):
            if left[child] >= 0:
                gain = weighted[child] - weighted[left[child]] - weighted[right[child]]
                heapq.heappush(waiting, (-float(gain), int(child)))
    return list(dict.fromkeys(cuts))


def gathered(cuts: Sequence[Cut], attributes: int) -> Cuts:
    """Return the cuts attribute by attribute."""
    return tuple(frozenset(c.place for c in cuts if c.attribute == j) for j in range(attributes))


def buckets_between(ranks: npt.NDArray[np.intp], cuts: frozenset[int]) -> npt.NDArray[np.intp]:
    """Return the bucket of each code: the run of places between two cuts.

    >>> buckets_between(np.array([2, 0, 1, 3]), frozenset({0, 2})).tolist()
    [1, 0, 1, 2]
    """
    return np.searchsorted(np.array(sorted(cuts), dtype=np.intp), ranks, side="left").astype(np.intp)


@dataclass(frozen=True, eq=False)
class Coarsening:
    """What may be asked of each attribute, judged by accuracy and information loss.

    Attributes
    ----------
    table, ranks
        The records, and the order of each attribute's values.
    accuracy
        The relative accuracy of buckets.
    target
        What it must not fall below.
    """

    table: Table
    ranks: Sequence[Ranks]
    accuracy: Accuracy
    target: float

    def maps(self, asked: Asked) -> list[Map]:
        """Return the bucket of each code."""
        return [
            np.arange(self.table.sizes[j]) if cuts is EVERYTHING else buckets_between(self.ranks[j], cuts)
            for j, cuts in enumerate(asked)
        ]

    def reaches(self, asked: Asked) -> bool:
        """Return whether the target is reached."""
        return self.accuracy(self.maps(asked)) >= self.target - 1e-12

    def pruned(self, cuts: Sequence[Cut]) -> Asked:
        """Return the fewest first cuts that reach the target; all of them where none do."""
        attributes = len(self.ranks)
        low, high = 0, len(cuts)
        while low < high:
            middle = (low + high) // 2
            if self.reaches(gathered(cuts[:middle], attributes)):
                high = middle
            else:
                low = middle + 1
        return gathered(cuts[:high], attributes)

    def given_back(self, asked: Asked) -> Asked:
        """Return the buckets with attributes asked exactly until the target is reached.

        The first is the one whose exact values bring most accuracy for the information that is no longer lost.
        """
        now = self.accuracy(self.maps(asked))
        while now < self.target - 1e-12 and any(cuts is not EVERYTHING for cuts in asked):
            offers = []
            for j, cuts in enumerate(asked):
                if cuts is not EVERYTHING:
                    accuracy = self.accuracy(self.maps(_replaced(asked, j, EVERYTHING)))
                    offers.append(((accuracy - now) / max(self.loss(j, cuts), 1e-9), -j, accuracy))
            _, j, now = max(offers)
            asked = _replaced(asked, -j, EVERYTHING)
        return asked

    def uncut(self, asked: Asked) -> Asked:
        """Return the buckets without every cut that the target does not need, that of most information first."""
        offers = {(j, cut): gain for j in range(len(asked)) for cut, gain in self._gains(j, asked[j]).items()}
        while offers:
            j, cut = max(offers, key=lambda key: (offers[key], key))
            del offers[j, cut]
            cuts = asked[j]
            assert cuts is not None
            fewer = _replaced(asked, j, cuts - {cut})
            if self.reaches(fewer):
                asked = fewer
                left = {c for attribute, c in offers if attribute == j}
                offers |= {(j, c): gain for c, gain in self._gains(j, asked[j]).items() if c in left}
        return asked

    def _gains(self, j: int, cuts: frozenset[int] | None) -> dict[int, float]:
        """Return by how much the information loss rises without each cut."""
        if not cuts:
            return {}
        now = self.loss(j, cuts)
        return {cut: self.loss(j, cuts - {cut}) - now for cut in cuts}

    def loss(self, j: int, cuts: frozenset[int] | None) -> float:
        """Return the mean certainty penalty of one attribute over the people."""
        if cuts is EVERYTHING:
            return 0.0
        attribute, levels, use = self.table.schema.attributes[j], self.table.levels[j], self.table.use(j)
        partition = from_map(attribute, levels, buckets_between(self.ranks[j], cuts))
        present = levels[use[: len(levels)] > 0] if attribute.continuous else None
        return float(use @ ncp(partition, present)[partition.bucket_map(levels)] / max(self.table.people, 1e-9))


def _replaced(asked: Asked | Cuts, j: int, cuts: frozenset[int] | None) -> Asked:
    return (*asked[:j], cuts, *asked[j + 1 :])


class AptMinimizer(Minimizer):
    """Ask what a tree asks that imitates your classifier, as coarsely as its accuracy allows.

    After Goldsteen et al.: a decision tree learns the predictions of a classifier that was trained on full
    records; what its splits ask is asked of everyone. The tree is pruned, and cuts of single attributes are
    dropped, those of most information (NCP) first, while the accuracy relative to the classifier does not fall
    below the target. Where the whole tree is not enough, attributes are asked exactly again. Unlike the
    original the result is strict and looks at one attribute at a time. It does not know what is personal.

    Parameters
    ----------
    target_accuracy
        The least relative accuracy, from 0 to 1, measured on a quarter of the training records that is held out.
    model
        A scikit-learn classifier or pipeline, fitted to the records as they are passed to ``fit``; one that is not
        fitted is fitted to them first. ``clone`` and grid searches forget a fit: wrap the model in
        ``sklearn.frozen.FrozenEstimator``. None: gradient boosting.
    retrain
        False: the classifier stays as it is and sees a representative of each bucket (``representatives_``); the
        relative accuracy is how often it says the same. True: it will be trained again on generalized
        records; the relative accuracy is that of a retrained one over that of one trained on full records.
    max_depth
        Of the tree.
    min_leaf
        The fewest records in a leaf of the tree.
    schema, personal, random_state
        See ``Minimizer``.

    Attributes
    ----------
    relative_accuracy_
        What the result reaches on the held-out records.
    representatives_
        For each attribute, the value that the classifier is shown for each bucket (None: missing). They are read
        off the sample and are no part of the artefact.

    Examples
    --------
    >>> X = [["a", "u"], ["a", "v"], ["b", "u"], ["b", "v"]] * 20
    >>> found = AptMinimizer(0.9, random_state=0).fit(X, ["no", "no", "yes", "yes"] * 20)
    >>> found.generalization_.collected, found.relative_accuracy_
    (('x0',), 1.0)
    """

    name: ClassVar[str] = "apt"
    needs_label = True
    takes_numbers = False
    reference: ClassVar[str] = (
        "Goldsteen et al., Data Minimization for GDPR Compliance in Machine Learning Models, AI and Ethics 2022"
    )

    def __init__(
        self,
        target_accuracy: float = 0.95,
        model: Any = None,
        retrain: bool = False,
        *,
        max_depth: int = 10,
        min_leaf: int = 10,
        schema: Schema | None = None,
        personal: Sequence[str] | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(schema=schema, personal=personal, random_state=random_state)
        self.target_accuracy = target_accuracy
        self.model = model
        self.retrain = retrain
        self.max_depth = max_depth
        self.min_leaf = min_leaf

    def fit(self: Self, X: Any, y: Any = None) -> Self:
        """Learn ``generalization_``; the model, if there is one, is shown values as X has them."""
        # The table that ``minimize`` sees holds codes; only here are the values known that the model knows.
        self._records = X
        try:
            return super().fit(X, y)
        finally:
            del self._records

    def minimize(self, table: Table) -> Generalization:
        """Return the coarsest buckets found that keep the relative accuracy at the target."""
        check_between("target_accuracy", self.target_accuracy, 0.0, 1.0)
        check_whole("max_depth", self.max_depth)
        check_whole("min_leaf", self.min_leaf)
        check_two_classes(table)
        seed = self.seed
        train, held = held_out(table, HELD_OUT, seed)
        # Small questions, many times: on a busy machine threads that wait for each other cost more than they do.
        with threadpool_limits(1):
            model = model_for(table, train, self.model, getattr(self, "_records", None), seed)
            retrain = self.retrain
            accuracy = Retrained(model, table, train, held) if retrain else Agreement(model, table, held)
            coarsening, asked = self._asked(table, train, accuracy, model, seed)
            maps = coarsening.maps(asked)
            self.relative_accuracy_ = coarsening.accuracy(maps)
        self.representatives_ = _shown(table, maps)
        attributes = enumerate(table.schema.attributes)
        return table.generalization(
            [keep(a) if asked[j] is EVERYTHING else maps[j] for j, a in attributes],
            model=type(model.estimator).__name__,
        )

    def _asked(
        self, table: Table, train: Table, accuracy: Accuracy, model: Model, seed: int
    ) -> tuple[Coarsening, Asked]:
        said = np.unique(model.predict(train.codes), return_inverse=True)[1].reshape(-1).astype(np.intp)
        ranks = value_ranks(train, said)
        cuts = tree_cuts(
            ranked(train.codes, ranks),
            said,
            train.counts,
            max_depth=self.max_depth,
            min_leaf=min(self.min_leaf, max(len(train) // 4, 1)),
            seed=seed % 2**32,
        )
        coarsening = Coarsening(table, ranks, accuracy, self.target_accuracy)
        return coarsening, coarsening.uncut(coarsening.given_back(coarsening.pruned(cuts)))


def _shown(table: Table, maps: Sequence[Map]) -> dict[str, tuple[Any, ...]]:
    """Return, per attribute and bucket, the value that stands for it; None is missing or "other"."""
    shown: dict[str, tuple[Any, ...]] = {}
    for j, (map_, attribute) in enumerate(zip(maps, table.schema.attributes, strict=True)):
        levels = [*table.levels[j].tolist(), *[None] * attribute.extra_values]
        codes = representatives(map_, table.use(j), attribute.kind != "discrete", len(table.levels[j]))
        buckets = np.unique(map_, return_index=True)[1]
        shown[attribute.name] = tuple(levels[codes[map_[c]]] for c in np.sort(buckets))
    return shown
