"""Several questions from one pass: people whom none of them tells apart are counted once, and kept for a while.

Twelve candidates would read all records twelve times. What they tell apart of a column together (the edges of all
of them, the values that one of them puts into different groups) is little. So one query counts the people who are
alike in all of that, and each candidate is counted from there: the numbers are the same. Where nearly nobody can
be alike, because there are more combinations than people, nobody is looked for: each is kept as small numbers.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from leastwise.errors import ParameterError
from leastwise.progress import Progress
from leastwise.records.sources.alike import MOST_ALIKE, Held
from leastwise.records.sources.engine import Counts, Draw, Engine, NoRoomError, Sums
from leastwise.records.sources.plan import ByNumber, ByValue, Family, Placing, Plan
from leastwise.records.sources.sql import RECORD, SqlEngine
from leastwise.schema import Schema


@dataclass(frozen=True)
class Numbers:
    """What several questions tell apart of a column of numbers: the intervals between the edges of all of them."""

    together: ByNumber

    @classmethod
    def of(cls, several: Sequence[ByNumber]) -> Numbers:
        """Put the edges of several questions together."""
        first, edges = several[0], sorted({edge for each in several for edge in each.edges})
        last = len(edges) + 1
        return cls(
            replace(
                first,
                edges=edges,
                buckets=range(last),
                missing=None if first.missing is None else last,
                other=None if first.other is None else last + 1,
                size=last + 2,
            )
        )

    def translated(self, placing: ByNumber) -> dict[int, int]:
        """Return the bucket of each digit that is kept."""
        edges = self.together.edges
        if not {*placing.edges} <= {*edges}:
            raise ParameterError("only what was counted together can be asked")
        bucket_of = {i + 1: placing.buckets[bisect_left(placing.edges, edge)] for i, edge in enumerate(edges)}
        bucket_of[len(edges) + 1] = placing.buckets[-1]
        extras = ((self.together.missing, placing.missing), (self.together.other, placing.other))
        return bucket_of | {kept + 1: own for kept, own in extras if kept is not None and own is not None}


@dataclass(frozen=True)
class Values:
    """What several questions tell apart of looked up values: those that are in one bucket for all are one."""

    together: ByValue

    @classmethod
    def of(cls, several: Sequence[ByValue]) -> Values:
        """Put the groups of several questions together."""
        first, number = several[0], dict[tuple[int | None, ...], int]()
        cells = {
            value: number.setdefault(tuple(each.bucket_of[value] for each in several), len(number))
            for value in first.bucket_of
        }
        missing = None
        if first.missing is not None:
            missing = number.setdefault(tuple(each.missing for each in several), len(number))
        return cls(replace(first, bucket_of=cells, missing=missing, size=len(number)))

    def translated(self, placing: ByValue) -> dict[int, int]:
        """Return the bucket of each digit that is kept."""
        pairs = {(cell, placing.bucket_of[value]) for value, cell in self.together.bucket_of.items()}
        if self.together.missing is not None and placing.missing is not None:
            pairs.add((self.together.missing, placing.missing))
        bucket_of = {cell + 1: bucket for cell, bucket in pairs}
        if len(bucket_of) < len(pairs):
            raise ParameterError("only what was counted together can be asked")
        return bucket_of


Use = tuple[str, type[Any]]
_SMALL = 2**15 - 1  # digits below it are kept in two bytes
# In this process so many people at most are counted, which takes a gigabyte. Their digits are held where they take
# so many bytes at most; elsewhere a column at a time is.
_MOST_IN_COLUMNS, _MOST_HELD = 40_000_000, 640_000_000


@contextmanager
def reduced(engine: Engine, plans: Sequence[Plan], people: int, seed: int, progress: Progress) -> Iterator[Engine]:
    """Give an engine that answers just these plans, from one pass; where nothing is to be made, the same one.

    ``people`` is how many the part has.
    """
    if len(plans) < 2 or not isinstance(engine, SqlEngine) or not engine.keeps:
        yield engine
        return
    made = Reduced(engine, plans, people)
    progress.begin(f"{engine.name}: {made.plan.words}")
    try:
        yield made if made.begin(seed, progress) else engine
    finally:
        made.close()


class Reduced(SqlEngine):
    """People of one part, counted by all that some plans tell apart; these plans are answered from there.

    Parameters
    ----------
    engine
        That counts them, and keeps what it counted.
    plans
        Questions about the same part of the records.
    records
        How many people the part has.
    """

    people = "CAST(SUM(people) AS BIGINT)"

    def __init__(self, engine: SqlEngine, plans: Sequence[Plan], records: int) -> None:
        self.engine, self.dialect, self.name, self.records = engine, engine.dialect, engine.name, records
        self._people = records
        self.grouping_sets, self.in_process = engine.grouping_sets, engine.in_process
        self.places, self._kept = plans[0].places, ""
        uses: dict[Use, list[Placing | str]] = {}
        for use, asked in chain.from_iterable(map(_uses, plans)):
            uses.setdefault(use, []).append(asked)
        self._cells = {use: _together(several) for use, several in uses.items() if use[1] is not str}
        self._exact = [use for use in uses if use[1] is str]
        # Digits first, then columns as they are: the order in which a query gives them.
        self._column = {use: f"c{i}" for i, use in enumerate([*self._cells, *self._exact])}

    @property
    def plan(self) -> Plan:
        """The question that is asked of the engine."""
        digits = tuple(each.together for each in self._cells.values())
        words = "counting once what all candidates tell apart"
        return Plan(words, digits, tuple(name for name, _ in self._exact), places=self.places)

    @property
    def _each(self) -> bool:
        """Whether nobody is looked for who is like another: there are more combinations than people."""
        return self.plan.combinations > self._people

    def query(self, seed: int) -> str:
        """Return the text of the question: its digits each in a column of its own."""
        plan = self.plan
        if self._each:
            whole, counted, people = [f"d{i}" for i in range(len(plan.digits))], self.engine.each(plan, seed), "1"
        else:
            whole = [each for i, digits in enumerate(plan.keys) for each in self.unpacked(f"k{i}", digits)]
            counted, people = self.engine.alone(plan, seed), "n"
        digits = [
            f"CAST({digit} AS {'SMALLINT' if each.size < _SMALL else 'INTEGER'})"
            for digit, each in zip(whole, plan.digits, strict=True)
        ]
        columns = zip([*digits, *(f"e{i}" for i in range(len(plan.exact)))], self._column.values(), strict=True)
        listed = ", ".join([*(f"{made} AS {name}" for made, name in columns), f"{people} AS people"])
        return f"SELECT {listed} FROM ({counted}) AS {RECORD}"

    def begin(self, seed: int, progress: Progress) -> bool:
        """Ask, and keep the answer; return whether there is room for it."""
        try:
            with self.engine.answering():
                self._kept = self.engine.keep(self.query(seed))
        except NoRoomError:  # nearly everybody is alone in what all candidates tell apart
            progress.begin(f"{self.name}: no room to count once for all candidates: each is counted by itself")
            return False
        return True

    def close(self) -> None:
        """Remove what was kept."""
        self.__dict__.pop("_held", None)
        if self._kept:
            self.engine.forget(self._kept)
            self._kept = ""

    @property
    def origin(self) -> str:
        """What was kept."""
        return self._kept

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column of it holds."""
        return {name: self.engine.family(use[0]) if use[1] is str else "int" for use, name in self._column.items()}

    def derive(self, schema: Schema, markers: Sequence[str] = ()) -> None:
        """Nothing: what is kept is derived already."""

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""
        return self.engine.fetch(query)

    def cancel(self) -> None:
        """Stop the query that runs."""
        self.engine.cancel()

    def draw(self, columns: Sequence[str], draw: Draw) -> pl.DataFrame:
        """Refuse: nobody is told from others here."""
        raise ParameterError("records are drawn from where they lie, not from counts of them")

    def count(self, plan: Plan, seed: int) -> Counts:
        """Answer one of the plans."""
        own = self._own(plan)
        if own.exact or any(isinstance(each, str) for each in own.values) or not self._holds:
            return super().count(own, seed)
        with self.answering():
            return self._held.count(own)

    @property
    def _holds(self) -> bool:
        """Whether what is kept is counted in this process: it is small numbers of not too many people."""
        most = _MOST_IN_COLUMNS if self.engine.in_order else MOST_ALIKE
        return self.in_process and self._people <= most

    @cached_property
    def _held(self) -> Held:
        rows = int(self.fetch(f"SELECT COUNT(*) AS n FROM {self._kept}").item())
        people = None if self._each else self._fetched("people", np.dtype(np.int64))
        kinds = {self._column[use]: np.min_scalar_type(each.together.size) for use, each in self._cells.items()}
        if rows * sum(kind.itemsize for kind in kinds.values()) <= _MOST_HELD:
            return Held({name: self._fetched(name, kinds[name]) for name in kinds}.__getitem__, rows, people)
        return Held(lambda name: self._fetched(name, kinds[name]), rows, people)

    def _fetched(self, column: str, kind: np.dtype[Any]) -> npt.NDArray[Any]:
        return self.fetch(f"SELECT {column} FROM {self._kept}").to_series().to_numpy().astype(kind, copy=False)

    def add_up(self, plan: Plan, seed: int) -> Sums:
        """Add up one of the plans."""
        return super().add_up(self._own(plan), seed)

    def _own(self, plan: Plan) -> Plan:
        """Return a plan in the words of what is kept."""
        if plan.places != self.places:
            raise ParameterError("only the part that was counted can be asked")
        digits = tuple(self._translated(each) for each in plan.digits)
        exact = tuple(self._column[name, str] for name in plan.exact)
        values = tuple(
            self._column[each, str] if isinstance(each, str) else self._translated(each) for each in plan.values
        )
        return replace(plan, digits=digits, exact=exact, values=values, places=None)

    def _translated(self, placing: Placing) -> ByValue:
        use = (placing.column, type(placing))
        kept: Any = self._cells[use]
        return ByValue(self._column[use], "int", kept.translated(placing), None, placing.size)

    def _combination(self, plan: Plan) -> list[str]:
        return [*super()._combination(plan), f"{RECORD}.people"]


def _uses(plan: Plan) -> Iterator[tuple[Use, Placing | str]]:
    for each in (*plan.digits, *plan.exact, *plan.values):
        yield (each, str) if isinstance(each, str) else (each.column, type(each)), each


def _together(several: Sequence[Any]) -> Numbers | Values:
    return Numbers.of(several) if isinstance(several[0], ByNumber) else Values.of(several)
