"""What a predictor is: it learns P(target | z) for several discrete targets at once, from codes and weights.

The rows that it learns from are ``Samples``: the buckets of the attributes that are collected, the values to be
found, how many people each row stands for, and what the generalization itself rules out: a value that it could not
have mapped to the observed bucket is impossible, its probability becomes 0 and the others are renormalised. (To
multiply a logit by 0 is no exclusion: 0 wins against negative logits.)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal, Protocol, cast

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from leastwise.errors import ParameterError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Codes
from leastwise.records.grouping import joint_buckets
from leastwise.records.numbers import Numbers
from leastwise.records.several import Graded
from leastwise.records.table import Table

Probabilities = npt.NDArray[np.floating[Any]]
Targets = Sequence[int] | Literal["personal", "label"]
Array = npt.NDArray[np.floating[Any]]
# An ordered input with more codes than this is first cut into so many runs of neighbouring codes.
_MOST_RUNS = 128
# Of an unordered input with more codes than this, the most frequent are told apart.
_MOST_NAMED = 2048


@dataclass(frozen=True, eq=False)
class Samples:
    """Records as a predictor sees them: inputs, targets and how many people each row stands for.

    Attributes
    ----------
    inputs, input_sizes
        n x d codes and, per column, how many codes there are (1 for a suppressed attribute).
    ordered
        Per column, whether its codes have an order (continuous and ordinal attributes).
    targets, target_sizes
        n x t codes and, per column, how many codes there are.
    weights
        People per row.
    masks
        Per target, what the inputs rule out; empty when nothing is ruled out for any target.
    numbers
        Per column, the number that each code stands for (NaN where it stands for none), or None where codes are
        no numbers; empty where that is not known.
    graded
        The label of each row, where it is the target and a guess of it is more or less wrong: a number, or several
        labels.
    """

    inputs: Codes
    input_sizes: tuple[int, ...]
    ordered: tuple[bool, ...]
    targets: Codes
    target_sizes: tuple[int, ...]
    weights: npt.NDArray[Any]
    masks: tuple[Masks, ...] = ()
    numbers: tuple[npt.NDArray[np.float64] | None, ...] = ()
    graded: Graded | None = None

    @property
    def number(self) -> Numbers | None:
        """The label of each row, where it is the target and a number."""
        return self.graded if isinstance(self.graded, Numbers) else None

    @property
    def likeliest(self) -> bool:
        """Whether the best guess is the likeliest value."""
        return self.graded is None or self.graded.plain

    def __len__(self) -> int:
        return len(self.inputs)

    @cached_property
    def target_masks(self) -> tuple[Masks, ...]:
        """What the inputs rule out, an entry for each target."""
        return self.masks or ((),) * len(self.target_sizes)

    @cached_property
    def buckets(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]]:
        """A row of each joint bucket, and the joint bucket of each row."""
        return joint_buckets(self.inputs, self.input_sizes)

    def distinct(self) -> Samples:
        """Return the distinct (inputs, targets) rows with their multiplicities."""
        columns = np.concatenate([self.inputs, self.targets], axis=1)
        first, row_of = joint_buckets(columns, [*self.input_sizes, *self.target_sizes])
        weights = np.bincount(row_of, weights=self.weights, minlength=len(first))
        graded = None if self.graded is None else self.graded.at_levels(self.targets[first, 0])
        return replace(
            self, inputs=self.inputs[first], targets=self.targets[first], weights=weights, graded=graded
        )

    def take(self, rows: npt.NDArray[np.intp]) -> Samples:
        """Return some of the rows."""
        graded = None if self.graded is None else self.graded.take(rows)
        return replace(
            self,
            inputs=self.inputs[rows],
            targets=self.targets[rows],
            weights=self.weights[rows],
            graded=graded,
        )

    @property
    def nobody(self) -> Samples:
        """The same kind of rows, and none of them: what a fitted predictor needs, and may be handed on with."""
        return self.take(np.arange(0))

    def and_also(self, others: Samples) -> Samples:
        """Return these rows and, behind them, those of others of the same kind."""
        pairs = [(getattr(self, name), getattr(others, name)) for name in ("inputs", "targets", "weights")]
        inputs, targets, weights = (np.concatenate(pair) for pair in pairs)
        both = None if self.graded is None else self.graded.and_also(cast(Any, others.graded))
        return replace(self, inputs=inputs, targets=targets, weights=weights, graded=both)

    def best(self, probabilities: Probabilities) -> npt.NDArray[np.intp]:
        """Return the guess of each row of probabilities: the likeliest value, or the least wrong."""
        return probabilities.argmax(axis=1) if self.graded is None else self.graded.guess(probabilities)

    def wrong(self, guessed: npt.NDArray[Any], target: int = 0) -> npt.NDArray[Any]:
        """Return about whom guesses are wrong; where that is more or less so, how wrong (see ``Graded``)."""
        return guessed != self.targets[:, target] if self.graded is None else self.graded.off(guessed)

    def of_target(self, target: int) -> Samples:
        """Return the samples of one target, collapsed: usually far fewer rows."""
        return replace(
            self,
            targets=self.targets[:, target : target + 1],
            target_sizes=self.target_sizes[target : target + 1],
            masks=self.masks[target : target + 1],
        ).distinct()

    def allowed(self, target: int, inputs: Codes | None = None) -> npt.NDArray[np.bool_]:
        """Return which values of a target each row leaves possible."""
        rows = self.inputs if inputs is None else inputs
        return allowed_values(self.target_masks[target], rows, self.target_sizes[target])

    def ruled_out(self, target: int, inputs: Codes, probabilities: Probabilities) -> Probabilities:
        """Return the probabilities of a target with what the inputs rule out at 0: see ``masked``."""
        return masked(probabilities, self.allowed(target, inputs) if self.target_masks[target] else None)


CHOOSING = 50_000
"""So many people of the validation part say which predictor is the strongest, and how its counts are smoothed. Of
predictors between which these cannot tell, none is better by a tenth of a point; a million would be asked in vain,
and each of them again for every predictor, mixture and setting."""


class Predictor(Protocol):
    """Learns all targets from the same inputs.

    One that gives what the masks of its training rows rule out no probability may say so by ``rules_out = True``:
    it is not done once more.
    """

    @property
    def name(self) -> str:
        """Who predicts, for people."""
        ...

    def fit(self, train: Samples, validation: Samples) -> Predictor:
        """Learn from the training rows; hyperparameters are chosen on the validation rows."""
        ...

    def predict(self, inputs: Codes) -> Sequence[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        ...


def samples(
    table: Table,
    generalization: Generalization,
    targets: Targets = "personal",
    known: Sequence[int] = (),
    label: bool = False,
) -> Samples:
    """Return the records as somebody sees them who holds their generalized form.

    Parameters
    ----------
    targets
        Positions of the attributes to be found, or "personal", or "label".
    known
        Positions of attributes that are known in full beside the generalized record (side information).
    label
        Whether the label is seen beside the generalized record: the last input.
    """
    maps = [
        np.arange(size) if j in set(known) else bucket_of
        for j, (size, bucket_of) in enumerate(zip(table.sizes, table.bucket_maps(generalization), strict=True))
    ]
    seen = samples_by(table, maps, *_targets(table, targets))
    if targets == "label":
        seen = replace(seen, graded=table.graded)
    if not label:
        return seen
    return replace(
        seen,
        inputs=np.column_stack([seen.inputs, table.y.astype(np.intp)]),
        input_sizes=(*seen.input_sizes, table.classes),
        ordered=(*seen.ordered, table.number is not None),
        numbers=(*seen.numbers, None if table.number is None else table.number.levels),
    )


def samples_by(
    table: Table, maps: Sequence[npt.NDArray[Any]], values: Codes, sizes: tuple[int, ...], positions: Sequence[int]
) -> Samples:
    """Return the records by the bucket of each code; ``positions`` are those of the targets, -1 for a label."""
    collected = [j for j, bucket_of in enumerate(maps) if bucket_of.max(initial=0) > 0]
    return Samples(
        inputs=_columns([maps[j][table.codes[:, j]] for j in collected], len(table)),
        input_sizes=tuple(int(maps[j].max()) + 1 for j in collected),
        ordered=tuple(table.schema.attributes[j].kind != "discrete" for j in collected),
        targets=values,
        target_sizes=sizes,
        weights=table.counts.astype(float),
        masks=tuple((mask_of(collected.index(p), maps[p]),) if p in collected else () for p in positions),
        numbers=tuple(_numbers(table, j, maps[j]) for j in collected),
    )


def _numbers(table: Table, j: int, bucket_of: npt.NDArray[Any]) -> npt.NDArray[np.float64] | None:
    """Return the number that each bucket of an ordered attribute stands for: the middle of what is in it."""
    attribute, size = table.schema.attributes[j], int(bucket_of.max()) + 1
    if attribute.kind == "discrete":
        return None
    levels = np.asarray(table.levels[j] if attribute.continuous else range(len(attribute.values)), dtype=float)
    inside = bucket_of[: len(levels)]
    sums, use = np.bincount(inside, weights=levels, minlength=size), np.bincount(inside, minlength=size)
    return np.asarray(np.where(use > 0, sums / np.maximum(use, 1), np.nan))


def _targets(table: Table, targets: Targets) -> tuple[Codes, tuple[int, ...], tuple[int, ...]]:
    if targets == "label":
        return table.y[:, None].astype(np.intp), (table.classes,), (-1,)
    positions = table.personal if targets == "personal" else tuple(targets)
    if isinstance(targets, str) and targets != "personal":
        raise ParameterError(f"targets must be positions, 'personal' or 'label'; got {shorten(targets)}")
    codes = _columns([table.codes[:, p] for p in positions], len(table))
    return codes, tuple(table.sizes[p] for p in positions), positions


def _columns(columns: Sequence[npt.NDArray[Any]], rows: int) -> Codes:
    out = np.empty((rows, len(columns)), dtype=np.intp)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


@dataclass(frozen=True, eq=False)
class Mask:
    """One input column that tells which values of a target are possible.

    Attributes
    ----------
    column
        The position of the column among the inputs.
    allowed
        buckets x values: whether the value may lie behind the bucket.
    """

    column: int
    allowed: npt.NDArray[np.bool_]

    @cached_property
    def without_contradictions(self) -> npt.NDArray[np.bool_]:
        """The same, but for a bucket behind which nothing may lie: that one excludes nothing."""
        return np.where(self.allowed.any(axis=1, keepdims=True), self.allowed, True)


Masks = tuple[Mask, ...]


def mask_of(column: int, bucket_of: npt.NDArray[Any]) -> Mask:
    """Return the mask of an attribute's own buckets.

    >>> mask_of(0, np.array([0, 0, 1])).allowed.astype(int).tolist()
    [[1, 1, 0], [0, 0, 1]]
    """
    return Mask(column, np.arange(int(bucket_of.max(initial=0)) + 1)[:, None] == bucket_of[None, :])


def allowed_values(masks: Sequence[Mask], inputs: Codes, size: int) -> npt.NDArray[np.bool_]:
    """Return rows x values: what all masks together leave possible; a row of contradictions excludes nothing."""
    if len(masks) == 1:  # what contradicts itself is a code, not a row
        return np.asarray(masks[0].without_contradictions.take(inputs[:, masks[0].column], axis=0))
    allowed = np.ones((len(inputs), size), dtype=bool)
    for mask in masks:
        allowed &= mask.allowed[inputs[:, mask.column]]
    if masks:
        allowed[~allowed.any(axis=1)] = True
    return allowed


def masked(probabilities: Array, allowed: npt.NDArray[np.bool_] | None) -> Array:
    """Return the probabilities with the impossible values at 0, renormalised; all alike where nothing is left.

    Where nothing is said of what is ``allowed``, everything is.

    >>> masked(np.array([[0.6, 0.3, 0.1]]), np.array([[False, True, True]])).round(2).tolist()
    [[0.0, 0.75, 0.25]]
    """
    # Most of the time of an attack on long columns is spent here: a product is five times faster than a choice.
    kind = np.result_type(probabilities, np.float32)
    left = probabilities.astype(kind) if allowed is None else np.multiply(probabilities, allowed, dtype=kind)
    total = left.sum(axis=1, keepdims=True)
    if (
        allowed is not None and np.isnan(total).any()
    ):  # somebody's strange number times nothing, which it must not remain
        left = np.where(allowed, probabilities, 0).astype(kind)
        total = left.sum(axis=1, keepdims=True)
    empty = ~(total[:, 0] > 0)
    if empty.any():
        left[empty] = True if allowed is None else allowed[empty]
        total[empty, 0] = left[empty].sum(axis=1)
    left /= total
    return left


@dataclass(frozen=True, eq=False)
class OneHot:
    """The one-hot form of inputs: per input column a lookup table from its codes to numbers.

    A code that training never showed has no numbers of its own to learn from: in an ordered column it looks like
    the nearest code that was shown, in another one like everybody on average.

    Attributes
    ----------
    rows
        Per input column, codes x numbers.
    ranked
        Per input column, whether the last of its numbers is the rank beside a 1; empty where columns are numbers.
    """

    rows: tuple[npt.NDArray[np.float32], ...]
    ranked: tuple[bool, ...] = ()

    @classmethod
    def of(cls, train: Samples, ranks: bool = True) -> OneHot:
        """Return the form of the inputs of a training part.

        An ordered column also gives its rank, between 0 and 1, unless ``ranks`` is False.
        """
        pairs = zip(train.input_sizes, train.ordered, strict=True)
        ranked = tuple(ranks and ordered and size > 2 for size, ordered in pairs)
        columns = zip(_use(train), ranked, strict=True)
        return cls(tuple(_lookup(use, ordered, rank) for (use, ordered), rank in columns), ranked)

    @classmethod
    def with_numbers(cls, train: Samples) -> OneHot:
        """Return the form in which an ordered column is a number, scaled, and its rank among people: two slopes.

        Few records do not tell a number apart value by value.
        """
        numbers = train.numbers or (None,) * len(train.input_sizes)
        return cls(
            tuple(
                _scaled(use, known) if ordered else _lookup(use, False, False)
                for (use, ordered), known in zip(_use(train), numbers, strict=True)
            )
        )

    @property
    def width(self) -> int:
        """How many numbers a row becomes."""
        return sum(table.shape[1] for table in self.rows)

    @cached_property
    def form(self) -> tuple[npt.NDArray[Any], ...]:
        """Where each code that training showed has its 1, and its rank: what ``kernels.one_hot_layer`` takes."""
        first, begin = (starts([table.shape[axis] for table in self.rows]) for axis in (0, 1))
        tables = zip(self.rows, self.ranked, begin[:-1], strict=True)
        places = [start + table[:, : table.shape[1] - rank].argmax(axis=1) for table, rank, start in tables]
        ranks = [table[:, -1] for table in self.rows]
        return (
            first,
            _joined(places, np.int64),
            _joined(ranks, np.float32),
            np.where(self.ranked, begin[1:] - 1, -1),
        )

    def __call__(self, inputs: Codes) -> npt.NDArray[np.float32]:
        """Return rows x width."""
        out = np.empty((len(inputs), self.width), dtype=np.float32)
        start = 0
        for j, table in enumerate(self.rows):
            end = start + table.shape[1]
            np.take(table, inputs[:, j], axis=0, out=out[:, start:end], mode="clip")
            start = end
        return out


def _use(train: Samples) -> Iterator[tuple[npt.NDArray[Any], bool]]:
    """Yield, per input column, how many people have each code, and whether the codes have an order."""
    for codes, size, ordered in zip(train.inputs.T, train.input_sizes, train.ordered, strict=True):
        yield np.bincount(codes, weights=train.weights, minlength=size), ordered


def _scaled(use: npt.NDArray[Any], numbers: npt.NDArray[np.float64] | None) -> npt.NDArray[np.float32]:
    """Return each code as a number of mean 0 and deviation 1, its rank from -1 to 1, and whether it is none."""
    known = np.arange(len(use), dtype=float) if numbers is None else numbers
    told = ~np.isnan(known)
    people = use * told
    total = max(people.sum(), 1e-300)
    mean = float(people[told] @ known[told]) / total
    centred = np.where(told, known - mean, 0)
    deviation = float(people @ centred**2 / total) ** 0.5 or 1.0
    order = np.argsort(np.where(told, known, np.inf), kind="stable")
    rank = np.empty(len(use))
    rank[order] = 2 * np.cumsum(people[order]) / total - 1
    return np.column_stack([centred / deviation, np.where(told, rank, 0), ~told]).astype(np.float32)


def _joined(columns: Sequence[npt.NDArray[Any]], kind: Any) -> npt.NDArray[Any]:
    return np.concatenate([np.zeros(0, dtype=kind), *columns])


def _lookup(use: npt.NDArray[Any], ordered: bool, rank: bool) -> npt.NDArray[np.float32]:
    size, shown = len(use), use > 0
    if not ordered:
        place = _by_name(use)
        rows = np.zeros((size, int(place.max(initial=0)) + 1), dtype=np.float32)
        rows[np.arange(size), place] = 1
        rows[~shown] = np.bincount(place, weights=use) / max(use.sum(), 1e-300)
        return rows
    codes = np.arange(size)
    nearest = _nearest(codes, np.flatnonzero(shown)) if shown.any() else codes
    if not rank:
        return np.eye(size, dtype=np.float32)[nearest]
    runs = nearest * min(size, _MOST_RUNS) // size
    return np.column_stack([np.eye(min(size, _MOST_RUNS))[runs], codes / (size - 1)]).astype(np.float32)


def _by_name(use: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the place of each code of an unordered column: of very many codes the rarest share one.

    A place for each would take memory, and time, by the square of how many there are.
    """
    place = np.arange(len(use))
    if len(use) > _MOST_NAMED:
        often = np.sort(np.argsort(-use, kind="stable")[: _MOST_NAMED - 1])
        place = np.full(len(use), _MOST_NAMED - 1)
        place[often] = np.arange(len(often))
    return place


