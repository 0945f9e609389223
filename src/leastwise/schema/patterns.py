"""Names of columns that Polars reads as patterns: even a single column of such a name gives other columns."""

from __future__ import annotations

from collections.abc import Iterable

from leastwise.errors import DataError, shorten


def is_pattern(name: str) -> bool:
    """Return whether Polars would take a name for a pattern.

    >>> is_pattern("^a$"), is_pattern("*"), is_pattern("a*"), is_pattern("^a")
    (True, True, False, False)
    """
    return name == "*" or (name.startswith("^") and name.endswith("$"))


def check_no_patterns(columns: Iterable[str]) -> None:
    """Refuse records with a column of such a name."""
    strange = next((name for name in columns if is_pattern(name)), None)
    if strange is not None:
        raise DataError(
            f"a column must not be called {shorten(strange)}, which means all columns of a pattern; rename it "
            "(in an engine, in a view)"
        )
