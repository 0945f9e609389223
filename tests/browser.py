"""A real chromium for tests; skipped with a reason where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Give a browser that all tests of this process share; each opens pages of its own."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by playwright")
    path = os.environ.get("LEASTWISE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("chromium is not installed")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield made
        made.close()
