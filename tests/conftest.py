"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.browser import chromium, firefox  # noqa: F401  (fixtures)
from tests.postgres import postgres, postgres_url  # noqa: F401  (fixtures)
from tests.spark import spark  # noqa: F401  (a fixture)

# How long an example takes is the machine's affair: two test processes wait for each other, kernels are compiled.
settings.register_profile("leastwise", deadline=None)
settings.load_profile("leastwise")

# Rooms whose tests hardly ever need a kernel.
UNCOMPILED = ("collector", "exports", "apply", "schema", "generalization", "partition")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the second of two processes begin with what needs no kernel.

    Each is given one half to begin with. In a fresh checkout both would compile the same kernels at the same time;
    so the first one does, and the other finds them on the disk. That other one alone then starts Spark: what is
    taken from a process that is behind is taken from the end of its half.
    """
    if hasattr(config, "workerinput"):
        rooms = tuple(str(Path(__file__).parent / name) + os.sep for name in UNCOMPILED)
        sorts: dict[str, list[pytest.Item]] = {"spark": [], "uncompiled": [], "other": []}
        for item in items:
            on_spark = "spark" in item.name or "spark" in getattr(item, "fixturenames", ())
            uncompiled = str(item.path).startswith(rooms)
            sorts["spark" if on_spark else "uncompiled" if uncompiled else "other"].append(item)
        others = sorts["other"]
        half = min(len(items) // 2, len(others))
        items[:] = others[:half] + sorts["uncompiled"] + sorts["spark"] + others[half:]


COMPILED: list[str] = []


def pytest_collection_finish(session: pytest.Session) -> None:
    """Remember which kernels a module needed to be imported: each process would compile them, and both at once.

    What was imported stays to the end; thousands of collections need not look through it again.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("leastwise.kernels.")]
    COMPILED[:] = [
        name for module in modules for name, each in vars(module).items() if getattr(each, "signatures", ())
    ]
    gc.collect()
    gc.freeze()


def pytest_sessionfinish(session: pytest.Session) -> None:
    gc.unfreeze()


@pytest.fixture(scope="session")
def compiled_while_collecting() -> list[str]:
    return COMPILED


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the real data sets; tests that need it are skipped without it."""
    folder = os.environ.get("LEASTWISE_DATA")
    if not folder:
        pytest.skip("set LEASTWISE_DATA to the folder with the real data sets")
    return Path(folder)
