"""Live figures: what a draft costs and tells, estimated by leave-one-out counting while somebody draws it.

Each person is guessed from all others who share the joint bucket, with back-off to coarser ones: the label by the
classifier, each personal attribute by an adversary who also sees the label. Nothing is trained, so the figures are
there at once; they steer, and the judgement by the strongest predictors (``evaluate``) decides.

Only people who are there to learn from and to choose with are counted, never the test part. When one attribute is
edited, the joint buckets of all others are kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from leastwise.confidence import Interval, binomial_interval, error_interval, mean_interval
from leastwise.errors import ParameterError
from leastwise.evaluation.certificate import told_in_hindsight
from leastwise.generalization import Generalization
from leastwise.kernels import backoff, left_out, numbering
from leastwise.partition import Partition, Untouched, suppress
from leastwise.predictors.held_out import Difference
from leastwise.records.grouping import even_runs, joint_keys, quantile_of
from leastwise.records.table import Split, Table

Array = npt.NDArray[Any]
PSEUDO_COUNTS = (1.0, 4.0, 16.0)
DELTA = 0.05
# Of a column of more numbers, so many runs are guessed.
_MOST_VALUES = 128
# The order of the columns is found on so many people.
_MOST_FOR_ORDER, _MOST_TRIED, _ORDER_PSEUDO_COUNT = 8_000, 24, 2.0
_ROUGH = 8  # groups of a column while the order is found
LABEL, NOTHING = -1, -2  # in place of an attribute


@dataclass(frozen=True, kw_only=True)
class Told:
    """How often a guesser is wrong, with its 95 % interval, and how often the majority guess is."""

    error: float
    interval: Interval
    guessing: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The live figures of one generalization.

    Attributes
    ----------
    model
        The classifier. Lower is better.
    attributes, mean
        The adversary, by personal attribute and on the mean. Higher is safer.
    alone, people
        How many of how many people are alone with their generalized record and label: as many as will be tested.
    asked, answers, joint_buckets
        How many attributes are asked, how many answers there are in all, and how many joint buckets these people
        fill.
    certified
        The adversary error that nobody can fall below on the mean, as far as these people tell, with 95 %
        confidence that pays for ``looks`` drafts; and by attribute.
    looks, paid
        How many drafts were looked at, and what that costs the bound.
    """

    model: Told
    attributes: Mapping[str, Told]
    mean: Told
    alone: int
    people: int
    asked: int
    answers: int
    joint_buckets: int
    certified: float
    certified_by_attribute: Mapping[str, float]
    looks: int
    paid: float


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a question is worth: the draft with it against the draft without it.

    Attributes
    ----------
    loss
        By how much the model errs more often without it, person by person.
    disclosed, own
        By how much an adversary errs less with it: on the mean, and about the attribute itself (None: not
        personal).
    """

    loss: Difference
    disclosed: float
    own: float | None


class Live:
    """Keeps the people's joint buckets between edits.

    Parameters
    ----------
    split
        Its training and validation parts are counted; of the test part only the size is used.

    Examples
    --------
    >>> from leastwise.datasets import load_adult
    >>> adult = load_adult()
    >>> live = Live(Table.from_frame(adult.frame, adult.schema).split(100, (0.45, 0.25, 0.3)))
    >>> nothing = live.estimate(Generalization.suppressed(adult.schema))
    >>> round(nothing.model.error, 2), nothing.answers
    (0.24, 0)
    """

    def __init__(self, split: Split) -> None:
        self.pool = joined(split)
        self._train = split.train
        self._tested = min(round(split.test.people), len(self.pool))
        self._some = self.pool.unweighted.take(np.arange(self._tested))
        if not self.pool.personal:
            raise ParameterError("live figures need personal attributes to protect; mark some: --personal a,b")
        if split.train.graded is not None:
            why, instead = "it is a number", "open a run that was begun with --set label_above=N"
            if split.train.several is not None:
                why, instead = "there are several", "open a run of one label"
            raise ParameterError(
                f"live figures (the studio) count classes of one label, and {why}; judge drafts by: "
                f"leastwise evaluate, or {instead}"
            )
        label = self.pool.y.astype(np.int64)
        self.targets = [_target("", LABEL, label, self.pool.classes, self.pool.counts)]
        self.targets += [_personal_target(self.pool, split.train, p) for p in self.pool.personal]
        self._columns: list[_Column | None] = [None] * len(self.pool.schema)
        self._rest: tuple[int, Array] | None = None  # the joint buckets of all attributes but one
        self._rough = {j: _rough(self.pool, j) for j in range(len(self.pool.schema))}
        self._rough[LABEL] = _Column(LABEL, None, self.pool.y.astype(np.int64), self.pool.classes)
        self._sample = _Sample.of(self.pool.counts, self._rough)
        self._threads = ThreadPoolExecutor(2)

    def estimate(self, generalization: Generalization, looks: int = 1) -> Estimate:
        """Return the figures of a draft; only what changed since the last one is counted again."""
        partitions = generalization.within(self.pool.schema).partitions
        z, wrong = self._guessed(partitions)
        told = [self._told(target, each) for target, each in zip(self.targets, wrong, strict=True)]
        hidden: Array = np.asarray(np.sum(wrong[1:], axis=0, dtype=np.int16)) / (len(wrong) - 1)
        interval = mean_interval(hidden, self.pool.weights, persons=self.pool.persons)
        error = float(np.mean([each.error for each in told[1:]]))
        guessing = float(np.mean([each.guessing for each in told[1:]]))
        sizes = [_answers(p, self.pool.sizes[j]) for j, p in enumerate(partitions) if not p.suppressed]
        return Estimate(
            model=told[0],
            attributes={t.name: each for t, each in zip(self.targets[1:], told[1:], strict=True)},
            mean=Told(error=error, interval=interval, guessing=guessing),
            people=round(self._some.headcount),
            asked=len(sizes),
            answers=sum(sizes),
            looks=looks,
            **self._certificate(z, looks),
        )

    def _guessed(self, partitions: Sequence[Partition]) -> tuple[Array, list[npt.NDArray[np.bool_]]]:
        """Return the joint bucket of each person, and about whom each guesser is wrong."""
        z = self._joint(partitions)
        known = {column.attribute: column for column in self._columns if column is not None and column.size > 1}
        alone = _Seen.of(z, known or {NOTHING: _Column(NOTHING, None, np.zeros_like(z), 1)})
        # The label is stolen with the records; all who guess an attribute see the same.
        stolen = _Seen.of(z * self.pool.classes + self.pool.y, {**known, LABEL: self._rough[LABEL]})
        seen = [alone if target.position == LABEL else stolen for target in self.targets]
        return z, list(self._threads.map(self._wrong, self.targets, seen))

    def worth(self, generalization: Generalization) -> dict[str, Worth]:
        """Return what each question that is asked is worth beside the others."""
        worth, now = {}, generalization.within(self.pool.schema).partitions
        _, with_it = self._guessed(now)
        for j, partition in enumerate(now):
            if not partition.suppressed:
                _, without = self._guessed([*now[:j], suppress(partition.attribute), *now[j + 1 :]])
                worth[partition.attribute.name] = self._compared(j, with_it, without)
        return worth

    def _compared(
        self, j: int, with_it: Sequence[npt.NDArray[np.bool_]], without: Sequence[npt.NDArray[np.bool_]]
    ) -> Worth:
        more = [w.astype(float) - h.astype(float) for w, h in zip(without, with_it, strict=True)]
        told = [float(np.average(each, weights=self.pool.weights)) for each in more[1:]]
        own = dict(zip(self.pool.personal, told, strict=True)).get(j)
        loss = Difference.of(more[0], self.pool.counts, self.pool.persons)
        return Worth(loss=loss, disclosed=float(np.mean(told)), own=own)

    def with_looks(self, estimate: Estimate, looks: int) -> Estimate:
        """Return an estimate as it is after more drafts were looked at: the bound pays for all of them."""
        if looks == estimate.looks:
            return estimate
        one, paid = self._slack(1), self._slack(looks)
        more = paid - self._slack(estimate.looks)
        each = {name: max(0.0, bound - more) for name, bound in estimate.certified_by_attribute.items()}
        return replace(
            estimate,
            looks=looks,
            paid=paid - one,
            certified=max(0.0, estimate.certified - more),
            certified_by_attribute=each,
        )

    def _slack(self, looks: int) -> float:
        return math.sqrt(math.log(max(looks, 1) / DELTA) / (2 * self._some.effective_people))

    def forget(self) -> None:
        """Count everything again next time."""
        self._columns, self._rest = [None] * len(self.pool.schema), None
        for target in self.targets:
            target.orders.clear()

    def _joint(self, partitions: Sequence[Partition]) -> Array:
        """Return the joint bucket of each person."""
        now = [self._columns[j] for j in range(len(partitions))]
        changed = [j for j, p in enumerate(partitions) if now[j] is None or now[j].partition != p]  # type: ignore[union-attr]
        for j in changed:
            self._columns[j] = _Column.of(self.pool, j, partitions[j])
        if len(changed) > 1:
            self._rest = None
        if changed or self._rest is None:
            touched = changed[0] if changed else 0
            if self._rest is None or self._rest[0] != touched:
                self._rest = (touched, self._joined([j for j in range(len(partitions)) if j != touched]))
        return self._joined([self._rest[0]], self._rest[1])

    def _joined(self, attributes: Sequence[int], keys: Array | None = None) -> Array:
        """Return the number of each person's joint bucket over some attributes, beside what has a number."""
        joined = np.zeros(len(self.pool), dtype=np.int64) if keys is None else keys
        bound = int(joined.max(initial=0)) + 1
        for j in attributes:
            column = self._columns[j]
            assert column is not None
            if column.size > 1:
                if bound * column.size > 2**62:
                    joined, bound = numbering.number_keys(joined)
                joined = joined * column.size + column.bucket_of
                bound *= column.size
        return np.asarray(numbering.number_keys(joined)[0])

    def _wrong(self, target: _Target, seen: _Seen) -> npt.NDArray[np.bool_]:
        """Return about whom the guess is wrong."""
        rows = _Rows.of(seen.z, seen.joint_buckets, target.values, target.size, self.pool.counts)
        order = target.order([name for name in seen.names if name != NOTHING], self._sample)
        places = [seen.names.index(name) for name in order.columns]
        wrong = target.wrong(np.array(places, dtype=np.int64), order.useful, seen.inputs, seen.sizes, rows)
        return np.asarray(wrong[rows.of_person])

    def _told(self, target: _Target, wrong: npt.NDArray[np.bool_]) -> Told:
        error, interval = _share(wrong, self.pool)
        return Told(error=error, interval=interval, guessing=target.guessing)

    def _certificate(self, z: Array, looks: int) -> dict[str, Any]:
        """Return who is alone and what could be certified, on as many of these people as will be tested."""
        some = slice(0, self._tested)
        labelled = (z * self.pool.classes + self.pool.y)[some]
        bucket_of, joint_buckets = numbering.number_keys(np.ascontiguousarray(labelled))
        counts = np.round(self._some.counts).astype(np.int64)
        told = {}
        for target in self.targets[1:]:
            codes = self.pool.codes[some, target.position].astype(np.int64)
            numbers = None if target.tolerance is None else self.pool.levels[target.position].astype(float)
            if numbers is None:
                most = left_out.fullest_values(
                    bucket_of, joint_buckets, codes, self.pool.sizes[target.position], counts
                )
            else:
                most = told_in_hindsight(bucket_of, codes, counts, numbers, target.tolerance or 0.0)
            told[target.name] = most / counts.sum()
        one, all_looks = self._slack(1), self._slack(looks)
        return {
            "alone": self._some.alone_in(bucket_of),
            "joint_buckets": joint_buckets,
            "certified": max(0.0, 1 - float(np.mean([*told.values()])) - all_looks),
            "certified_by_attribute": {name: max(0.0, 1 - float(t) - all_looks) for name, t in told.items()},
            "paid": all_looks - one,
        }


