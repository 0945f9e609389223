"""A Polars lazy frame: scanned in streams, never collected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from operator import add, or_

import polars as pl

from leastwise.apply.deriving import derived_columns
from leastwise.records.files import by_name
from leastwise.records.sources.engine import Counts, Draw, Engine, Sums, check_size, joined
from leastwise.records.sources.plan import (
    PRIME,
    ByNumber,
    ByValue,
    Family,
    Placing,
    Plan,
    number_of_key,
    salts,
)
from leastwise.records.sources.sql import families_of
from leastwise.schema import Attribute

_ROW, _PLACE, _SECOND = "leastwise_row", "leastwise_place", "leastwise_second_place"


class Polars(Engine):
    """A lazy frame; where no key is named, its rows are numbered as they come."""

    name = "Polars"

    def __init__(self, frame: pl.LazyFrame, key: str | None = None) -> None:
        self.frame, self.key = frame, key

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        return families_of(self.frame.collect_schema())

    def count(self, plan: Plan, seed: int) -> Counts:
        """Answer a plan: all sets in one go over the frame."""
        _, counts = self._sets(plan, seed)
        with self.answering():
            answers = pl.collect_all(counts, engine="streaming")
        alone, *sets = (check_size(each, plan) for each in answers)
        return joined(alone, [each.rename({f"v{i}": "value"}) for i, each in enumerate(sets)])

    def add_up(self, plan: Plan, seed: int) -> Sums:
        """Answer a plan whose groups are too many: nothing but their sums is collected."""
        names, counts = self._sets(plan, seed)
        n = pl.col("n").cast(pl.Int64)
        of_each = [each.group_by(names).agg(people=n.sum(), told=n.max()) for each in counts]
        sums = [
            each.select(pl.lit(i).alias("s"), pl.col("people", "told").sum()) for i, each in enumerate(of_each)
        ]
        sizes = counts[0].group_by(n).agg(records=pl.len().cast(pl.Int64))
        with self.answering():
            *sets, counted = pl.collect_all([*sums, sizes], engine="streaming")
        return Sums(pl.concat(sets), counted.sort("n"))

    def _sets(self, plan: Plan, seed: int) -> tuple[list[str], list[pl.LazyFrame]]:
        """Return what the combinations are called, and the counts of each set."""
        frame = self._compared(plan.columns)
        if plan.places is not None:
            place = pl.col(_PLACE)
            frame = self._placed(frame, _PLACE, pl.col(_ROW), salts(seed, "part"))
            frame = frame.filter((place >= plan.places.start) & (place < plan.places.end))
        if plan.slice is not None:
            frame = frame.filter(_key(plan.sliced) % PRIME % plan.slice.of == plan.slice.number)
        exact = [by_name(name).alias(f"e{i}") for i, name in enumerate(plan.exact)]
        keys = [_key(digits).alias(f"k{i}") for i, digits in enumerate(plan.keys)]
        values = [
            (by_name(each) if isinstance(each, str) else _digit(each).cast(pl.Int64) - 1).alias(f"v{i}")
            for i, each in enumerate(plan.values)
        ]
        # A key without digits is a constant, which a select of it alone would give once.
        inner, names = frame.with_columns(*keys, *exact, *values), [e.meta.output_name() for e in (*keys, *exact)]
        sets = [names, *([*names, f"v{i}"] for i in range(len(values)))]
        counts = [inner.group_by(by).agg(n=pl.len()).filter(pl.col("n") >= plan.at_least) for by in sets]
        return names, counts

    def draw(self, columns: Sequence[str], draw: Draw) -> pl.DataFrame:
        """Return the records whose second place lies below the limit."""
        frame = self._placed(
            self._compared(columns, derived=False), _PLACE, pl.col(_ROW), salts(draw.seed, "part")
        )
        frame = self._placed(frame, _SECOND, pl.col(_PLACE), salts(draw.seed, "draw"))
        with self.answering():
            drawn = frame.filter(pl.col(_SECOND) < draw.below).select(*map(by_name, columns), _PLACE)
            return drawn.collect(engine="streaming")

    def _compared(self, columns: Sequence[str], derived: bool = True) -> pl.LazyFrame:
        """Return the frame with its columns as they are compared; with what is derived, unless they are drawn."""
        frame = self.frame if self.key is not None else self.frame.with_row_index(_ROW)
        made = {name: self.derived[name] for name in columns if derived and name in self.derived}
        casts = []
        for name in columns:
            family = "" if name in made else self.raw_family(name)
            if family == "float":
                casts.append(by_name(name).cast(pl.Float64))
            elif family in ("text", "other"):
                casts.append(by_name(name).cast(pl.String))
        # The key may be a column that is compared as a text: its number is made of what it was.
        frame = frame.with_columns(self._number().alias(_ROW), *casts)
        return self._with_derived(frame, made)

    def _with_derived(self, frame: pl.LazyFrame, made: Mapping[str, Attribute]) -> pl.LazyFrame:
        """Return the frame with derived questions, and null where a column says "no answer"."""
        if not made:
            return frame
        columns = {name: self.raw_family(name) for each in made.values() for name in each.columns}
        if self.markers:
            known = {column: ~by_name(column).cast(pl.String).is_in(list(self.markers)) for column in columns}
            frame = frame.with_columns(
                pl.when(test).then(by_name(column)).alias(column) for column, test in known.items()
            )
        derived: pl.LazyFrame = derived_columns([*made.values()], frame, frame.collect_schema(), pl)
        return derived

    def _number(self) -> pl.Expr:
        if self.key is None:
            return pl.col(_ROW).cast(pl.Int64)
        if self.raw_family(self.key) == "int":
            return by_name(self.key).cast(pl.Int64) % PRIME
        texts = by_name(self.key).cast(pl.String)
        return texts.map_elements(number_of_key, return_dtype=pl.Int64)

    def _placed(self, frame: pl.LazyFrame, name: str, number: pl.Expr, salted: Sequence[int]) -> pl.LazyFrame:
        first, *others = salted
        place = (number + first) % PRIME
        for salt in others:
            place = (place * place % PRIME * place + salt) % PRIME
        return frame.with_columns(place.alias(name))


def _key(digits: Sequence[tuple[Placing, int]]) -> pl.Expr:
    terms = [_digit(digit).cast(pl.Int64) * weight for digit, weight in digits]
    return reduce(add, terms) if terms else pl.lit(0, dtype=pl.Int64)


def _digit(placing: Placing) -> pl.Expr:
    column = by_name(placing.column)
    absent = column.is_null() | column.is_nan() if placing.family == "float" else column.is_null()
    missing = pl.lit(0 if placing.missing is None else placing.missing + 1)
    return pl.when(absent).then(missing).otherwise(_present(placing, column))


def _present(placing: Placing, column: pl.Expr) -> pl.Expr:
    if isinstance(placing, ByValue):
        known = {value: bucket + 1 for value, bucket in placing.bucket_of.items() if value is not None}
        if not known:
            return pl.lit(0)
        return column.replace_strict(list(known), list(known.values()), default=0, return_dtype=pl.Int64)
    return _interval(placing, column)


def _interval(placing: ByNumber, column: pl.Expr) -> pl.Expr:
    digit = pl.lit(placing.buckets[-1] + 1)
    for edge, bucket in reversed([*zip(placing.edges, placing.buckets, strict=False)]):
        digit = pl.when(column <= edge).then(pl.lit(bucket + 1)).otherwise(digit)
    outside = [] if placing.lower is None else [column < placing.lower]
    outside += [] if placing.upper is None else [column > placing.upper]
    if placing.integer and placing.family != "int":
        outside.append(column != column.floor())
    if outside:
        nowhere = pl.lit(0 if placing.other is None else placing.other + 1)
        digit = pl.when(reduce(or_, outside)).then(nowhere).otherwise(digit)
    if placing.markers and placing.missing is not None:
        marked = column.cast(pl.Float64).is_in(list(placing.markers))
        digit = pl.when(marked).then(pl.lit(placing.missing + 1)).otherwise(digit)
    return digit
