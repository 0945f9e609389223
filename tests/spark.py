"""A small Spark session for tests; they are skipped where there is no Java."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.records.sources.engines import spark_session


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """Give a session that the tests of a module share."""
    with spark_session() as session:
        yield session
