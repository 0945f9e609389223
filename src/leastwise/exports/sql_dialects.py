"""What the five SQL dialects write differently: names, texts, numbers, and how a query is stopped.

Names and texts come from a file that may be hostile; they reach a query only through ``name`` and ``text``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from leastwise.errors import ParameterError, shorten
from leastwise.schema.derive import BLANKS as DERIVE_BLANKS
from leastwise.schema.derive import Amount, Part
from leastwise.schema.values import ANY_NUMBER, BLANKS, CODE_NUMBER

_ESCAPES = {"\\": "\\\\", "'": "\\'", "`": "\\`", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What a dialect writes: its types, and how it puts each expression; ``{0}`` is what it is about.

    A dialect that says more than words about a matter has a class of its own.
    """

    key: str
    text_type: str
    number_type: str
    infinity: str = "'Infinity'"
    text_cast: str = "CAST({0} AS {1})"
    number_cast: str = "TRY_CAST({0} AS {1})"  # null where it is none: the error of a cast would show the value
    matching: str = ""
    whole_text: str = "^({0})$"
    trimming: str = "trim({0}, {1})"
    nan: str = "isnan({0})"
    any_nan: str = "typeof({0}) IN ('FLOAT', 'DOUBLE') AND CAST({0} AS VARCHAR) = 'nan'"
    whole_number: str = "floor({0}) = {0}"
    floor: str = "floor({0})"
    error: str = ""
    place: str = ""
    rarely: str = ""
    integer_type: str = "BIGINT"
    division: str = "(({0}) / {1})"
    once: str = ""  # what keeps an engine from writing out a subquery again wherever its columns are named

    def name(self, text: str) -> str:
        """Quote a name."""
        return '"' + _written(text).replace('"', '""') + '"'

    def text(self, text: str) -> str:
        """Quote a text; a backslash is a character like any other."""
        return "'" + _written(text).replace("'", "''") + "'"

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
        return self.text_cast.format(column, self.text_type)

    def as_number(self, column: str) -> str:
        """Return a column of numbers as doubles."""
        return self.number_cast.format(column, self.number_type)

    def text_as_number(self, column: str, text: str, pattern: str) -> str:
        """Return a text as a double, null where it does not have the form of a number."""
        matches = self.matching.format(text, self.text(self.whole_text.format(pattern)))
        return f"CASE WHEN {matches} THEN CAST({text} AS {self.number_type}) END"

    def sure_number(self, column: str, text: str) -> str:
        """Return as a double what is known to spell one; a planner may ask before it knows."""
        return self.as_number(text)

    def any_text(self, column: str) -> str:
        """Return the text of a column of whatever type: of a date as YYYY-MM-DD."""
        return f"CAST({column} AS {self.text_type})"

    def divided(self, number: str, by: int) -> str:
        """Return a whole number that is not negative, divided by another, without what is left over."""
        return self.division.format(number, by)

    def has_form(self, text: str, rule: Part | Amount) -> str:
        """Return whether a text has the form that a rule of derived questions asks."""
        return self.matching.format(text, self.text(self.whole_text.format(rule.pattern)))

    def rarely_among(self, subject: str, keys: Sequence[str]) -> str:
        """Return whether something that few rows come to is one of these."""
        return self.rarely.format(subject, ", ".join(keys)) if self.rarely else among(subject, keys)

    def trimmed(self, text: str) -> str:
        """Return a text without blanks around it."""
        return self.trimming.format(text, self.text(BLANKS))

    def is_nan(self, number: str) -> str:
        """Return whether a number is NaN; empty where the dialect has none."""
        return self.nan.format(number)

    def is_any_nan(self, column: str) -> str:
        """Return whether a column of whatever type holds NaN, not the text of it; empty where there is none."""
        return self.any_nan.format(column)

    def is_unanswered(self, column: str) -> str:
        """Return whether a column of whatever type says nothing: null, the empty text, NaN."""
        text, nan = self.any_text(column), self.is_any_nan(column)
        return f"{text} IS NULL OR {text} = ''" + (f" OR {nan}" if nan else "")

    def is_whole(self, number: str) -> str:
        """Return whether a number is whole; infinity is."""
        return self.whole_number.format(number)

    def place_among(self, text: str, values: Sequence[str]) -> str | None:
        """Return the place of a text among others, null if it is none of them; None where that is not faster."""
        return self.place.format(text, ", ".join(values)) if self.place else None

    def refuse(self, message: str, column: str, result: str) -> str:
        """Return an expression that stops the query with a message, which tells nobody's value."""
        return self.error.format(self.text(message))


