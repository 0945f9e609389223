"""Spark: a frame of an existing session, counted where its partitions lie."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from leastwise.errors import ParameterError
from leastwise.exports.sql_dialects import DIALECTS
from leastwise.records.sources.plan import Family
from leastwise.records.sources.sql import SqlEngine, families_of


class Spark(SqlEngine):
    """A PySpark frame; it is known to its session under a name of its own, which goes with the source."""

    name = "Spark"
    dialect = DIALECTS["spark"]
    keeps = True

    def __init__(self, frame: Any, key: str | None) -> None:
        if key is None:
            raise ParameterError("Spark does not number its rows; name the column that tells them apart: key=...")
        if not hasattr(frame, "toArrow"):
            raise ParameterError("counting in Spark needs PySpark 4 or later; this frame is of an earlier one")
        self.frame, self.key = frame, key
        self._kept: dict[str, Any] = {}
        self._view = f"leastwise_{uuid.uuid4().hex}"
        frame.createOrReplaceTempView(self._view)

    @property
    def origin(self) -> str:
        """The name of the frame."""
        return self._view

    @cached_property
    def families(self) -> Mapping[str, Family]:
        """What each column holds."""
        with self.answering():
            empty: Any = pl.from_arrow(self.frame.limit(0).toArrow())
        return families_of(empty.schema)

    def fetch(self, query: str) -> pl.DataFrame:
        """Return what a query gives."""
        answer: Any = pl.from_arrow(self.frame.sparkSession.sql(query).toArrow())
        return pl.DataFrame(answer)

    def keep(self, query: str) -> str:
        """Let the session hold what a query gives, as it does with any frame that is cached."""
        name = f"leastwise_{uuid.uuid4().hex}"
        self._kept[name] = self.frame.sparkSession.sql(query).persist()
        self._kept[name].createOrReplaceTempView(name)
        return name

    def forget(self, name: str) -> None:
        """Let the session forget it."""
        self.frame.sparkSession.catalog.dropTempView(name)
        self._kept.pop(name).unpersist()

    def cancel(self) -> None:
        """Stop the jobs of the session."""
        self.frame.sparkSession.sparkContext.cancelAllJobs()

    def close(self) -> None:
        """Let the session forget the name."""
        self.frame.sparkSession.catalog.dropTempView(self._view)
