"""Surrogate models of the label, additive in the attributes: what each value adds to the prediction.

A surrogate is learned on the full records of the training part and gives every code of every attribute an *effect*
on the log-odds of the label: one number for two classes, one per class otherwise. Effects of an attribute are
centred on the people, and those of rare values are shrunk towards that centre (or smoothed: drawn towards their
neighbours), so that a value seen once does not look like something worth knowing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from leastwise.errors import DataError, MissingExtraError, ParameterError
from leastwise.kernels.additive_logistic import fit_additive
from leastwise.minimizers.optimal.smoothing import PSEUDO_COUNT, Smoothing, sums_by_code
from leastwise.records.grouping import even_runs
from leastwise.records.table import Table
from leastwise.schema import Schema
from leastwise.validation import did_you_mean

Floats = npt.NDArray[np.float64]
Effects = tuple[Floats, ...]
"""Per attribute: codes x (1 for two classes or a number, otherwise the number of classes)."""

Surrogate = Callable[[Table, int], Effects]

_MOST_LEVELS = 64
# A tree parts one attribute. With too few trees, attributes that tell a little are never parted and look useless.
_TREES, _TREES_PER_ATTRIBUTE, _RECORDS_PER_TREE = 100, 5, 200
# Rows from which more threads gain more than they lose by waiting for each other.
_WORTH_THREADS = 50_000


def effects_of(
    table: Table,
    surrogate: str | Surrogate | None = None,
    seed: int = 0,
    unseen: Collection[str] = (),
    *,
    smoothed: bool = False,
) -> Effects:
    """Return the effects of all values, centred and shrunk.

    Parameters
    ----------
    table
        Training records with a label.
    surrogate
        A name of ``SURROGATES``, a function of (table, seed), or None for the default. The table has only the
        attributes that may be asked.
    seed
        For surrogates that draw.
    unseen
        Attributes that the surrogate does not see, because nobody will be asked: their values have no effect, and
        what they tell is left to the others.
    smoothed
        Draw discrete values with few people towards their neighbours, where these are alike (see ``Smoothing``),
        instead of towards everybody.
    """
    if not len(table):
        raise DataError("a minimizer learns from training records, and there are none; give some")
    if table.people <= 0:
        raise DataError("all training records have the weight 0, so there is nobody to learn from; give weights")
    seen = [j for j, name in enumerate(table.schema.names) if name not in unseen]
    if len(seen) < len(table.sizes):
        only = replace(
            table,
            schema=Schema(tuple(table.schema.attributes[j] for j in seen), table.schema.label),
            codes=np.asfortranarray(table.codes[:, seen]),
            levels=tuple(table.levels[j] for j in seen),
        )
        known = dict(zip(seen, effects_of(only, surrogate, seed, smoothed=smoothed), strict=True))
        width = next((effects.shape[1] for effects in known.values()), 1)
        return tuple(known.get(j, np.zeros((size, width))) for j, size in enumerate(table.sizes))
    if not table.sizes:
        return ()
    name = DEFAULT if surrogate is None else surrogate
    if not callable(name) and name not in SURROGATES:
        raise ParameterError(f"there is no surrogate {name!r}; {did_you_mean(str(name), SURROGATES)}")
    raw = (name if callable(name) else SURROGATES[name])(table, seed)
    _check_effects(raw, table)
    if table.classes < 2 or len(np.unique(table.y)) < 2:
        return tuple(np.zeros((size, 1)) for size in table.sizes)
    nearby = neighbours_told(table) if smoothed else {}
    return tuple(_shrunk(effects, table.use(j), nearby.get(j)) for j, effects in enumerate(raw))


def neighbours_told(table: Table) -> dict[int, Smoothing]:
    """Return the discrete attributes whose neighbouring values are told to be alike, and how near is near."""
    told = None if table.number is None else _told(table)
    discrete = [j for j, declared in enumerate(table.schema.attributes) if declared.kind == "discrete"]
    found = {j: Smoothing.of(table, j, told) for j in discrete}
    return {j: smoothing for j, smoothing in found.items() if smoothing.reach is not None}


def _check_effects(raw: Effects, table: Table) -> None:
    """Raise a ``ParameterError`` when a surrogate's answer does not fit the records that it was given."""
    shapes = [np.shape(effects) for effects in raw]
    if [shape[:1] for shape in shapes] != [(size,) for size in table.sizes] or {len(s) for s in shapes} != {2}:
        raise ParameterError(
            "a surrogate must return, for each attribute of the table it is given, an array of codes x scores; "
            f"expected {[*table.sizes]} codes, got arrays of {shapes} "
            "(attributes that will not be asked are not in the table)"
        )


def _shrunk(effects: Floats, use: Floats, nearby: Smoothing | None) -> Floats:
    people = use.sum()
    centred = effects - (use @ effects) / people if people else effects
    if nearby is not None:
        return nearby.drawn_together(centred)
    return np.asarray(centred * (use / (use + PSEUDO_COUNT))[:, None])


def one_hot_logistic(table: Table, seed: int = 0) -> Effects:
    """Return the weights of a penalised logistic regression on one column per value.

    Long continuous columns are given as runs of neighbouring numbers, about equally used.
    """
    runs = [_runs(table, j) for j in range(len(table.sizes))]
    columns = [run[table.codes[:, j]] for j, run in enumerate(runs)]
    sizes = [int(run.max(initial=0)) + 1 for run in runs]
    fitted = fit_additive(columns, sizes, table.y, table.classes, table.counts)
    return tuple(weights[run] for weights, run in zip(fitted.weights, runs, strict=True))


