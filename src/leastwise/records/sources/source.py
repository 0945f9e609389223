"""Records that stay where they are: five questions, each answered by counting in the engine.

    domains and marginals       which values there are, and how often
    a sample                    records drawn by their places, to fit on; spread over the whole
    counts                      of a generalized record with its label, and with each personal attribute beside it
    distinct records            the same counts, without anything beside
    how many                    in all, and in each part of a split

Python decides of each distinct raw value what it is, by the one rule; the engine only looks up and counts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.documents.wording import counted
from leastwise.errors import DataError, ParameterError, UnknownValueError, shorten
from leastwise.generalization import Generalization
from leastwise.partition import Intervals, Partition, Untouched
from leastwise.progress import Progress, Silent
from leastwise.records.encoding import encode_numbers, encode_values
from leastwise.records.files import without_markers
from leastwise.records.grouping import Cells, joint_buckets
from leastwise.records.sources.counted import AddedUp, Counted
from leastwise.records.sources.domain import Codes, Domain
from leastwise.records.sources.engine import Counts, Draw, Engine, TooManyGroupsError
from leastwise.records.sources.plan import PRIME, ByNumber, ByValue, Places, Placing, Plan, Slice
from leastwise.records.sources.reduced import reduced
from leastwise.records.splitting import Dealt
from leastwise.records.table import Levels, Table
from leastwise.schema import Attribute, Schema
from leastwise.schema.file import to_yaml
from leastwise.schema.values import as_number, is_missing, text_of

SAMPLE = 200_000
"""Records to fit on, unless it is said otherwise."""

TESTED = 0.3
"""The share of the test part, as in every split of the protocol."""

_UNIQUE_UP_TO = 5_000_000
# Of a column of more values than these, the values themselves are counted, instead of being looked up.
_MOST_LOOKED_UP = 5_000
# Where a generalization has more distinct records than are fetched, slices of about so many people are counted: at
# first so many slices at most, and so many where these are too much. Each is a query of its own.
_PEOPLE_IN_SLICE, _FIRST_SLICES, _MOST_SLICES = 1_500_000, 16, 64


@dataclass(frozen=True, eq=False)
class Source:
    """Records in an engine, and what they mean.

    Parameters
    ----------
    engine
        Where they lie.
    schema
        The attributes and the label.
    seed
        Of the split and of the sample.
    missing
        Texts that stand for "no answer".
    at_least
        Smaller counts never leave the engine.
    learned
        Whether A1, A2 and A6 also guess each person from the counts of everybody else.
    progress
        Is told each query as it begins.
    """

    engine: Engine
    schema: Schema
    seed: int = 0
    missing: tuple[str, ...] = ()
    at_least: int = 1
    learned: bool = False
    progress: Progress = field(default_factory=Silent)

    def __post_init__(self) -> None:
        self.schema.check_counted()
        self.engine.derive(self.schema, self.missing)

    def __len__(self) -> int:
        return self.people(None)

    @cached_property
    def _known_people(self) -> dict[Places | None, int]:
        return {}

    def people(self, places: Places | None) -> int:
        """Return how many records a part has."""
        if places not in self._known_people:
            self._known_people[places] = self.count(Plan("counting records", places=places)).people
        return self._known_people[places]

    @property
    def tested(self) -> Places:
        """The test part."""
        return Places.of(1 - TESTED, 1)

    def count(self, plan: Plan) -> Counts:
        """Ask the engine."""
        self.progress.begin(f"{self.engine.name}: {plan.words}")
        return self.engine.count(plan, self.seed)

    # Domains and marginals ---------------------------------------------------------------------------------------

    @cached_property
    def domains(self) -> dict[str, Domain]:
        """What each column holds: one query."""
        everyone = [*self.schema.attributes] + ([self.schema.label] if self.schema.label else [])
        plan = self.marginals_plan()
        counts = self.count(plan)
        if self.at_least == 1:
            self._known_people[None] = counts.people
        marginals = zip(everyone, counts.beside, strict=True)
        return {each.name: self._domain(each, marginal) for each, marginal in marginals}

    def marginals_plan(self) -> Plan:
        """Return the question for all domains and marginals."""
        label = [self.schema.label.name] if self.schema.label else []
        names = (*self.schema.names, *label)
        return Plan("looking at each column", values=names, at_least=self.at_least)

    def _domain(self, attribute: Attribute, marginal: pl.DataFrame) -> Domain:
        raw = marginal["value"]
        family = self.engine.family(attribute.name)
        if raw.dtype == pl.Null:
            raw = raw.cast({"int": pl.Int64, "float": pl.Float64, "bool": pl.Boolean}.get(family, pl.String))
        shown = pl.DataFrame({"value": raw})
        if not attribute.derive:  # the engine has left them out of what it derived
            shown = shown.with_columns(without_markers(shown.schema, self.missing))
        column = nw.from_native(shown["value"].rename(attribute.name), series_only=True)
        if attribute is self.schema.label:
            _check_label(attribute, shown["value"], marginal["n"])
        try:
            codes, levels = (encode_numbers if attribute.continuous else encode_values)(column, attribute)
        except UnknownValueError as error:
            people = int(marginal["n"][error.row]) if error.row is not None else 0
            raise error.at(f" (in {counted(people, 'record')})") from None
        if not len(levels) and not attribute.extra_values:  # all are too rare to be shown: one stands for them
            ends = [end for end in (attribute.lower, attribute.upper) if end is not None]
            levels = np.array(ends[:1] or [0.0])
        return Domain(attribute, family, pl.DataFrame({"value": raw, "n": marginal["n"], "code": codes}), levels)

    @cached_property
    def fingerprint(self) -> str:
        """The SHA-256 of the schema and of how often each value of each column occurs."""
        digest = hashlib.sha256(to_yaml(self.schema).encode())
        for name, domain in self.domains.items():
            use = np.bincount(
                domain.values["code"].to_numpy().astype(np.intp), weights=domain.values["n"].to_numpy()
            )
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(use, dtype="<i8").tobytes())
            if domain.attribute.continuous:
                digest.update(np.ascontiguousarray(domain.levels, dtype="<f8").tobytes())
        return digest.hexdigest()

    @property
    def levels(self) -> Levels:
        """Per attribute its declared values, or all its numbers."""
        return tuple(self.domains[name].levels for name in self.schema.names)

    # A sample ----------------------------------------------------------------------------------------------------

    def sample(self, most: int = SAMPLE) -> Table:
        """Return a sample as a table, split as the source is; its levels are those of all records."""
        everyone = (*self.schema.attributes, *([self.schema.label] if self.schema.label else []))
        names = list(dict.fromkeys(name for each in everyone for name in each.columns))
        self.__dict__["drawn"] = most
        frame = draw_frame(self.engine, names, most, len(self), self.seed, self.missing, self.progress)
        return self.table(frame)

    @cached_property
    def drawn(self) -> int | None:
        """How many were asked for when the last sample was drawn; None before."""
        return None

    def table(self, frame: pl.DataFrame) -> Table:
        """Encode drawn records; the last column is their place."""
        share = frame.to_series(frame.width - 1).to_numpy() / PRIME
        table = Table.from_frame(frame[:, :-1], self.schema)
        for attribute, numbers in zip(self.schema.attributes, table.levels, strict=True):
            if attribute.continuous:  # a number may be too rare to have been counted, and be drawn all the same
                self.domains[attribute.name] = self.domains[attribute.name].with_numbers(numbers)
        return replace(_with_levels(table, self.levels), dealt=Dealt(self.seed, share))

    # Counts ------------------------------------------------------------------------------------------------------

    def plan(self, generalization: Generalization, places: Places | None) -> Plan:
        """Return the question for the counts of a generalization."""
        asked = [p for p in generalization.partitions if not p.suppressed]
        exact = tuple(p.attribute.name for p in asked if isinstance(p, Untouched))
        digits = [self._placing(p) for p in asked if not isinstance(p, Untouched)]
        label = self.schema.label
        if label is not None:
            digits.append(self._by_value(self.domains[label.name], np.arange(len(label.values) + 1)))
        words = f"counting {generalization.fingerprint[:12]}"
        values = tuple(map(self._beside, self.schema.personal))
        return Plan(words, tuple(digits), exact, values, places, self.at_least)

    def _beside(self, name: str) -> str | Placing:
        """Return how a personal attribute is counted: by its codes where they are few enough to be looked up."""
        domain = self.domains[name]
        if domain.values.height > _MOST_LOOKED_UP:
            return name
        return self._by_value(domain, np.arange(len(domain.levels) + domain.attribute.extra_values))

    def counted(self, generalization: Generalization, places: Places | None) -> Counted:
        """Count the generalized records of a part, and each personal attribute beside them."""
        generalization = generalization.within(self.schema)
        plan = self.plan(generalization, places)
        counts = self.count(plan)
        self._check_people(counts.people, places)
        return self._decoded(generalization, plan, counts, self.people(places))

    def in_slices(self, generalization: Generalization, places: Places | None) -> Iterator[Counted]:
        """Yield what ``counted`` would give where it is too much to be fetched, a slice after another.

        All people who share a generalized record are in one slice. A slice that is still too much is cut in two.
        """
        generalization = generalization.within(self.schema)
        whole = self.plan(generalization, places)
        digits = len(whole.digits) - (self.schema.label is not None)
        of = min(max(-(-self.people(places) // _PEOPLE_IN_SLICE), 2), _FIRST_SLICES)
        left = [Slice(number, of, digits) for number in reversed(range(of))]
        shown = 0
        while left:
            own = left.pop()
            plan = replace(whole, slice=own, words=f"{whole.words}, part {own.number + 1} of {own.of}")
            try:
                counts = self.count(plan)
            except TooManyGroupsError:
                if not digits or 2 * own.of > _MOST_SLICES:
                    raise
                left.extend(reversed(own.halves))
                continue
            shown += counts.people
            if counts.people:
                yield self._decoded(generalization, plan, counts, counts.people)
        self._check_people(shown, places)

    def _check_people(self, counted: int, places: Places | None) -> None:
        people = self.people(places)
        if self.at_least == 1 and counted != people:
            raise DataError(
                f"the records changed while they were counted: there were {people:,}, and now "
                f"{counted:,}; begin anew when nobody writes"
            )

    @contextmanager
    def reduced(self, several: Sequence[Generalization], places: Places | None) -> Iterator[Source]:
        """Give a source that counts just these generalizations on one part, from one pass over the records.

        Where an engine is not to make anything, each is counted from the records themselves.
        """
        plans = [self.plan(each.within(self.schema), places) for each in several]
        with reduced(self.engine, plans, self.people(places), self.seed, self.progress) as engine:
            near = replace(self, engine=engine)
            near.__dict__.update(
                {name: getattr(self, name) for name in ("domains", "_known_people", "_known_guessed")}
            )
            yield near

    def added_up(self, generalization: Generalization, places: Places | None, label: bool = True) -> AddedUp:
        """Add up in the engine what ``counted`` would fetch."""
        schema = self.schema
        named = [name for name in schema.personal if not schema[name].continuous]
        plan = replace(self.plan(generalization.within(schema), places), values=tuple(map(self._beside, named)))
        if schema.label is not None and not label:
            plan = replace(plan, digits=plan.digits[:-1])
        told, sizes = self._told(plan, named)
        if places not in self._known_guessed:  # the same for every generalization
            self._known_guessed[places] = self._told(replace(plan, digits=(), exact=()), named)[0]
        return AddedUp(
            self.people(places), told, self._known_guessed[places], dict(sizes.select("n", "records").iter_rows())
        )

    @cached_property
    def _known_guessed(self) -> dict[Places | None, dict[str, int]]:
        return {}

    def _told(self, plan: Plan, named: Sequence[str]) -> tuple[dict[str, int], pl.DataFrame]:
        """Return of how many people each personal attribute is told, and how many records so many people have."""
        people = self.people(plan.places)
        self.progress.begin(f"{self.engine.name}: {plan.words}, added up there")
        sums = self.engine.add_up(plan, self.seed)
        alone, *sets = sums.sets.rows(named=True)
        self._check_people(alone["people"], plan.places)
        # What is withheld counts as told.
        told = {name: row["told"] + people - row["people"] for name, row in zip(named, sets, strict=True)}
        return {name: told.get(name, people) for name in self.schema.personal}, sums.sizes

    def _decoded(self, generalization: Generalization, plan: Plan, counts: Counts, everybody: int) -> Counted:
        alone = counts.alone
        rows = self._codes(generalization, plan, alone)
        kept = np.logical_and.reduce([column >= 0 for column in rows.T])
        if not kept.all():
            self._check_known(alone.filter(~kept))
            rows = rows[kept]
        # Two values of a column may be one: 1 and 1.0.
        first, inverse = joint_buckets(rows, [int(column.max(initial=0)) + 1 for column in rows.T])
        weights = np.bincount(inverse, weights=alone["n"].to_numpy()[kept], minlength=len(first))
        in_order = np.array_equal(first, np.arange(len(rows)))
        truth = self._table(rows if in_order else rows[first], weights)
        number = np.full(len(kept), -1, dtype=np.intp)
        number[kept] = inverse
        cells = {}
        for p, value, tally in zip(truth.personal, plan.values, counts.beside, strict=True):
            record_of, raw, people = number[tally["row"].to_numpy()], tally["value"], tally["n"].to_numpy()
            codes = self.domains[value].codes(raw) if isinstance(value, str) else raw.to_numpy().astype(np.intp)
            known = (record_of >= 0) & (codes >= 0)
            if not known.all():
                self._check_known(tally.filter(~known))
                record_of, codes, people = record_of[known], codes[known], people[known]
            cells[p] = Cells.of(record_of, codes, people)
        return Counted(truth, cells, everybody, everybody - int(weights.sum()), self.learned)

    def _check_known(self, strange: pl.DataFrame) -> None:
        """Refuse values that nobody had when the columns were looked at; rare ones were not shown."""
        if self.at_least == 1 and not strange.is_empty():
            raise DataError(
                f"{counted(int(strange['n'].sum()), 'record holds', 'records hold')} values that were not there "
                "when the columns were looked at; begin anew when nobody writes"
            )

    def _codes(self, generalization: Generalization, plan: Plan, answer: pl.DataFrame) -> Codes:
        """Return a code for each attribute, 0 where it is not collected, and the label; -1: it has no place."""
        width = len(self.schema) + (self.schema.label is not None)
        columns = np.zeros((answer.height, width), dtype=np.int32, order="F")
        position = {name: j for j, name in enumerate(self.schema.names)}
        for i, name in enumerate(plan.exact):
            columns[:, position[name]] = self.domains[name].codes(answer[f"e{i}"])
        for i, digits in enumerate(plan.keys):
            left = answer[f"k{i}"].to_numpy().astype(np.int64)
            for placing, _ in digits:
                left, digit = np.divmod(left, placing.size + 1)
                j = position.get(placing.column, -1)
                standing = np.arange(placing.size) if j < 0 else self._standing(generalization.partitions[j])
                columns[:, j] = np.concatenate([[-1], standing]).astype(np.int32).take(digit)
        return columns

    def _standing(self, partition: Partition) -> Codes:
        """Return the code that stands for each bucket: the first that lies in it."""
        bucket_of = partition.bucket_map(self.domains[partition.attribute.name].levels)
        standing = np.full(partition.size, -1, dtype=np.intp)
        buckets, first = np.unique(bucket_of, return_index=True)
        standing[buckets] = first
        return standing

    def _table(self, rows: Codes, weights: npt.NDArray[Any]) -> Table:
        codes, labels = (rows[:, :-1], rows[:, -1].astype(np.intp)) if self.schema.label else (rows, None)
        return Table(
            self.schema,
            np.asfortranarray(codes.astype(np.min_scalar_type(int(codes.max(initial=0))))),
            self.levels,
            labels,
            weights.astype(float),
            part="test",
            split_seed=self.seed,
        )

    def _placing(self, partition: Partition) -> Placing:
        domain = self.domains[partition.attribute.name]
        if not domain.by_number:
            return self._by_value(domain, partition.bucket_map(domain.levels))
        assert isinstance(partition, Intervals)
        attribute = partition.attribute
        return ByNumber(
            column=attribute.name,
            family=domain.family,
            edges=partition.edges,
            buckets=partition.assignment[: len(partition.edges) + 1],
            missing=partition.missing_bucket,
            other=partition.other_bucket,
            size=partition.size,
            lower=attribute.lower,
            upper=attribute.upper,
            integer=attribute.integer,
            markers=[n for n in map(as_number, self.missing) if n is not None and n == n],
        )

    def _by_value(self, domain: Domain, bucket_of: npt.NDArray[Any]) -> ByValue:
        buckets = bucket_of[domain.values["code"].to_numpy().astype(np.intp)].tolist()
        known = dict(zip(domain.values["value"].to_list(), buckets, strict=True))
        missing = next((bucket for value, bucket in known.items() if value is None or value != value), None)
        looked_up = {value: bucket for value, bucket in known.items() if value is not None and value == value}
        return ByValue(domain.attribute.name, domain.family, looked_up, missing, int(bucket_of.max(initial=0)) + 1)

    # The key -----------------------------------------------------------------------------------------------------

    def check_key(self) -> None:
        """Refuse a key that some records do not have, or that several share.

        Of many records a part is looked at: equal keys have equal places, so that a part shows what all would.
        """
        if self.engine.key is None:
            return
        key = self.engine.key
        if key in (*self.schema.names, self.schema.label.name if self.schema.label else None):
            raise DataError(f"the key {shorten(key)} tells records apart, so it is no attribute; leave it out")
        self.engine.raw_family(key)  # or there is no such column: it is said alike of every engine
        people = len(self)
        places = None if people <= _UNIQUE_UP_TO else Places.of(0, _UNIQUE_UP_TO / people)
        twice = replace(Plan("looking at the key", exact=(key,), places=places), at_least=2)
        shared = self.count(twice).alone.filter(pl.col("e0").is_not_null())
        if not shared.is_empty():
            raise DataError(
                f"the key {shorten(key)} must be another one for each record; {shared.height:,} keys are shared "
                f"by {int(shared['n'].sum()):,} records: name a column that tells all of them apart"
            )
        counted = self.people(Places.of(0, 1))  # a record without a key has no place
        if counted != people:
            raise DataError(
                f"each record must have a key; {people - counted:,} have none in {shorten(key)}: name another one"
            )


def draw_frame(
    engine: Engine,
    columns: Sequence[str],
    most: int,
    people: int,
    seed: int = 0,
    missing: Sequence[str] = (),
    progress: Progress | None = None,
) -> pl.DataFrame:
    """Return about so many records as they are, in the order of their places, which are the last column."""
    if most < 1:
        raise ParameterError(f"a sample needs at least one record; got {most}")
    (progress or Silent()).begin(f"{engine.name}: drawing a sample")
    below = PRIME if most >= people else round(PRIME * most / people)
    drawn = engine.draw(columns, Draw(seed, below))
    drawn = drawn.sort(pl.nth(drawn.width - 1), pl.nth(range(drawn.width - 1)), nulls_last=True)
    return drawn.with_columns(without_markers(drawn[:, :-1].schema, missing))


def _with_levels(table: Table, levels: Levels) -> Table:
    """Return a table over the numbers of all records instead of its own."""
    codes = table.codes.astype(np.intp)
    for j, attribute in enumerate(table.schema.attributes):
        if attribute.continuous:
            extras = len(levels[j]) + np.arange(attribute.extra_values)
            places = np.searchsorted(levels[j], np.asarray(table.levels[j], dtype=float))
            codes[:, j] = np.concatenate([places, extras])[table.codes[:, j]]
    smallest = np.min_scalar_type(int(codes.max(initial=0)))
    return replace(table, codes=np.asfortranarray(codes.astype(smallest)), levels=levels)


def _check_label(label: Attribute, values: pl.Series, counts: pl.Series) -> None:
    pairs: Iterable[tuple[Any, int]] = zip(values.to_list(), counts.to_list(), strict=True)
    without = sum(n for value, n in pairs if is_missing(value) or text_of(value) is None)
    if without:
        raise DataError(f"the label {label.name!r} is missing in {counted(without, 'record')}; leave those out")
