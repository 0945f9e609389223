"""Quoted names and texts are read back as they were, whatever is in them."""

from __future__ import annotations

import sqlite3
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from leastwise import ParameterError
from leastwise.exports.sql_dialects import DIALECTS
from tests.postgres import PostgresServer

nasty = st.text(st.sampled_from("a'\"\\`$};-/*%\n\r\té漢🙂 \x7f\u2028"), min_size=1, max_size=8)
texts = nasty | st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1, max_size=8)
SHARED = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


def select(dialect: str, text: str) -> str:
    quoted = DIALECTS[dialect]
    return f"SELECT {quoted.text(text)} AS {quoted.name(text)}"


@settings(SHARED)
@given(texts)
def test_sqlite(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    cursor = connection.execute(select("sqlite", text))
    assert (cursor.description[0][0], cursor.fetchall()) == (text, [(text,)])
    connection.close()


@settings(SHARED)
@given(texts)
def test_duckdb(text: str) -> None:
    found = duckdb.execute(select("duckdb", text))
    assert (found.description[0][0], found.fetchall()) == (text, [(text,)])


@settings(SHARED)
@given(texts)
@pytest.mark.parametrize("setting", ["on", "off"])
def test_postgresql(postgres: PostgresServer, setting: str, text: str) -> None:
    import psycopg

    with psycopg.connect(postgres.url(driver="postgresql")) as connection:
        connection.execute(f"SET standard_conforming_strings = {setting}".encode())
        connection.execute("SET escape_string_warning = off")
        cursor = connection.execute(select("postgresql", text))
        assert (cursor.description[0].name, cursor.fetchall()) == (text, [(text,)])


@settings(SHARED)
@given(texts)
def test_bigquery_and_spark_as_a_parser_reads_them(text: str) -> None:
    sqlglot: Any = pytest.importorskip("sqlglot")
    assume("\x7f" not in text and not any(ord(sign) < 32 or 127 < ord(sign) < 160 for sign in text))
    assume(not {"\u2028", "\u2029"} & set(text) and "${" not in text and "\\" not in text and "`" not in text)
    for dialect in ("bigquery", "spark"):
        [column] = sqlglot.parse_one(select(dialect, text), read=dialect).selects
        assert (column.alias, column.this.this) == (text, text)


def test_what_cannot_be_written_is_refused() -> None:
    for dialect in DIALECTS.values():
        for quote in (dialect.name, dialect.text):
            with pytest.raises(ParameterError, match="NUL"):
                quote("a\0b")
    with pytest.raises(ParameterError, match=r"Spark replaces \$\{...\}"):
        DIALECTS["spark"].name("a${b}")
    assert "${" not in DIALECTS["spark"].text("a${b}")


def test_backslashes_and_hidden_signs_are_escaped_where_they_mean_something() -> None:
    for dialect in ("bigquery", "spark"):
        assert DIALECTS[dialect].text("a\\'\n\x01") == "'a\\\\\\'\\n\\u0001'"
    assert DIALECTS["bigquery"].name("a`b\\") == "`a\\`b\\\\`"
    assert DIALECTS["spark"].name("a`b\\") == "`a``b\\`"