def joined(split: Split) -> Table:
    """Return the training and validation people as one table."""
    train, held = split.train, split.validation
    one = np.concatenate
    return replace(
        train,
        codes=np.asfortranarray(one([train.codes, held.codes])),
        labels=None if train.labels is None or held.labels is None else one([train.labels, held.labels]),
        weights=None if train.weights is None or held.weights is None else one([train.weights, held.weights]),
        persons=None if train.persons is None or held.persons is None else one([train.persons, held.persons]),
    )


def _share(wrong: npt.NDArray[np.bool_], pool: Table) -> tuple[float, Interval]:
    """Return the share of people about whom a guess is wrong, and its interval."""
    if pool.persons is not None:
        return float(np.average(wrong, weights=pool.weights)), error_interval(wrong, pool.counts, pool.persons)
    errors = float(wrong.sum() if pool.weights is None else pool.weights[wrong].sum())
    return errors / pool.people, binomial_interval(errors, pool.people)


def _answers(partition: Partition, codes: int) -> int:
    return partition.size or codes if isinstance(partition, Untouched) else partition.size


@dataclass(frozen=True, eq=False)
class _Column:
    """The buckets of all people for one attribute."""

    attribute: int
    partition: Partition | None
    bucket_of: Array
    size: int

    @classmethod
    def of(cls, pool: Table, j: int, partition: Partition) -> _Column:
        mapping = partition.bucket_map(pool.levels[j]).astype(np.int64)
        size = 1 if partition.suppressed else int(mapping.max(initial=0)) + 1
        return cls(j, partition, mapping[pool.codes[:, j]], size)