# Numbers that no double is near: PostgreSQL refuses to cast them, and tells them in its refusal. They are infinite
# or 0, as elsewhere, from where doubles are rounded to that; what is longer than numeric can be is no number.
_FAR_NUMBER = """CASE
      WHEN {0} ~ '^[+-]?[0.]*([eE]|$)' OR {0} ~ '[eE]-0*[1-9][0-9]{{4}}' THEN 0
      WHEN {0} ~ '[eE][+]?0*[1-9][0-9]{{4}}' THEN {1}
      WHEN abs(CAST({0} AS numeric)) <= 2.4703282292062327208e-324 THEN 0
      WHEN abs(CAST({0} AS numeric)) >= 1.797693134862315807937e308 THEN {1}
      ELSE CAST({0} AS double precision)
    END"""


class _PostgreSQL(Dialect):
    def text_as_number(self, column: str, text: str, pattern: str) -> str:
        matches = self.matching.format(text, self.text(self.whole_text.format(pattern)))
        near = f"length({text}) < 100 AND {text} !~ '[eE][+-]?[0-9]{{3}}'"
        infinite = (
            f"CAST(CASE left({text}, 1) WHEN '-' THEN '-Infinity' ELSE 'Infinity' END AS {self.number_type})"
        )
        return (
            f"CASE WHEN {matches} AND {near} THEN CAST({text} AS {self.number_type}) "
            f"WHEN {matches} AND length({text}) < 6000 THEN {_FAR_NUMBER.format(text, infinite)} END"
        )

    def sure_number(self, column: str, text: str) -> str:
        return self.text_as_number(column, text, ANY_NUMBER)

    def text(self, text: str) -> str:
        quoted = super().text(text)
        # With a setting of old a backslash escapes in plain quotes; in E'' it always does.
        return "E" + quoted.replace("\\", "\\\\") if "\\" in quoted else quoted

    def refuse(self, message: str, column: str, result: str) -> str:
        # The planner works a constant cast out before there is a row; one that needs the row waits for it.
        told = f"concat({self.text(message)}, left(CAST({column} AS text), 0))"
        broken = f"CAST({told} AS boolean)"
        return f"CAST({broken} AS text)" if result == self.text_type else f"CAST({told} AS {result})"


