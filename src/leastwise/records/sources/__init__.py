"""Records that stay where they are: counted in DuckDB, Spark, PostgreSQL, SQLite or Polars, never copied whole."""

from leastwise.records.sources.counted import AddedUp, Counted
from leastwise.records.sources.source import SAMPLE, Source

__all__ = ["SAMPLE", "AddedUp", "Counted", "Source"]
