"""How one attribute becomes one CASE: by short names for its column, and conditions on them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from leastwise.exports.sql_deriving import derived_text
from leastwise.exports.sql_dialects import Dialect, among
from leastwise.partition import Intervals, Partition, Untouched
from leastwise.schema import Attribute, Unknown
from leastwise.schema.values import ANY_NUMBER, CODE_NUMBER, INFINITE, MINUS_INFINITE, NAN, number_of, text_of

Holds = Literal["number", "text"]
Output = Literal["labels", "codes"]
Lines = list[str]  # of a query; a quoted text may have line breaks of its own, which must stay as they are
When = tuple[str, "str | Lines"]
Test = Callable[[str, Sequence[str]], str]
MANY_VALUES = 8  # from here on a place is found faster than the values are compared
RECORD = "r"  # the name of a record inside the query


@dataclass(frozen=True)
class Column:
    """A column of the table, under short names: v1 (the value), t1 (its text), n1 (its number).

    Where a dialect finds a text among many faster than by comparing, c1 is its place among the declared values,
    which then stand bucket by bucket (``buckets`` gives the bucket of each).
    """

    dialect: Dialect
    attribute: Attribute
    holds: Holds
    place: int
    buckets: Sequence[int] = ()

    @property
    def value(self) -> str:
        """The short name of the value as it is."""
        return f"v{self.place}"

    @property
    def text(self) -> str:
        """The short name of its text."""
        return f"t{self.place}"

    @property
    def number(self) -> str:
        """The short name of its number."""
        return f"n{self.place}"

    @property
    def code(self) -> str:
        """The short name of its place among the declared values."""
        return f"c{self.place}"

    @property
    def looked_up(self) -> bool:
        """Whether the place among the declared values is used."""
        many = len(self.attribute.values) >= MANY_VALUES
        return many and self.holds == "text" and self.dialect.place_among(self.text, ["''"]) is not None

    def _bucket_by_bucket(self) -> list[str]:
        pairs = zip(self.buckets, self.attribute.values, strict=False)
        return [value for _, value in sorted(pairs, key=lambda pair: pair[0])]

    @property
    def derived_name(self) -> str:
        """The name of the derived text, in the innermost SELECT, where all columns of the table are."""
        return self.dialect.name(f"leastwise_derived_{self.place}")

    def derivation(self) -> list[str]:
        """Return how the text is derived, for the innermost SELECT; nothing where it is not."""
        if not self.attribute.derive:
            return []
        raws = [f"{RECORD}.{self.dialect.name(column)}" for column in self.attribute.columns]
        return [f"{derived_text(self.dialect, self.attribute.derive, *raws)} AS {self.derived_name}"]

    def definitions(self) -> list[str]:
        """Return the short names that the query uses of this column, for its inner SELECT."""
        raw = f"{RECORD}.{self.derived_name if self.attribute.derive else self.dialect.name(self.attribute.name)}"
        definitions = [f"{raw} AS {self.value}"]
        if self.holds == "text":
            definitions.append(f"{self.dialect.as_text(raw)} AS {self.text}")
            if self.attribute.continuous:
                definitions.append(f"{self._any_number(raw)} AS {self.number}")
            if self.looked_up:
                values = list(map(self.dialect.text, self._bucket_by_bucket()))
                definitions.append(f"{self.dialect.place_among(self.dialect.as_text(raw), values)} AS {self.code}")
        else:
            definitions.append(f"{self.dialect.as_number(raw)} AS {self.number}")
        return definitions

    def _any_number(self, raw: str) -> str:
        dialect, text = self.dialect, self.dialect.as_text(raw)
        plain = dialect.text_as_number(raw, dialect.trimmed(text), ANY_NUMBER).removesuffix(" END")
        word = f"lower({dialect.trimmed(text)})"
        return (
            f"{plain} WHEN {_is_one_of(dialect, word, INFINITE)} THEN {dialect.number(math.inf)} "
            f"WHEN {_is_one_of(dialect, word, MINUS_INFINITE)} THEN {dialect.number(-math.inf)} END"
        )

    @property
    def spelled_number(self) -> str:
        """The number that a text spells; worked out only for the few that are no declared value themselves."""
        return self.dialect.text_as_number(self.value, self.text, CODE_NUMBER)

    @property
    def missing(self) -> str:
        """Whether there is no value: null, NaN, the empty text, or a text that reads as NaN."""
        if self.holds == "number":
            nan = self.dialect.is_nan(self.number)
            return f"{self.value} IS NULL" + (f" OR {nan}" if nan else "")
        return f"{self.value} IS NULL OR {self.text} = '' OR {self.is_word(NAN)}"

    def is_word(self, words: Sequence[str]) -> str:
        """Whether the text is one of these, in small letters or capitals."""
        text = self.dialect.trimmed(self.text) if self.attribute.continuous else self.text
        return _is_one_of(self.dialect, f"lower({text})", words)

    @property
    def inside(self) -> str:
        """Whether the number lies in the domain; null is not, nor NaN, which is above infinity or nowhere."""
        attribute, number = self.attribute, self.dialect.number
        upper = math.inf if attribute.upper is None else attribute.upper
        conditions = [] if attribute.lower is None else [f"{self.number} >= {number(attribute.lower)}"]
        conditions.append(f"{self.number} <= {number(upper)}")
        conditions += [self.dialect.is_whole(self.number)] if attribute.integer else []
        return " AND ".join(conditions)


def _is_one_of(dialect: Dialect, subject: str, words: Sequence[str]) -> str:
    return among(subject, list(map(dialect.text, words)))


@dataclass(frozen=True)
class CaseWriter:
    """Writes the CASE of each attribute."""

    dialect: Dialect
    output: Output
    unknown: Unknown

    def case(self, column: Column, partition: Partition) -> Lines:
        """Return the expression that gives the bucket."""
        if isinstance(partition, Untouched):
            return self._untouched(column)
        answers = [self._answer(partition, bucket) for bucket in range(partition.size)]
        missing = partition.missing_bucket
        when_missing: list[When] = [] if missing is None else [(column.missing, answers[missing])]
        if isinstance(partition, Intervals):
            inner = self._intervals(column, partition, answers)
            whens: list[When] = [(column.inside, inner), *when_missing]
        else:
            declared = DeclaredValues(column, partition.assignment, answers)
            whens = [*declared.values(), *when_missing, *declared.spellings()]
        return _case(whens, self._otherwise(column, partition, answers))

    def label(self, column: Column) -> Lines:
        """Return the expression that gives the label as its declared text, null where it is unknown."""
        values = column.attribute.values
        declared = DeclaredValues(column, range(len(values)), list(map(self.dialect.text, values)))
        whens: list[When] = [*declared.values(), (column.missing, "NULL"), *declared.spellings()]
        return _case(whens, self._refuse(column, self.dialect.text_type))

    def _answer(self, partition: Partition, bucket: int) -> str:
        return self.dialect.text(partition.labels[bucket]) if self.output == "labels" else str(bucket)

    def _intervals(self, column: Column, partition: Intervals, answers: Sequence[str]) -> str | Lines:
        if not partition.edges:
            return answers[0]
        pairs = zip(partition.edges, answers, strict=False)
        whens = [(f"{column.number} <= {self.dialect.number(edge)}", answer) for edge, answer in pairs]
        return _case(whens, answers[len(partition.edges)])

    def _untouched(self, column: Column) -> Lines:
        whens: list[When] = [(column.inside, column.number)]
        whens += [(column.missing, "NULL")] if column.attribute.missing else []
        return _case(whens, self._refuse(column, self.dialect.number_type))

    def _otherwise(self, column: Column, partition: Partition, answers: Sequence[str]) -> str:
        if self.unknown == "other" and partition.other_bucket is not None:
            return answers[partition.other_bucket]
        return self._refuse(column, self.dialect.text_type if self.output == "labels" else "integer")

    def _refuse(self, column: Column, result: str) -> str:
        message = f"{column.attribute.name}: a value is not in the declared domain"
        return self.dialect.refuse(message, column.value, result)


_WORDS = {"true": ("true",), "false": ("false",), "inf": INFINITE, "-inf": MINUS_INFINITE}


@dataclass(frozen=True)
class DeclaredValues:
    """The declared values of a discrete or ordinal attribute, their buckets, and the answers of these."""

    column: Column
    places: Sequence[int]
    answers: Sequence[str]

    def values(self) -> list[When]:
        """Compare with the values as the column holds them."""
        if self.column.holds == "number":
            return self._lists(self.column.number, self._numbers())
        dialect = self.column.dialect
        keys = {value: dialect.text(value) for value in self.column.attribute.values}
        answers = [self.answers[place] for place, _ in zip(self.places, keys, strict=False)]
        if answers == list(keys.values()) and len(keys) > 1:
            known = (
                f"{self.column.code} IS NOT NULL" if self.column.looked_up else among(self.column.text, answers)
            )
            return [(known, self.column.text)]  # each value is its own answer
        return self._by_place() if self.column.looked_up else self._lists(self.column.text, keys)

    def _by_place(self) -> list[When]:
        """Compare places: those of the first bucket come first."""
        counts = Counter(place for place, _ in zip(self.places, self.column.attribute.values, strict=False))
        buckets = sorted(counts)
        ends = accumulate(counts[bucket] for bucket in buckets)
        pairs = zip(buckets, ends, strict=True)
        return [(f"{self.column.code} < {end}", self.answers[bucket]) for bucket, end in pairs]

    def spellings(self) -> list[When]:
        """Compare what is left with other spellings of the values: 1.0 of 1, TRUE of true."""
        if self.column.holds == "number":
            return []
        code_of = self.column.attribute.code_of
        whens = self._spelled_numbers() + self._long_integers()
        for text, words in _WORDS.items():
            if text in code_of:
                whens.append((self.column.is_word(words), self.answers[self.places[code_of[text]]]))
        return whens

    def _spelled_numbers(self) -> list[When]:
        keys, column = self._numbers(), self.column
        if not keys:
            return []
        test = column.dialect.rarely_among
        *firsts, (_, last) = self._lists(column.dialect.sure_number(column.value, column.text), keys, test)
        assert isinstance(last, str)
        return [(test(column.spelled_number, list(keys.values())), _case(firsts, last) if firsts else last)]

    def _long_integers(self) -> list[When]:
        """Compare with all digits of numbers of which the grammar holds a part only."""
        long = {value: int(n) for value, n in self._known_numbers().items() if math.isfinite(n) and abs(n) >= 1e15}
        text = self.column.dialect.text
        digits = self._lists(self.column.text, {value: text(str(n)) for value, n in long.items()})
        return digits + self._lists(self.column.text, {v: text(f"+{n}") for v, n in long.items() if n > 0})

    def _numbers(self) -> dict[str, str]:
        return {value: self.column.dialect.number(number) for value, number in self._known_numbers().items()}

    def _known_numbers(self) -> dict[str, float]:
        numbers = {value: number_of(str(text_of(value))) for value in self.column.attribute.values}
        return {value: number for value, number in numbers.items() if number is not None}

    def _lists(self, subject: str, keys: Mapping[str, str], test: Test = among) -> list[When]:
        members: dict[int, list[str]] = {}
        for place, value in zip(self.places, self.column.attribute.values, strict=False):
            if value in keys:
                members.setdefault(place, []).append(keys[value])
        return [(test(subject, own), self.answers[place]) for place, own in sorted(members.items())]


def _case(whens: Iterable[When], otherwise: str) -> Lines:
    lines: Lines = []
    for condition, answer in whens:
        nested = [] if isinstance(answer, str) else indented(answer)
        lines += [f"WHEN {condition} THEN", *nested] if nested else [f"WHEN {condition} THEN {answer}"]
    return ["CASE", *indented(lines), f"  ELSE {otherwise}", "END"] if lines else [otherwise]


def indented(lines: Iterable[str], width: int = 2) -> Lines:
    """Move lines to the right."""
    return [" " * width + line for line in lines]