class _SQLite(Dialect):
    """Each value has a type of its own, and NaN is null."""

    def number(self, number: float) -> str:
        # A literal that is too large is infinite.
        return ("-" if number < 0 else "") + "9e999" if math.isinf(number) else super().number(number)

    def long_number(self, number: float) -> str:
        """Write it by whole numbers, because reading its digits may miss the last bit."""
        numerator, denominator = number.as_integer_ratio()
        if abs(numerator) < 2**53 and denominator < 2**53:
            return f"(CAST({numerator} AS REAL) / {denominator})"
        fraction, exponent = math.frexp(number)
        left, sign = abs(exponent - 53), "*" if exponent > 53 else "/"
        powers = [*[2**52] * (left // 52), 2 ** (left % 52)]
        return f"(CAST({int(fraction * 2**53)} AS REAL) {sign} {f' {sign} '.join(map(str, powers))})"

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
        return f"CAST({column} AS REAL)"

    def any_text(self, column: str) -> str:
        """Return the text of a value; a number that is whole without its point."""
        whole = f"CAST(CAST({column} AS INTEGER) AS TEXT)"
        is_whole = f"typeof({column}) = 'real' AND CAST({column} AS INTEGER) = {column}"
        return f"CASE WHEN {is_whole} THEN {whole} WHEN typeof({column}) <> 'blob' THEN CAST({column} AS TEXT) END"

    def has_form(self, text: str, rule: Part | Amount) -> str:
        """Return the same without patterns: SQLite has only GLOB."""
        return self._has_date(text, rule) if isinstance(rule, Part) else self._has_amount(text, rule)

    def _has_date(self, text: str, rule: Part) -> str:
        form, ranges = (
            rule.notation,
            {"MM": ("01", "12"), "DD": ("01", "31"), "hh": ("00", "23"), "mm": ("00", "59")},
        )
        between = []
        for field in ("YYYY", "MM", "DD", "hh", "mm"):
            if field in rule.notation and field in ranges:
                begin, length = rule.place(field)
                low, high = ranges[field]
                between.append(f"substr({text}, {begin + 1}, {length}) BETWEEN '{low}' AND '{high}'")
            form = form.replace(field, "[0-9]" * len(field))
        rest = f"substr({text}, {len(rule.notation) + 1})"
        tail = f"({rest} = '' OR ({rest} GLOB '[T :.,]*' AND substr({rest}, 2) NOT GLOB '*[^0-9TZ:., +-]*'))"
        return " AND ".join([f"{text} GLOB {self.text(form + '*')}", *between, tail])

    def _has_amount(self, text: str, rule: Amount) -> str:
        """Take off what stands around, then hold the whole part against itself written with thousands.

        Each step is a query upon the one before: an expression of all would grow beyond what SQLite reads.
        """
        blanks, signed = self.text(DERIVE_BLANKS), "substr(b, 1, 1) IN ('+', '-')"
        steps = [f"trim({text}, {blanks}) AS b", f"substr(b, 1 + ({signed})) AS b, {signed} AS s"]
        if rule.before:
            unit, size = self.text(rule.before), len(rule.before)
            behind = f"ltrim(substr(c, {size + 1}), {blanks})"
            steps += [
                f"b, ltrim(b, {blanks}) AS c, s",
                f"CASE WHEN substr(c, 1, {size}) = {unit} THEN {behind} ELSE b END AS b, s",
                f"CASE WHEN NOT s AND {signed} THEN substr(b, 2) ELSE b END AS b",
            ]
        if rule.after:
            unit, size = self.text(rule.after), len(rule.after)
            rest = f"rtrim(substr(b, 1, length(b) - {size}), {blanks})"
            steps.append(f"CASE WHEN substr(b, -{size}) = {unit} THEN {rest} ELSE b END AS b")
        decimal, plain = self.text(rule.decimal or "x"), "w <> '' AND w NOT GLOB '*[^0-9]*'"
        steps += [f"b, instr(b || {decimal}, {decimal}) AS p"]
        steps += ["substr(b, 1, p - 1) AS w, substr(b, p + 1) AS f, length(b) < p AS ended"]
        if rule.thousands:
            comma = self.text(rule.thousands)
            alike = "replace(replace(w, '\u00a0', ' '), '\u202f', ' ')" if rule.thousands == " " else "w"
            # A thousand thousands before the digits keep zeros in front from being lost.
            grouped = f"replace(printf('%,d', CAST('1000' || d AS INTEGER)), ',', {comma})"
            steps += [
                f"w, f, ended, {alike} AS a, replace({alike}, {comma}, '') AS d",
                f"w, f, ended, a, d, {grouped} AS g",
            ]
            known = "a GLOB '[0-9]*' AND d NOT GLOB '*[^0-9]*' AND length(d) <= 14"
            plain = f"({plain}) OR ({known} AND substr(g, length(g) - length(a) + 1) = a)"
        steps.append(f"({plain}) AND (ended OR (f <> '' AND f NOT GLOB '*[^0-9]*'))")
        query = f"SELECT {steps[0]}"
        for step in steps[1:]:
            query = f"SELECT {step} FROM ({query})"  # noqa: S608
        return f"({query})"

    def refuse(self, message: str, column: str, result: str) -> str:
        """Stop the query: a text that does not begin with $ is no path of JSON."""
        told = f"{self.text(f'refused: {message}')} || coalesce(substr({column}, 1, 0), '')"
        return f"json_extract('{{}}', {told})"


class _BigQuery(Dialect):
    """A backslash escapes."""

    def name(self, text: str) -> str:
        return "`" + _escaped(text).replace("\\'", "'") + "`"

    def text(self, text: str) -> str:
        return ("'" + _escaped(text).replace("\\`", "`") + "'").replace("${", "\\u0024{")


class _Spark(_BigQuery):
    def name(self, text: str) -> str:
        """Quote a name; one that Spark would replace by a variable, whatever the quotes, cannot be written."""
        if "${" in text:
            raise ParameterError(f"Spark replaces ${{...}} in names by variables; rename {shorten(text)}")
        return "`" + _written(text).replace("`", "``") + "`"


_ALL = (
    Dialect(
        key="duckdb",
        division="(({0}) // {1})",
        text_type="VARCHAR",
        number_type="DOUBLE",
        matching="regexp_full_match({0}, {1})",
        whole_text="{0}",
        error="error({0})",
        place="enum_code(TRY_CAST({0} AS ENUM ({1})))",  # a type that has just these values
        # DuckDB works a long IN, or list_contains, out for all rows.
        rarely="coalesce(list_position([{1}], {0}), 0) > 0",
    ),
    _PostgreSQL(
        key="postgresql",
        text_type="text",
        number_type="double precision",
        text_cast='CAST({0} AS {1}) COLLATE "C"',
        number_cast="CAST({0} AS {1})",
        matching="{0} ~ {1}",
        trimming="btrim({0}, {1})",
        nan="{0} = CAST('NaN' AS double precision)",
        any_nan="CAST(pg_typeof({0}) AS text) IN ('real', 'double precision', 'numeric') AND "
        "CAST({0} AS text) = 'NaN'",
    ),
    _SQLite(
        key="sqlite",
        integer_type="INTEGER",
        text_type="TEXT",
        number_type="REAL",
        # Of a column the texts and whole numbers, or the numbers: it may compare texts loosely, and a text is
        # greater than every number.
        text_cast="CASE WHEN typeof({0}) IN ('text', 'integer') THEN CAST({0} AS TEXT) END COLLATE BINARY",
        number_cast="CASE WHEN typeof({0}) IN ('integer', 'real') THEN CAST({0} AS REAL) END",
        nan="",
        any_nan="",
        # From 2 to the 53rd on every double is whole.
        whole_number="(abs({0}) >= 9007199254740992 OR CAST({0} AS INTEGER) = {0})",
        floor="(CAST({0} AS INTEGER) - (CAST({0} AS INTEGER) > {0}))",  # a cast cuts off towards 0
        once="LIMIT -1 OFFSET 0",
    ),
    _BigQuery(
        key="bigquery",
        integer_type="INT64",
        division="DIV({0}, {1})",
        text_type="STRING",
        number_type="FLOAT64",
        infinity="'inf'",
        number_cast="SAFE_CAST({0} AS {1})",
        matching="REGEXP_CONTAINS({0}, {1})",
        whole_text="^(?:{0})$",
        trimming="TRIM({0}, {1})",
        nan="IS_NAN({0})",
        any_nan="LOWER(FORMAT('%T', {0})) LIKE 'cast(\"nan\"%'",  # a text would be in quotes
        whole_number="FLOOR({0}) = {0}",
        error="ERROR({0})",
    ),
    _Spark(
        key="spark",
        division="(({0}) div {1})",
        text_type="STRING",
        number_type="DOUBLE",
        matching="{0} RLIKE {1}",
        whole_text="^({0})\\z",  # $ would overlook a line break at the end
        trimming="trim(BOTH {1} FROM {0})",
        any_nan="typeof({0}) IN ('float', 'double') AND CAST({0} AS STRING) = 'NaN'",
        whole_number="rint({0}) = {0}",  # floor would give an integer, which overflows
        error="raise_error({0})",
    ),
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.key: dialect for dialect in _ALL})


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


def _escaped(text: str) -> str:
    hidden = {c: f"\\u{ord(c):04x}" for c in text if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u2028\u2029"}
    return "".join(_ESCAPES.get(c, hidden.get(c, c)) for c in _written(text))
