"""One attribute as expressions, for Polars itself and, through narwhals, for every other engine.

``place`` gives the piece of each value, null where only Python can decide (texts such as "1.0" or " 5", missing
values that nobody declared, values outside the domain). Those values are few and distinct: they are looked up one
by one with the rule for single records, so that a frame and its records always agree.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from leastwise.apply.record import Family, Output, answers, holds_integers, untouched_answer
from leastwise.partition import Intervals, Partition, Untouched
from leastwise.schema import Attribute, Unknown
from leastwise.schema.values import ANY_NUMBER, number_of

# All engines write a number that is not whole in this range alike, and as Python does.
_PLAIN = 1e-3, 1e7
_MANY_EDGES = 24


@dataclass(frozen=True)
class Step:
    """How an asked attribute is answered by a query, in words that every engine understands.

    ``api`` is the module that makes the expressions (``polars`` or ``narwhals``), ``family`` the kind of values
    that the column holds.
    """

    partition: Partition
    output: Output
    unknown: Unknown
    family: Family
    api: Any

    @property
    def attribute(self) -> Attribute:
        """The attribute."""
        return self.partition.attribute

    @property
    def name(self) -> str:
        """The name of its column."""
        return self.attribute.name

    @functools.cached_property
    def direct(self) -> bool:
        """Whether ``place`` gives the answers themselves: untouched numbers, and texts that are their own."""
        return isinstance(self.partition, Untouched) or self.itself

    @functools.cached_property
    def itself(self) -> bool:
        """Whether each declared text is its own answer; it saves a database a long list of cases."""
        if self.family != "text" or self.output == "codes" or self.attribute.continuous:
            return False
        return tuple(self.of_pieces[: len(self.attribute.values)]) == self.attribute.values

    @functools.cached_property
    def place(self) -> Any:
        """The piece of each value, or its answer where that is ``direct``; null where Python must decide."""
        if isinstance(self.partition, Untouched):
            return self._number_itself()
        piece = self._interval(self.partition) if isinstance(self.partition, Intervals) else self._declared()
        if self.attribute.missing:
            missing = len(self.partition.assignment) - self.attribute.extra_values
            bucket = self.partition.assignment[missing]
            answer = self.of_pieces[missing] if self.itself else self.first_pieces[bucket]
            if answer is not None:
                return self.api.when(self._is_missing()).then(self._literal(answer)).otherwise(piece)
        return piece

    def decide(self, value: Any) -> Any:
        """Return what ``place`` left open for one raw value, or raise."""
        if isinstance(self.partition, Untouched):
            return untouched_answer(self.partition, value, self.output)
        piece = self.partition.piece(value, self.unknown)
        if self.itself:
            return self.of_pieces[piece]
        return self.first_pieces[self.partition.assignment[piece]]

    @functools.cached_property
    def of_pieces(self) -> list[Any]:
        """The answer of each piece."""
        of_bucket = answers(self.partition, self.output, self.family)
        return [of_bucket[bucket] for bucket in self.partition.assignment]

    @functools.cached_property
    def first_pieces(self) -> list[int]:
        """The piece that stands for each bucket: queries grow with the buckets, not with the values."""
        first: dict[int, int] = {}
        for piece, bucket in enumerate(self.partition.assignment):
            first.setdefault(bucket, piece)
        return [first[bucket] for bucket in range(self.partition.size)]

    @property
    def other_piece(self) -> int:
        """The piece of "other", where that is declared."""
        return len(self.partition.assignment) - 1

    def with_decided(self, decided: dict[Any, Any]) -> Any:
        """Return ``place`` completed by what Python decided."""
        known = {value: piece for value, piece in decided.items() if value is not None and value == value}
        missing = [piece for value, piece in decided.items() if value is None or value != value]
        place = self.place
        if missing and missing[0] is not None:
            # A missing number is a null or a NaN; both were decided alike.
            place = self.api.when(self._is_missing()).then(self._literal(missing[0])).otherwise(place)
        if known:
            pieces = self.looked_up(self._column, known, self.place_type)
            place = self.api.when(place.is_null()).then(pieces).otherwise(place)
        return place

    @property
    def place_type(self) -> Any:
        """The type of what ``place`` gives."""
        if self.itself:
            return self.api.String
        if not isinstance(self.partition, Untouched):
            return self._piece_type
        if self.output == "labels":
            return self.api.String
        whole = self.family == "int" or (self.family == "text" and holds_integers(self.attribute))
        return self.api.Int64 if whole else self.api.Float64

    @property
    def _piece_type(self) -> Any:
        return self.api.Int32  # Spark has no unsigned integers

    @property
    def _column(self) -> Any:
        return self.api.col(self.name)

    def _literal(self, value: Any) -> Any:
        return self.api.lit(value, dtype=self.place_type)

    def _is_missing(self) -> Any:
        column = self._column
        if self.family == "float":
            return column.is_null() | column.is_nan()
        return column.is_null()

    @functools.cached_property
    def _number(self) -> Any:
        """The value as a number, null where it is none."""
        if self.family in ("bool", "other"):
            return self._nothing(self.api.Float64)
        if self.family == "float" or self._compares_integers:
            return self._column
        if self.family != "text":
            return self._column.cast(self.api.Float64)
        return self._number_of_text()

    def _number_of_text(self) -> Any:
        # Engines stop at the first text that is no number.
        plain = self.api.when(self._column.str.contains(f"^({ANY_NUMBER})$")).then(self._column)
        return plain.cast(self.api.Float64)

    @functools.cached_property
    def _compares_integers(self) -> bool:
        """Whether integers can stay what they are: below 2 to the 53rd a comparison gives what a float's would."""
        bounds = [self.attribute.lower or 0, self.attribute.upper or 0, *getattr(self.partition, "edges", ())]
        return self.family == "int" and all(abs(bound) < 2**53 for bound in bounds)

    def _bound(self, bound: float, rounded: Callable[[float], int]) -> float:
        return rounded(bound) if self._compares_integers else bound

    def _inside(self) -> Any:
        """Whether the number lies in the domain; null for a missing one."""
        number, attribute = self._number, self.attribute
        conditions = [~number.is_nan()] if self.family != "int" else [~number.is_null()]
        if attribute.lower is not None:
            conditions.append(number >= self._bound(attribute.lower, math.ceil))
        if attribute.upper is not None:
            conditions.append(number <= self._bound(attribute.upper, math.floor))
        if attribute.integer and self.family != "int":
            # Beyond 2 to the 53rd every floating-point number is whole, infinity included.
            conditions.append(self._is_whole(number) | (number.abs() >= 2.0**53))
        return functools.reduce(operator.and_, conditions)

    def _is_whole(self, number: Any) -> Any:
        # Spark rounds to integers, which would overflow.
        small = self.api.when(number.abs() < 2.0**53).then(number)
        return small == small.floor()

    def _interval(self, partition: Intervals) -> Any:
        inside = self.api.when(self._inside()).then(self._count_edges(partition))
        takes_others = self.unknown == "other" and self.attribute.other and self.family in ("int", "float")
        if not takes_others:
            return inside.otherwise(self._null())
        other = self._literal(self._standing(self.other_piece))
        return inside.otherwise(self.api.when(~self._is_missing()).then(other).otherwise(self._null()))

    def _count_edges(self, partition: Intervals) -> Any:
        """Count the edges below the number: that is its interval, the edge itself being left."""
        if not partition.edges:
            return self._literal(0)
        bounds = [self._bound(edge, math.floor) for edge in partition.edges]
        return functools.reduce(operator.add, [(self._number > bound).cast(self.place_type) for bound in bounds])

    def _declared(self) -> Any:
        keys = keys_of(self.attribute, self.family)
        if not keys:
            return self._nothing(self.place_type)
        if self.itself:
            return self.api.when(self._column.is_in(list(keys))).then(self._column).otherwise(self._null())
        return self.looked_up(
            self._column, {key: self._standing(piece) for key, piece in keys.items()}, self.place_type
        )

    def _standing(self, piece: int) -> int:
        """Return the piece that is named for this one."""
        return self.first_pieces[self.partition.assignment[piece]]

    def looked_up(self, column: Any, answers_of: Mapping[Any, Any], dtype: Any) -> Any:
        """Replace values by what they stand for, null where they stand for nothing."""
        # A database looks a long list through for each row, unless it is asked for membership only.
        keys: dict[Any, list[Any]] = {}
        for key, answer in answers_of.items():
            keys.setdefault(answer, []).append(key)
        chain = self.api
        for answer, members in keys.items():
            chain = chain.when(column.is_in(members)).then(self.api.lit(answer, dtype=dtype))
        return chain.otherwise(self.api.lit(None, dtype=dtype))

    def _nothing(self, dtype: Any) -> Any:
        """Return null for each value; a query has to name a column for that."""
        return self.api.when(self._column.is_null()).then(self.api.lit(None, dtype=dtype))

    def _null(self) -> Any:
        return self.api.lit(None, dtype=self.place_type)

    def _number_itself(self) -> Any:
        if self.output != "labels":
            kept = self._column if self.family in ("int", "float") else self._number
            answer = self.api.when(self._inside()).then(kept)
            return answer if self.family in ("int", "float") else answer.cast(self.place_type)
        number, (low, high) = self._number.cast(self.api.Float64), _PLAIN
        whole = self._is_whole(number) & (number.abs() < 1e15)
        plain = (number.abs() >= low) & (number.abs() < high)
        as_integer = self.api.when(whole).then(number).cast(self.api.Int64).cast(self.api.String)
        text = self.api.when(whole).then(as_integer).when(plain).then(number.cast(self.api.String))
        return self.api.when(self._inside()).then(text)