def _rough(pool: Table, j: int) -> _Column:
    """Return a column in a few groups: numbers by quantiles, many values by their share of the first class."""
    use, codes = pool.use(j), pool.codes[:, j].astype(np.int64)
    if len(use) <= _ROUGH:
        return _Column(j, None, codes, max(len(use), 1))
    order = np.arange(len(use))
    if not pool.schema.attributes[j].continuous:
        first = np.bincount(codes, weights=pool.counts * (pool.y == 0), minlength=len(use))
        order = np.argsort(first / np.maximum(use, 1e-9), kind="stable")
    group = np.empty(len(use), dtype=np.int64)
    group[order] = np.minimum(quantile_of(use[order], _ROUGH), _ROUGH - 1)
    return _Column(j, None, group[codes], _ROUGH)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct (joint bucket, value) rows in the order of the joint buckets, and which one each person is in."""

    first: Array  # a person of each joint bucket
    starts: Array  # where the rows of each joint bucket begin
    z: Array
    v: Array
    w: Array
    of_person: Array

    @classmethod
    def of(cls, z: Array, joint_buckets: int, values: Array, size: int, counts: Array) -> _Rows:
        return cls(*left_out.distinct_rows(z, joint_buckets, values, size, counts))


@dataclass(frozen=True, eq=False)
class _Seen:
    """What a guesser sees: the joint bucket of each person, and the columns of one person of each."""

    names: tuple[int, ...]
    sizes: Array
    z: Array
    joint_buckets: int
    inputs: Array

    @classmethod
    def of(cls, keys: Array, columns: Mapping[int, _Column]) -> _Seen:
        z, joint_buckets = numbering.number_keys(keys)
        one = np.empty(joint_buckets, dtype=np.intp)
        one[z] = np.arange(len(z))
        inputs = np.column_stack([column.bucket_of[one] for column in columns.values()]).astype(np.int64)
        sizes = np.array([column.size for column in columns.values()], dtype=np.int64)
        return cls((*columns,), sizes, z, joint_buckets, inputs)


@dataclass(frozen=True, eq=False)
class _Sample:
    """Some people with rough columns, on whom it is found in which order columns tell most."""

    people: Array
    counts: Array
    columns: Mapping[int, _Column]

    @classmethod
    def of(cls, counts: Array, rough: Mapping[int, _Column]) -> _Sample:
        some = np.linspace(0, len(counts) - 1, min(len(counts), _MOST_FOR_ORDER)).astype(np.intp)
        columns = {name: replace(column, bucket_of=column.bucket_of[some]) for name, column in rough.items()}
        return cls(some, counts[some], columns)


@dataclass(eq=False)
class _Target:
    """What is guessed of each person: a value, or a number within a tolerance.

    ``begin`` and ``end`` say which values each guess tells, ``guessing`` how often one guess for all is wrong.
    ``orders`` remembers in which order columns tell most.
    """

    name: str
    position: int
    values: Array
    size: int
    begin: Array
    end: Array
    tolerance: float | None
    prior: Array
    guessing: float = math.nan
    orders: dict[tuple[int, ...], _Order] = field(default_factory=dict)

    def order(self, names: Sequence[int], sample: _Sample) -> _Order:
        """Return in which order the columns tell most; the attribute itself comes first.

        It is found on rough columns, whatever the buckets are: the same attributes give the same order, so that
        figures do not depend on what was drawn before.
        """
        key = tuple(names)
        if key not in self.orders:
            others = [name for name in names if name != self.position]
            places, useful = self._told_most([sample.columns[name] for name in others], sample)
            first = [self.position] if self.position in names else []
            self.orders[key] = _Order((*first, *(others[place] for place in places)), useful + len(first))
        return self.orders[key]

    def _told_most(self, columns: Sequence[_Column], sample: _Sample) -> tuple[Array, int]:
        if not columns:
            return np.zeros(0, dtype=np.int64), 0
        inputs = np.column_stack([column.bucket_of for column in columns])
        sizes = np.array([column.size for column in columns], dtype=np.int64)
        z, joint = numbering.number_keys(joint_keys(inputs, [*map(int, sizes)]))
        rows = _Rows.of(z, joint, self.values[sample.people], self.size, sample.counts)
        distinct = np.ascontiguousarray(inputs[rows.first])
        none = np.zeros(0, dtype=np.int64)
        order, useful = backoff.choose_order(
            distinct, sizes, rows.z, rows.v, rows.w, self.prior, none, _ORDER_PSEUDO_COUNT, _MOST_TRIED
        )
        return order, int(useful)

    def wrong(self, order: Array, useful: int, inputs: Array, sizes: Array, rows: _Rows) -> npt.NDArray[np.bool_]:
        """Return of each row whether the guess is wrong: by as many columns, and as much trust, as err least."""
        _, _, _, node_of = backoff.grow(inputs, order, sizes)
        counted = left_out.count_nodes(node_of, rows.z, rows.v, rows.w, self.size, int(node_of.max(initial=0)) + 1)
        best, fewest = np.ones(len(rows.v), dtype=bool), np.inf
        for depth in sorted({useful, len(order)}):
            path = np.ascontiguousarray(node_of[:, :depth])
            for pseudo in PSEUDO_COUNTS:
                wrong, _ = left_out.guesses(
                    path, counted, rows.starts, rows.v, self.prior, self.begin, self.end, pseudo
                )
                errors = float(rows.w[wrong].sum())
                if errors < fewest:
                    best, fewest = wrong, errors
        return best


class _Order(NamedTuple):
    """Columns, the most telling first, and how many of them tell something."""

    columns: tuple[int, ...]
    useful: int


def _target(name: str, position: int, values: Array, size: int, counts: Array) -> _Target:
    each, use = np.arange(size), np.bincount(values, weights=counts, minlength=size)
    prior = (use + 0.5) / (use + 0.5).sum()
    return _Target(
        name, position, values.astype(np.int64), size, each, each, None, prior, _guessing(use, each, each)
    )


def _guessing(use: Array, begin: Array, end: Array) -> float:
    before = np.concatenate([[0.0], np.cumsum(use)])
    return float(1 - (before[end + 1] - before[begin]).max() / use.sum())


def _personal_target(pool: Table, train: Table, position: int) -> _Target:
    """Return a personal attribute; what counts as told of a number is settled on the training part, as for A1."""
    attribute, codes = pool.schema.attributes[position], pool.codes[:, position].astype(np.int64)
    if not attribute.continuous:
        return _target(attribute.name, position, codes, pool.sizes[position], pool.counts)
    levels, tolerance = pool.levels[position].astype(float), train.default_tolerance(position)
    run = even_runs(pool.use(position)[: len(levels)], _MOST_VALUES)
    runs = int(run.max(initial=-1)) + 1
    extras = np.arange(runs, runs + attribute.extra_values)
    target = _target(
        attribute.name, position, np.concatenate([run, extras])[codes], runs + len(extras), pool.counts
    )
    first = np.searchsorted(run, np.arange(runs))
    last = np.maximum(np.searchsorted(levels, levels[first] + 2 * tolerance * (1 + 1e-9), side="right") - 1, first)
    target.begin, target.end = np.arange(target.size), np.concatenate([run[last], extras])
    target.tolerance = tolerance
    use = np.bincount(target.values, weights=pool.counts, minlength=target.size)
    target.guessing = _guessing(use, target.begin, target.end)
    return target
