"""A plan as SQL text: one query, one pass, in the dialects of the exports.

Nothing is created in the engine: a query needs no right but to read.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import polars as pl

from leastwise.errors import DataError, shorten
from leastwise.exports.sql_deriving import derived_text
from leastwise.exports.sql_dialects import Dialect, among
from leastwise.records.sources.alike import MOST_ALIKE, counted_further
from leastwise.records.sources.engine import Counts, Draw, Engine, Sums, check_size, joined
from leastwise.records.sources.plan import (
    MOST_GROUPS,
    PRIME,
    WHOLE_KEY,
    ByNumber,
    ByValue,
    Family,
    Packed,
    Placing,
    Plan,
    packed,
    salts,
)

PLACE, SECOND = "leastwise_place", "leastwise_second_place"
RECORD = "r"
# More values than these are looked up in a table that the query brings along: a long CASE costs far more.
_FEW = 8

# The number of a key that is a text, by dialect: the first eight digits of its MD5.
_TEXT_KEYS = {
    "duckdb": "CAST('0x' || substr(md5({0}), 1, 8) AS BIGINT)",
    "postgresql": "CAST(CAST('x00000000' || substr(md5({0}), 1, 8) AS bit(64)) AS bigint)",
    "spark": "CAST(conv(substr(md5({0}), 1, 8), 16, 10) AS BIGINT)",
}


class SqlEngine(Engine):
    """An engine that reads SQL."""

    dialect: Dialect
    grouping_sets = True
    in_process = False
    """Whether it runs in this process, where groups need not be fetched to be counted further."""
    keeps = False
    """Whether it may keep what it counted for a while."""
    in_order = False
    """Whether what it keeps is given back in the order in which it was kept, each time."""
    people = "COUNT(*)"
    """How many people a group has."""
    records: int | None = None
    """How many there are, where that is known beforehand."""

    @property
    @abstractmethod
    def origin(self) -> str:
        """What stands behind FROM: a table, or a query in brackets."""

    @abstractmethod
    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""

    @cached_property
    def number(self) -> str:
        """The whole number of a record r, from which its place is made."""
        assert self.key is not None
        column = f"{RECORD}.{self.dialect.name(self.key)}"
        whole = f"(CAST({{}} AS BIGINT) % {PRIME} + {PRIME})"  # some engines keep the sign
        if self.raw_family(self.key) == "int":
            return whole.format(column)
        text, dialect = self.dialect.as_text(column), self.dialect
        is_whole = dialect.matching.format(text, dialect.text(dialect.whole_text.format(WHOLE_KEY)))
        # Of its text: a UUID is refused even in a branch that nobody takes.
        return f"CASE WHEN {is_whole} THEN {whole.format(text)} ELSE {_TEXT_KEYS[dialect.key].format(text)} END"

    def keep(self, query: str) -> str:
        """Keep what a query gives for a while, and return its name."""
        raise NotImplementedError(f"nothing is made in {self.name}")

    def forget(self, name: str) -> None:
        """Remove what was kept."""
        raise NotImplementedError(f"nothing is made in {self.name}")

    def count(self, plan: Plan, seed: int) -> Counts:
        """Answer a plan by one query; by one for each set where the dialect has no GROUPING SETS."""
        with self.answering():
            counts = self._count_here(plan, seed) if self._counts_here(plan) else None
            if counts is not None:
                return counts
            at_once = self._at_once(plan)
            fetched = (self.fetch(query) for query in self.queries(plan, seed))
            answers = [*fetched] if at_once else [check_size(answer, plan) for answer in fetched]
        if at_once:
            keys = [name for name in answers[0].columns if name[0] in "ke"]
            of_set, nothing = answers[0].partition_by("s", as_dict=True), answers[0].clear()
            answers = [of_set.get((0,), nothing).select(*keys, "n")]
            for i, each in enumerate(plan.values):
                value = pl.col(f"v{i}" if isinstance(each, str) else "v").alias("value")
                answers.append(of_set.get((i + 1,), nothing).select(*keys, value, "n"))
        alone, *sets = (check_size(answer, plan) for answer in answers)
        return joined(alone, [_buckets(answer, each) for answer, each in zip(sets, plan.values, strict=True)])

    def _counts_here(self, plan: Plan) -> bool:
        """Return whether people who are alike are counted further in this process: all values are looked up."""
        if not self.in_process or not plan.values or any(isinstance(each, str) for each in plan.values):
            return False
        # Nearly everybody is alone where there are more combinations than people: too many to be held, then.
        return self.records is None or self._few(plan) or plan.combinations <= self.records

    def _few(self, plan: Plan) -> bool:
        """Return whether those who are counted are few enough to be held, were they all different."""
        return self.records is None or self.records <= MOST_ALIKE * (plan.slice.of if plan.slice else 1)

    def _at_once(self, plan: Plan) -> bool:
        """Return whether one query counts all sets: of very many people they have no room side by side."""
        return self.grouping_sets and bool(plan.values) and self._few(plan)

    def _count_here(self, plan: Plan, seed: int) -> Counts | None:
        """Answer a plan from people who are alike; None where those are too many to be held."""
        alike = self.fetch(self._query_here(plan, seed))
        if alike.height > MOST_ALIKE:
            return None
        counts = counted_further(alike, plan, _names(plan))
        check_size(counts.alone, plan)
        return counts

    def _query_here(self, plan: Plan, seed: int) -> str:
        return f"{self._alike(plan, _names(plan), self._read(plan, seed))} LIMIT {MOST_ALIKE + 1}"

    def alone(self, plan: Plan, seed: int) -> str:
        """Return the query for the combinations of a plan alone."""
        return self._one_by_one(replace(plan, values=()), _names(plan), self._read(plan, seed))[0]

    def each(self, plan: Plan, seed: int) -> str:
        """Return the query for the digits and exact columns of each record, one by one."""
        digits = [f"{self._digit(plan, each)} AS d{i}" for i, each in enumerate(plan.digits)]
        exact = [f"{self.column(name)} AS e{i}" for i, name in enumerate(plan.exact)]
        return f"SELECT {', '.join([*digits, *exact])} FROM {self._read(plan, seed)}"

    def add_up(self, plan: Plan, seed: int) -> Sums:
        """Answer a plan whose groups are too many: nothing but their sums is fetched."""
        with self.answering():
            sets, sizes = (pl.concat(map(self.fetch, each)) for each in self.sums(plan, seed))
        # A set of which nothing is shown is not in the answer.
        every = pl.DataFrame({"s": range(1 + len(plan.values))}, schema={"s": pl.Int64})
        summed = every.join(sets.cast(pl.Int64), on="s", how="left", maintain_order="left").fill_null(0)
        return Sums(summed.drop("s"), sizes.sort("n").cast(pl.Int64))

    def sums(self, plan: Plan, seed: int) -> tuple[list[str], list[str]]:
        """Return the queries that add up a plan's sets, and those for how many have each combination."""
        names, read = _names(plan), self._read(plan, seed)
        alone = self._one_by_one(replace(plan, values=()), names, read)
        sets = alone
        if plan.values:
            sets = (self._together if self._at_once(plan) else self._one_by_one)(plan, names, read)
        together = ", ".join(names)
        added = []
        for i, query in enumerate(sets):
            s = "s" if len(sets) == 1 and plan.values else str(i)
            of_each = f"SELECT {together}, {s} AS s, SUM(n) AS people, MAX(n) AS most FROM ({query}) AS {RECORD}"
            each = f"{of_each} GROUP BY {together}{', s' if s == 's' else ''}"
            added.append(
                f"SELECT s, SUM(people) AS people, SUM(most) AS told FROM ({each}) AS {RECORD} GROUP BY s"
            )
        return added, [f"SELECT n, COUNT(*) AS records FROM ({query}) AS {RECORD} GROUP BY n" for query in alone]

    def draw(self, columns: Sequence[str], draw: Draw) -> pl.DataFrame:
        """Return the records whose second place lies below the limit."""
        listed = ", ".join(f"{self.raw_column(name)} AS {self.dialect.name(name)}" for name in columns)
        placed = self._placed(self._placed(self.origin, self.number, PLACE, salts(draw.seed, "part")),
                              f"{RECORD}.{PLACE}", SECOND, salts(draw.seed, "draw"))  # fmt: skip
        query = (
            f"SELECT {listed}, {RECORD}.{PLACE} FROM {placed} AS {RECORD} WHERE {RECORD}.{SECOND} < {draw.below}"
        )
        with self.answering():
            return self.fetch(query)

    def explain(self, plan: Plan, seed: int) -> list[str]:
        """Return the queries, behind a line that says what each reads."""
        reads = super().explain(plan, seed)[0]
        queries = [self._query_here(plan, seed)] if self._counts_here(plan) else self.queries(plan, seed)
        return [f"-- {reads.replace(chr(10), ' ')}\n{query};" for query in queries]

    def queries(self, plan: Plan, seed: int) -> list[str]:
        """Return the text of a plan's queries."""
        names = _names(plan)
        made = self._together if self._at_once(plan) else self._one_by_one
        queries = made(plan, names, self._read(plan, seed))
        # So many groups of each set; where there are more, some set shows it.
        most = (MOST_GROUPS + 1) * ((1 + len(plan.values)) // len(queries))
        return [f"{query} LIMIT {most}" for query in queries]

    def _one_by_one(self, plan: Plan, names: Sequence[str], read: str) -> list[str]:
        """Return a query for each set."""
        values = [self.column(each) if isinstance(each, str) else self._digit(plan, each) for each in plan.values]
        having, combined = _at_least(plan, self.people), self._combination(plan)
        alone = self._counted(names, combined, read)
        beside = (self._counted([*names, "value"], [*combined, f"{value} AS value"], read) for value in values)
        return [query + having for query in (alone, *beside)]

    def _together(self, plan: Plan, names: Sequence[str], read: str) -> list[str]:
        """Return one query for all sets: people who are alike in everything are counted first, then each set."""
        beside = [f"v{i}" for i in range(len(plan.values))]
        raw = [f"v{i}" for i, each in enumerate(plan.values) if isinstance(each, str)]
        numbers = packed([each for each in plan.values if not isinstance(each, str)])
        digits = (digit for i, each in enumerate(numbers) for digit in self.unpacked(f"w{i}", each))
        apart = ", ".join([*names, *(name if name in raw else f"{next(digits)} AS {name}" for name in beside)])
        alike = f"SELECT {apart}, n FROM ({self._alike(plan, names, read)}) AS {RECORD}"
        placed = ", ".join(name for name in beside if name not in raw)
        value = [f"CAST(COALESCE({placed}, NULL) AS INTEGER) AS v"] if placed else []  # as narrow as it may be
        shown = ", ".join([*names, *raw, *value])
        which = " ".join(f"WHEN GROUPING({name}) = 0 THEN {i + 1}" for i, name in enumerate(beside))
        together = ", ".join(names)
        sets = ", ".join([f"({together})", *(f"({together}, {name})" for name in beside)])
        return [
            f"SELECT {shown}, CASE {which} ELSE 0 END AS s, CAST(SUM(n) AS BIGINT) AS n "
            f"FROM ({alike}) AS {RECORD} GROUP BY GROUPING SETS ({sets}){_at_least(plan, 'SUM(n)')}"
        ]

    def _alike(self, plan: Plan, names: Sequence[str], read: str) -> str:
        """Return the query that counts people who are alike in everything; looked up values are put together."""
        raw = {f"v{i}": self.column(each) for i, each in enumerate(plan.values) if isinstance(each, str)}
        numbers = packed([each for each in plan.values if not isinstance(each, str)])
        columns = {f"w{i}": self._number(plan, digits) for i, digits in enumerate(numbers)} | raw
        combined = [*self._combination(plan), *(f"{column} AS {name}" for name, column in columns.items())]
        return self._counted([*names, *columns], combined, read)

    def _counted(self, names: Sequence[str], columns: Sequence[str], read: str) -> str:
        """Return the query that counts; a column of the records may be called like ours, hence two steps."""
        by, inner = ", ".join(names), f"SELECT {', '.join(columns)} FROM {read}"
        return f"SELECT {by}, {self.people} AS n FROM ({inner}) AS {RECORD} GROUP BY {by}"

    def _combination(self, plan: Plan) -> list[str]:
        keys = [f"{self._number(plan, digits)} AS k{i}" for i, digits in enumerate(plan.keys)]
        return keys + [f"{self.column(name)} AS e{i}" for i, name in enumerate(plan.exact)]

    def _read(self, plan: Plan, seed: int) -> str:
        """Return what stands behind FROM: the records of the part, with what is looked up beside them."""
        source, where = self.origin, list[str]()
        if plan.places is not None:
            source = self._placed(source, self.number, PLACE, salts(seed, "part"))
            where += [f"{RECORD}.{PLACE} >= {plan.places.start}", f"{RECORD}.{PLACE} < {plan.places.end}"]
        if plan.slice is not None:
            number = self._number(plan, plan.sliced)
            where.append(f"{number} % {PRIME} % {plan.slice.of} = {plan.slice.number}")
        tables = [self._lookup(plan, column) for column in plan.looked_up if self._is_long(plan, column)]
        return f"{source} AS {RECORD}{''.join(tables)}{' WHERE ' if where else ''}{' AND '.join(where)}"

    def _is_long(self, plan: Plan, column: str) -> bool:
        return self.grouping_sets and len(plan.looked_up[column][0].bucket_of) > _FEW

    def _lookup(self, plan: Plan, column: str) -> str:
        """Return the join with a table of all values and the digits of each."""
        several = plan.looked_up[column]
        name, digits = self._lookup_name(plan, column), [f"d{i}" for i in range(len(several))]
        rows = (
            f"({self.literal(value)}, {', '.join(str(each.bucket_of[value] + 1) for each in several)})"
            for value in several[0].bucket_of
        )
        table = f"(VALUES {', '.join(rows)}) AS {name}(raw, {', '.join(digits)})"
        return f" LEFT JOIN {table} ON {self.column(column)} = {name}.raw"

    def _lookup_name(self, plan: Plan, column: str) -> str:
        return f"l{[*plan.looked_up].index(column)}"

    def _placed(self, source: str, number: str, name: str, salted: Sequence[int]) -> str:
        """Return a query in brackets that adds a place to each record."""
        own = [column for column in self.families if column.lower().startswith(name)]
        if own:  # the engine would take the records' own numbers for their places
            raise DataError(f"the records must not have a column {shorten(own[0])}; call it otherwise in a view")
        first, *others = salted
        steps = [f"{name}_{i}" for i in range(len(others))] + [name]
        query = f"(SELECT {RECORD}.*, ({number} + {first}) % {PRIME} AS {steps[0]} FROM {source} AS {RECORD})"
        for before, after, salt in zip(steps, steps[1:], others, strict=False):
            h = f"{RECORD}.{before}"
            cube = f"({h} * {h} % {PRIME} * {h} + {salt}) % {PRIME}"
            query = f"(SELECT {RECORD}.*, {cube} AS {after} FROM {query} AS {RECORD})"
        return query

    def column(self, name: str) -> str:
        """Return what is asked of a record as it is compared: a column, or what a rule makes of it."""
        if name not in self.derived:
            return self.raw_column(name)
        attribute = self.derived[name]
        raws = [f"{RECORD}.{self.dialect.name(column)}" for column in attribute.columns]
        made = derived_text(self.dialect, attribute.derive, *raws)
        if not self.markers:
            return made
        listed = list(map(self.dialect.text, self.markers))
        marked = " OR ".join(among(self.dialect.any_text(raw), listed) for raw in raws)
        return f"CASE WHEN {marked} THEN NULL ELSE {made} END"

    def raw_column(self, name: str) -> str:
        """Return a column of a record as it is compared: what is neither number nor truth as a text."""
        raw = f"{RECORD}.{self.dialect.name(name)}"
        family = self.raw_family(name)
        if family == "float":
            return self.dialect.as_number(raw)
        return raw if family in ("int", "bool") else self.dialect.as_text(raw)

    def _number(self, plan: Plan, digits: Packed) -> str:
        # A small factor would be multiplied as a small number, and overflow.
        terms = [f"CAST({weight} AS BIGINT) * {self._digit(plan, digit)}" for digit, weight in digits]
        return f"CAST({' + '.join(terms) or '0'} AS BIGINT)"

    def unpacked(self, number: str, digits: Packed) -> list[str]:
        """Return the digits of a number again."""
        return [f"{self.dialect.divided(number, weight)} % {digit.size + 1}" for digit, weight in digits]

    def _digit(self, plan: Plan, placing: Placing) -> str:
        column = self.column(placing.column)
        if isinstance(placing, ByNumber):
            whens = self._by_number(placing, column)
        elif self._is_long(plan, placing.column):
            place = plan.looked_up[placing.column].index(placing)
            digit = f"COALESCE({self._lookup_name(plan, placing.column)}.d{place}, 0)"
            ((absent, bucket),) = self._missing(placing, column)
            return digit if bucket < 0 else f"CASE WHEN {absent} THEN {bucket + 1} ELSE {digit} END"
        else:
            whens = self._by_value(placing, column)
        return f"CASE {' '.join(f'WHEN {test} THEN {bucket + 1}' for test, bucket in whens)} ELSE 0 END"

    def _by_value(self, placing: ByValue, column: str) -> list[tuple[str, int]]:
        members: dict[int, list[str]] = {}
        for value, bucket in placing.bucket_of.items():
            members.setdefault(bucket, []).append(self.literal(value))
        whens = [(among(column, literals), bucket) for bucket, literals in members.items()]
        return whens + self._missing(placing, column)

    def _by_number(self, placing: ByNumber, column: str) -> list[tuple[str, int]]:
        dialect, whens = self.dialect, []
        if placing.markers and placing.missing is not None:
            whens.append((among(column, list(map(dialect.number, placing.markers))), placing.missing))
        whens += self._missing(placing, column)
        outside = [] if placing.lower is None else [f"{column} < {dialect.number(placing.lower)}"]
        outside += [] if placing.upper is None else [f"{column} > {dialect.number(placing.upper)}"]
        if placing.integer and placing.family != "int":
            outside.append(f"NOT ({dialect.is_whole(column)})")
        nowhere = -1 if placing.other is None else placing.other
        whens += [(" OR ".join(outside), nowhere)] if outside else []
        whens += [
            (f"{column} <= {dialect.number(edge)}", b)
            for edge, b in zip(placing.edges, placing.buckets, strict=False)
        ]
        return [*whens, (f"{column} IS NOT NULL", placing.buckets[-1])]

    def _missing(self, placing: Placing, column: str) -> list[tuple[str, int]]:
        nan = self.dialect.is_nan(column) if placing.family == "float" else ""
        bucket = -1 if placing.missing is None else placing.missing
        return [(f"{column} IS NULL" + (f" OR {nan}" if nan else ""), bucket)]

    def literal(self, value: Any) -> str:
        """Write a value that the engine itself gave."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int | Decimal):
            return str(value)
        if isinstance(value, float):  # a decimal beside others would be rounded to the digits of them all
            return self.dialect.number(value) if math.isinf(value) else self.dialect.long_number(value)
        return self.dialect.text(str(value))


def _names(plan: Plan) -> list[str]:
    return [*(f"k{i}" for i in range(len(plan.keys))), *(f"e{i}" for i in range(len(plan.exact)))]


def _at_least(plan: Plan, count: str) -> str:
    return f" HAVING {count} >= {plan.at_least}" if plan.at_least > 1 else ""


def _buckets(answer: pl.DataFrame, value: str | Placing | None) -> pl.DataFrame:
    """Return an answer with the buckets of a value instead of its digits; -1 is for what has none."""
    if value is None or isinstance(value, str):
        return answer
    return answer.with_columns(pl.col("value").cast(pl.Int64) - 1)


def family_of(dtype: Any) -> Family:
    """Return the family of a Polars type."""
    if dtype in (pl.String, pl.Categorical, pl.Enum) or isinstance(dtype, pl.Categorical | pl.Enum):
        return "text"
    if dtype == pl.Boolean:
        return "bool"
    if dtype.is_nested():
        return "nested"
    if dtype.is_integer():
        return "int"
    return "float" if dtype.is_float() or dtype.is_decimal() else "other"


def families_of(schema: Mapping[str, Any]) -> dict[str, Family]:
    """Return the families of all columns."""
    return {name: family_of(dtype) for name, dtype in schema.items()}