class PolarsStep(Step):
    """The same in Polars itself, which looks up and searches by itself and has small types."""

    @functools.cached_property
    def itself(self) -> bool:
        """Never: no list of cases is saved here."""
        return False

    def decide(self, value: Any) -> Any:
        """Return what ``place`` left open for one raw value: its own piece, so that "other" can be counted."""
        return super().decide(value) if self.direct else self.partition.piece(value, self.unknown)

    @property
    def _piece_type(self) -> Any:
        pieces = len(self.partition.assignment)
        return self.api.UInt8 if pieces < 2**8 else self.api.UInt16 if pieces < 2**16 else self.api.UInt32

    def _number_of_text(self) -> Any:
        return self._column.cast(self.api.Float64, strict=False)

    def _is_whole(self, number: Any) -> Any:
        return number == number.floor()

    def _count_edges(self, partition: Intervals) -> Any:
        if len(partition.edges) <= _MANY_EDGES:
            return super()._count_edges(partition)
        ascending = self.api.lit(self.api.Series(partition.edges, dtype=self.api.Float64))
        return ascending.search_sorted(self._number.cast(self.api.Float64), side="left").cast(self.place_type)

    def _standing(self, piece: int) -> int:
        return piece

    def looked_up(self, column: Any, answers_of: Mapping[Any, Any], dtype: Any) -> Any:
        """Replace values by what they stand for, null where they stand for nothing."""
        return column.replace_strict(list(answers_of), list(answers_of.values()), default=None, return_dtype=dtype)


def keys_of(attribute: Attribute, family: Family) -> dict[Any, int]:
    """Return the declared values as a column of this family holds them, each with its position."""
    if family == "text":
        return dict(attribute.code_of)
    if family == "bool":
        return {text == "true": code for text, code in attribute.code_of.items() if text in ("true", "false")}
    numbers = {number_of(text): code for text, code in attribute.code_of.items()} if family != "other" else {}
    finite = {number: code for number, code in numbers.items() if number is not None and math.isfinite(number)}
    if family == "float":
        return finite
    return {int(number): code for number, code in finite.items() if number == int(number) and abs(number) < 2**53}
