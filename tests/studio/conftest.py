"""A studio on a hand-made run: nothing is trained, and it opens in a moment."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from leastwise.runs import Run
from leastwise.studio import Ground, Room
from tests.report.hand_made import write_run
from tests.runs.small import SCHEMA, records


def ground(folder: Path) -> Ground:
    """Return small records and a run of their attributes, made by hand."""
    run = Run.load(folder) if folder.is_dir() else write_run(folder, SCHEMA)
    return Ground(folder, records(3000, seed=100), "small.csv", 0, True, run)


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(ground(tmp_path / "run"))
    yield made
    made.close()
