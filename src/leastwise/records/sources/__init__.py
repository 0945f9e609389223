"""Records that stay where they are: counted in DuckDB, Spark, PostgreSQL, SQLite or Polars, never copied whole."""

from leastwise.records.sources.source import SAMPLE, Counted, Source

__all__ = ["SAMPLE", "Counted", "Source"]
