"""What the five SQL dialects write differently: names, texts, numbers, and how a query is stopped.

Names and texts come from a file that may be hostile; they reach a query only through ``name`` and ``text``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from leastwise.errors import ParameterError, shorten
from leastwise.schema.values import ANY_NUMBER, BLANKS, CODE_NUMBER

_ESCAPES = {"\\": "\\\\", "'": "\\'", "`": "\\`", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True)
class Dialect:
    """PostgreSQL's way, which is nearest to the standard; the others say what they do differently."""

    key: str = "postgresql"
    text_type: str = "text"
    number_type: str = "double precision"
    infinity: str = "'Infinity'"

    def name(self, text: str) -> str:
        """Quote a name."""
        return '"' + _written(text).replace('"', '""') + '"'

    def text(self, text: str) -> str:
        """Quote a text."""
        quoted = "'" + _written(text).replace("'", "''") + "'"
        # With a setting of old a backslash escapes in plain quotes; in E'' it always does.
        return "E" + quoted.replace("\\", "\\\\") if "\\" in quoted else quoted

    def number(self, number: float) -> str:
        """Write a number so that it is read back as the same double."""
        if math.isinf(number):
            return f"{'-' if number < 0 else ''}CAST({self.infinity} AS {self.number_type})"
        if number == int(number) and abs(number) < 2**53:
            return str(int(number))
        short = repr(number)
        return short if len(short) <= 16 and "e" not in short else self.long_number(number)

    def long_number(self, number: float) -> str:
        """Write a number of many digits as a double, not as a decimal that would be rounded twice."""
        return f"CAST('{number!r}' AS {self.number_type})"

    def as_text(self, column: str) -> str:
        """Return a column as texts that are compared character by character."""
        return f'CAST({column} AS {self.text_type}) COLLATE "C"'

    def as_number(self, column: str) -> str:
        """Return a column of numbers as doubles."""
        return f"CAST({column} AS {self.number_type})"

    def text_as_number(self, column: str, text: str, pattern: str) -> str:
        """Return a text as a double, null where it does not have the form of a number."""
        return f"CASE WHEN {self.matches(text, pattern)} THEN CAST({text} AS {self.number_type}) END"

    def sure_number(self, column: str, text: str) -> str:
        """Return as a double what is known to spell one; a planner may ask before it knows."""
        return self.as_number(text)

    def rarely_among(self, subject: str, keys: Sequence[str]) -> str:
        """Return whether something that few rows come to is one of these."""
        return among(subject, keys)

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a whole text has a form."""
        return f"{text} ~ {self.text(f'^({pattern})$')}"

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return f"btrim({text}, {self.text(BLANKS)})"

    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN; empty where the dialect has none."""
        return f"{number} = CAST('NaN' AS {self.number_type})"

    def is_whole(self, number: str) -> str:
        """Return whether a number is whole; infinity is."""
        return f"floor({number}) = {number}"

    def place_among(self, text: str, values: Sequence[str]) -> str | None:
        """Return the place of a text among others, null if it is none of them; None where that is not faster."""
        return None

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query with a message, which tells nobody's value."""
        # The planner works a constant cast out before there is a row; one that needs the row waits for it.
        told = f"concat({self.text(message)}, left(CAST({column} AS text), 0))"
        broken = f"CAST({told} AS boolean)"
        return f"CAST({broken} AS text)" if result == self.text_type else f"CAST({told} AS {result})"


