"""The minimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.generalization import Generalization
from leastwise.minimizers.apt.coarsening import EVERYTHING, Accuracy, Asked, Coarsening, tree_cuts
from leastwise.minimizers.apt.model import Agreement, Map, Model, Retrained, model_for, representatives
from leastwise.minimizers.base import Minimizer, Self, check_two_classes, held_out
from leastwise.minimizers.orders import ranked, value_ranks
from leastwise.partition import keep
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import check_between, check_whole

HELD_OUT = 0.25
"""The share of the training records on which relative accuracy is measured."""


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
        self._check(table)
        seed = self.seed
        train, held = held_out(table, HELD_OUT, seed)
        # Small questions, many times: on a busy machine threads that wait for each other cost more than they do.
        with threadpool_limits(1):
            model = model_for(table, train, self.model, getattr(self, "_records", None), seed)
            retrain = self.retrain
            accuracy = Retrained.of(model, table, train, held) if retrain else Agreement(model, table, held)
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
            ranked(train, ranks),
            said,
            train.counts,
            max_depth=self.max_depth,
            min_leaf=min(self.min_leaf, max(len(train) // 4, 1)),
            seed=seed % 2**32,
        )
        coarsening = Coarsening(table, ranks, accuracy, self.target_accuracy)
        return coarsening, coarsening.uncut(coarsening.given_back(coarsening.pruned(cuts)))

    def _check(self, table: Table) -> None:
        check_between("target_accuracy", self.target_accuracy, 0.0, 1.0)
        for name in ("max_depth", "min_leaf"):
            check_whole(name, getattr(self, name))
        check_two_classes(table)


def _shown(table: Table, maps: Sequence[Map]) -> dict[str, tuple[Any, ...]]:
    """Return, per attribute and bucket, the value that stands for it; None is missing or "other"."""
    shown: dict[str, tuple[Any, ...]] = {}
    for j, (map_, attribute) in enumerate(zip(maps, table.schema.attributes, strict=True)):
        levels = [*table.levels[j].tolist(), *[None] * attribute.extra_values]
        codes = representatives(map_, table.use(j), attribute.kind != "discrete", len(table.levels[j]))
        buckets = np.unique(map_, return_index=True)[1]
        shown[attribute.name] = tuple(levels[codes[map_[c]]] for c in np.sort(buckets))
    return shown
