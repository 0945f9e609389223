"""A plan as SQL text: one query, one pass, in the dialects of the exports.

Nothing is created in the engine: a query needs no right but to read.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from typing import Any

import polars as pl

from leastwise.errors import DataError, shorten
from leastwise.exports.sql_dialects import Dialect, among
from leastwise.records.sources.engine import Draw, Engine, check_size
from leastwise.records.sources.plan import MOST_GROUPS, PRIME, ByNumber, ByValue, Family, Placing, Plan, salts

PLACE, SECOND = "leastwise_place", "leastwise_second_place"
RECORD = "r"

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
        if self.family(self.key) == "int":
            whole = f"CAST({column} AS BIGINT)"
            return f"({whole} % {PRIME} + {PRIME})"  # some engines keep the sign
        return _TEXT_KEYS[self.dialect.key].format(self.dialect.as_text(column))

    def count(self, plan: Plan, seed: int) -> list[pl.DataFrame]:
        """Answer a plan by one query; by one for each set where the dialect has no GROUPING SETS."""
        with self.answering():
            answers = [check_size(self.fetch(query), plan) for query in self.queries(plan, seed)]
        if not self.grouping_sets:
            return answers
        (answer,) = answers
        keys = [name for name in answer.columns if name[0] in "ke"]
        flags = [pl.col(f"g{i}") == 0 for i in range(len(plan.values))]
        alone = answer.filter(~pl.any_horizontal(flags)) if flags else answer
        found = [alone.select(*keys, "n")]
        for i, flag in enumerate(flags):
            found.append(answer.filter(flag).select(*keys, pl.col(f"v{i}").alias("value"), "n"))
        return found

    def draw(self, columns: Sequence[str], draw: Draw) -> pl.DataFrame:
        """Return the records whose second place lies below the limit."""
        listed = ", ".join(f"{self.column(name)} AS {self.dialect.name(name)}" for name in columns)
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
        return [f"-- {reads.replace(chr(10), ' ')}\n{query};" for query in self.queries(plan, seed)]

    def queries(self, plan: Plan, seed: int) -> list[str]:
        """Return the text of a plan's queries."""
        keys = [f"{self._key(digits)} AS k{i}" for i, digits in enumerate(plan.keys)]
        exact = [f"{self.column(name)} AS e{i}" for i, name in enumerate(plan.exact)]
        values = [f"{self.column(name)} AS v{i}" for i, name in enumerate(plan.values)]
        source, where = self.origin, ""
        if plan.places is not None:
            source = self._placed(source, self.number, PLACE, salts(seed, "part"))
            where = f" WHERE {RECORD}.{PLACE} >= {plan.places.start} AND {RECORD}.{PLACE} < {plan.places.end}"
        inner = f"(SELECT {', '.join([*keys, *exact, *values])} FROM {source} AS {RECORD}{where}) AS {RECORD}"
        names = [f"k{i}" for i in range(len(keys))] + [f"e{i}" for i in range(len(exact))]
        return [f"{query} LIMIT {MOST_GROUPS + 1}" for query in self._grouped(inner, names, plan)]

    def _grouped(self, inner: str, names: Sequence[str], plan: Plan) -> list[str]:
        together, beside = ", ".join(names), [f"v{i}" for i in range(len(plan.values))]
        having = f" HAVING COUNT(*) >= {plan.at_least}" if plan.at_least > 1 else ""
        if not self.grouping_sets:
            sets = [(together, together), *((f"{together}, {v} AS value", f"{together}, {v}") for v in beside)]
            return [f"SELECT {shown}, COUNT(*) AS n FROM {inner} GROUP BY {by}{having}" for shown, by in sets]
        shown = ", ".join([*names, *beside, *(f"GROUPING({v}) AS g{i}" for i, v in enumerate(beside))])
        sets_of = ", ".join([f"({together})", *(f"({together}, {v})" for v in beside)])
        by = f"GROUPING SETS ({sets_of})" if beside else together
        return [f"SELECT {shown}, COUNT(*) AS n FROM {inner} GROUP BY {by}{having}"]

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
        """Return a column of a record as it is compared: what is neither number nor truth as a text."""
        raw = f"{RECORD}.{self.dialect.name(name)}"
        family = self.family(name)
        if family == "float":
            return self.dialect.as_number(raw)
        return raw if family in ("int", "bool") else self.dialect.as_text(raw)

    def _key(self, digits: Sequence[tuple[Placing, int]]) -> str:
        terms = [f"{weight} * {self._digit(digit)}" for digit, weight in digits]
        return f"CAST({' + '.join(terms) or '0'} AS BIGINT)"

    def _digit(self, placing: Placing) -> str:
        column = self.column(placing.column)
        whens = (
            self._by_value(placing, column) if isinstance(placing, ByValue) else self._by_number(placing, column)
        )
        return f"CASE {' '.join(f'WHEN {test} THEN {bucket + 1}' for test, bucket in whens)} ELSE 0 END"

    def _by_value(self, placing: ByValue, column: str) -> list[tuple[str, int]]:
        members: dict[int, list[str]] = {}
        for value, bucket in placing.bucket_of.items():
            members.setdefault(bucket, []).append(self.literal(value))
        whens = [(among(column, found), bucket) for bucket, found in members.items()]
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
        return self.dialect.number(value) if isinstance(value, float) else self.dialect.text(str(value))


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
