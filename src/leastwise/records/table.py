"""Records as small integers: each attribute is encoded once over its ordered domain.

After that a partition is an integer map, ``g(x)`` is one gather, and every statistic is counting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

import narwhals as nw
import numpy as np
import numpy.typing as npt

from leastwise.confidence import effective_number
from leastwise.documents import html
from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, SchemaError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Codes, Partition, from_map
from leastwise.random import generator
from leastwise.records.encoding import derived_column, encode_label, encode_numbers, encode_values, label_numbers
from leastwise.records.grouping import joint_buckets
from leastwise.records.numbers import FEW_LEVELS, Numbers
from leastwise.records.several import Graded, Several
from leastwise.records.splitting import Dealt, protocol_rows
from leastwise.records.survey import read_weights, scaled
from leastwise.schema import Attribute, Schema
from leastwise.schema.labels import JointLabel
from leastwise.validation import did_you_mean

Levels = tuple[npt.NDArray[Any], ...]
_TWENTIETH = 0.05


@dataclass(frozen=True, eq=False)
class Table:
    """Encoded records.

    Attributes
    ----------
    codes
        n x d matrix, one column per attribute, column-major. Code c of attribute j is ``levels[j][c]``;
        behind the levels come "missing" and "other" where the domain has them.
    levels
        Per attribute the declared values, or the distinct numbers of a continuous attribute, ascending.
    labels
        The class of each record, as a position in ``schema.label.values``, or in the levels of a number; None when
        there is no label.
    graded
        The label itself, where a guess of it is more or less wrong: a number, or several labels.
    weights
        How many people with exactly this record each row stands for; None means one each. These are
        multiplicities: intervals and certificates count every one as a person of its own. Where ``survey``, they
        are survey weights instead.
    persons
        Whose record each row is, as a number that means nothing else; None means everybody's own. Records of one
        person stay in one part of a split, and intervals, certificates and crowds count persons.
    part
        What the records are for: "all", "train", "validation" or "test"; "test of train" for a part of a part.
    split_seed
        The seed of the split that made this part.
    survey
        Whether the weights say for how much of a population each record speaks, scaled to 1 on average. Shares and
        means are then the population's; intervals know that records, each its person's, are what was drawn; and
        what counts people (crowds, certificates) counts each record once: ``unweighted``.
    dealt
        Where these are a sample of records that lie elsewhere: how those are split.
    """

    schema: Schema
    codes: Codes
    levels: Levels
    labels: npt.NDArray[Any] | None = None
    weights: npt.NDArray[Any] | None = None
    persons: npt.NDArray[np.intp] | None = None
    part: str = "all"
    split_seed: int | None = None
    dealt: Dealt | None = None
    graded: Graded | None = None
    survey: bool = False

    @classmethod
    def from_frame(
        cls, frame: Any, schema: Schema, person: str | None = None, survey_weights: str | None = None
    ) -> Table:
        """Encode a frame (pandas, Polars, PyArrow; lazy ones are collected).

        ``person`` names the column that tells whose record a row is (a person, or a household), where one can have
        several. Only which rows belong together is kept of it. ``survey_weights`` names the column of them;
        it is no attribute, and no artefact has it.
        """
        records = nw.from_native(frame)
        if isinstance(records, nw.LazyFrame):
            records = records.collect()
        if records.implementation.is_pyarrow():  # which refuses to read large integers as numbers
            records = nw.from_native(records.to_polars())
        _check_columns(records.columns, schema)
        columns, levels = [], []
        for attribute in schema.attributes:
            encode = encode_numbers if attribute.continuous else encode_values
            column = records[attribute.column]
            if attribute.derive:
                column = derived_column(column, attribute.derive, *(records[c] for c in attribute.columns[1:]))
            codes, level = encode(column, attribute)
            columns.append(codes)
            levels.append(level)
        persons = None if person is None else _persons(records, person, schema)
        table = cls(schema, _matrix(columns, len(records)), tuple(levels), persons=persons)
        if survey_weights is not None:
            table = table.with_survey_weights(read_weights(records, survey_weights, schema, person))
        if schema.label is None:
            return table
        return table.with_label([records[each.column] for each in schema.labels], schema.label)

    def with_label(self, columns: Sequence[nw.Series[Any]], label: Attribute) -> Table:
        """Return the table with the label of each record, read from its column; several, from one each."""
        schema = replace(self.schema, label=label)
        if label.continuous:
            return replace(self, schema=schema).with_graded(
                Numbers.of(label_numbers(columns[0], label), self.weights)
            )
        codes = [encode_label(column, each) for column, each in zip(columns, label.parts, strict=True)]
        if not isinstance(label, JointLabel):
            return replace(self, schema=schema, labels=codes[0], graded=None)
        return replace(self, schema=schema).with_graded(Several.of(np.stack(codes, axis=1), label.weights))

    def with_survey_weights(self, weights: npt.NDArray[np.float64]) -> Table:
        """Return the table with survey weights; the same table where all are equal, which says nothing."""
        if self.weights is not None:
            raise ParameterError("rows that stand for several people cannot have survey weights as well")
        if not len(weights) or (weights == weights[0]).all():
            return self
        # The interval of persons is that of a weighted mean too: nobody's record is a number of people.
        persons = np.arange(len(self)) if self.persons is None else self.persons
        return replace(self, weights=scaled(weights), persons=persons, survey=True)

    @property
    def unweighted(self) -> Table:
        """The table for counting people: of survey weights nothing, as who is in a crowd is in the records."""
        if not self.survey or self.persons is None:
            return self
        own = len(np.unique(self.persons)) == len(self)  # one record each
        return replace(self, weights=None, survey=False, persons=None if own else self.persons)

    def with_graded(self, label: Graded) -> Table:
        """Return the table with this number, or these labels, of each record."""
        return replace(self, labels=label.codes, graded=label)

    @property
    def number(self) -> Numbers | None:
        """The label itself, where it is a number."""
        return self.graded if isinstance(self.graded, Numbers) else None

    @property
    def several(self) -> Several | None:
        """The labels themselves, where there are several."""
        return self.graded if isinstance(self.graded, Several) else None

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"<Table {self._size_in_words()}>"

    def _repr_html_(self) -> str:
        """Show the schema and how many people there are; nobody's record."""
        everyone = [*self.schema.attributes, *self.schema.labels]
        rows = [[attribute.name, attribute.kind, attribute.domain_text()] for attribute in everyone]
        marks = ["personal" if attribute.personal else "" for attribute in self.schema.attributes]
        marks += ["label"] * len(self.schema.labels)
        listing = html.table(("attribute", "kind", "domain"), rows, marks=marks)
        return html.box(html.heading(self._size_in_words()), listing)

    def _size_in_words(self) -> str:
        people = "" if self.weights is None or self.survey else f" of {counted(self.people, 'person', 'people')}"
        part = "" if self.part == "all" else f", {self.part} part"
        return f"{counted(len(self), 'record')}{people} x {counted(len(self.schema), 'attribute')}{part}"

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each attribute has."""
        pairs = zip(self.levels, self.schema.attributes, strict=True)
        return tuple(len(level) + attribute.extra_values for level, attribute in pairs)

    @property
    def personal(self) -> tuple[int, ...]:
        """The positions of the personal attributes."""
        return tuple(j for j, attribute in enumerate(self.schema.attributes) if attribute.personal)

    @property
    def classes(self) -> int:
        """How many classes the label has."""
        if self.schema.label is None:
            raise SchemaError("this needs a label; name it by --label, or in the schema")
        return len(self.schema.label.values) if self.graded is None else len(self.graded.levels)

    @property
    def y(self) -> npt.NDArray[Any]:
        """The class of each record; an error when there is no label."""
        if self.labels is None:
            raise SchemaError("this needs a label; name it by --label, or in the schema")
        return self.labels

    @property
    def class_codes(self) -> tuple[npt.NDArray[Any], ...]:
        """The class of each record, label by label; of a number its level."""
        return (self.y,) if self.several is None else tuple(self.several.exact.T)

    @property
    def right(self) -> npt.NDArray[np.float64]:
        """How right each guess is, guess x truth: 1 less the distance; empty where it is right or wrong."""
        if self.graded is None or self.graded.plain:
            return np.zeros((0, 0))
        return np.asarray(1 - self.graded.distances)

    @property
    def stored_label(self) -> npt.NDArray[Any]:
        """What the training phase stores of the label, as a code.

        That is its class, or each number, or each combination of several labels, as one of its own.
        """
        if self.graded is None:
            return self.y
        return np.unique(self.graded.exact, axis=0, return_inverse=True)[1].reshape(-1)

    @property
    def counts(self) -> npt.NDArray[Any]:
        """How many people each row stands for."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def people(self) -> float:
        """How many people all rows stand for."""
        return float(len(self)) if self.weights is None else float(self.weights.sum())

    @property
    def headcount(self) -> float:
        """How many people these are: each once, however many records are theirs, or however much they weigh."""
        return self.people if self.persons is None else float(len(np.unique(self.persons)))

    @property
    def each_once(self) -> Table:
        """The table for shares of people: of several records of one person each counts as a part of one.

        Survey weights stay as they are: they say for how many each record speaks.
        """
        if self.persons is None or self.survey:
            return self
        _, own, records = np.unique(self.persons, return_inverse=True, return_counts=True)
        return replace(self, weights=1 / records[own])

    def people_in(self, bucket_of: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
        """Return how many people are in each bucket: who has several records there is one."""
        if self.persons is None:
            return np.bincount(bucket_of, weights=self.counts).astype(float)
        pairs = np.unique(np.column_stack([bucket_of, self.persons])[self.counts > 0], axis=0)
        return np.bincount(pairs[:, 0], minlength=int(bucket_of.max(initial=-1)) + 1).astype(float)

    def alone_in(self, bucket_of: npt.NDArray[np.intp]) -> int:
        """Return how many people are in a bucket with nobody else; of who is in several, one is enough."""
        people = self.people_in(bucket_of)
        if self.persons is None:
            return int((people == 1).sum())
        return len(np.unique(self.persons[people[bucket_of] == 1]))

    @property
    def effective_people(self) -> float:
        """How many people with one record each tell as much (Kish).

        Fewer than records where some have several, or where survey weights differ.
        """
        if self.persons is None:
            return self.people
        return effective_number(np.bincount(self.persons, weights=self.weights))

    @property
    def efficiency(self) -> float:
        """Of survey weights, the effective number of people for each person (Kish); 1 where there are none."""
        return self.effective_people / max(self.headcount, 1) if self.survey else 1.0

    def use(self, attribute: int) -> npt.NDArray[np.float64]:
        """Return how many people have each code of an attribute."""
        return np.bincount(self.codes[:, attribute], weights=self.weights, minlength=self.sizes[attribute]).astype(
            float
        )

    def default_tolerance(self, attribute: int) -> float:
        """Return within what a guessed number counts as told, unless somebody says otherwise.

        A twentieth of the range: the declared one, or where it is open, that of the middle 90 % of people. Whole
        for whole numbers, so that an age is told within 2 years and not within 2.3.
        """
        declared = self.schema.attributes[attribute]
        use, span = self.use(attribute)[: len(self.levels[attribute])], 0.0
        if declared.lower is not None and declared.upper is not None:
            span = declared.upper - declared.lower
        elif use.sum():
            places = np.searchsorted(np.cumsum(use), use.sum() * np.array([_TWENTIETH, 1 - _TWENTIETH]))
            low, high = np.asarray(self.levels[attribute], dtype=float)[np.minimum(places, len(use) - 1)]
            span = float(high - low) if np.isfinite(high - low) else 0.0
        return float(np.floor(span * _TWENTIETH)) if declared.integer else span * _TWENTIETH

    def take(self, rows: npt.NDArray[Any], part: str | None = None) -> Table:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(
            self,
            codes=np.asfortranarray(self.codes[rows]),
            labels=None if self.labels is None else self.labels[rows],
            weights=scaled(weights) if self.survey and weights is not None else weights,
            persons=None if self.persons is None else self.persons[rows],
            dealt=None if self.dealt is None else self.dealt.take(rows),
            graded=None if self.graded is None else self.graded.take(rows),
            part=self.part if part is None else part,
        )

    def drawn(self, most: int, purpose: str) -> npt.NDArray[np.intp]:
        """Return where at most so many records stand, in their order; for one purpose the same ones each time.

        All of them where there are no more, and where rows stand for several people: none of those is like others.
        """
        if len(self) <= most or (self.weights is not None and not self.survey):
            return np.arange(len(self))
        return np.sort(generator(0, purpose).choice(len(self), most, replace=False))

    def at_most(self, most: int, purpose: str) -> Table:
        """Return the records that are ``drawn``."""
        rows = self.drawn(most, purpose)
        return self if len(rows) == len(self) else self.take(rows)

    def and_also(self, others: Table) -> Table:
        """Return these rows and, behind them, those of another part of the same records."""

        def both(name: str) -> Any:
            pair = [getattr(part, name) for part in (self, others)]
            return None if pair[0] is None else np.concatenate(pair)

        return replace(
            self,
            codes=np.asfortranarray(both("codes")),
            labels=both("labels"),
            weights=both("weights"),
            persons=both("persons"),
            dealt=None,
            graded=None if self.graded is None else self.graded.and_also(cast(Any, others.graded)),
        )

    def distinct(self, generalization: Generalization | None = None) -> Table:
        """Return the distinct (record, label) rows, with how many people have each.

        With a generalization those are one row whom it does not tell apart: nothing coarser sees a difference.
        """
        codes = self.codes if generalization is None else self.generalize(generalization)
        label = [] if self.labels is None else [np.asarray(self.stored_label)]
        columns = [codes, *(each[:, None] for each in label)]
        sizes = [*(codes.max(axis=0, initial=0) + 1).tolist(), *(int(each.max(initial=0)) + 1 for each in label)]
        first, row_of = joint_buckets(np.concatenate(columns, axis=1), sizes)
        counts = np.bincount(row_of, weights=self.weights, minlength=len(first))
        return replace(self.take(first), weights=counts, persons=None)

    def generalize(self, generalization: Generalization) -> npt.NDArray[Any]:
        """Return the buckets of all records, n x d; suppressed attributes are all 0."""
        maps = self.bucket_maps(generalization)
        columns = [mapping[self.codes[:, j]] for j, mapping in enumerate(maps)]
        return _matrix(columns, len(self))

    def bucket_maps(self, generalization: Generalization) -> list[npt.NDArray[np.intp]]:
        """Return, per attribute, the bucket of each code."""
        pairs = zip(generalization.within(self.schema).partitions, self.levels, strict=True)
        return [partition.bucket_map(level) for partition, level in pairs]

    def generalization(self, buckets: Sequence[Any], **origin: Any) -> Generalization:
        """Return the artefact of what a minimizer found: per attribute the bucket of each code.

        An entry may also be a ready partition.
        """
        partitions = [
            entry if isinstance(entry, Partition) else from_map(attribute, level, entry)
            for attribute, level, entry in zip(self.schema.attributes, self.levels, buckets, strict=True)
        ]
        return Generalization(tuple(partitions), self.schema.label, origin)

    def split(self, seed: int = 0, shares: tuple[float, float, float] = (0.6, 0.1, 0.3)) -> Split:
        """Divide the records at random into training, validation and test.

        Each part is a fair sample: a rare value may be absent from training, and is met in test as new people
        would bring it.
        """
        if self.weights is not None and not self.survey:
            raise ParameterError("rows that stand for several people cannot be split; split the records first")
        if self.dealt is not None and self.dealt.seed == seed:
            parts = self.dealt.rows(shares)
        else:
            parts = protocol_rows(len(self), shares, generator(seed, "split"), self.persons)
        of = "" if self.part == "all" else f" of {self.part}"
        pairs = zip(parts, Split._fields, strict=True)
        split = Split(*(replace(self.take(rows, name + of), split_seed=seed) for rows, name in pairs))
        return split if self.graded is None else split.with_levels_of_train()

    def with_own_levels(self) -> Table:
        """Return the table with only those numbers as levels that somebody in it gave.

        A part of a split shares the levels of the whole file; a minimizer must not see the others' numbers. A
        label that is a number has few levels: a minimizer counts them in thousands of joint buckets.
        """
        levels, codes = list(self.levels), self.codes
        for j, attribute in enumerate(self.schema.attributes):
            # Rows count, not people: a row of weight 0 must keep its code.
            rows = np.bincount(self.codes[:, j], minlength=self.sizes[j]) if attribute.continuous else np.ones(0)
            used = rows[: len(self.levels[j])] > 0
            if not used.all():
                codes = codes.copy(order="F") if codes is self.codes else codes
                beside = np.arange(attribute.extra_values) + used.sum()
                codes[:, j] = np.concatenate([np.cumsum(used) - 1, beside])[self.codes[:, j]]
                levels[j] = self.levels[j][used]
        own = self if codes is self.codes else replace(self, codes=codes, levels=tuple(levels))
        if self.number is None or self.classes <= FEW_LEVELS:
            return own
        return own.with_graded(Numbers.of(self.number.exact, self.weights, FEW_LEVELS))


class Split(NamedTuple):
    """The three parts of the protocol."""

    train: Table
    validation: Table
    test: Table

    def with_levels_of_train(self) -> Split:
        """Return the parts with the label by the levels of the training part: no other's are guessed by."""
        assert self.train.graded is not None
        settled: Any = self.train.graded.settled(self.train.weights)
        return Split(*(part.with_graded(part.graded.like(settled)) for part in self if part.graded is not None))

    def about_labels(self, labels: Sequence[int]) -> Split:
        """Return the parts where only some of several labels count."""
        parts = [part.with_graded(part.several.about(labels)) for part in self if part.several is not None]
        return Split(*parts) if parts else self

    def on_validation(self) -> Split:
        """Return the parts for judging on validation: its records also stand where those of test do.

        They then choose the predictor as well as score it, which flatters the classifier and the adversary a
        little, alike for all candidates. Figures for people are those of the test part.
        """
        return Split(self.train, self.validation, replace(self.validation, part="test"))


def _matrix(columns: Sequence[npt.NDArray[Any]], rows: int) -> npt.NDArray[Any]:
    """Put columns side by side in the smallest unsigned type that holds them."""
    largest = max((int(column.max(initial=0)) for column in columns), default=0)
    matrix = np.empty((rows, len(columns)), dtype=np.min_scalar_type(largest), order="F")
    for j, column in enumerate(columns):
        matrix[:, j] = column
    return matrix


def _persons(records: Any, person: str, schema: Schema) -> npt.NDArray[np.intp]:
    name = shorten(person)
    if person in (*schema.names, *(label.name for label in schema.labels)):
        raise SchemaError(f"{name} tells whose record it is, so it is no attribute; leave it out of the schema")
    if person not in records.columns:
        raise DataError(f"the records have no column {name}; {did_you_mean(person, records.columns)}")
    absent = int(records[person].is_null().sum())
    if absent:
        raise DataError(f"{name} must tell of each record whose it is; of {absent:,} it does not")
    keys = np.asarray([str(value) for value in records[person].to_list()])
    return np.unique(keys, return_inverse=True)[1].astype(np.intp)


def _check_columns(columns: Sequence[str], schema: Schema) -> None:
    for name in [name for attribute in (*schema.attributes, *schema.labels) for name in attribute.columns]:
        if name not in columns:
            raise DataError(f"the records have no column {shorten(name)}; {did_you_mean(name, columns)}")