def _nearest(codes: npt.NDArray[Any], shown: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """Return the nearest of the shown codes; of two equally near ones the lower.

    >>> _nearest(np.arange(6), np.array([1, 4])).tolist()
    [1, 1, 1, 4, 4, 4]
    """
    above = np.clip(np.searchsorted(shown, codes), 0, len(shown) - 1)
    below = np.maximum(above - 1, 0)
    near = np.where(np.abs(codes - shown[below]) <= np.abs(shown[above] - codes), below, above)
    return np.asarray(shown[near], dtype=np.intp)


@lru_cache(maxsize=1)
def _thread_pools(modules: int) -> ThreadpoolController:
    return ThreadpoolController()


def few_threads(most: int | None = 1, user_api: str | None = None) -> Any:
    """Limit the threads of numerical libraries in a ``with`` block.

    They are looked up again only after something was imported: a look takes as long as a small fit.
    """
    return _thread_pools(len(sys.modules)).limit(limits=most, user_api=user_api)


def batches(rows: int, size: int, epochs: int, random: np.random.Generator) -> Iterator[npt.NDArray[Any]]:
    """Yield the rows of each step, in a new order each epoch."""
    for _ in range(epochs):
        order = random.permutation(rows)
        yield from (order[start : start + size] for start in range(0, rows, size))


def starts(sizes: Sequence[int]) -> npt.NDArray[np.intp]:
    """Return where each block begins when blocks of these sizes lie side by side, and where the last ends."""
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.intp))]).astype(np.intp)
