"""One network for many generalizations and all that may be known beside them: an amortised adversary.

What is seen of an attribute is its value, where that is known in full, or the bucket of a generalization. A bucket
looks like the prior restricted to it (the mean of its values, weighted by people), and has something of its own
beside. So the buckets of all candidates and all side information are points of one input space, and what is
learned about one of them is learned about the others. Each time a training record is looked at, it is seen under
another candidate, with other attributes known in full. What is not personal is known to A3 and A5 in any case, to
A1 it never is; that one also meets records without their labels.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import block_diag, csr_matrix

from leastwise.adversaries.breach import Breach, coarsened, long_columns, run_of_level, stores_label
from leastwise.adversaries.leave_one_out import Spread
from leastwise.generalization import Generalization
from leastwise.partition import Codes, Partition, suppress
from leastwise.predictors.base import Mask, OneHot, Probabilities, Samples, few_threads, starts
from leastwise.predictors.network import Network, Training, hidden_layer, softmax
from leastwise.random import generator
from leastwise.records.table import Table

Array = npt.NDArray[np.float32]
Whole = npt.NDArray[np.int64]

# Wider than the network of one candidate and drawn harder towards 0: each record is looked at more often.
# A second one, averaged in, changed no mean error by .001.
NETWORK = Network(hidden=192, epochs=40, decay=0.3, members=1)
# Rows that training looks at, over all epochs.
_MOST_ROWS = 3_000_000
# Values times what may be seen, over all personal attributes: how large the table of what is possible may be.
_MOST_MASKED = 2**26
# One row in so many is seen by somebody who knows attributes at random, not those that are told most easily.
_AT_RANDOM = 4
# One row in so many is seen by A1, who knows nothing beside it; half of those without the label.
_ALONE = 3


@dataclass(eq=False)
class _Column:
    """What may be seen of an attribute: its values and, behind them, the buckets of every generalization.

    Attributes
    ----------
    size
        How many values there are, long columns in runs.
    value_of
        The value of each code.
    forms
        By partition (None: the attribute is known in full), what is seen of each code.
    first
        By partition, where its buckets begin.
    shares, allowed
        For every bucket, the share of its people who have each value, and whether one can.
    """

    size: int
    value_of: Whole
    forms: dict[Hashable, Whole] = field(default_factory=dict)
    first: dict[Hashable, int] = field(default_factory=dict)
    shares: list[npt.NDArray[Any]] = field(default_factory=list)
    allowed: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    seen: int = 0

    def __post_init__(self) -> None:
        self.forms[None], self.first[None], self.seen = self.value_of, 0, self.size

    def add(self, name: Hashable, bucket_of: npt.NDArray[Any], people: npt.NDArray[Any]) -> None:
        """Add the buckets of one more partition; ``people`` are those of each code."""
        buckets = int(bucket_of.max(initial=0)) + 1
        use = np.zeros((buckets, self.size))
        np.add.at(use, (bucket_of, self.value_of), people)
        total = use.sum(axis=1, keepdims=True)
        everybody = use.sum(axis=0) / max(use.sum(), 1e-300)
        self.shares.append(np.where(total > 0, use / np.maximum(total, 1e-300), everybody))
        possible = np.zeros((buckets, self.size), dtype=bool)
        possible[bucket_of, self.value_of] = True
        self.allowed.append(possible)
        self.forms[name], self.first[name] = (self.seen + bucket_of).astype(np.int64), self.seen
        self.seen += buckets


class _Seen(NamedTuple):
    """What one candidate shows: by column, which partition; and who goes on learning in which order."""

    forms: tuple[Hashable, ...]
    order: Sequence[int]


class SharedNetwork:
    """One network that tells every personal attribute, whatever candidate is seen and whatever is known beside.

    Parameters
    ----------
    train
        What the thief knows of other people.
    candidates
        The generalizations, and for each the order in which its personal attributes become known.
    seed
        For the first weights, the order of the rows, and what is seen of each.

    Attributes
    ----------
    mistrusted
        Personal attributes that it does not tell to who knows some of the others: a network of their own does
        better.
    """

    def __init__(
        self, train: Table, candidates: Sequence[tuple[Generalization, Sequence[int]]], seed: int = 0
    ) -> None:
        (coarse,) = coarsened(Generalization.suppressed(train.schema), [train])
        known = [each.within(train.schema) for each, _ in candidates]
        self.columns = _columns(train, coarse, known)
        self.targets = train.personal
        self.mistrusted: frozenset[int] = frozenset()
        seen = [
            _Seen((*map(_name, g.partitions), None if stores_label(train, g) else True), order)
            for g, (_, order) in zip(known, candidates, strict=True)
        ]
        # The products are small: a second thread would only wait for the first.
        with few_threads(1, "blas"):
            self.members = [
                _SharedTraining(self, train, coarse, generator(seed, "shared network", member)).learned(seen)
                for member in range(NETWORK.members)
            ]

    @classmethod
    def bearable(cls, train: Table, generalizations: Sequence[Generalization]) -> bool:
        """Return whether the table of what is possible fits into memory."""
        cells = 0
        for p in train.personal:
            partitions = {each.partitions[p] for each in generalizations if not each.partitions[p].untouched}
            buckets = [int(each.bucket_map(train.levels[p]).max(initial=0)) + 1 for each in partitions]
            values = int(_value_of(train, p).max(initial=-1)) + 1
            cells += values * (values + sum(buckets))
        return cells <= _MOST_MASKED

    def seen_by(self, breach: Breach, known: Sequence[int], targets: Sequence[int]) -> SharedView | None:
        """Return it as a predictor for who holds the stolen records and knows some attributes in full.

        None where it never saw such records, or is not to be trusted.
        """
        partitions = breach.joined.partitions
        if self.mistrusted & {*targets} and {*self.targets} & {*known}:
            return None
        forms = [None if j in {*known} else _name(p) for j, p in enumerate(partitions)]
        if any(form not in column.forms for form, column in zip(forms, self.columns, strict=False)):
            return None
        return SharedView(self, breach, forms, targets)


def _name(partition: Partition) -> Hashable:
    return None if partition.untouched else partition


def _value_of(train: Table, j: int) -> Whole:
    """Return the value of each code of an attribute: itself, or its run in a long column."""
    attribute, value_of = train.schema.attributes[j], np.arange(train.sizes[j])
    if j in long_columns(train):
        run = run_of_level(train, j, suppress(attribute))
        value_of = np.r_[run, run.max(initial=-1) + 1 + np.arange(attribute.extra_values)]
    return value_of.astype(np.int64)


def _columns(train: Table, coarse: Table, generalizations: Sequence[Generalization]) -> list[_Column]:
    """Return what may be seen of each attribute, and of the label (which is seen, or not)."""
    found = []
    for j in range(len(train.schema)):
        column = _Column(coarse.sizes[j], _value_of(train, j))
        for partition in {each.partitions[j]: None for each in generalizations}:
            if not partition.untouched:
                column.add(partition, partition.bucket_map(train.levels[j]), train.use(j))
        found.append(column)
    label = _Column(train.classes, np.arange(train.classes))
    people = np.zeros(train.classes) if train.labels is None else np.bincount(train.y, train.counts, train.classes)
    label.add(True, np.zeros(train.classes, dtype=np.intp), people)
    return [*found, label]


class _SharedTraining(Training):
    """Trains the weights of all values, and what each bucket has of its own."""

    def __init__(self, shared: SharedNetwork, train: Table, coarse: Table, random: np.random.Generator) -> None:
        self.random, self.columns = random, shared.columns
        self.codes = [*train.codes.T, np.zeros(len(train), np.intp) if train.labels is None else train.y]
        ordered = [a.kind != "discrete" for a in train.schema.attributes]
        values = Samples(
            inputs=np.column_stack([*coarse.codes.T, self.codes[-1]]).astype(np.intp),
            input_sizes=tuple(column.size for column in self.columns),
            ordered=(*ordered, train.number is not None),
            targets=np.column_stack([coarse.codes[:, p] for p in shared.targets]).astype(np.intp),
            target_sizes=tuple(coarse.sizes[p] for p in shared.targets),
            weights=train.counts.astype(float),
            masks=tuple((Mask(p, _possible(self.columns[p])),) for p in shared.targets),
        )
        self.one_hot, self.hidden = OneHot.of(values), NETWORK.hidden
        super().__init__(NETWORK, values, self.one_hot, random)
        self._look_at_buckets()

    def _look_at_buckets(self) -> None:
        """Put the buckets of each column behind its values: see ``OneHot.form``."""
        begin, place, rank, rank_row = self.form
        first, places, ranks = starts([column.seen for column in self.columns]), [], []
        buckets, self.width = 0, self.one_hot.width
        for j, column in enumerate(self.columns):
            own, more = slice(begin[j], begin[j] + column.size), column.seen - column.size
            places += [place[own], self.width + buckets + np.arange(more)]
            ranks += [rank[own], np.zeros(more, dtype=np.float32)]
            buckets += more
        self.form = first, np.concatenate(places), np.concatenate(ranks), rank_row
        pairs = zip(self.columns, self.one_hot.rows, strict=True)
        shares = [(np.concatenate([np.zeros((0, column.size)), *column.shares]), table) for column, table in pairs]
        blocks = [csr_matrix(own @ table) for own, table in shares]
        self.looks = block_diag(blocks, format="csr").astype(np.float32)
        self.back = self.looks.T.tocsr()
        for arrays in (self.weights, self.first, self.second, self.sums):
            arrays.append(np.zeros((buckets, self.hidden), dtype=np.float32))

    def first_layer(self) -> Array:
        """Return what values add to the hidden layer, and behind them what buckets do."""
        return np.concatenate([self.weights[0], self.weights[4] + self.looks @ self.weights[0]])

    def _gradients(self, rows: npt.NDArray[Any]) -> list[Array]:
        first, *rest = super()._gradients(rows)
        own = first[self.width :]
        return [first[: self.width] + self.back @ own, *rest, own]

    def learned(self, candidates: Sequence[_Seen]) -> _Learned:
        """Look at the records again and again, each time under other candidates; return what comes of it."""
        rows, batch = len(self.codes[0]), NETWORK.batch
        epochs = int(np.clip(_MOST_ROWS // rows, 1, NETWORK.epochs))
        steps = epochs * -(-rows // batch)
        for epoch in range(epochs):
            self.inputs, order = self._draw_inputs(candidates), self.random.permutation(rows)
            for i, start in enumerate(range(0, rows, batch), epoch * -(-rows // batch)):
                rate = NETWORK.rate * (1 - i / steps)
                self.step(order[start : start + batch], rate, keep=i >= steps * 0.7)
        return self._folded()

    def _draw_inputs(self, candidates: Sequence[_Seen]) -> Whole:
        """Draw what is seen of each record: under a candidate, and of some personal attributes their values."""
        rows, personal = len(self.codes[0]), sorted(candidates[0].order)
        chosen = self.random.integers(0, len(candidates), rows)
        rank = np.argsort([each.order for each in candidates], axis=1)[chosen]  # which comes first, second, ...
        mixed = self.random.random((rows, len(personal))).argsort(axis=1)
        at_random = self.random.integers(0, _AT_RANDOM, rows) == 0
        known = np.where(at_random[:, None], mixed, rank)
        known = known < self.random.integers(0, max(len(personal), 1), rows)[:, None]
        alone, coin = self.random.integers(0, _ALONE, rows) == 0, self.random.integers(0, 2, rows) == 0
        inputs, label = np.empty((rows, len(self.columns)), dtype=np.int64), len(self.columns) - 1
        for j, (column, codes) in enumerate(zip(self.columns, self.codes, strict=True)):
            inputs[:, j] = column.value_of[codes]
            hidden = alone | (~known[:, personal.index(j)] if j in personal else j == label)
            forms = np.stack([column.forms[each.forms[j]] for each in candidates])
            inputs[hidden, j] = forms[chosen[hidden], codes[hidden]]
        unseen = alone & coin
        inputs[unseen, label] = self.columns[label].forms[True][self.codes[label][unseen]]
        return inputs

    def _folded(self) -> _Learned:
        values, bias, out, out_bias, own = self.averaged()
        ends = starts([table.shape[1] for table in self.one_hot.rows])
        buckets = np.split(own + self.looks @ values, starts([c.seen - c.size for c in self.columns])[1:-1])
        tables = zip(self.one_hot.rows, pairwise(ends), buckets, strict=True)
        return _Learned(
            [np.concatenate([t @ values[a:b], more]) for t, (a, b), more in tables], bias, out, out_bias
        )


class _Learned(NamedTuple):
    """What each value and bucket adds to the hidden layer, column by column, and the other weights."""

    adds: list[Array]
    bias: Array
    out: Array
    out_bias: Array


def _possible(column: _Column) -> npt.NDArray[np.bool_]:
    """Return seen x values: a value that is known is the only one that is possible."""
    return np.concatenate([np.eye(column.size, dtype=bool), *column.allowed])


class SharedView:
    """A shared network as a predictor of what is seen in one breach by who knows some attributes in full."""

    name: ClassVar[str] = "network"
    rules_out: ClassVar[bool] = True

    def __init__(
        self, shared: SharedNetwork, breach: Breach, forms: Sequence[Hashable], targets: Sequence[int]
    ) -> None:
        seen = [_seen_of(breach, j, shared.columns[j], form) for j, form in enumerate(forms)]
        classes = shared.columns[-1].size
        seen.append(np.arange(classes) if breach.labelled else np.array([classes]))
        ends = starts([shared.columns[p].size for p in shared.targets])
        places = [shared.targets.index(p) for p in targets]
        heads = np.concatenate([np.arange(ends[t], ends[t + 1]) for t in places])
        self._members = [_Looking.of(each, seen, heads, breach.labelled) for each in shared.members]
        self._ends = starts([int(ends[t + 1] - ends[t]) for t in places])
        self._spreads = [Spread.of(breach, p) for p in targets]

    def worthwhile(self, train: Samples) -> bool:
        """Return whether joint buckets are so thinly filled that counting alone may not be enough."""
        return NETWORK.worthwhile(train)

    def fit(self, train: Samples, validation: Samples) -> SharedView:
        """It has learned already."""
        self.like_ = train.nobody
        return self

    def predict(self, inputs: Codes) -> list[Probabilities]:
        """Return, per target, the probabilities of its codes for each row."""
        several = [member(inputs) for member in self._members]
        found: list[Probabilities] = []
        for t, (spread, (a, b)) in enumerate(zip(self._spreads, pairwise(self._ends), strict=True)):
            allowed = self.like_.allowed(t, inputs)
            logits = [each[:, a:b] for each in several]
            if spread is not None:
                logits = [each[:, spread.whole] + np.log(spread.share, dtype=np.float32) for each in logits]
            found.append(np.mean([softmax(each, allowed) for each in logits], axis=0))
        return found


def _seen_of(breach: Breach, j: int, column: _Column, form: Hashable) -> npt.NDArray[np.intp]:
    """Return what is seen of each code of an input column, by its number in the shared network."""
    bucket_of = breach.parts.train.bucket_maps(breach.joined)[j]
    if form is not None:
        return column.first[form] + np.arange(int(bucket_of.max(initial=0)) + 1)
    if not breach.joined.partitions[j].untouched:
        bucket_of = np.arange(len(bucket_of))
    spread, value_of = Spread.of(breach, j), np.zeros(int(bucket_of.max(initial=0)) + 1, dtype=np.intp)
    value_of[bucket_of] = np.arange(len(bucket_of)) if spread is None else spread.whole
    return value_of


class _Looking(NamedTuple):
    """The layers of one member for the input columns of one breach."""

    adds: list[Array]
    bias: Array
    out: Array
    out_bias: Array

    @classmethod
    def of(cls, learned: _Learned, seen: Sequence[npt.NDArray[np.intp]], heads: Whole, labelled: bool) -> _Looking:
        """Look up what each code adds; a column that is always the same is no input, but for a label."""
        adds, bias = list[Array](), learned.bias
        for j, (codes, own) in enumerate(zip(seen, learned.adds, strict=True)):
            if len(codes) > 1 or (labelled and j == len(seen) - 1):
                adds.append(own[codes])
            else:
                bias = bias + own[codes[0]]
        return cls(adds, bias, np.ascontiguousarray(learned.out[:, heads]), learned.out_bias[heads])

    def __call__(self, inputs: Codes) -> Array:
        return np.asarray(hidden_layer(inputs, self.adds, self.bias) @ self.out + self.out_bias)
