"""The small task, run once for all tests that only read it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from leastwise.runs import Run, run
from tests.runs.small import OPTIONS, content, records
from tests.samples import Heard


class Whole(NamedTuple):
    """A run that nothing disturbed, the files it wrote and what it said meanwhile."""

    run: Run
    files: dict[str, bytes]
    heard: Heard


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    heard = Heard()
    folder = tmp_path_factory.mktemp("whole") / "run"
    finished = run(records(), folder, OPTIONS, name="folder/small.csv", progress=heard)
    return Whole(finished, content(folder), heard)


@pytest.fixture(scope="session")
def finished(whole: Whole) -> Run:
    """To be read, never written: a test that changes it copies the folder."""
    return whole.run