def _runs(table: Table, attribute: int) -> npt.NDArray[np.intp]:
    """Return the run of each code; only continuous columns with many levels are put into runs."""
    size, use = table.sizes[attribute], table.use(attribute)
    levels = len(table.levels[attribute])
    if not table.schema.attributes[attribute].continuous or levels <= _MOST_LEVELS:
        return np.arange(size)
    inner = even_runs(use[:levels], _MOST_LEVELS)
    return np.concatenate([inner, inner[-1] + 1 + np.arange(size - levels)])


def additive_boosting(table: Table, seed: int = 0) -> Effects:
    """Return the effects of gradient boosting whose trees use one attribute each, so that it is additive."""
    ranks = _ranks(table)
    kind = HistGradientBoostingClassifier if table.number is None else HistGradientBoostingRegressor
    model = kind(
        interaction_cst="no_interactions",
        early_stopping=False,
        max_iter=trees_for(table),
        max_leaf_nodes=16,
        random_state=seed,
    )
    with threadpool_limits(None if len(table) >= _WORTH_THREADS else 1, user_api="openmp"):
        model.fit(_ranked(ranks, table), _told(table), sample_weight=table.weights)
    effects = []
    for j, rank in enumerate(ranks):  # the others are held, which does not matter to a sum
        rows = np.zeros((len(rank), len(ranks)))
        rows[:, j] = rank
        scores = model.decision_function(rows) if table.number is None else model.predict(rows)
        scores = np.asarray(scores, dtype=float).reshape(len(rows), -1)
        effects.append(_by_class(scores, getattr(model, "classes_", None), table.classes))
    return tuple(effects)


def _told(table: Table) -> npt.NDArray[Any]:
    """Return what a surrogate learns: the class; or the number, such that its effects weigh as log-odds do.

    What a parameter of a linear regression gains is its square by the variance; of log-odds, at most a quarter of
    its square. A number in half standard deviations gains the same by the same effect.
    """
    if table.number is None:
        return table.y
    mean = np.average(table.number.exact, weights=table.counts)
    deviation = float(np.average((table.number.exact - mean) ** 2, weights=table.counts)) ** 0.5
    return np.asarray(2 * (table.number.exact - mean) / (deviation or 1.0))


def trees_for(table: Table) -> int:
    """Return how many trees to grow: enough for many attributes, and no more than the records bear."""
    return max(_TREES, min(_TREES_PER_ATTRIBUTE * len(table.sizes), len(table) // _RECORDS_PER_TREE))


def _by_class(scores: Floats, seen: npt.NDArray[Any] | None, classes: int) -> Floats:
    """Return the scores with a column per class of the domain; an unseen class gets none, and a number has one."""
    if scores.shape[1] == 1 or seen is None:
        return scores
    full = np.zeros((len(scores), classes))
    full[:, seen.astype(int)] = scores
    return full


def shapley_boosting(table: Table, seed: int = 0) -> Effects:
    """Return the mean Shapley value of each value under gradient boosting with interactions (needs LightGBM)."""
    try:
        import lightgbm
    except ImportError:
        raise MissingExtraError("lightgbm", "boosting") from None
    ranks = _ranks(table)
    rows = _ranked(ranks, table)
    kind = lightgbm.LGBMClassifier if table.number is None else lightgbm.LGBMRegressor
    model = kind(n_estimators=100, random_state=seed, verbose=-1, n_jobs=1, deterministic=True)
    model.fit(rows, _told(table), sample_weight=table.weights)
    shares = np.asarray(model.booster_.predict(rows, pred_contrib=True)).reshape(len(rows), -1, len(ranks) + 1)
    effects = []
    for j in range(len(ranks)):
        codes, people = table.codes[:, j], np.maximum(table.use(j), 1e-9)
        columns = table.counts[:, None] * shares[:, :, j]
        sums = [np.bincount(codes, weights=column, minlength=len(people)) for column in columns.T]
        seen = getattr(model, "classes_", None)
        effects.append(_by_class(np.stack(sums, axis=1) / people[:, None], seen, table.classes))
    return tuple(effects)


def _ranks(table: Table) -> list[Floats]:
    """Return a number per code: its place in the order; a discrete attribute is ordered by its mean label.

    The label is a centred number: its own, or the commonest class against the others.
    """
    shares = np.bincount(table.y, weights=table.counts, minlength=table.classes) / table.people
    label = (table.y == shares.argmax()) - shares.max() if table.number is None else _told(table)
    told, ranks = np.asarray(label, dtype=float), []
    for j, (declared, size) in enumerate(zip(table.schema.attributes, table.sizes, strict=True)):
        if declared.kind == "discrete":
            mean = sums_by_code(table, j, told)[:, 0] / (table.use(j) + PSEUDO_COUNT)
            ranks.append(np.argsort(np.argsort(mean, kind="stable"), kind="stable").astype(float))
        else:
            extras = np.full(declared.extra_values, np.nan)
            ranks.append(np.concatenate([np.arange(size - len(extras), dtype=float), extras]))
    return ranks


def _ranked(ranks: list[Floats], table: Table) -> Floats:
    ranked = np.stack([rank[table.codes[:, j]] for j, rank in enumerate(ranks)], axis=1)
    ranked[:, np.isnan(ranked).all(axis=0)] = 0.0  # nobody answered: nothing to part
    return ranked


SURROGATES: Mapping[str, Surrogate] = {
    "additive_boosting": additive_boosting,
    "one_hot_logistic": one_hot_logistic,
    "shapley_boosting": shapley_boosting,
}
DEFAULT = "additive_boosting"
