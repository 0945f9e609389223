"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browser import chromium, firefox  # noqa: F401  (fixtures)
from tests.postgres import postgres, postgres_url  # noqa: F401  (fixtures)
from tests.spark import spark  # noqa: F401  (a fixture)

# How long an example takes is the machine's affair: two test processes wait for each other, kernels are compiled.
settings.register_profile("leastwise", deadline=None)
settings.load_profile("leastwise")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data sets; tests that need it are skipped without it."""
    folder = os.environ.get("LEASTWISE_DATA")
    if not folder:
        pytest.skip("set LEASTWISE_DATA to the folder with the real data sets")
    return Path(folder)