@dataclass(frozen=True)
class DuckDB(Dialect):
    """DuckDB."""

    key: str = "duckdb"
    text_type: str = "VARCHAR"
    number_type: str = "DOUBLE"

    def text(self, text: str) -> str:
        """Quote a text; a backslash is a character like any other."""
        return "'" + _written(text).replace("'", "''") + "'"

    def as_text(self, column: str) -> str:
        """Return a column as texts."""
        return f"CAST({column} AS {self.text_type})"

    def as_number(self, column: str) -> str:
        """Return a column as doubles, null where it holds none: the error of a cast would show the value."""
        return f"TRY_CAST({column} AS {self.number_type})"

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a whole text has a form."""
        return f"regexp_full_match({text}, {self.text(pattern)})"

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return f"trim({text}, {self.text(BLANKS)})"

    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN."""
        return f"isnan({number})"

    def rarely_among(self, subject: str, keys: Sequence[str]) -> str:
        """Return whether something is one of these; DuckDB works a long IN, or list_contains, out for all rows."""
        return f"coalesce(list_position([{', '.join(keys)}], {subject}), 0) > 0"

    def place_among(self, text: str, values: Sequence[str]) -> str | None:
        """Return the place of a text among others, by a type that has just these values."""
        return f"enum_code(TRY_CAST({text} AS ENUM ({', '.join(values)})))"

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query with a message."""
        return f"error({self.text(message)})"


@dataclass(frozen=True)
class SQLite(Dialect):
    """SQLite, where each value has a type of its own and NaN is null."""

    key: str = "sqlite"
    text_type: str = "TEXT"
    number_type: str = "REAL"

    def text(self, text: str) -> str:
        """Quote a text; a backslash is a character like any other."""
        return "'" + _written(text).replace("'", "''") + "'"

    def number(self, number: float) -> str:
        """Write a number; a literal that is too large is infinite."""
        return ("-" if number < 0 else "") + "9e999" if math.isinf(number) else super().number(number)

    def long_number(self, number: float) -> str:
        """Write a number of many digits by whole numbers, because reading its digits may miss the last bit."""
        numerator, denominator = number.as_integer_ratio()
        if abs(numerator) < 2**53 and denominator < 2**53:
            return f"(CAST({numerator} AS REAL) / {denominator})"
        fraction, exponent = math.frexp(number)
        left, sign = abs(exponent - 53), "*" if exponent > 53 else "/"
        powers = [*[2**52] * (left // 52), 2 ** (left % 52)]
        return f"(CAST({int(fraction * 2**53)} AS REAL) {sign} {f' {sign} '.join(map(str, powers))})"

    def as_text(self, column: str) -> str:
        """Return the texts and whole numbers of a column as texts; a column may compare texts loosely."""
        held = f"typeof({column}) IN ('text', 'integer')"
        return f"CASE WHEN {held} THEN CAST({column} AS TEXT) END COLLATE BINARY"

    def as_number(self, column: str) -> str:
        """Return the numbers of a column; without this, a text is greater than every number."""
        return f"CASE WHEN typeof({column}) IN ('integer', 'real') THEN CAST({column} AS REAL) END"

    def text_as_number(self, column: str, text: str, pattern: str) -> str:
        """Return a text as a double; SQLite has no patterns, but knows the numbers of JSON."""
        form = self._is_json_number(text, zeros=pattern == ANY_NUMBER)
        whole = f"instr(replace(lower({text}), 'e', '.') || '.', '.')"  # behind the whole digits and a sign
        short = f"{whole} - (substr({text}, 1, 1) IN ('+', '-')) < 17 AND " if pattern == CODE_NUMBER else ""
        return (
            f"CASE WHEN typeof({column}) = 'real' THEN {column} "
            f"WHEN typeof({column}) <> 'blob' AND {short}{form} THEN CAST({text} AS REAL) END"
        )

    def _is_json_number(self, text: str, zeros: bool) -> str:
        """Return whether a text is a number of JSON, but for a plus, a bare point and, if so, leading zeros."""
        body = f"substr({text}, 1 + (substr({text}, 1, 1) IN ('+', '-')))"
        whole = f"ltrim({body}, '0')" if zeros else body
        filled = f"lower(CASE WHEN {whole} GLOB '[0-9]*' THEN '' ELSE '0' END || {whole})"
        closed = f"replace(replace({filled} || ' ', '. ', '.0'), '.e', '.0e')"
        # Only characters of numbers: what JSON means by a blank or a bracket does not count.
        plain = f"{text} NOT GLOB '*[^0-9eE.+-]*' AND ({body} GLOB '[0-9]*' OR {body} GLOB '.[0-9]*')"
        return f"CASE WHEN {plain} THEN json_valid({closed}) ELSE 0 END"

    def sure_number(self, column: str, text: str) -> str:
        """Return as a double what is known to spell one."""
        return f"CAST({column} AS REAL)"

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return f"trim({text}, {self.text(BLANKS)})"

    def is_nan(self, number: str) -> str:
        """Return nothing: NaN is null."""
        return ""

    def is_whole(self, number: str) -> str:
        """Return whether a number is whole; from 2 to the 53rd on every double is."""
        return f"(abs({number}) >= 9007199254740992 OR CAST({number} AS INTEGER) = {number})"

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query: a text that does not begin with $ is no path of JSON."""
        told = f"{self.text(f'refused: {message}')} || coalesce(substr({column}, 1, 0), '')"
        return f"json_extract('{{}}', {told})"


