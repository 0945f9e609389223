"""A generalization as one SQL query: a database applies it where the records lie.

Each asked attribute becomes one CASE; what is suppressed is not mentioned. A value outside the declared domain
stops the query with a message that names the attribute and not the value; ``unknown="other"`` sends it to "other"
where the artefact declares that. There is no third way: a row never falls into a bucket that is not its own.

The query compares as :meth:`leastwise.Generalization.transform` does. It cannot know what a column holds, and
takes continuous attributes to be columns of numbers and all others to be texts, unless ``holds`` says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from leastwise.errors import ParameterError, shorten
from leastwise.exports.sql_dialects import ANY_NUMBER, DIALECTS, PLAIN_NUMBER, Dialect
from leastwise.generalization import Generalization
from leastwise.partition import Intervals, Partition, Unknown, Untouched
from leastwise.schema import Attribute
from leastwise.validation import check_choice, did_you_mean
from leastwise.values import number_of

Holds = Literal["number", "text"]
Output = Literal["labels", "codes"]
Lines = list[str]  # of a query; a quoted text may have line breaks of its own, which must stay as they are
When = tuple[str, "str | Lines"]
RECORD = "r"  # the name of a record inside the query
_INFINITE = ("inf", "+inf", "infinity", "+infinity")
_MINUS_INFINITE = ("-inf", "-infinity")
_NAN = ("nan", "+nan", "-nan")

HEADER = """\
-- Made by leastwise: of each record only what is asked, as its bucket.
-- A value outside the declared domain {rule}.
"""


def to_sql(
    generalization: Generalization,
    dialect: str = "duckdb",
    *,
    table: str | Sequence[str] = "records",
    view: str | Sequence[str] | None = None,
    output: Output = "labels",
    unknown: Unknown = "error",
    holds: Mapping[str, Holds] | None = None,
    label: bool = False,
    keep: Sequence[str] = (),
) -> str:
    """Return a query that generalizes the records of a table.

    Parameters
    ----------
    generalization
        What is asked.
    dialect
        ``duckdb``, ``postgresql``, ``sqlite``, ``bigquery`` or ``spark``.
    table, view
        The table of full records, and the view to create; None gives a plain SELECT. Dots part the name of a
        schema from that of a table; a name with dots of its own is given as a sequence.
    output
        ``labels`` (what people read) or ``codes`` (numbers of the buckets). An untouched number is itself in
        both, and null where it is missing.
    unknown
        ``error`` stops the query at a value outside the domain; ``other`` sends it where the artefact declares,
        and stops the query elsewhere.
    holds
        For each attribute whose column does not hold what its kind suggests: ``number`` or ``text``.
    label, keep
        Whether the label leaves too, as its declared text, and which other columns leave as they are.

    Examples
    --------
    >>> from leastwise import Attribute, Generalization, Intervals
    >>> age = Attribute("age", "continuous", lower=0)
    >>> print(to_sql(Generalization((Intervals(age, (19, 63)),)), table="people"))
    -- Made by leastwise: of each record only what is asked, as its bucket.
    -- A value outside the declared domain stops the query.
    SELECT
      CASE
        WHEN n1 >= 0 AND n1 <= CAST('Infinity' AS DOUBLE) THEN
          CASE
            WHEN n1 <= 19 THEN '0 to 19'
            WHEN n1 <= 63 THEN 'above 19, up to 63'
            ELSE 'above 63'
          END
        ELSE error('age: a value is not in the declared domain')
      END AS "age"
    FROM (
      SELECT
        r."age" AS v1,
        TRY_CAST(r."age" AS DOUBLE) AS n1
      FROM "people" AS r
    ) AS r
    <BLANKLINE>
    """
    check_choice("dialect", dialect, DIALECTS)
    check_choice("output", output, get_args(Output))
    check_choice("unknown", unknown, get_args(Unknown))
    spoken = DIALECTS[dialect]
    kinds = _column_kinds(generalization, holds or {})
    asked = _asked(generalization, _Writer(spoken, output, unknown), kinds, label)
    inner = [[line] for column, _ in asked for line in column.definitions()]
    outer = [_named(case, spoken.name(column.attribute.name)) for column, case in asked]
    for i, name in enumerate(_checked_keep(generalization, keep), start=1):
        inner.append([f"{RECORD}.{spoken.name(name)} AS k{i}"])
        outer.append([f"k{i} AS {spoken.name(name)}"])
    if not outer:
        raise ParameterError("nothing would be left: no attribute is collected and no column is kept")
    source = ["SELECT", *_indented(_listed(inner)), f"FROM {_path(spoken, table)} AS {RECORD}"]
    query = ["SELECT", *_indented(_listed(outer)), "FROM (", *_indented(source), f") AS {RECORD}"]
    return _heading(spoken, view, unknown) + "\n".join(query) + "\n"


def _heading(dialect: Dialect, view: str | Sequence[str] | None, unknown: Unknown) -> str:
    stops = "stops the query"
    rule = f"goes to 'other' where that is declared, and {stops} elsewhere" if unknown == "other" else stops
    return HEADER.format(rule=rule) + ("" if view is None else f"CREATE VIEW {_path(dialect, view)} AS\n")


def _listed(columns: Sequence[Lines]) -> Lines:
    *others, last = columns
    return [*(line for column in others for line in _named(column, "", ",")), *last]


def _named(lines: Lines, name: str, end: str = "") -> Lines:
    return [*lines[:-1], lines[-1] + (f" AS {name}" if name else "") + end]


def _indented(lines: Iterable[str], width: int = 2) -> Lines:
    return [" " * width + line for line in lines]


def _path(dialect: Dialect, name: str | Sequence[str]) -> str:
    parts = name.split(".") if isinstance(name, str) else list(name)
    if not parts or not all(parts):
        raise ParameterError(f"a table must have a name; got {shorten(name)}")
    return ".".join(map(dialect.name, parts))


def _column_kinds(generalization: Generalization, holds: Mapping[str, Holds]) -> dict[str, Holds]:
    declared = [*generalization.schema.attributes, *([generalization.label] if generalization.label else [])]
    kinds: dict[str, Holds] = {a.name: "number" if a.continuous else "text" for a in declared}
    for name, kind in holds.items():
        if name not in kinds:
            raise ParameterError(f"there is no attribute {shorten(name)}; {did_you_mean(name, kinds)}")
        check_choice(f"what {name} holds", kind, get_args(Holds))
    return kinds | dict(holds)


def _checked_keep(generalization: Generalization, keep: Sequence[str]) -> Sequence[str]:
    label = [generalization.label.name] if generalization.label else []
    for name in keep:
        if name in generalization.schema.names or name in label:
            raise ParameterError(f"{shorten(name)} is declared; only other columns can be kept as they are")
    return keep


def _asked(
    generalization: Generalization, writer: _Writer, kinds: Mapping[str, Holds], label: bool
) -> list[tuple[_Column, Lines]]:
    """Return the columns that are asked, each with its CASE."""
    asked: list[tuple[_Column, Lines]] = []
    for partition in generalization.partitions:
        if not partition.suppressed:
            attribute = partition.attribute
            column = _Column(writer.dialect, attribute, kinds[attribute.name], len(asked) + 1)
            asked.append((column, writer.case(column, partition)))
    if label and generalization.label is not None:
        name = generalization.label.name
        column = _Column(writer.dialect, generalization.label, kinds[name], len(asked) + 1)
        asked.append((column, writer.label(column)))
    return asked


@dataclass(frozen=True)
class _Column:
    """A column of the table, under short names: v1 (the value), t1 (its text), n1 (its number)."""

    dialect: Dialect
    attribute: Attribute
    holds: Holds
    place: int

    @property
    def value(self) -> str:
        return f"v{self.place}"

    @property
    def text(self) -> str:
        return f"t{self.place}"

    @property
    def number(self) -> str:
        return f"n{self.place}"

    def definitions(self) -> list[str]:
        """Return the short names that the query uses of this column, for its inner SELECT."""
        raw = f"{RECORD}.{self.dialect.name(self.attribute.name)}"
        found = [f"{raw} AS {self.value}"]
        if self.holds == "text":
            found.append(f"{self.dialect.as_text(raw)} AS {self.text}")
            if self.attribute.continuous:
                found.append(f"{self._any_number(raw)} AS {self.number}")
        else:
            found.append(f"{self.dialect.as_number(raw)} AS {self.number}")
        return found

    def _any_number(self, raw: str) -> str:
        dialect, text = self.dialect, self.dialect.as_text(raw)
        plain = dialect.text_as_number(raw, dialect.trimmed(text), ANY_NUMBER).removesuffix(" END")
        word = f"lower({dialect.trimmed(text)})"
        return (
            f"{plain} WHEN {_is_one_of(dialect, word, _INFINITE)} THEN {dialect.number(math.inf)} "
            f"WHEN {_is_one_of(dialect, word, _MINUS_INFINITE)} THEN {dialect.number(-math.inf)} END"
        )

    @property
    def spelled_number(self) -> str:
        """The number that a text spells; worked out only for the few that are no declared value themselves."""
        return self.dialect.text_as_number(self.value, self.text, PLAIN_NUMBER)

    @property
    def missing(self) -> str:
        """Whether there is no value: null, NaN, the empty text, or a text that reads as NaN."""
        if self.holds == "number":
            nan = self.dialect.is_nan(self.number)
            return f"{self.value} IS NULL" + (f" OR {nan}" if nan else "")
        return f"{self.value} IS NULL OR {self.text} = '' OR {self.is_word(_NAN)}"

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
    return _among(subject, list(map(dialect.text, words)))


def _among(subject: str, keys: Sequence[str]) -> str:
    return f"{subject} = {keys[0]}" if len(keys) == 1 else f"{subject} IN ({', '.join(keys)})"


@dataclass(frozen=True)
class _Writer:
    """Writes the CASE of each attribute."""

    dialect: Dialect
    output: Output
    unknown: Unknown

    def case(self, column: _Column, partition: Partition) -> Lines:
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
            declared = _Declared(column, partition.assignment, answers)
            whens = [*declared.values(), *when_missing, *declared.spellings()]
        return _case(whens, self._otherwise(column, partition, answers))

    def label(self, column: _Column) -> Lines:
        """Return the expression that gives the label as its declared text, null where it is unknown."""
        values = column.attribute.values
        declared = _Declared(column, range(len(values)), list(map(self.dialect.text, values)))
        whens: list[When] = [*declared.values(), (column.missing, "NULL"), *declared.spellings()]
        return _case(whens, self._refuse(column, self.dialect.text_type))

    def _answer(self, partition: Partition, bucket: int) -> str:
        return self.dialect.text(partition.labels[bucket]) if self.output == "labels" else str(bucket)

    def _intervals(self, column: _Column, partition: Intervals, answers: Sequence[str]) -> str | Lines:
        if not partition.edges:
            return answers[0]
        pairs = zip(partition.edges, answers, strict=False)
        whens = [(f"{column.number} <= {self.dialect.number(edge)}", answer) for edge, answer in pairs]
        return _case(whens, answers[len(partition.edges)])

    def _untouched(self, column: _Column) -> Lines:
        whens: list[When] = [(column.inside, column.number)]
        whens += [(column.missing, "NULL")] if column.attribute.missing else []
        return _case(whens, self._refuse(column, self.dialect.number_type))

    def _otherwise(self, column: _Column, partition: Partition, answers: Sequence[str]) -> str:
        if self.unknown == "other" and partition.other_bucket is not None:
            return answers[partition.other_bucket]
        return self._refuse(column, self.dialect.text_type if self.output == "labels" else "integer")

    def _refuse(self, column: _Column, result: str) -> str:
        message = f"{column.attribute.name}: a value is not in the declared domain"
        return self.dialect.refuse(message, column.value, result)


_WORDS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("true",), ("true", "True", "TRUE")),
    (("false",), ("false", "False", "FALSE")),
    (_INFINITE, ("inf",)),
    (_MINUS_INFINITE, ("-inf",)),
)


@dataclass(frozen=True)
class _Declared:
    """The declared values of a discrete or ordinal attribute, their buckets, and the answers of these."""

    column: _Column
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
            return [(_among(self.column.text, answers), self.column.text)]  # each value is its own answer
        return self._lists(self.column.text, keys)

    def spellings(self) -> list[When]:
        """Compare what is left with other spellings of the values: 1.0 of 1, TRUE of true."""
        if self.column.holds == "number":
            return []
        code_of = self.column.attribute.code_of
        whens = self._spelled_numbers()
        for words, forms in _WORDS:
            found = next((form for form in forms if form in code_of), None)
            if found is not None:
                whens.append((self.column.is_word(words), self.answers[self.places[code_of[found]]]))
        return whens

    def _spelled_numbers(self) -> list[When]:
        keys, column = self._numbers(finite=True), self.column
        if not keys:
            return []
        *firsts, (_, last) = self._lists(column.dialect.sure_number(column.value, column.text), keys)
        assert isinstance(last, str)
        return [(_among(column.spelled_number, list(keys.values())), _case(firsts, last) if firsts else last)]

    def _numbers(self, finite: bool = False) -> dict[str, str]:
        keys = {value: number_of(value) for value in self.column.attribute.values}
        known = {value: key for value, key in keys.items() if key is not None}
        number = self.column.dialect.number
        return {value: number(key) for value, key in known.items() if not finite or math.isfinite(key)}

    def _lists(self, subject: str, keys: Mapping[str, str]) -> list[When]:
        members: dict[int, list[str]] = {}
        for place, value in zip(self.places, self.column.attribute.values, strict=False):
            if value in keys:
                members.setdefault(place, []).append(keys[value])
        return [(_among(subject, found), self.answers[place]) for place, found in sorted(members.items())]


def _case(whens: Iterable[When], otherwise: str) -> Lines:
    lines = [line for condition, answer in whens for line in _when(condition, answer)]
    return ["CASE", *_indented(lines), f"  ELSE {otherwise}", "END"] if lines else [otherwise]


def _when(condition: str, answer: str | Lines) -> Lines:
    if isinstance(answer, str):
        return [f"WHEN {condition} THEN {answer}"]
    return [f"WHEN {condition} THEN", *_indented(answer)]