@dataclass(frozen=True)
class Spark(Dialect):
    """Spark SQL, where a backslash escapes."""

    key: str = "spark"
    text_type: str = "STRING"
    number_type: str = "DOUBLE"

    def name(self, text: str) -> str:
        """Quote a name; one that Spark would replace by a variable, whatever the quotes, cannot be written."""
        if "${" in text:
            raise ParameterError(f"Spark replaces ${{...}} in names by variables; rename {shorten(text)}")
        return "`" + _written(text).replace("`", "``") + "`"

    def text(self, text: str) -> str:
        """Quote a text."""
        quoted = "'" + "".join(_escaped(character) for character in _written(text)).replace("\\`", "`") + "'"
        return quoted.replace("${", "\\u0024{")

    def as_text(self, column: str) -> str:
        """Return a column as texts."""
        return f"CAST({column} AS {self.text_type})"

    def as_number(self, column: str) -> str:
        """Return a column as doubles, null where it holds none."""
        return f"TRY_CAST({column} AS {self.number_type})"

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a whole text has a form; ``$`` would overlook a line break at the end."""
        return f"{text} RLIKE {self.text(f'^({pattern})' + chr(92) + 'z')}"

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return f"trim(BOTH {self.text(BLANKS)} FROM {text})"

    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN."""
        return f"isnan({number})"

    def is_whole(self, number: str) -> str:
        """Return whether a number is whole; floor would give an integer, which overflows."""
        return f"rint({number}) = {number}"

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query with a message."""
        return f"raise_error({self.text(message)})"


@dataclass(frozen=True)
class BigQuery(Spark):
    """BigQuery."""

    key: str = "bigquery"
    text_type: str = "STRING"
    number_type: str = "FLOAT64"
    infinity: str = "'inf'"

    def name(self, text: str) -> str:
        """Quote a name."""
        return "`" + "".join(_escaped(character) for character in _written(text)).replace("\\'", "'") + "`"

    def as_number(self, column: str) -> str:
        """Return a column as doubles, null where it holds none."""
        return f"SAFE_CAST({column} AS {self.number_type})"

    def matches(self, text: str, pattern: str) -> str:
        """Return whether a whole text has a form."""
        return f"REGEXP_CONTAINS({text}, {self.text(f'^(?:{pattern})$')})"

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return f"TRIM({text}, {self.text(BLANKS)})"

    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN."""
        return f"IS_NAN({number})"

    def is_whole(self, number: str) -> str:
        """Return whether a number is whole; infinity is."""
        return f"FLOOR({number}) = {number}"

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query with a message."""
        return f"ERROR({self.text(message)})"


DIALECTS: Mapping[str, Dialect] = MappingProxyType(
    {dialect.key: dialect for dialect in (DuckDB(), Dialect(), SQLite(), BigQuery(), Spark())}
)


def among(subject: str, keys: Sequence[str]) -> str:
    """Return whether something is one of these.

    >>> among("a", ["1"]), among("a", ["1", "2"])
    ('a = 1', 'a IN (1, 2)')
    """
    return f"{subject} = {keys[0]}" if len(keys) == 1 else f"{subject} IN ({', '.join(keys)})"


def _written(text: str) -> str:
    if "\0" in text:
        raise ParameterError(f"SQL cannot hold a text with NUL; got {shorten(text)}")
    return text


def _escaped(sign: str) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    hidden = ord(sign) < 32 or 127 <= ord(sign) < 160 or sign in "\u2028\u2029"
    return f"\\u{ord(sign):04x}" if hidden else sign
